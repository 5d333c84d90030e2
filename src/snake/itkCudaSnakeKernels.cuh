// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeKernels_cuh
#define itkCudaSnakeKernels_cuh

#include "itkCudaSnakeControl.h"
#include "itkCudaSnakeCore.h"
#include "itkCudaSnakeStart.h"

#include <cooperative_groups.h>

#include <cstdint>

namespace itk::cuda
{
namespace kernels
{
constexpr int      ThreadsPerBlock = 512;
constexpr int      WarpSize = 32;
constexpr int      WarpsPerBlock = ThreadsPerBlock / WarpSize;
constexpr unsigned AllLanes = 0xffffffffu;

// One more than the candidates: the edges as they are.
constexpr int ItemsPerNode = MaximumCandidates + 1;
// Long edges are summed by up to so many warps each.
constexpr int MaximumSplit = 8;

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
  // Consecutive items go to different multiprocessors.
  return WarpOfBlock() * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
}
__device__ inline int
WarpsOfGrid()
{
  return static_cast<int>(gridDim.x) * WarpsPerBlock;
}

/** Shared memory for objects of a type whose constructor is not to run there. */
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

/** Sum over the lanes of the warp, in all of them. */
__device__ inline Moments
SumOverWarp(Moments m)
{
  for (int offset = WarpSize / 2; offset > 0; offset /= 2)
  {
    m.Count += __shfl_xor_sync(AllLanes, static_cast<long long>(m.Count), offset);
    m.Sum += __shfl_xor_sync(AllLanes, static_cast<unsigned long long>(m.Sum), offset);
    m.SumOfSquares += __shfl_xor_sync(AllLanes, static_cast<unsigned long long>(m.SumOfSquares), offset);
  }
  return m;
}

/** Adds to a sum in memory; exact in any order. */
__device__ inline void
AtomicAdd(Moments & sum, const Moments & m)
{
  atomicAdd(reinterpret_cast<unsigned long long *>(&sum.Count), static_cast<unsigned long long>(m.Count));
  atomicAdd(reinterpret_cast<unsigned long long *>(&sum.Sum), static_cast<unsigned long long>(m.Sum));
  atomicAdd(reinterpret_cast<unsigned long long *>(&sum.SumOfSquares), static_cast<unsigned long long>(m.SumOfSquares));
}

/** Sums of one edge, by a warp; in all lanes. */
template <typename TLevel>
__device__ Moments
SumEdgeByWarp(const TLevel & level, const LatticePoint & p, const LatticePoint & q)
{
  return SumOverWarp(SumEdgeRows(level, MakeEdge(p, q), LaneIndex(), WarpSize));
}

/** Checkpoints of the rows, one block per row; with a mask also its checkpoints. */
template <typename TSample, bool VMask>
__global__ void
__launch_bounds__(ThreadsPerBlock) SumRowsKernel(PixelLevel<TSample, true, VMask> pixels,
                                                 Checkpoint *                     checkpoints,
                                                 MaskCheckpoint *                 mask,
                                                 const uint16_t *                 validBits)
{
  __shared__ SharedStorage<Moments, WarpsPerBlock> warpSums;
  for (int32_t y = static_cast<int32_t>(blockIdx.x); y < pixels.Height; y += static_cast<int32_t>(gridDim.x))
  {
    const TSample * row = pixels.Samples + y * pixels.RowStride;
    const size_t    firstCheckpoint = static_cast<size_t>(y) * pixels.CheckpointsPerRow;
    Moments         carry;
    for (int32_t base = 0; base < pixels.CheckpointsPerRow; base += ThreadsPerBlock)
    {
      const int32_t block = base + static_cast<int32_t>(threadIdx.x);
      Moments       own;
      if (block < pixels.CheckpointsPerRow)
      {
        const int32_t first = block * CheckpointSpacing;
        const int32_t last = Minimum(first + CheckpointSpacing, pixels.Width);
        for (int32_t x = first; x < last; ++x)
        {
          const uint64_t sample = static_cast<TSample>(row[x] ^ pixels.Flip);
          own.Sum += sample;
          own.SumOfSquares += sample * sample;
        }
        own.Count = VMask ? CountBits(validBits[firstCheckpoint + block]) : 0;
      }
      // Exclusive prefix: within the warp, then over the warps.
      Moments prefix = own;
      for (int offset = 1; offset < WarpSize; offset *= 2)
      {
        Moments other;
        other.Count = __shfl_up_sync(AllLanes, static_cast<long long>(prefix.Count), offset);
        other.Sum = __shfl_up_sync(AllLanes, static_cast<unsigned long long>(prefix.Sum), offset);
        other.SumOfSquares = __shfl_up_sync(AllLanes, static_cast<unsigned long long>(prefix.SumOfSquares), offset);
        prefix += LaneIndex() >= offset ? other : Moments{};
      }
      if (LaneIndex() == WarpSize - 1)
      {
        warpSums.Get(WarpOfBlock()) = prefix;
      }
      __syncthreads();
      prefix += carry - own;
      for (int warp = 0; warp < WarpsPerBlock; ++warp)
      {
        prefix += warp < WarpOfBlock() ? warpSums.Get(warp) : Moments{};
        carry += warpSums.Get(warp);
      }
      if (block < pixels.CheckpointsPerRow)
      {
        checkpoints[firstCheckpoint + block] = { prefix.Sum, prefix.SumOfSquares };
        if (VMask)
        {
          mask[firstCheckpoint + block] = { static_cast<uint32_t>(prefix.Count), validBits[firstCheckpoint + block] };
        }
      }
      __syncthreads();
    }
  }
}

/** Sum of all pixels, added to `total`. */
template <typename TSample, bool VMask>
__global__ void
SumTotalKernel(PixelLevel<TSample, true, VMask> pixels, Moments * total)
{
  Moments sum;
  for (int32_t y = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x); y < pixels.Height;
       y += static_cast<int32_t>(gridDim.x * blockDim.x))
  {
    sum += pixels.RowPrefix(y, pixels.Width);
  }
  sum = SumOverWarp(sum);
  if (LaneIndex() == 0)
  {
    AtomicAdd(*total, sum);
  }
}

