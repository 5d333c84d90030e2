// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Sums_cuh
#define CudaFilters_region_Sums_cuh

#include "region/Sums.h"
#include "region/DeviceSums.h"

#include <cstdint>
#include <nv/target>
#include <type_traits>

// The device's part of Sums.h: look-ups of samples and prefix sums, sums over the threads of a warp and over the edges
// of polygons, and the kernels that make the prefix sums. DeviceSums launches these kernels; the snake and the
// partition use the functions in kernels of their own.

namespace itk::cuda::region
{
namespace kernels
{
constexpr int      ThreadsPerBlock = 512;
constexpr int      WarpSize = 32;
constexpr int      WarpsPerBlock = ThreadsPerBlock / WarpSize;
constexpr unsigned AllLanes = 0xffffffffu;

__device__ inline int
LaneIndex()
{
  return static_cast<int>(threadIdx.x % WarpSize);
}
__device__ inline int
WarpOfBlock()
{
  return static_cast<int>(threadIdx.x / WarpSize);
}
__device__ inline int
WarpOfGrid()
{
  // Warps are numbered so that consecutive items go to different multiprocessors.
  return WarpOfBlock() * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
}
__device__ inline int
WarpsOfGrid()
{
  return static_cast<int>(gridDim.x) * WarpsPerBlock;
}

/** Uninitialised shared memory for objects of a type with a constructor. */
template <typename T, int VNumber = 1>
struct SharedStorage
{
  alignas(T) unsigned char Bytes[sizeof(T) * VNumber];

  __device__ T &
  Get(int i = 0)
  {
    return reinterpret_cast<T *>(Bytes)[i];
  }
};

/** Returns the sum over the lanes of the warp, modulo 2^32, in all lanes. */
__device__ inline uint32_t
SumOverWarp(uint32_t x)
{
  NV_IF_ELSE_TARGET(
    NV_PROVIDES_SM_80,
    (return __reduce_add_sync(AllLanes, x);),
    (for (int offset = WarpSize / 2; offset > 0; offset /= 2) { x += __shfl_xor_sync(AllLanes, x, offset); } return x;))
}

/** Returns the sum over the lanes of the warp, modulo 2^64, in all lanes. The numbers are split into pieces of 27 bits,
 * whose sums over 32 lanes fit into 32 bits. */
__device__ inline uint64_t
SumOverWarp(uint64_t x)
{
  constexpr uint32_t bits = 27;
  constexpr uint32_t mask = (1u << bits) - 1u;
  const uint64_t     low = SumOverWarp(static_cast<uint32_t>(x) & mask);
  const uint64_t     middle = SumOverWarp(static_cast<uint32_t>(x >> bits) & mask);
  const uint64_t     high = SumOverWarp(static_cast<uint32_t>(x >> (2 * bits)));
  return low + (middle << bits) + (high << (2 * bits));
}

/** Returns the minimum over the lanes of the warp, in all lanes. */
__device__ inline int32_t
MinimumOverWarp(int32_t x)
{
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80,
                    (return __reduce_min_sync(AllLanes, x);),
                    (for (int offset = WarpSize / 2; offset > 0;
                          offset /= 2) { x = Minimum(x, __shfl_xor_sync(AllLanes, x, offset)); } return x;))
}

__device__ inline Moments
SumOverWarp(const Moments & m)
{
  return { static_cast<int64_t>(SumOverWarp(static_cast<uint64_t>(m.Count))),
           SumOverWarp(m.Sum),
           SumOverWarp(m.SumOfSquares) };
}

/** Adds to a sum in memory with atomics. The sums are integers, so the result does not depend on the order. */
__device__ inline void
AtomicAdd(Moments & sum, const Moments & m)
{
  atomicAdd(reinterpret_cast<unsigned long long *>(&sum.Count), static_cast<unsigned long long>(m.Count));
  atomicAdd(reinterpret_cast<unsigned long long *>(&sum.Sum), static_cast<unsigned long long>(m.Sum));
  atomicAdd(reinterpret_cast<unsigned long long *>(&sum.SumOfSquares), static_cast<unsigned long long>(m.SumOfSquares));
}

/** Eight consecutive samples as they are stored in memory. */
template <typename TSample>
struct alignas(sizeof(TSample) == 4 ? 16 : 8 * sizeof(TSample)) EightSamples
{
  static constexpr int Number = 8;
  static constexpr int WordsPerVector = 2 * sizeof(TSample);
  uint32_t             Words[WordsPerVector];

