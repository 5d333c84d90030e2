// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_DeviceExecutor_cuh
#define CudaFilters_partition_executor_DeviceExecutor_cuh

#include "runtime/device/Call.h"
#include "runtime/device/Stream.h"
#include "runtime/device/Device.h"
#include "runtime/device/Launch.h"
#include "itkCudaError.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "partition/executor/ArrayHeap.h"
#include "partition/executor/ExecutorArray.h"
#include "partition/executor/SerialTile.h"
#include "partition/Model.h"
#include "partition/executor/ConcurrentRuns.h"
#include "region/Sums.cuh"
#include "runtime/device/Spin.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/Transfer.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

// Runs parallel loops, scans and sorts on a device, in one of three ways: with one launch for each loop, within one
// block of threads, or within one cooperative grid.

namespace itk::cuda::partition
{
/** The image as device code for cells sees it. */
template <typename TSample, bool VMask>
struct DeviceScene
{
  region::kernels::DevicePixels<TSample, VMask> Pixels;
  bool                                          Squares; // whether the sums include squares, which depends on the law

  __device__ bool
  HasMask() const
  {
    return VMask;
  }
  __device__ bool
  IsValid(int32_t x, int32_t y) const
  {
    if constexpr (VMask)
    {
      const size_t block = static_cast<size_t>(y) * Pixels.CheckpointsPerRow + x / region::CheckpointSpacing;
      return ((Pixels.Mask[block].Bits >> (x % region::CheckpointSpacing)) & 1u) != 0;
    }
    return true;
  }
  /** Returns the sums of the pixels x = first to end - 1 of row y. */
  __device__ Moments
  SumRow(int32_t y, int32_t first, int32_t end) const
  {
    Moments sums = Pixels.RowPrefix(y, end) - Pixels.RowPrefix(y, first);
    sums.SumOfSquares = Squares ? sums.SumOfSquares : 0;
    return sums;
  }
};

/** The image as device code for polygon edges sees it. The sample type is a runtime value, because the polygon kernels
 * are large and would take long to compile for each sample type. `VTogether` rows of an edge are loaded together to
 * overlap their memory latency. */
template <int32_t VTogether>
struct DeviceEdgeIntegrator
{
  const void *                   Samples;
  ptrdiff_t                      RowStride;
  const region::Checkpoint *     Checkpoints;
  const region::MaskCheckpoint * Mask; // may be null
  int32_t                        CheckpointsPerRow;
  int32_t                        Width;
  int32_t                        Height;
  uint32_t                       XorMask;
  uint32_t                       BytesPerSample;
  bool                           Squares; // whether the sums include squares, which depends on the law

  explicit DeviceEdgeIntegrator(const region::DeviceSums & sums, bool squares)
    : Samples(sums.GetSamples())
    , RowStride(sums.GetRowStride())
    , Checkpoints(sums.GetCheckpoints())
    , Mask(sums.GetMask())
    , CheckpointsPerRow(sums.GetDescription().Width / region::CheckpointSpacing + 1)
    , Width(sums.GetDescription().Width)
    , Height(sums.GetDescription().Height)
    , XorMask(sums.GetDescription().XorMask)
    , BytesPerSample(static_cast<uint32_t>(CudaComponentSize(sums.GetDescription().Type)))
    , Squares(squares)
  {}

  __device__ Moments
  SumEdge(const region::LatticePoint & p, const region::LatticePoint & q) const
  {
    const region::LatticeEdge edge = region::MakeEdge(p, q);
    return edge.NumberOfRows > 0 ? SumRows(*this, edge, 0, 1) : Moments{};
  }
  /** Sums an edge with a tile of threads. The rows are distributed in strides over the tile's threads. */
  template <typename TTile>
  __device__ Moments
  SumEdge(const region::LatticePoint & p, const region::LatticePoint & q, const TTile & tile) const
  {
    const region::LatticeEdge edge = region::MakeEdge(p, q);
    const StridedRange        share = tile.GetShare();
    return tile.Sum(share.First < edge.NumberOfRows ? SumRows(*this, edge, share.First, share.Stride) : Moments{});
  }

private:
  template <typename TSample, bool VMask>
  __device__ region::kernels::DevicePixels<TSample, VMask>
             GetPixels() const
  {
    region::kernels::DevicePixels<TSample, VMask> pixels{};
    pixels.Samples = static_cast<const TSample *>(Samples);
    pixels.RowStride = RowStride;
    pixels.Checkpoints = Checkpoints;
    pixels.Mask = Mask;
    pixels.CheckpointsPerRow = CheckpointsPerRow;
    pixels.Width = Width;
    pixels.Height = Height;
    pixels.XorMask = static_cast<TSample>(XorMask);
    return pixels;
  }

