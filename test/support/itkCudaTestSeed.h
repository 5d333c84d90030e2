// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTestSeed_h
#define itkCudaTestSeed_h

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace itk::cuda::test
{
/** Returns the seed of all random data, which is fixed unless the environment variable sets it. It is printed once. */
inline uint64_t
GetSeed()
{
  static const uint64_t seed = []() -> uint64_t {
    const char *   text = std::getenv("ITK_CUDAFILTERS_TEST_SEED");
    const uint64_t value = text ? std::strtoull(text, nullptr, 10) : 20240601;
    std::cout << "[   seed   ] " << value << " (set ITK_CUDAFILTERS_TEST_SEED for another)" << std::endl;
    return value;
  }();
  return seed;
}
} // namespace itk::cuda::test

#endif