/** Prefixes of the cells, one thread per value. */
template <typename TSample, bool VMask>
__global__ void
SumCellsKernel(PixelLevel<TSample, true, VMask> pixels, uint32_t exponent, BlockLevel cells, Moments * prefixes)
{
  const int32_t x = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const int32_t side = 1 << exponent;
  if (x > cells.Width)
  {
    return;
  }
  for (int32_t row = static_cast<int32_t>(blockIdx.y); row < cells.Height; row += static_cast<int32_t>(gridDim.y))
  {
    Moments sum;
    for (int32_t y = row * side; y < (row + 1) * side; ++y)
    {
      sum += pixels.RowPrefix(y, x * side);
    }
    prefixes[static_cast<size_t>(row) * (cells.Width + 1) + x] = sum;
  }
}

/** Sums of the grid's cells left of each line of columns, one block per row of grid cells and one warp per line. */
template <typename TLevel>
__global__ void
SumGridRowsKernel(TLevel level, RectangleGrid grid, Moments * table)
{
  const int32_t row = static_cast<int32_t>(blockIdx.x);
  for (int32_t line = WarpOfBlock(); line <= grid.Columns; line += static_cast<int32_t>(blockDim.x) / WarpSize)
  {
    Moments sum;
    for (int32_t y = grid.GetRow(row) + LaneIndex(); y < grid.GetRow(row + 1); y += WarpSize)
    {
      sum += level.RowPrefix(y, grid.GetColumn(line));
    }
    sum = SumOverWarp(sum);
    if (LaneIndex() == 0)
    {
      table[(row + 1) * (grid.Columns + 1) + line] = sum;
    }
  }
}