  __device__ TSample
  Get(int j) const
  {
    constexpr int perWord = 4 / sizeof(TSample);
    constexpr int bits = 8 * sizeof(TSample);
    return static_cast<TSample>(Words[j / perWord] >> (j % perWord * bits % 32));
  }
};

__device__ inline EightSamples<uint8_t>
LoadEight(const uint8_t * samples)
{
  const uint2 v = __ldg(reinterpret_cast<const uint2 *>(samples));
  return { { v.x, v.y } };
}
__device__ inline EightSamples<uint16_t>
LoadEight(const uint16_t * samples)
{
  const uint4 v = __ldg(reinterpret_cast<const uint4 *>(samples));
  return { { v.x, v.y, v.z, v.w } };
}
__device__ inline EightSamples<uint32_t>
LoadEight(const uint32_t * samples)
{
  const uint4 v = __ldg(reinterpret_cast<const uint4 *>(samples));
  const uint4 w = __ldg(reinterpret_cast<const uint4 *>(samples) + 1);
  return { { v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w } };
}

/** Applies the exclusive or with `xorMask` to eight samples, keeps the first `number` of them, and sets the others to
 * 0. With `others`, it keeps the others and sets the first ones to 0 instead. */
template <typename TSample>
__device__ inline EightSamples<TSample>
KeepSamples(EightSamples<TSample> samples, int32_t number, bool others, TSample xorMask)
{
  constexpr int      bits = 8 * sizeof(TSample);
  constexpr uint32_t everySample = 0xffffffffu / static_cast<TSample>(~TSample{ 0 });
  const uint32_t     flips = xorMask * everySample;
  const uint32_t     inverse = others ? 0xffffffffu : 0u;
#pragma unroll
  for (int word = 0; word < EightSamples<TSample>::WordsPerVector; ++word)
  {
    const int      left = bits * number - 32 * word;                                              // bits to keep
    const uint32_t mask = __funnelshift_lc(0xffffffffu, 0u, static_cast<uint32_t>(max(left, 0))); // the first of 32
    samples.Words[word] = (samples.Words[word] ^ flips) & (mask ^ inverse);
  }
  return samples;
}

__device__ inline uint32_t
SumSamples(const EightSamples<uint8_t> & samples)
{
  constexpr uint32_t ones = 0x01010101u;
  return __dp4a(samples.Words[0], ones, __dp4a(samples.Words[1], ones, 0u));
}
__device__ inline uint32_t
SumSamples(const EightSamples<uint16_t> & samples)
{
  constexpr uint32_t ones = 0x0101u;
  uint32_t           sum = 0;
#pragma unroll
  for (const uint32_t word : samples.Words)
  {
    sum = __dp2a_lo(word, ones, sum);
  }
  return sum;
}
__device__ inline uint64_t
SumSamples(const EightSamples<uint32_t> & samples)
{
  uint64_t sum = 0;
#pragma unroll
  for (const uint32_t word : samples.Words)
  {
    sum += word;
  }
  return sum;
}

/** Pixels in device memory. Rows must begin at addresses that are aligned for LoadEight(). A look-up of a row prefix
 * has two parts, Fetch(), which loads, and Resolve(), which computes, so that the loads of several look-ups can be in
 * flight at the same time. */
template <typename TSample, bool VMask>
struct DevicePixels : RowPrefixImage<TSample, true, VMask>
{
  using Base = RowPrefixImage<TSample, true, VMask>;
  using SampleType = TSample;
  static constexpr bool HasMask = VMask;

