// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_Estimates_h
#define CudaFilters_partition_labels_Estimates_h

#include "runtime/HostDevice.h"
#include "partition/labels/CellFunctors.h"
#include "partition/Model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

// Estimates the number of looks of a radar image and the variance of the noise. A scene is as for SumCell().
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
struct EstimateWindows
{
  TScene       Scene;
  EstimateGrid Grid;
  bool         Looks; // if false, variances
  bool         Squares;
  double *     Estimates;

  static constexpr size_t Grain = 256;

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

/** Combines the estimates of all windows (looks) or blocks (variances) that have one into the final estimate. */
double
CombineLooks(std::vector<double> looks);
double
CombineVariances(std::vector<double> variances);

/** Returns the estimates of all windows or blocks that have one. */
template <typename TExecutor>
std::vector<double>
CollectEstimates(const TExecutor & executor, const EstimateGrid & grid, bool looks, bool squares)
{
  std::vector<double> estimates(static_cast<size_t>(grid.Columns) * static_cast<size_t>(grid.Rows));
  if (!estimates.empty())
  {
    const auto ofExecutor = executor.template Allocate<double>(estimates.size());
    executor.VisitScene([&](const auto & scene) {
      executor.ParallelFor(
        estimates.size(),
        functors::EstimateWindows<std::decay_t<decltype(scene)>>{ scene, grid, looks, squares, ofExecutor.Get() });
    });
    executor.Download(ofExecutor.Get(), estimates.size(), estimates.data());
    estimates.erase(std::remove(estimates.begin(), estimates.end(), NoEstimate), estimates.end());
  }
  return estimates;
}

/** Estimates the effective number of looks of a pixel: the number for which independent pixels would give 4 x 4 means
 * that fluctuate as the observed ones do. It is mostly smaller than the number of looks of the pixels' distribution,
 * because neighbouring pixels of radar images are correlated.
 *
 * In every window of 16 x 16 pixels, d = log(mean) - mean(log) of the 16 means of 4 x 4 intensities. For independent
 * pixels of L looks it is about (15/16) / (2 * 16 L). The estimate is the 80 % quantile over the windows, times 0.687,
 * the 20 % quantile of chi squared of 15 degrees of freedom over its mean: the windows with the most looks are those
 * without structure. Windows with a pixel that is not valid, a mean of 0, or d of 0 (up to rounding, 1e-12) are left
 * out.
 * \returns 1 without windows
 */
template <typename TExecutor>
double
EstimateNumberOfLooks(const TExecutor & executor, int32_t width, int32_t height, NoiseLaw law)
{
  return CombineLooks(
    CollectEstimates(executor, EstimateGrid::OfLooks(width, height), true, law == NoiseLaw::Rayleigh));
}

/** Estimates the variance of the noise, in squared sample units: the mean of the smaller half (one more, if their
 * number is odd) of the variances (divisor 15) of all fully valid 4 x 4 blocks, divided by 0.714, which this mean is
 * for Gaussian noise of variance 1. Blocks with structure are in the other half.
 * \returns at least region::MinimumVariance; 1 without blocks
 */
template <typename TExecutor>
double
EstimateKnownVariance(const TExecutor & executor, int32_t width, int32_t height)
{
  return CombineVariances(CollectEstimates(executor, EstimateGrid::OfVariances(width, height), false, false));
}
} // namespace itk::cuda::partition

#endif