  /** Sums the rows first, first + stride, ... This function is not inlined because the kernels call it from several
   * places. Its arguments are passed by value: passing an address would force the object, together with the whole
   * kernel functor that contains it, into local memory. */
  static __device__ __noinline__ Moments
  SumRows(const DeviceEdgeIntegrator edges, const region::LatticeEdge edge, int32_t first, int32_t stride)
  {
    if (edges.Squares)
    {
      return edges.Mask != nullptr ? edges.SumRowsOf<true, true>(edge, first, stride)
                                   : edges.SumRowsOf<false, true>(edge, first, stride);
    }
    return edges.Mask != nullptr ? edges.SumRowsOf<true, false>(edge, first, stride)
                                 : edges.SumRowsOf<false, false>(edge, first, stride);
  }
  template <bool VMask, bool VSquares>
  __device__ Moments
  SumRowsOf(const region::LatticeEdge & edge, int32_t first, int32_t stride) const
  {
    switch (BytesPerSample)
    {
      case 1:
        return SumRowsOf<VTogether, VSquares>(this->GetPixels<uint8_t, VMask>(), edge, first, stride);
      case 2:
        return SumRowsOf<VTogether, VSquares>(this->GetPixels<uint16_t, VMask>(), edge, first, stride);
      default: // the look-ups of 4-byte samples take more registers
        return SumRowsOf<2, VSquares>(this->GetPixels<uint32_t, VMask>(), edge, first, stride);
    }
  }
  /** Sums rows as region::SumEdge() does. */
  template <int32_t VRows, bool VSquares, typename TPixels>
  static __device__ Moments
  SumRowsOf(const TPixels & pixels, const region::LatticeEdge & edge, int32_t first, int32_t stride)
  {
    region::CrossingWalker walker(edge, first, stride);
    Moments                sums;
    for (int32_t begin = first; begin < edge.NumberOfRows; begin += VRows * stride)
    {
      typename TPixels::Lookup lookups[VRows];
#pragma unroll
      for (int32_t j = 0; j < VRows; ++j)
      {
        // Past the last row, the last row is loaded again. This costs little, because most edges have few rows.
        const int32_t row = begin + j * stride;
        lookups[j] = pixels.Fetch(edge.Top.Y + min(row, edge.NumberOfRows - 1), walker.GetColumn());
        if (row + stride < edge.NumberOfRows)
        {
          walker.Advance();
        }
      }
#pragma unroll
      for (int32_t j = 0; j < VRows; ++j)
      {
        if (begin + j * stride < edge.NumberOfRows)
        {
          sums += pixels.template Resolve<VSquares>(lookups[j]);
        }
      }
    }
    return edge.Upward ? Moments{} - sums : sums;
  }
};

/** Atomic operations in device memory, as the kernels use them on any executor. */
struct DeviceAtomics
{
  static_assert(sizeof(unsigned long long) == sizeof(uint64_t), "As the atomic functions have it");

  static __device__ void
  Add(uint32_t & sum, uint32_t x)
  {
    atomicAdd(&sum, x);
  }
  static __device__ void
  Add(int64_t & sum, int64_t x)
  {
    atomicAdd(reinterpret_cast<unsigned long long *>(&sum), static_cast<unsigned long long>(x));
  }
  /** Returns the earlier value. */
  static __device__ uint64_t
  FetchAdd(uint64_t & sum, uint64_t x)
  {
    return atomicAdd(reinterpret_cast<unsigned long long *>(&sum), static_cast<unsigned long long>(x));
  }
  static __device__ uint32_t
  Exchange(uint32_t & x, uint32_t value)
  {
    return atomicExch(&x, value);
  }
  static __device__ void
  Add(Moments & sum, const Moments & x)
  {
    region::kernels::AtomicAdd(sum, x);
  }
  static __device__ void
  Maximum(uint64_t & largest, uint64_t x)
  {
    atomicMax(reinterpret_cast<unsigned long long *>(&largest), static_cast<unsigned long long>(x));
  }
  /** Returns the earlier value. */
  static __device__ uint32_t
  Minimum(uint32_t & smallest, uint32_t x)
  {
    return atomicMin(&smallest, x);
  }
  static __device__ void
  Minimum(uint64_t & smallest, uint64_t x)
  {
    atomicMin(reinterpret_cast<unsigned long long *>(&smallest), static_cast<unsigned long long>(x));
  }
  /** Loads a value that other threads may change concurrently. */
  static __device__ uint64_t
  Load(const uint64_t & x)
  {
    return *static_cast<const volatile uint64_t *>(&x);
  }
  /** Load and store words that other threads store concurrently, if the order does not matter. Plain accesses do this
   * on the device. */
  template <typename T>
  static __device__ T
  LoadRelaxed(const T & x)
  {
    return x;
  }
  template <typename T>
  static __device__ void
  StoreRelaxed(T & x, T value)
  {
    x = value;
  }
  /** Returns the earlier value. */
  static __device__ uint64_t
  CompareAndSwap(uint64_t & x, uint64_t expected, uint64_t desired)
  {
    return atomicCAS(reinterpret_cast<unsigned long long *>(&x),
                     static_cast<unsigned long long>(expected),
                     static_cast<unsigned long long>(desired));
  }
  static __device__ uint32_t
  CompareAndSwap(uint32_t & x, uint32_t expected, uint32_t desired)
  {
    return atomicCAS(&x, expected, desired);
  }
  /** Decrements the counter atomically and returns the new value. */
  static __device__ uint32_t
  DecrementAndFetch(uint32_t & counter)
  {
    return atomicSub(&counter, 1) - 1;
  }
  /** Increments a counter atomically with one access per warp (warp-aggregated). All active threads must pass the same
   * counter. */
  static __device__ void
  WarpAggregatedIncrement(uint32_t & counter)
  {
    const unsigned int mask = __activemask();
    if (region::kernels::LaneIndex() == __ffs(static_cast<int>(mask)) - 1)
    {
      atomicAdd(&counter, static_cast<uint32_t>(__popc(mask)));
    }
  }
  /** Increments a counter atomically and returns its earlier value. The threads of a warp that use the same counter
   * share one atomic access (warp-aggregated increment). */
  static __device__ uint32_t
  FetchIncrement(uint32_t & counter)
  {
    const unsigned int peers = __match_any_sync(__activemask(), reinterpret_cast<unsigned long long>(&counter));
    const int          lane = region::kernels::LaneIndex();
    const int          first = __ffs(static_cast<int>(peers)) - 1;
    const auto         before = static_cast<uint32_t>(__popc(peers & ((1u << lane) - 1u)));
    const uint32_t     sum = lane == first ? atomicAdd(&counter, static_cast<uint32_t>(__popc(peers))) : 0;
    return __shfl_sync(peers, sum, first) + before;
  }
};

namespace kernels
{
/** A signal from a kernel to the host: it copies bytes to pinned memory and then sets a flag there. */
struct HostSignal
{
  const volatile uint32_t * From;
  uint32_t *                To;
  unsigned int              NumberOfBytes;
  volatile uint32_t *       Mark; // null if there is no signal
  uint32_t                  Number;