  struct Lookup
  {
    ulonglong2            Sums; // of the row's samples before the checkpoint
    EightSamples<TSample> Samples;
    uint2                 Mask;
    int32_t               Y;
    int32_t               Column;
  };

  __device__ Lookup
  Fetch(int32_t y, int32_t column) const
  {
    const int32_t block = this->BlockOf(column);
    const size_t  row = static_cast<size_t>(y) * Base::CheckpointsPerRow;
    Lookup        lookup;
    lookup.Y = y;
    lookup.Column = column;
    lookup.Sums = __ldg(reinterpret_cast<const ulonglong2 *>(Base::Checkpoints + row + block));
    lookup.Samples = LoadEight(Base::Samples + y * Base::RowStride + FirstSample(column, block));
    lookup.Mask =
      VMask ? __ldg(reinterpret_cast<const uint2 *>(Base::Mask + row + column / CheckpointSpacing)) : uint2{ 0, 0 };
    return lookup;
  }

  /** Returns the sums of the pixels x < column of row y. Without VSquares, the sum of squares is 0. */
  template <bool VSquares = true>
  __device__ Moments
  Resolve(const Lookup & lookup) const
  {
    const int32_t block = this->BlockOf(lookup.Column);
    const int32_t first = FirstSample(lookup.Column, block);
    const bool    before = first < block * CheckpointSpacing;
    const int32_t offset = lookup.Column - first; // within the eight samples, or after them
    const auto    kept = KeepSamples(lookup.Samples, offset, before, static_cast<TSample>(Base::XorMask));
    uint64_t      sum = SumSamples(kept);
    uint64_t      squares = 0;
    if constexpr (VSquares)
    {
#pragma unroll
      for (int32_t j = 0; j < EightSamples<TSample>::Number; ++j)
      {
        squares += static_cast<uint64_t>(kept.Get(j)) * kept.Get(j);
      }
    }
    for (int32_t j = EightSamples<TSample>::Number; j < offset; ++j) // only after the last checkpoint of a row
    {
      const uint64_t sample =
        static_cast<TSample>(Base::Samples[lookup.Y * Base::RowStride + first + j] ^ Base::XorMask);
      sum += sample;
      squares += VSquares ? sample * sample : 0;
    }
    Moments moments{ lookup.Column, lookup.Sums.x + (before ? 0 - sum : sum), 0 };
    if constexpr (VSquares)
    {
      moments.SumOfSquares = lookup.Sums.y + (before ? 0 - squares : squares);
    }
    if (VMask)
    {
      const uint32_t below = (1u << lookup.Column % CheckpointSpacing) - 1u;
      moments.Count = lookup.Mask.x + __popc(lookup.Mask.y & below);
    }
    return moments;
  }

  __device__ Moments
  RowPrefix(int32_t y, int32_t column) const
  {
    return this->Resolve(this->Fetch(y, column));
  }

  /** Returns RowPrefix() of a column that is a multiple of CheckpointSpacing. No sample is read. */
  __device__ Moments
  CheckpointPrefix(int32_t y, int32_t column) const
  {
    const size_t     at = static_cast<size_t>(y) * Base::CheckpointsPerRow + column / CheckpointSpacing;
    const ulonglong2 sums = __ldg(reinterpret_cast<const ulonglong2 *>(Base::Checkpoints + at));
    return { VMask ? static_cast<int64_t>(Base::Mask[at].Count) : column, sums.x, sums.y };
  }

private:
  /** Returns the index of the nearest checkpoint. */
  __device__ int32_t
  BlockOf(int32_t column) const
  {
    const int32_t block = (column + CheckpointSpacing / 2) / CheckpointSpacing;
    return block - (block >= Base::CheckpointsPerRow ? 1 : 0);
  }

