// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_EstimateFunctors_h
#define CudaFilters_partition_labels_EstimateFunctors_h

#include "runtime/HostDevice.h"
#include "partition/labels/CellFunctors.h"
#include "partition/Model.h"

#include <cstdint>

// Estimates for one window or block, shared by the host and the device. A scene is as for SumCell().
namespace itk::cuda::partition
{
/** Marks a window or block without an estimate. */
constexpr double NoEstimate = -1.0;

/** The grid of windows or blocks that have an estimate of their own. */
struct EstimateGrid
{
  static constexpr int32_t BlockSide = 4;
  static constexpr int64_t PixelsPerBlock = BlockSide * BlockSide;
  static constexpr int32_t BlocksPerSide = 4; // per window
  static constexpr int32_t BlocksPerWindow = BlocksPerSide * BlocksPerSide;

  CellGrid Blocks;
  int32_t  Columns;
  int32_t  Rows;

  static EstimateGrid
  OfLooks(int32_t width, int32_t height)
  {
    return { { width, height, BlockSide }, width / (BlockSide * BlocksPerSide), height / (BlockSide * BlocksPerSide) };
  }
  static EstimateGrid
  OfVariances(int32_t width, int32_t height)
  {
    return { { width, height, BlockSide }, width / BlockSide, height / BlockSide };
  }
};

/** Returns the number of looks of window (x, y). */
ITK_CUDA_NO_EXEC_CHECK
template <typename TScene>
ITK_CUDA_HOST_DEVICE double
EstimateLooks(const TScene & scene, const EstimateGrid & grid, int32_t x, int32_t y, bool squares)
{
  constexpr double  smallestDifference = 1e-12; // a difference of logarithms; their rounding errors are smaller
  constexpr int32_t side = EstimateGrid::BlocksPerSide;
  constexpr int32_t number = EstimateGrid::BlocksPerWindow;
  constexpr auto    pixels = static_cast<double>(EstimateGrid::PixelsPerBlock);
  constexpr double  degreesOfFreedom = number - 1;
  double            sum = 0.0;
  double            sumOfLogs = 0.0;
  for (int32_t i = 0; i < number; ++i)
  {
    const Moments sums = SumCell(scene, grid.Blocks, side * x + i % side, side * y + i / side);
    const double  mean = static_cast<double>(squares ? sums.SumOfSquares : sums.Sum) / pixels;
    if (sums.Count < EstimateGrid::PixelsPerBlock || !(mean > 0.0))
    {
      return NoEstimate;
    }
    sum += mean;
    sumOfLogs += region::Log(mean);
  }
  const double d = region::Log(sum / number) - sumOfLogs / number;
  return d > smallestDifference ? degreesOfFreedom / number / (2.0 * d) / pixels : NoEstimate;
}

/** Returns the variance of block (x, y). */
ITK_CUDA_NO_EXEC_CHECK
template <typename TScene>
ITK_CUDA_HOST_DEVICE double
EstimateVariance(const TScene & scene, const EstimateGrid & grid, int32_t x, int32_t y)
{
  constexpr int64_t pixels = EstimateGrid::PixelsPerBlock;
  const Moments     sums = SumCell(scene, grid.Blocks, x, y);
  return sums.Count == pixels ? region::ScaledVariance(sums) / static_cast<double>(pixels * (pixels - 1)) : NoEstimate;
}

namespace functors
{
/** Computes the estimates of all windows or blocks of a grid. */
template <typename TScene>
struct EstimatePlaces
{
  TScene       Scene;
  EstimateGrid Grid;
  bool         Looks; // if false, variances
  bool         Squares;
  double *     Estimates;

  ITK_CUDA_NO_EXEC_CHECK
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const auto columns = static_cast<size_t>(Grid.Columns);
    const auto x = static_cast<int32_t>(i % columns);
    const auto y = static_cast<int32_t>(i / columns);
    Estimates[i] = Looks ? EstimateLooks(Scene, Grid, x, y, Squares) : EstimateVariance(Scene, Grid, x, y);
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