  /** Copies the bytes and sets the flag. All threads of one block must call this. */
  __device__ void
  Send() const
  {
    const unsigned int words = NumberOfBytes / sizeof(uint32_t);
    for (unsigned int i = threadIdx.x; i < words; i += blockDim.x)
    {
      To[i] = From[i];
    }
    if (threadIdx.x < NumberOfBytes % sizeof(uint32_t))
    {
      const size_t last = words * sizeof(uint32_t) + threadIdx.x;
      reinterpret_cast<unsigned char *>(To)[last] = reinterpret_cast<const volatile unsigned char *>(From)[last];
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
    {
      *Mark = Number;
    }
  }
};

static __global__ void
SignalKernel(const __grid_constant__ HostSignal signal)
{
  signal.Send();
}

/** A batch of memory ranges, each to be filled with copies of one byte. */
struct Fills
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
FillKernel(const __grid_constant__ Fills fills)
{
  const Fills::Part & part = fills.Parts[blockIdx.y];
  const size_t        first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t        stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  const unsigned int  word = 0x01010101u * part.Byte;
  const bool          isAligned = reinterpret_cast<uintptr_t>(part.Begin) % sizeof(uint4) == 0;
  const size_t        quads = isAligned ? part.NumberOfBytes / sizeof(uint4) : 0;
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

constexpr unsigned int ThreadsOfLoop = 256;

/** Whether a kernel functor sums edges, with pixels of its own or of its round. */
template <typename TFunctor>
auto SumsEdges(std::nullptr_t)
  -> decltype(std::declval<decltype(TFunctor::Pixels)>().SumEdge(LatticePoint{}, LatticePoint{}), std::true_type{});
template <typename TFunctor>
auto SumsEdges(std::nullptr_t)
  -> decltype(std::declval<decltype(decltype(TFunctor::Round)::Pixels)>().SumEdge(LatticePoint{}, LatticePoint{}),
              std::true_type{});
template <typename TFunctor>
std::false_type
SumsEdges(...);

/** The minimum number of resident blocks per multiprocessor. The kernels are bound by memory latency, which a high
 * occupancy hides, so that registers are limited to 64 per thread. Functors that sum edges keep several look-ups in
 * registers and get 128. */
template <typename TFunctor>
constexpr unsigned int BlocksOfLoop = decltype(SumsEdges<TFunctor>(nullptr))::value ? 2 : 4;

template <typename TFunctor>
__global__ void
__launch_bounds__(ThreadsOfLoop, BlocksOfLoop<TFunctor>)
  ParallelForKernel(size_t number, const __grid_constant__ TFunctor functor)
{
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < number; i += stride)
  {
    RunOnOneThread(functor, i);
  }
}

/** Calls functor(i) for i < functor.GetNumber(), where the count is read on the device. */
template <typename TFunctor>
__global__ void
__launch_bounds__(ThreadsOfLoop, BlocksOfLoop<TFunctor>) ParallelForUpToKernel(const __grid_constant__ TFunctor functor)
{
  const size_t number = functor.GetNumber();
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < number; i += stride)
  {
    RunOnOneThread(functor, i);
  }
}

/** A tile of adjacent threads of a warp that work on one item together. It has the same interface as SerialTile. */
template <uint32_t VLanes>
struct WarpTile
{
  static constexpr uint32_t NumberOfLanes = VLanes;

  /** Returns the thread's number in the tile. thread_rank() of the group would not know that blocks are lines. */
  __device__ uint32_t
  GetLane() const
  {
    return threadIdx.x % NumberOfLanes;
  }
  __device__ StridedRange
  GetShare() const
  {
    return { static_cast<int32_t>(this->GetLane()), static_cast<int32_t>(NumberOfLanes) };
  }
  __device__ bool
  All(bool ofLane) const
  {
    return GetGroup().all(ofLane) != 0;
  }
  /** Returns the sum over the tile. */
  __device__ Moments
  Sum(const Moments & ofLane) const
  {
    return cooperative_groups::reduce(GetGroup(), ofLane, cooperative_groups::plus<Moments>());
  }

  /** One value per thread. */
  template <typename T>
  using PerThread = T;