  /** Returns the column of the first of the eight samples to load. They are the samples after the checkpoint if the
   * column lies after it or if the checkpoint is the first one. Otherwise they are the samples before it, which exist
   * also at the end of a row. */
  static __device__ int32_t
  FirstSample(int32_t column, int32_t block)
  {
    const int32_t at = block * CheckpointSpacing;
    return column > at || block == 0 ? at : at - EightSamples<TSample>::Number;
  }
};

/** Cells in device memory, with look-ups in two parts like DevicePixels. */
struct DeviceCells : BlockLevel
{
  using Lookup = Moments;

  __device__ Lookup
  Fetch(int32_t y, int32_t column) const
  {
    return this->RowPrefix(y, column);
  }
  __device__ Moments
  Resolve(const Lookup & lookup) const
  {
    return lookup;
  }
};

/** Computes the contribution of the rows row, row + stride, ... of an edge, like SumEdgeRows(), in steps of several
 * rows. */
template <typename TLevel>
class EdgeRows
{
public:
  /** Begins at the row `row` of the edge. `left` is the first column of the level in the image. */
  __device__
  EdgeRows(const LatticeEdge & edge, int32_t left, int32_t row, int32_t stride)
    : m_Walker({ { left + edge.Top.X, edge.Top.Y }, edge.DeltaX, Maximum(1, edge.NumberOfRows), edge.Upward },
               row,
               stride)
    , m_Top(edge.Top.Y)
    , m_Row(row)
    , m_Stride(stride)
    , m_NumberOfRows(edge.NumberOfRows)
    , m_Upward(edge.Upward)
  {}

  __device__ bool
  HasNext() const
  {
    return m_Row < m_NumberOfRows;
  }

  /** Loads the prefix sums that the next step adds. */
  __device__ void
  Fetch(const TLevel & level)
  {
#pragma unroll
    for (int32_t b = 0; b < Batch; ++b)
    {
      // Rows beyond the end of the edge look up column 0 of the image, where the prefix sum is zero.
      const int32_t row = m_Row + b * m_Stride;
      const bool    inside = row < m_NumberOfRows;
      m_Lookups[b] = level.Fetch(m_Top + (inside ? row : m_Row), inside ? m_Walker.GetColumn() : 0);
      m_Walker.Advance();
    }
    m_Row += Batch * m_Stride;
  }
  __device__ void
  Resolve(const TLevel & level)
  {
#pragma unroll
    for (int32_t b = 0; b < Batch; ++b)
    {
      m_Sum += level.Resolve(m_Lookups[b]);
    }
  }

  __device__ Moments
  GetSum() const
  {
    return m_Upward ? Moments{} - m_Sum : m_Sum;
  }

private:
  static constexpr int32_t Batch = 2;