/** Adds up the rows of the table; one thread per column. The first row is zero. */
static __global__ void
SumGridColumnsKernel(RectangleGrid grid, Moments * table)
{
  const int32_t line = static_cast<int32_t>(threadIdx.x);
  if (line <= grid.Columns)
  {
    Moments sum;
    for (int32_t row = 0; row <= grid.Rows; ++row)
    {
      sum += row > 0 ? table[row * (grid.Columns + 1) + line] : Moments{};
      table[row * (grid.Columns + 1) + line] = sum;
    }
  }
}

struct FoundRectangle
{
  double  Criterion;
  int64_t Number; // -1: none
};

__device__ inline bool
IsBetter(const FoundRectangle & x, const FoundRectangle & y)
{
  return x.Number >= 0 &&
         (y.Number < 0 || x.Criterion < y.Criterion || (x.Criterion == y.Criterion && x.Number < y.Number));
}

/** The best rectangle of each block, which takes the pairs of rows blockIdx.x, blockIdx.x + gridDim.x, ... */
static __global__ void
__launch_bounds__(ThreadsPerBlock) SearchRectanglesKernel(RectangleGrid    grid,
                                                          const Moments *  table,
                                                          LawDescription   law,
                                                          Moments          total,
                                                          int64_t          minimumRegionSize,
                                                          FoundRectangle * found)
{
  __shared__ FoundRectangle bestOfWarps[WarpsPerBlock];
  FoundRectangle            best{ 0.0, -1 };
  const int32_t             columnPairs = grid.GetNumberOfColumnPairs();
  for (int32_t rowPair = static_cast<int32_t>(blockIdx.x); rowPair < grid.GetNumberOfRowPairs();
       rowPair += static_cast<int32_t>(gridDim.x))
  {
    int32_t y0, y1;
    RectangleGrid::GetPair(rowPair, y0, y1);
    for (int32_t columnPair = static_cast<int32_t>(threadIdx.x); columnPair < columnPairs;
         columnPair += ThreadsPerBlock)
    {
      int32_t x0, x1;
      RectangleGrid::GetPair(columnPair, x0, x1);
      const Moments target = grid.Sum(table, x0, y0, x1, y1);
      if (target.Count >= minimumRegionSize && total.Count - target.Count >= minimumRegionSize)
      {
        const FoundRectangle candidate{ Criterion(law, target, total),
                                        static_cast<int64_t>(rowPair) * columnPairs + columnPair };
        best = IsBetter(candidate, best) ? candidate : best;
      }
    }
  }
  for (int offset = WarpSize / 2; offset > 0; offset /= 2)
  {
    const FoundRectangle other{ __shfl_xor_sync(AllLanes, best.Criterion, offset),
                                __shfl_xor_sync(AllLanes, static_cast<long long>(best.Number), offset) };
    best = IsBetter(other, best) ? other : best;
  }
  if (LaneIndex() == 0)
  {
    bestOfWarps[WarpOfBlock()] = best;
  }
  __syncthreads();
  if (threadIdx.x == 0)
  {
    for (const FoundRectangle & other : bestOfWarps)
    {
      best = IsBetter(other, best) ? other : best;
    }
    found[blockIdx.x] = best;
  }
}

/** Sums of a polygon, added to `sums`; one warp per edge. */
template <typename TLevel>
__global__ void
SumPolygonKernel(TLevel level, const LatticePoint * polygon, int n, Moments * sums)
{
  for (int i = WarpOfGrid(); i < n; i += WarpsOfGrid())
  {
    const Moments sum = SumEdgeByWarp(level, polygon[i], polygon[Next(i, n)]);
    if (LaneIndex() == 0)
    {
      AtomicAdd(*sums, sum);
    }
  }
}
} // namespace kernels
} // namespace itk::cuda

#endif