  /** Calls function(thread, value of the thread) for each thread of the tile. */
  template <typename T, typename TFunction>
  __device__ void
  ForEachThread(T & ofLane, const TFunction & function) const
  {
    function(this->GetLane(), ofLane);
  }
  /** Computes an in-place exclusive prefix sum of integers. */
  __device__ void
  ExclusiveScan(Moments * values, uint32_t number) const
  {
    const auto group = GetGroup();
    Moments    before;
    for (uint32_t first = 0; first < number; first += NumberOfLanes)
    {
      const uint32_t i = first + this->GetLane();
      const Moments  own = i < number ? values[i] : Moments{};
      Moments        sum = own;
#pragma unroll
      for (unsigned int distance = 1; distance < NumberOfLanes; distance *= 2)
      {
        const Moments other = group.shfl_up(sum, distance);
        sum += this->GetLane() >= distance ? other : Moments{};
      }
      if (i < number)
      {
        values[i] = before + (sum - own);
      }
      before += group.shfl(sum, NumberOfLanes - 1);
    }
  }
  /** Evaluates function(thread, value of the thread) in all threads and returns the best result. */
  template <typename T, typename TFunction>
  __device__ auto
  FindBest(T & ofLane, const TFunction & function) const
  {
    constexpr uint32_t largest = 0xffffffffu;
    const auto         group = GetGroup();
    const auto         minimum = [&group](uint32_t x) {
      return cooperative_groups::reduce(group, x, cooperative_groups::less<uint32_t>());
    };
    auto           best = function(this->GetLane(), ofLane);
    const uint64_t order = OrderOf(best.Cost + 0.0); // adding 0.0 turns -0 into 0
    const auto     upper = static_cast<uint32_t>(order >> 32);
    const auto     lower = static_cast<uint32_t>(order);
    const bool     isFirst = upper == minimum(upper);
    const uint32_t least = minimum(isFirst ? lower : largest);
    const bool     isBest = isFirst && lower == least;
    best.Begin = minimum(isBest ? best.Begin : largest);
    best.Cost = group.shfl(best.Cost, __ffs(static_cast<int>(group.ballot(isBest))) - 1);
    return best;
  }
  /** Calls function(i) for i < number, distributed over the threads of the tile. */
  template <typename TFunction>
  __device__ void
  ParallelFor(uint32_t number, const TFunction & function) const
  {
    for (uint32_t i = this->GetLane(); i < number; i += NumberOfLanes)
    {
      function(i);
    }
  }
  template <typename TFunction>
  __device__ void
  Once(const TFunction & function) const
  {
    if (this->GetLane() == 0)
    {
      function();
    }
  }
  /** Synchronizes the tile: afterwards all threads see what each of them wrote. */
  __device__ void
  Sync() const
  {
    GetGroup().sync();
  }

private:
  static __device__ auto
  GetGroup()
  {
    return cooperative_groups::tiled_partition<NumberOfLanes>(cooperative_groups::this_thread_block());
  }
};

/** Runs the work items of one tile of a parallel loop: calls functor(i, tile) for the tile's i < functor.GetNumber(),
 * in strides of the number of tiles. */
template <typename TFunctor>
__device__ void
RunTiles(const TFunctor & functor)
{
  using Tile = WarpTile<TFunctor::TileSize>;
  const size_t number = functor.GetNumber();
  const size_t tilesOfBlock = blockDim.x / Tile::NumberOfLanes;
  const size_t first = static_cast<size_t>(blockIdx.x) * tilesOfBlock + threadIdx.x / Tile::NumberOfLanes;
  for (size_t i = first; i < number; i += tilesOfBlock * gridDim.x)
  {
    functor(i, Tile{});
  }
}

/** Calls functor(i, tile) for i < functor.GetNumber(), where the count is read on the device. */
template <typename TFunctor>
__global__ void
TilesUpToKernel(const __grid_constant__ TFunctor functor)
{
  RunTiles(functor);
}

/** A loop executor that runs parallel loops one after the other within one launch. */
struct ThreadExecutor
{
  static constexpr bool IsCoarseGrained = false;

  static __device__ constexpr bool
  KnowsWhenDone()
  {
    return true;
  }
  template <typename TRound>
  __device__ bool
  IsOver(const TRound & round) const
  {
    return round.GetNumber() == 0;
  }

protected:
  /** Runs the work items of one thread: `first` and every `stride`-th one after it. */
  template <typename TFunctor>
  static __device__ void
  RunShare(const TFunctor & functor, size_t first, size_t stride)
  {
    const size_t number = functor.GetNumber();
    for (size_t i = first; i < number; i += stride)
    {
      RunOnOneThread(functor, i);
    }
  }
};

/** Parallel loops within one block of threads. A barrier after each loop makes its writes visible to the next one.
 */
struct BlockExecutor : ThreadExecutor
{
  template <typename TFunctor>
  __device__ void
  ParallelForUpTo(size_t, const TFunctor & functor) const
  {
    RunShare(functor, threadIdx.x, blockDim.x);
    __syncthreads();
  }
};

constexpr unsigned int ThreadsOfLoopsInOneBlock = 1024;

template <typename TProgram>
__global__ void
__launch_bounds__(ThreadsOfLoopsInOneBlock)
  ProgramKernel(const __grid_constant__ TProgram program, const __grid_constant__ HostSignal signal)
{
  program(BlockExecutor{});
  signal.Send();
}

/** Parallel loops within a cooperative grid, whose blocks are all resident. A grid-wide barrier after each loop
 * makes its writes visible to the next one. */
struct GridExecutor : ThreadExecutor
{
  template <typename TFunctor>
  __device__ void
  ParallelForUpTo(size_t, const TFunctor & functor) const
  {
    const size_t threads = blockDim.x;
    RunShare(functor, blockIdx.x * threads + threadIdx.x, gridDim.x * threads);
    cooperative_groups::this_grid().sync();
  }
  template <typename TFunctor>
  __device__ void
  ParallelForTilesUpTo(size_t, const TFunctor & functor) const
  {
    RunTiles(functor);
    cooperative_groups::this_grid().sync();
  }
  /** Runs a loop over tiles, because there are few long work items for the many threads. */
  template <typename TFunctor>
  __device__ void
  ParallelForLongUpTo(size_t most, const TFunctor & functor) const
  {
    this->ParallelForTilesUpTo(most, functor);
  }
};

constexpr unsigned int ThreadsOfLoopsInOneGrid = 256;
/** Blocks per multiprocessor. More blocks make the grid-wide barriers slower. */
constexpr unsigned int BlocksOfLoopsInOneGrid = 2;
/** Blocks per multiprocessor when several runs share the device and the loops need few registers. */
constexpr unsigned int BlocksOfConcurrentRuns = 4;

template <typename TProgram>
constexpr unsigned int MaximumBlocksOfGrid =
  TProgram::NeedsManyRegisters ? BlocksOfLoopsInOneGrid : BlocksOfConcurrentRuns;

template <typename TProgram>
__global__ void
__launch_bounds__(ThreadsOfLoopsInOneGrid, MaximumBlocksOfGrid<TProgram>)
  GridProgramKernel(const __grid_constant__ TProgram program, const __grid_constant__ HostSignal signal)
{
  program(GridExecutor{});
  if (signal.Mark != nullptr && blockIdx.x == 0)
  {
    signal.Send();
  }
}
} // namespace kernels

/** Returns function(i) for i < Number, and 0 otherwise. */
template <typename TFunction, typename T>
struct ZeroPadded
{
  TFunction Function;
  size_t    Number;

