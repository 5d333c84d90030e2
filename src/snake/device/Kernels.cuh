// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_Kernels_cuh
#define CudaFilters_snake_device_Kernels_cuh

#include "region/Sums.cuh"
#include "snake/Control.h"
#include "snake/Core.h"
#include "snake/Start.h"

#include <cooperative_groups.h>

#include <cstdint>

// Kernels that search for the rectangle from which the snake starts, before the kernel of its phases
// (snake/device/Loop.cuh).

namespace itk::cuda::snake
{
namespace kernels
{
using namespace region::kernels;

// One for each candidate, and one for the current edges.
constexpr int MaximumItemsPerNode = MaximumCandidates + 1;

/** Computes, for each row of grid cells, the sums left of each vertical grid line. One warp handles a row and a line.
 */
template <typename TLevel>
__global__ void
SumGridRowsKernel(TLevel level, RectangleGrid grid, Moments * table)
{
  const int32_t row = static_cast<int32_t>(blockIdx.x);
  const int32_t line = static_cast<int32_t>(blockIdx.y) * WarpsPerBlock + WarpOfBlock();
  if (line > grid.Columns)
  {
    return;
  }
  Moments sum;
  for (int32_t y = grid.GetRow(row) + LaneIndex(); y < grid.GetRow(row + 1); y += WarpSize)
  {
    sum += level.RowPrefix(y, level.Left + grid.GetColumn(line));
  }
  sum = SumOverWarp(sum);
  if (LaneIndex() == 0)
  {
    table[row * (grid.Columns + 1) + line] = sum;
  }
}

/** Finds the best rectangle of each block. A block searches the pairs of horizontal grid lines blockIdx.x, blockIdx.x +
 * gridDim.x, ... */
static __global__ void
__launch_bounds__(ThreadsPerBlock) SearchRectanglesKernel(RectangleGrid    grid,
                                                          const Moments *  table,
                                                          LawDescription   law,
                                                          Moments          total,
                                                          int64_t          minimumRegionSize,
                                                          FoundRectangle * found)
{
  __shared__ FoundRectangle bestOfWarps[WarpsPerBlock];
  __shared__ SharedStorage<Moments, MaximumRectangleGridSize + 1> strip; // sums of rows y0 to y1 - 1 left of lines
  FoundRectangle                                                  best{ 0.0, -1 };
  const int32_t                                                   columnPairs = grid.GetNumberOfColumnPairs();
  for (int32_t rowPair = static_cast<int32_t>(blockIdx.x); rowPair < grid.GetNumberOfRowPairs();
       rowPair += static_cast<int32_t>(gridDim.x))
  {
    int32_t y0, y1;
    RectangleGrid::GetPair(rowPair, y0, y1);
    __syncthreads();
    for (int32_t line = WarpOfBlock(); line <= grid.Columns; line += WarpsPerBlock)
    {
      Moments sum;
      for (int32_t row = y0 + LaneIndex(); row < y1; row += WarpSize)
      {
        sum += table[row * (grid.Columns + 1) + line];
      }
      sum = SumOverWarp(sum);
      if (LaneIndex() == 0)
      {
        strip.Get(line) = sum;
      }
    }
    __syncthreads();
    for (int32_t columnPair = static_cast<int32_t>(threadIdx.x); columnPair < columnPairs;
         columnPair += ThreadsPerBlock)
    {
      int32_t x0, x1;
      RectangleGrid::GetPair(columnPair, x0, x1);
      const Moments target = strip.Get(x1) - strip.Get(x0);
      if (target.Count >= minimumRegionSize && total.Count - target.Count >= minimumRegionSize)
      {
        const FoundRectangle candidate{ Criterion(law, target, total),
                                        static_cast<int64_t>(rowPair) * columnPairs + columnPair };
        best = BetterOf(candidate, best);
      }
    }
  }
  for (int offset = WarpSize / 2; offset > 0; offset /= 2)
  {
    const FoundRectangle other{ __shfl_xor_sync(AllLanes, best.Criterion, offset),
                                __shfl_xor_sync(AllLanes, static_cast<long long>(best.Number), offset) };
    best = BetterOf(other, best);
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
      best = BetterOf(other, best);
    }
    found[blockIdx.x] = best;
  }
}

} // namespace kernels
} // namespace itk::cuda::snake

#endif
