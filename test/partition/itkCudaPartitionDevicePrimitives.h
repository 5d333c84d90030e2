// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionDevicePrimitives_h
#define itkCudaPartitionDevicePrimitives_h

#include <cstddef>
#include <cstdint>
#include <vector>

// Declares what the executor of a device does besides loops (sorts, scans and sums), for tests that compare it with the
// standard library.
namespace itk::cuda::executor
{
struct SortedKeys
{
  std::vector<uint64_t> Keys;
  std::vector<uint32_t> Indices;
};

/** \exception CudaError */
std::vector<uint32_t>
SumOnDevice(const std::vector<uint32_t> & values, int device);

/** Bytes of an array that get a value. */
struct ByteFill
{
  size_t  Array;
  size_t  Begin;
  size_t  Number;
  uint8_t Byte;
};

/** Arrays of zeros after these fills. \exception CudaError */
std::vector<std::vector<uint8_t>>
FillOnDevice(const std::vector<size_t> & sizes, const std::vector<ByteFill> & fills, size_t heapBytes, int device);

/** \exception CudaError */
SortedKeys
SortOnDevice(const std::vector<uint64_t> & keys, int bits, int device);
} // namespace itk::cuda::executor

#endif