  ITK_CUDA_HOST_DEVICE T
  operator()(size_t i) const
  {
    return i < Number ? Function(i) : T{ 0 };
  }
};

struct Iota
{
  uint32_t * Indices;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Indices[i] = static_cast<uint32_t>(i);
  }
};

struct Larger
{
  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(uint32_t x, uint32_t y) const
  {
    return x > y ? x : y;
  }
};

/** Gives the memory of an array back to the heap, or releases it. */
struct DeviceGiveBack
{
  ArrayHeap *  Heap{ nullptr };
  DeviceBuffer Own; // if the heap had no room

  void
  operator()(void * array) const
  {
    if (Heap != nullptr)
    {
      Heap->Give(array);
    }
  }
};

/** \class DeviceExecutor
 * \brief Executor that runs the parallel loops of EdgeGraph, LabelSearch and MapRefinement on a device.
 *
 * All work is queued on one stream; Read() waits for it. Arrays are suballocated from a heap, and those that do not
 * fit are allocated separately.
 *
 * Prefix sums use CUB. They are sums of integers, so that the results do not depend on how they are divided among
 * threads.
 */
class DeviceExecutor
{
public:
  using Atomics = DeviceAtomics;

  /** Whether loops give a whole row or node to one work item, which suits few threads. On the
   * device, each of many small work items runs in a thread or a tile of its own. */
  static constexpr bool IsCoarseGrained = false;

  template <typename T>
  using Array = ExecutorArray<T, std::unique_ptr<void, DeviceGiveBack>>;

  /** \param squares whether the sums of the law include squares
   * \param heapBytes size of the heap; the executor works without a heap if the device has not enough memory
   */
  DeviceExecutor(const region::DeviceSums & sums, bool squares, size_t heapBytes, const Context & context)
    : m_Sums(sums)
    , m_Squares(squares)
    , m_Context(context)
    , m_NumberOfMultiprocessors(static_cast<size_t>(GetDeviceProperties(context.GetDevice()).MultiprocessorCount))
    , m_Exchange(PinnedBuffer::Take())
    , m_HeapMemory(MakeHeap(heapBytes, context))
  {
    *this->GetFlag() = m_NumberOfSignals;
  }

  template <typename T>
  Array<T>
  Allocate(size_t number) const
  {
    const size_t bytes = std::max<size_t>(number, 1) * sizeof(T);
    if (void * const array = m_Heap.Take(bytes))
    {
      return Array<T>({ array, DeviceGiveBack{ &m_Heap, {} } });
    }
    DeviceBuffer own(bytes, m_Context);
    void * const array = own.GetPointer();
    return Array<T>({ array, DeviceGiveBack{ nullptr, std::move(own) } });
  }

  /** Returns a value after all queued work. A kernel writes it to pinned memory, which the host polls. A copy and the
   * driver's wait would each take some microseconds more. */
  template <typename T>
  T
  Read(const T * value) const
  {
    static_assert(sizeof(T) <= MaximumBytesToSend, "It has room before the mark");
    this->Send(value, sizeof(T));
    return this->Receive<T>();
  }

