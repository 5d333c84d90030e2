// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaGaussianTuning.h"

#include <algorithm>
#include <iterator>

namespace itk::CudaDetail
{
std::string
CudaGaussianHostPreference(unsigned int axis, size_t numberOfValues)
{
  using cuda::gaussian::SinglePassTime;
  using cuda::gaussian::SinglePassTimes;

  const auto   larger = std::upper_bound(std::begin(SinglePassTimes),
                                       std::end(SinglePassTimes),
                                       numberOfValues,
                                       [](size_t values, const SinglePassTime & time) { return values < time.Values; });
  const size_t kind = axis == 0 ? 0 : 1;
  if (larger != std::begin(SinglePassTimes))
  {
    const SinglePassTime & time = *std::prev(larger);
    if (time.Device[kind] < time.Host[kind])
    {
      return {};
    }
  }
  return "one pass over " + std::to_string(numberOfValues) + " values is faster on the host than by way of the device";
}
} // end namespace itk::CudaDetail