  CrossingWalker          m_Walker;
  int32_t                 m_Top;
  int32_t                 m_Row;
  int32_t                 m_Stride;
  int32_t                 m_NumberOfRows;
  bool                    m_Upward;
  typename TLevel::Lookup m_Lookups[Batch];
  Moments                 m_Sum;
};

/** Returns the contribution of the rows row, row + stride, ... of both edges of a chain. The loads for both edges are
 * in flight at the same time. */
template <typename TLevel>
__device__ Moments
SumChainRows(const TLevel & level, const LatticeChain & chain, int32_t row, int32_t stride)
{
  EdgeRows<TLevel> first(MakeEdge(chain.Before, chain.At), level.Left, row, stride);
  EdgeRows<TLevel> second(MakeEdge(chain.At, chain.After), level.Left, row, stride);
  while (true)
  {
    const bool firstHasNext = first.HasNext();
    const bool secondHasNext = second.HasNext();
    if (!firstHasNext && !secondHasNext)
    {
      return first.GetSum() + second.GetSum();
    }
    if (firstHasNext)
    {
      first.Fetch(level);
    }
    if (secondHasNext)
    {
      second.Fetch(level);
    }
    if (firstHasNext)
    {
      first.Resolve(level);
    }
    if (secondHasNext)
    {
      second.Resolve(level);
    }
  }
}

/** The rows First to End - 1 of pixels or cells. */
struct RowRange
{
  int32_t First;
  int32_t End;
};

/** Returns the sums of the samples between a checkpoint and the next one. */
template <typename TSample, bool VMask>
__device__ Moments
SumBlock(const DevicePixels<TSample, VMask> & pixels, const TSample * row, int32_t block)
{
  using Wide = std::conditional_t<sizeof(TSample) == 4, uint64_t, uint32_t>;
  constexpr int32_t vector = EightSamples<TSample>::Number;
  Wide              sum = 0;
  Moments           moments;
#pragma unroll
  for (int32_t offset = 0; offset < CheckpointSpacing; offset += vector)
  {
    const int32_t first = block * CheckpointSpacing + offset;
    if (first < pixels.Width)
    {
      const EightSamples<TSample> samples = LoadEight(row + first);
#pragma unroll
      for (int32_t j = 0; j < vector; ++j)
      {
        const Wide sample = first + j < pixels.Width ? static_cast<TSample>(samples.Get(j) ^ pixels.XorMask) : 0;
        sum += sample;
        moments.SumOfSquares += static_cast<uint64_t>(sample) * sample;
      }
    }
  }
  moments.Sum = sum;
  return moments;
}

/** Returns inclusive prefix sums over the lanes of the warp. */
template <bool VMask>
__device__ Moments
PrefixOverWarp(Moments prefix)
{
  for (int offset = 1; offset < WarpSize; offset *= 2)
  {
    Moments other;
    other.Count = VMask ? __shfl_up_sync(AllLanes, static_cast<unsigned int>(prefix.Count), offset) : 0;
    other.Sum = __shfl_up_sync(AllLanes, static_cast<unsigned long long>(prefix.Sum), offset);
    other.SumOfSquares = __shfl_up_sync(AllLanes, static_cast<unsigned long long>(prefix.SumOfSquares), offset);
    prefix += LaneIndex() >= offset ? other : Moments{};
  }
  return prefix;
}

/** Broadcasts the value of the last lane. */
template <bool VMask>
__device__ Moments
LastOfWarp(const Moments & m)
{
  constexpr int last = WarpSize - 1;
  return { VMask ? __shfl_sync(AllLanes, static_cast<unsigned int>(m.Count), last) : 0,
           __shfl_sync(AllLanes, static_cast<unsigned long long>(m.Sum), last),
           __shfl_sync(AllLanes, static_cast<unsigned long long>(m.SumOfSquares), last) };
}

/** Number of rows of a block of SumRowsKernel(). Cells with this number of pixels a side begin and end at checkpoints.
 */
constexpr int RowsOfBlock = CheckpointSpacing;
constexpr int WarpsOfRows = 8;
constexpr int RowsOfWarp = RowsOfBlock / WarpsOfRows;

/** Computes the checkpoints of a range of rows, and the checkpoints of the mask if there is one. Each warp walks along
 * its rows. The sums of the rows are added to `total`. If `cellPrefixes` is not null, the prefix sums of cells of
 * RowsOfBlock pixels a side are stored there, because the checkpoints that they need are available in shared memory. */
template <typename TSample, bool VMask>
__global__ void
__launch_bounds__(WarpsOfRows * WarpSize) SumRowsKernel(DevicePixels<TSample, VMask> pixels,
                                                        RowRange                     rows,
                                                        Checkpoint *                 checkpoints,
                                                        MaskCheckpoint *             mask,
                                                        const uint16_t *             validBits,
                                                        DeviceCells                  cells,
                                                        Moments *                    cellPrefixes,
                                                        Moments *                    total)
{
  // Double buffer: other warps may already write the next step while one warp sums the current step.
  __shared__ SharedStorage<Moments, RowsOfBlock * WarpSize> prefixes[2];
  const int32_t firstRow = rows.First + static_cast<int32_t>(blockIdx.x) * RowsOfBlock;
  const int32_t cellRow = firstRow / RowsOfBlock;
  const bool    makesCells = cellPrefixes && cellRow < cells.Height;
  Moments       carry[RowsOfWarp];
  for (int32_t base = 0; base < pixels.CheckpointsPerRow; base += WarpSize)
  {
    const int32_t block = base + LaneIndex();
    const int32_t step = base / WarpSize;
    Moments       own[RowsOfWarp];
#pragma unroll
    for (int r = 0; r < RowsOfWarp; ++r)
    {
      const int32_t y = firstRow + WarpOfBlock() + r * WarpsOfRows;
      if (y < rows.End && block < pixels.CheckpointsPerRow)
      {
        own[r] = SumBlock(pixels, pixels.Samples + y * pixels.RowStride, block);
        own[r].Count = VMask ? CountBits(validBits[static_cast<size_t>(y) * pixels.CheckpointsPerRow + block]) : 0;
      }
    }
#pragma unroll
    for (int r = 0; r < RowsOfWarp; ++r)
    {
      const int     row = WarpOfBlock() + r * WarpsOfRows;
      const int32_t y = firstRow + row;
      const Moments inclusive = PrefixOverWarp<VMask>(own[r]);
      Moments       prefix = carry[r] + inclusive - own[r];
      carry[r] += LastOfWarp<VMask>(inclusive);
      if (y < rows.End && block < pixels.CheckpointsPerRow)
      {
        const size_t at = static_cast<size_t>(y) * pixels.CheckpointsPerRow + block;
        checkpoints[at] = { prefix.Sum, prefix.SumOfSquares };
        if (VMask)
        {
          mask[at] = { static_cast<uint32_t>(prefix.Count), validBits[at] };
        }
      }
      if (makesCells)
      {
        prefix.Count = VMask ? prefix.Count : block * CheckpointSpacing;
        prefixes[step % 2].Get(row * WarpSize + LaneIndex()) = prefix;
      }
    }
    if (makesCells)
    {
      __syncthreads();
      if (WarpOfBlock() == step % WarpsOfRows && block <= cells.Width)
      {
        Moments sum;
        for (int row = 0; row < RowsOfBlock; ++row)
        {
          sum += prefixes[step % 2].Get(row * WarpSize + LaneIndex());
        }
        cellPrefixes[static_cast<size_t>(cellRow) * (cells.Width + 1) + block] = sum;
      }
    }
  }
  Moments sum;
  for (int r = 0; r < RowsOfWarp; ++r)
  {
    const bool exists = firstRow + WarpOfBlock() + r * WarpsOfRows < rows.End;
    carry[r].Count = VMask || !exists ? carry[r].Count : pixels.Width;
    sum += carry[r];
  }
  if (LaneIndex() == 0)
  {
    AtomicAdd(*total, sum);
  }
}

/** Computes the prefix sums of a range of rows of cells. One thread computes a value. */
template <typename TSample, bool VMask>
__global__ void
SumCellsKernel(DevicePixels<TSample, VMask> pixels,
               uint32_t                     exponent,
               DeviceCells                  cells,
               RowRange                     rows,
               Moments *                    prefixes)
{
  const int32_t x = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const int32_t side = 1 << exponent;
  if (x > cells.Width)
  {
    return;
  }
  const bool atCheckpoints = side % CheckpointSpacing == 0 && pixels.Left % CheckpointSpacing == 0;
  const auto prefixOf = [&](int32_t y, int32_t column) {
    return atCheckpoints ? pixels.CheckpointPrefix(y, column) : pixels.RowPrefix(y, column);
  };
  for (int32_t row = rows.First + static_cast<int32_t>(blockIdx.y); row < rows.End;
       row += static_cast<int32_t>(gridDim.y))
  {
    Moments sum;
#pragma unroll 8
    for (int32_t y = row * side; y < (row + 1) * side; ++y)
    {
      sum += prefixOf(y, pixels.Left + x * side);
      sum -= pixels.Left > 0 ? prefixOf(y, pixels.Left) : Moments{};
    }
    prefixes[static_cast<size_t>(row) * (cells.Width + 1) + x] = sum;
  }
}

/** Adds the sums of the pixels of the rows first, first + stride, ... of a level to `total`. Called by whole warps. */
template <typename TSample, bool VMask>
__device__ void
AddPixels(const DevicePixels<TSample, VMask> & pixels, int first, int stride, Moments & total)
{
  Moments sum;
  for (int y = first; y < pixels.Height; y += stride)
  {
    sum += pixels.RowPrefix(y, pixels.Left + pixels.Width) - pixels.RowPrefix(y, pixels.Left);
  }
  sum = SumOverWarp(sum);
  if (LaneIndex() == 0)
  {
    AtomicAdd(total, sum);
  }
}

/** Adds the contributions of the edges first, first + stride, ... of a polygon to `sums`. Called by a whole warp. */
template <typename TLevel>
__device__ void
AddEdges(const TLevel & level, const LatticePoint * polygon, int n, int first, int stride, Moments & sums)
{
  for (int i = first; i < n; i += stride)
  {
    const LatticePoint after = polygon[Next(i, n)];
    const Moments      sum = SumOverWarp(SumChainRows(level, { polygon[i], after, after }, LaneIndex(), WarpSize));
    if (LaneIndex() == 0)
    {
      AtomicAdd(sums, sum);
    }
  }
}

/** Adds the sums of all pixels of a level to `total`. One thread handles a row. */
template <typename TSample, bool VMask>
__global__ void
__launch_bounds__(ThreadsPerBlock) SumPixelsKernel(DevicePixels<TSample, VMask> pixels, Moments * total)
{
  const int first = static_cast<int>(blockIdx.x) * ThreadsPerBlock + static_cast<int>(threadIdx.x);
  AddPixels(pixels, first, static_cast<int>(gridDim.x) * ThreadsPerBlock, *total);
}

/** Adds the sums inside a polygon to `sums`. One warp handles an edge. */
template <typename TLevel>
__global__ void
SumPolygonKernel(TLevel level, const LatticePoint * polygon, int n, Moments * sums)
{
  AddEdges(level, polygon, n, WarpOfGrid(), WarpsOfGrid(), *sums);
}
} // namespace kernels