  /** Copies an array to the host, after all queued work. Small arrays are written by a kernel to pinned memory, as in
   * Read(). */
  template <typename T>
  void
  Download(const T * data, size_t number, T * out) const
  {
    const size_t bytes = number * sizeof(T);
    if (bytes <= MaximumBytesToSend)
    {
      this->Send(data, bytes);
      this->WaitForFlag();
      memcpy(static_cast<void *>(out), m_Exchange.GetPointer(), bytes);
      return;
    }
    this->FlushFills();
    ITK_CUDA_CALL(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, m_Context.GetStream()));
    ITK_CUDA_CALL(cudaStreamSynchronize(m_Context.GetStream()));
  }

  /** Copies an array from pageable memory to the device. The source may change after the return. */
  template <typename T>
  Array<T>
  Upload(const T * data, size_t number) const
  {
    Array<T> array = this->Allocate<T>(number);
    this->FlushFills();
    ITK_CUDA_CALL(
      cudaMemcpyAsync(array.Get(), data, number * sizeof(T), cudaMemcpyHostToDevice, m_Context.GetStream()));
    return array;
  }

  /** Uploads an image of UInt, row by row. */
  Array<uint32_t>
  UploadImage(const CudaImageView & image) const
  {
    const size_t    width = image.Size[0];
    const size_t    pixels = width * image.Size[1];
    Array<uint32_t> array = this->Allocate<uint32_t>(pixels);
    DeviceView      view;
    view.Data = array.Get();
    view.ComponentType = CudaComponentType::UInt;
    view.Size = { { width, image.Size[1], 1, 1, 1 } };
    view.Stride = { { 1, width, pixels, pixels, pixels } };
    this->FlushFills();
    UploadRows(image, view, m_Context, {});
    return array;
  }

  /** Sets all bytes. Fills in the heap are deferred until the next work is queued, and then done in one launch: for a
   * small image, a launch takes the driver longer than the fill takes the device. Memory outside the heap is filled
   * immediately, because it could be freed before the next work. */
  template <typename T>
  void
  Fill(T * data, size_t number, unsigned char byte) const
  {
    const kernels::Fills::Part part{ reinterpret_cast<unsigned char *>(data), number * sizeof(T), byte };
    if (m_Fills.Number == kernels::Fills::Maximum || m_Fills.Overlap(part))
    {
      this->FlushFills();
    }
    if (number > 0)
    {
      m_Fills.Parts[m_Fills.Number++] = part;
    }
    if (!m_Heap.Has(data))
    {
      this->FlushFills();
    }
  }

  template <typename TFunction>
  void
  VisitScene(const TFunction & function) const
  {
    region::VisitSamples(m_Sums, [&](auto sample, auto masked) {
      using SceneType = DeviceScene<decltype(sample), decltype(masked)::value>;
      function(SceneType{ region::GetPixels<decltype(sample), decltype(masked)::value>(m_Sums, m_Sums.GetWhole()),
                          m_Squares });
    });
  }

  template <typename TFunction>
  void
  VisitPixels(const TFunction & function) const
  {
    constexpr int32_t together = 4;
    function(DeviceEdgeIntegrator<together>(m_Sums, m_Squares));
  }
  /** Variant for RunInOneGrid(), whose threads have fewer registers. */
  template <typename TFunction>
  void
  VisitPixelsInOneGrid(const TFunction & function) const
  {
    constexpr int32_t together = 2;
    function(DeviceEdgeIntegrator<together>(m_Sums, m_Squares));
  }

  /** Calls functor(i) for i < number, one work item per thread (parallel for). */
  template <typename TFunctor>
  void
  ParallelFor(size_t number, const TFunctor & functor) const
  {
    constexpr unsigned int threads = kernels::ThreadsOfLoop;
    if (number == 0)
    {
      return;
    }
    this->Launch(
      kernels::ParallelForKernel<TFunctor>, MakeGrid((number + threads - 1) / threads), threads, number, functor);
  }

  /** Calls functor(i) for i < functor.GetNumber(), where the count is read on the device and is at most `most`. The
   * grid is limited because the actual count is mostly far smaller. */
  template <typename TFunctor>
  void
  ParallelForUpTo(size_t most, const TFunctor & functor) const
  {
    constexpr size_t       maximumBlocks = 4096; // of 256 threads; enough for the multiprocessors of any device
    constexpr unsigned int threads = kernels::ThreadsOfLoop;
    if (most == 0)
    {
      return;
    }
    this->Launch(kernels::ParallelForUpToKernel<TFunctor>,
                 MakeGrid(std::min(maximumBlocks, (most + threads - 1) / threads)),
                 threads,
                 functor);
  }

  /** ParallelForUpTo() for long work items, which a loop executor may run on single threads or on tiles. */
  template <typename TFunctor>
  void
  ParallelForLongUpTo(size_t most, const TFunctor & functor) const
  {
    this->ParallelForUpTo(most, functor);
  }

  /** Calls functor(i, tile) for i < functor.GetNumber(), which is at most `most`. Each tile has TFunctor::TileSize
   * threads of a warp. */
  template <typename TFunctor>
  void
  ParallelForTilesUpTo(size_t most, const TFunctor & functor) const
  {
    constexpr size_t       maximumBlocks = 4096;
    constexpr unsigned int threads = 64; // small blocks, because work items differ in length and may be few
    constexpr size_t       tiles = threads / TFunctor::TileSize;
    if (most == 0)
    {
      return;
    }
    this->Launch(kernels::TilesUpToKernel<TFunctor>,
                 MakeGrid(std::min(maximumBlocks, (most + tiles - 1) / tiles)),
                 threads,
                 functor);
  }

  /** Runs a program, a sequence of parallel loops, with one launch per loop. */
  template <typename TProgram>
  void
  Run(const TProgram & program) const
  {
    program(LaunchExecutor{ *this });
  }
  /** Runs a program in one launch of one block, for loops with few work items. Waits, and returns the final
   * `*value`.
   */
  template <typename TProgram, typename T>
  T
  RunInOneBlock(const TProgram & program, const T * value) const
  {
    this->Launch(kernels::ProgramKernel<TProgram>,
                 dim3(1),
                 kernels::ThreadsOfLoopsInOneBlock,
                 program,
                 this->MakeSignal(value, sizeof(T)));
    return this->Receive<T>();
  }
  /** Returns whether loops over `number` items may run in one grid, given that this is faster for up to `most`
   * items.
   */
  bool
  MayRunInOneGrid(size_t number, size_t most) const
  {
    return number <= most;
  }
  /** Runs a program in one cooperative launch with at most `passes` threads (rounded up to a block). The loops may
   * have more work items than that. Waits, and returns the final `*value`. */
  template <typename TProgram, typename T>
  T
  RunInOneGrid(const TProgram & program, size_t passes, const T * value) const
  {
    this->LaunchInOneGrid(program, passes, this->MakeSignal(value, sizeof(T)));
    return this->Receive<T>();
  }
  /** Runs a program in one cooperative launch without returning a value. It still waits if other runs share the device.
   * CUDA maps streams to a few hardware queues, 8 by default, and work queued behind this launch, which may take long,
   * would hold up the other runs. */
  template <typename TProgram>
  void
  RunInOneGrid(const TProgram & program, size_t passes) const
  {
    const bool waits = this->CountConcurrentRuns() > 1;
    this->LaunchInOneGrid(program, passes, waits ? this->MakeSignal() : kernels::HostSignal{});
    if (waits)
    {
      this->WaitForFlag();
    }
  }

  /** Computes the exclusive prefix sum sums[i] = function(0) + ... + function(i - 1), for 0 <= i <= number. Few values
   * are summed by one block in one launch. */
  template <typename TFunction, typename T>
  void
  ExclusiveScan(const TFunction & function, size_t number, T * sums) const
  {
    if (number < kernels::BlockScan::MaximumNumberOfValues)
    {
      this->ScanInOneBlock(function, number, sums, kernels::HostSignal{});
      return;
    }
    const auto values = thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0),
                                                        ZeroPadded<TFunction, T>{ function, number });
    this->WithTemporaryMemory([&](void * memory, size_t & bytes) {
      return cub::DeviceScan::ExclusiveSum(
        memory, bytes, values, sums, static_cast<int>(number + 1), m_Context.GetStream());
    });
  }

  /** Computes the exclusive prefix sum as Sum() does, waits, and returns the total, sums[number]. */
  template <typename TFunction, typename T>
  T
  ExclusiveScanAndRead(const TFunction & function, size_t number, T * sums) const
  {
    if (number < kernels::BlockScan::MaximumNumberOfValues)
    {
      this->ScanInOneBlock(function, number, sums, this->MakeSignal(sums + number, sizeof(T)));
      return this->Receive<T>();
    }
    this->ExclusiveScan(function, number, sums);
    return this->Read(sums + number);
  }

  /** Computes the inclusive maximum scan maxima[i] = max(function(0), ..., function(i)). */
  template <typename TFunction>
  void
  InclusiveMaxScan(const TFunction & function, size_t number, uint32_t * maxima) const
  {
    const auto values = thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0),
                                                        ZeroPadded<TFunction, uint32_t>{ function, number });
    this->WithTemporaryMemory([&](void * memory, size_t & bytes) {
      return cub::DeviceScan::InclusiveScan(
        memory, bytes, values, maxima, Larger{}, static_cast<int>(number), m_Context.GetStream());
    });
  }

  /** Sorts keys by their lower bits, and writes the sorted keys and their original indices (a stable argsort). Few keys
   * are sorted by one block in one launch. */
  void
  ArgSort(const uint64_t * keys, size_t number, int bits, uint64_t * sorted, uint32_t * indices) const
  {
    if (this->SortInOneBlock<uint32_t>(keys, number, bits, sorted, indices) ||
        this->SortInOneBlock<uint64_t>(keys, number, bits, sorted, indices))
    {
      return;
    }
    const Array<uint32_t> inOrder = this->Allocate<uint32_t>(number);
    this->ParallelFor(number, Iota{ inOrder.Get() });
    this->WithTemporaryMemory([&](void * memory, size_t & bytes) {
      return cub::DeviceRadixSort::SortPairs(
        memory, bytes, keys, sorted, inOrder.Get(), indices, static_cast<int>(number), 0, bits, m_Context.GetStream());
    });
  }

