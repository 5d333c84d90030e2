// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionDevicePrimitives_h
#define itkCudaPartitionDevicePrimitives_h

#include <cstdint>
#include <vector>

// What the processor of a device does beside loops, for tests that compare it with the standard library.
namespace itk::cuda::partition
{
struct SortedKeys
{
  std::vector<uint64_t> Keys;
  std::vector<uint32_t> Places;
};

/** \exception CudaError */
std::vector<uint32_t>
SumOnDevice(const std::vector<uint32_t> & values, int device);

/** \exception CudaError */
SortedKeys
SortOnDevice(const std::vector<uint64_t> & keys, int bits, int device);
} // namespace itk::cuda::partition

#endif