/** Returns the pixels of a rectangle as an argument for kernels. */
template <typename TSample, bool VMask>
kernels::DevicePixels<TSample, VMask>
GetPixels(const DeviceSums & sums, const PixelRectangle & rectangle)
{
  const SamplesDescription &            description = sums.GetDescription();
  kernels::DevicePixels<TSample, VMask> pixels{};
  pixels.Samples = static_cast<const TSample *>(sums.GetSamples());
  pixels.RowStride = sums.GetRowStride();
  pixels.Checkpoints = sums.GetCheckpoints();
  pixels.Mask = sums.GetMask();
  pixels.CheckpointsPerRow = description.Width / CheckpointSpacing + 1;
  pixels.XorMask = static_cast<TSample>(description.XorMask);
  pixels.Crop(rectangle);
  return pixels;
}

/** Returns function(sample, masked), where `sample` has the type of the samples, and `masked` is a std::bool_constant
 * that says whether there is a mask. */
template <typename TFunction>
auto
VisitSamples(const DeviceSums & sums, const TFunction & function)
{
  const auto visit = [&](auto sample) {
    return sums.GetMask() ? function(sample, std::true_type()) : function(sample, std::false_type());
  };
  switch (sums.GetDescription().Type)
  {
    case CudaComponentType::UChar:
      return visit(uint8_t{});
    case CudaComponentType::UShort:
      return visit(uint16_t{});
    default:
      return visit(uint32_t{});
  }
}
} // namespace itk::cuda::region

#endif