private:
  /** Loop executor with one launch per loop. The host knows neither how many work items the loops have nor
   * whether any are left. */
  struct LaunchExecutor
  {
    static constexpr bool IsCoarseGrained = false;

    const DeviceExecutor & Executor;

    static constexpr bool
    KnowsWhenDone()
    {
      return false;
    }
    template <typename TRound>
    bool
    IsOver(const TRound &) const
    {
      return false;
    }
    template <typename TFunctor>
    void
    ParallelForUpTo(size_t most, const TFunctor & functor) const
    {
      Executor.ParallelForUpTo(most, functor);
    }
    template <typename TFunctor>
    void
    ParallelForLongUpTo(size_t most, const TFunctor & functor) const
    {
      Executor.ParallelForLongUpTo(most, functor);
    }
  };

  template <typename... TParameters, typename... TArguments>
  void
  Launch(void (*kernel)(TParameters...), dim3 grid, unsigned int threads, const TArguments &... arguments) const
  {
    this->FlushFills();
    ITK_CUDA_CALL(LaunchKernel(kernel, grid, dim3(threads), 0, m_Context.GetStream(), arguments...));
  }

  /** Queues the deferred fills. */
  void
  FlushFills() const
  {
    constexpr unsigned int threads = 256;
    constexpr size_t       bytesOfThread = 4 * sizeof(uint4);
    constexpr size_t       maximumBlocks = 1024;
    const kernels::Fills   fills = std::exchange(m_Fills, kernels::Fills{});
    if (fills.Number == 1)
    {
      const kernels::Fills::Part & part = fills.Parts[0];
      ITK_CUDA_CALL(cudaMemsetAsync(part.Begin, part.Byte, part.NumberOfBytes, m_Context.GetStream()));
    }
    else if (fills.Number > 1)
    {
      size_t most = 0;
      for (unsigned int i = 0; i < fills.Number; ++i)
      {
        most = std::max(most, fills.Parts[i].NumberOfBytes);
      }
      dim3 grid = MakeGrid(std::min(maximumBlocks, most / (threads * bytesOfThread) + 1));
      grid.y = fills.Number;
      ITK_CUDA_CALL(LaunchKernel(kernels::FillKernel, grid, dim3(threads), 0, m_Context.GetStream(), fills));
    }
  }

  template <typename TFunction, typename T>
  void
  ScanInOneBlock(const TFunction & function, size_t number, T * sums, const kernels::HostSignal & signal) const
  {
    this->Launch(kernels::ExclusiveScanKernel<TFunction, T>,
                 dim3(1),
                 kernels::BlockScan::Threads,
                 function,
                 static_cast<uint32_t>(number),
                 sums,
                 signal);
  }

  /** Sorts in one block if the keys fit, and returns whether it did. Shorter key types allow more keys. */
  template <typename TKey>
  bool
  SortInOneBlock(const uint64_t * keys, size_t number, int bits, uint64_t * sorted, uint32_t * indices) const
  {
    using Sort = kernels::BlockSort<TKey>;
    const bool hasRoom = number <= Sort::MaximumNumberOfKeys && bits <= Sort::MaximumNumberOfBits;
    if (hasRoom)
    {
      this->Launch(kernels::ArgSortKernel<TKey>,
                   dim3(1),
                   Sort::Threads,
                   keys,
                   static_cast<uint32_t>(number),
                   bits,
                   sorted,
                   indices);
    }
    return hasRoom;
  }

  size_t
  CountConcurrentRuns() const
  {
    return std::max<size_t>(ConcurrentRuns::CountOf(m_Context.GetDevice()), 1);
  }
  /** Queues a cooperative launch. If several runs share the device, each gets a part of it, because a grid whose blocks
   * are all resident keeps others out. */
  template <typename TProgram>
  void
  LaunchInOneGrid(const TProgram & program, size_t passes, const kernels::HostSignal & signal) const
  {
    constexpr size_t threads = kernels::ThreadsOfLoopsInOneGrid;
    const size_t     concurrentRuns = this->CountConcurrentRuns();
    const size_t ofOne = concurrentRuns > 1 ? kernels::MaximumBlocksOfGrid<TProgram> : kernels::BlocksOfLoopsInOneGrid;
    const size_t most = std::max<size_t>(m_NumberOfMultiprocessors * ofOne / concurrentRuns, 1);
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = MakeGrid(std::clamp<size_t>((passes + threads - 1) / threads, 1, most));
    configuration.blockDim = dim3(kernels::ThreadsOfLoopsInOneGrid);
    configuration.stream = m_Context.GetStream();
    configuration.attrs = &cooperative;
    configuration.numAttrs = 1;
    this->FlushFills();
    ITK_CUDA_CALL((LaunchWithParameters<TProgram, kernels::HostSignal>(
      configuration, kernels::GridProgramKernel<TProgram>, program, signal)));
  }

  /** The last word of the pinned memory that the host and the device share. */
  static constexpr size_t FlagOffset = PinnedBuffer::ChunkSize - sizeof(uint32_t);
  /** For more bytes, a copy is faster than one block of threads. */
  static constexpr size_t MaximumBytesToSend = size_t{ 1 } << 16;
  static_assert(MaximumBytesToSend <= FlagOffset, "They have room before the mark");

  const region::DeviceSums & m_Sums;
  const bool                 m_Squares;
  const Context              m_Context;
  const size_t               m_NumberOfMultiprocessors;
  const PinnedBuffer         m_Exchange;
  mutable uint32_t           m_NumberOfSignals{ 0 }; // the value of the flag after the last signal
  mutable kernels::Fills     m_Fills{};              // deferred until the next work

  volatile uint32_t *
  GetFlag() const
  {
    return reinterpret_cast<volatile uint32_t *>(static_cast<char *>(m_Exchange.GetPointer()) + FlagOffset);
  }
  /** Makes the completion signal of the next kernel. */
  kernels::HostSignal
  MakeSignal() const
  {
    return { nullptr, nullptr, 0, this->GetFlag(), ++m_NumberOfSignals };
  }
  /** Makes a signal that also copies a value or an array to the host. The address must be a multiple of 4. */
  kernels::HostSignal
  MakeSignal(const void * value, size_t bytes) const
  {
    kernels::HostSignal signal = this->MakeSignal();
    signal.From = static_cast<const uint32_t *>(value);
    signal.To = static_cast<uint32_t *>(m_Exchange.GetPointer());
    signal.NumberOfBytes = static_cast<unsigned int>(bytes);
    return signal;
  }
  void
  Send(const void * value, size_t bytes) const
  {
    constexpr unsigned int threads = 256;
    this->Launch(kernels::SignalKernel, dim3(1), threads, this->MakeSignal(value, bytes));
  }
  /** Waits for the last signal and returns its value. */
  template <typename T>
  T
  Receive() const
  {
    this->WaitForFlag();
    return *static_cast<const T *>(m_Exchange.GetPointer());
  }
  void
  WaitForFlag() const
  {
    static const size_t processors = std::thread::hardware_concurrency();
    const bool          isCrowded = this->CountConcurrentRuns() > processors;
    const auto          hasCome = [this] { return *this->GetFlag() == m_NumberOfSignals; };
    while (!(isCrowded ? NapUntil(hasCome) : SpinUntil(hasCome)))
    {
      // If the kernel will never run (an error), the stream is not busy. cudaErrorNotReady must not stay in the
      // runtime, because other libraries ask for the last error.
      if (ITK_CUDA_CALL_NOTHROW(cudaStreamQuery(m_Context.GetStream())) != cudaErrorNotReady)
      {
        ITK_CUDA_CALL(cudaStreamSynchronize(m_Context.GetStream()));
        return;
      }
    }
    std::atomic_thread_fence(std::memory_order_acquire);
  }

  const DeviceBuffer m_HeapMemory; // may be empty
  mutable ArrayHeap  m_Heap{ m_HeapMemory.GetPointer(), m_HeapMemory.GetSize() };

  static DeviceBuffer
  MakeHeap(size_t bytes, const Context & context)
  {
    try
    {
      return DeviceBuffer(bytes, context);
    }
    catch (const CudaError & error)
    {
      if (error.GetKind() != CudaError::Kind::OutOfMemory)
      {
        throw;
      }
      return {}; // the arrays may still fit one by one
    }
  }

  /** Calls a CUB function twice: first to query the size of the temporary storage, then to run. */
  template <typename TCall>
  void
  WithTemporaryMemory(const TCall & call) const
  {
    size_t bytes = 0;
    ITK_CUDA_CALL(call(nullptr, bytes));
    const Array<char> memory = this->Allocate<char>(bytes);
    this->FlushFills();
    ITK_CUDA_CALL(call(memory.Get(), bytes));
  }
};
} // namespace itk::cuda::partition

#endif
