// SPDX-License-Identifier: Apache-2.0
#include "itkCudaStressCase.h"

#include "contract/itkCudaFilterTable.h"

#include <cmath>
#include <cstring>

namespace itk::cuda::test
{
double
StressRandom::LogUniform(double low, double high)
{
  return low * std::exp(this->Uniform(0.0, std::log(high / low)));
}

uint64_t
HashBytes(const void * data, size_t bytes, uint64_t hash)
{
  const auto * const begin = static_cast<const unsigned char *>(data);
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t))
  {
    uint64_t word = 0;
    std::memcpy(&word, begin + i, std::min(sizeof(word), bytes - i));
    hash = (hash ^ word) * 0x9FB21C651E98DF25ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

const StressCaseMakers &
GetStressCaseMakers()
{
  static const StressCaseMakers makers = [] {
    StressCaseMakers all{ { "chain", MakeChainStressCase }, { LargeStressKind, MakeLargeStressCase } };
    for (const FilterRow & row : GetFilterRows())
    {
      all[row.Name] = row.MakeCase;
    }
    return all;
  }();
  return makers;
}
} // namespace itk::cuda::test
