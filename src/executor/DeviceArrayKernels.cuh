// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DeviceArrayKernels_cuh
#define CudaFilters_executor_DeviceArrayKernels_cuh

#include "executor/DeviceSignal.cuh"

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

// Kernels that fill, sort and scan arrays.
namespace itk::cuda::executor
{
namespace kernels
{
/** A batch of memory ranges, each to be filled with copies of one byte. */
struct ByteFills
{
  struct Part
  {
    unsigned char * Begin;
    size_t          NumberOfBytes;
    unsigned char   Byte;
  };

  static constexpr unsigned int Maximum = 8;

  Part         Parts[Maximum];
  unsigned int Number;

  bool
  Overlap(const Part & other) const
  {
    return std::any_of(Parts, Parts + Number, [&other](const Part & part) {
      return part.Begin < other.Begin + other.NumberOfBytes && other.Begin < part.Begin + part.NumberOfBytes;
    });
  }
};

/** Fills all ranges. blockIdx.y is the index of the range. */
static __global__ void
FillKernel(const __grid_constant__ ByteFills fills)
{
  const ByteFills::Part & part = fills.Parts[blockIdx.y];
  const size_t            first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t            stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  const unsigned int      word = 0x01010101u * part.Byte;
  const bool              isAligned = reinterpret_cast<uintptr_t>(part.Begin) % sizeof(uint4) == 0;
  const size_t            quads = isAligned ? part.NumberOfBytes / sizeof(uint4) : 0;
  for (size_t i = first; i < quads; i += stride)
  {
    reinterpret_cast<uint4 *>(part.Begin)[i] = make_uint4(word, word, word, word);
  }
  for (size_t i = quads * sizeof(uint4) + first; i < part.NumberOfBytes; i += stride)
  {
    part.Begin[i] = part.Byte;
  }
}

/** A radix sort of (key, index) pairs in one block. Keys have at most as many bits as TKey. */
template <typename TKey>
struct BlockSort
{
  static constexpr int      Threads = 1024;
  static constexpr int      KeysOfThread = 32 / static_cast<int>(sizeof(TKey)); // 32 KiB for all threads
  static constexpr uint32_t MaximumNumberOfKeys = Threads * KeysOfThread;
  static constexpr int      MaximumNumberOfBits = 8 * static_cast<int>(sizeof(TKey));

  using Sort = cub::BlockRadixSort<TKey, Threads, KeysOfThread, uint32_t>;
};

template <typename TKey>
__global__ void
__launch_bounds__(BlockSort<TKey>::Threads)
  ArgSortKernel(const uint64_t * keys, uint32_t number, int bits, uint64_t * sorted, uint32_t * indices)
{
  constexpr int                                          keysOfThread = BlockSort<TKey>::KeysOfThread;
  __shared__ typename BlockSort<TKey>::Sort::TempStorage memory;
  TKey                                                   ofThread[keysOfThread];
  uint32_t                                               indicesOfThread[keysOfThread];
#pragma unroll
  for (int j = 0; j < keysOfThread; ++j)
  {
    // The sort is stable, so that the padding keys stay behind the real ones.
    const uint32_t i = threadIdx.x * keysOfThread + j;
    ofThread[j] = i < number ? static_cast<TKey>(keys[i]) : static_cast<TKey>(~TKey{ 0 });
    indicesOfThread[j] = i;
  }
  typename BlockSort<TKey>::Sort(memory).Sort(ofThread, indicesOfThread, 0, bits);
#pragma unroll
  for (int j = 0; j < keysOfThread; ++j)
  {
    const uint32_t i = threadIdx.x * keysOfThread + j;
    if (i < number)
    {
      sorted[i] = keys[indicesOfThread[j]];
      indices[i] = indicesOfThread[j];
    }
  }
}

/** An exclusive prefix sum over a few values in one block. */
struct BlockScan
{
  static constexpr int    Threads = 1024;
  static constexpr int    ValuesOfThread = 8;
  static constexpr size_t MaximumNumberOfValues = Threads * ValuesOfThread;

  template <typename T>
  using Scan = cub::BlockScan<T, Threads>;
};

/** Computes the exclusive prefix sum sums[i] = function(0) + ... + function(i - 1), for 0 <= i <= number. */
template <typename TFunction, typename T>
__global__ void
__launch_bounds__(BlockScan::Threads) ExclusiveScanKernel(const __grid_constant__ TFunction  function,
                                                          uint32_t                           number,
                                                          T *                                sums,
                                                          const __grid_constant__ HostSignal signal)
{
  __shared__ typename BlockScan::Scan<T>::TempStorage memory;
  const uint32_t                                      first = threadIdx.x * BlockScan::ValuesOfThread;
  T                                                   values[BlockScan::ValuesOfThread];
#pragma unroll
  for (int j = 0; j < BlockScan::ValuesOfThread; ++j)
  {
    values[j] = first + j < number ? static_cast<T>(function(first + j)) : T{ 0 };
  }
  BlockScan::Scan<T>(memory).ExclusiveSum(values, values);
#pragma unroll
  for (int j = 0; j < BlockScan::ValuesOfThread; ++j)
  {
    if (first + j <= number)
    {
      sums[first + j] = values[j];
    }
  }
  if (signal.Mark != nullptr)
  {
    __syncthreads();
    signal.Send();
  }
}
} // namespace kernels
} // namespace itk::cuda::executor

#endif
