// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionEstimates.h"

#include "itkCudaPartitionCells.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace itk::cuda::partition
{
namespace
{
constexpr int32_t BlockSide = 4;
constexpr int64_t PixelsPerBlock = BlockSide * BlockSide;
constexpr int32_t BlocksPerSide = 4; // of a window
constexpr int32_t BlocksPerWindow = BlocksPerSide * BlocksPerSide;
constexpr double  SmallestDifference = 1e-12; // of logarithms, whose rounding is less
constexpr double  DegreesOfFreedom = BlocksPerWindow - 1;
constexpr double  ChiSquaredQuantile = 0.687; // 20 %, of 15 degrees of freedom, over its mean
// Mean below the median of chi squared of 15 degrees of freedom, over its mean: 2 F17(m), F15(m) = 1/2.
constexpr double MeanOfSmallerHalf = 0.714;

/** Appends the looks of the window whose first block is (x, y), if it has an estimate. */
void
EstimateWindow(const Scene &         scene,
               const CellGrid &      blocks,
               int32_t               x,
               int32_t               y,
               bool                  squares,
               std::vector<double> & looks)
{
  double sum = 0.0;
  double sumOfLogs = 0.0;
  for (int32_t i = 0; i < BlocksPerWindow; ++i)
  {
    const Moments sums = SumCell(scene, blocks, x + i % BlocksPerSide, y + i / BlocksPerSide);
    const double  mean =
      static_cast<double>(squares ? sums.SumOfSquares : sums.Sum) / static_cast<double>(PixelsPerBlock);
    if (sums.Count < PixelsPerBlock || !(mean > 0.0))
    {
      return;
    }
    sum += mean;
    sumOfLogs += region::Log(mean);
  }
  const double d = region::Log(sum / BlocksPerWindow) - sumOfLogs / BlocksPerWindow;
  if (d > SmallestDifference)
  {
    looks.push_back(DegreesOfFreedom / BlocksPerWindow / (2.0 * d) / static_cast<double>(PixelsPerBlock));
  }
}
} // namespace

double
EstimateNumberOfLooks(const Scene & scene, NoiseLaw law, const Work & work)
{
  const bool     squares = law == NoiseLaw::Rayleigh;
  const CellGrid blocks{ scene.Pixels.Width, scene.Pixels.Height, BlockSide };
  const int32_t  columns = scene.Pixels.Width / (BlockSide * BlocksPerSide);
  const int32_t  rows = scene.Pixels.Height / (BlockSide * BlocksPerSide);
  auto looks = work.Collect<double>(static_cast<size_t>(rows), 1, [&](size_t row, std::vector<double> & ofWindows) {
    for (int32_t column = 0; column < columns; ++column)
    {
      EstimateWindow(
        scene, blocks, column * BlocksPerSide, static_cast<int32_t>(row) * BlocksPerSide, squares, ofWindows);
    }
  });
  if (looks.empty())
  {
    return 1.0;
  }
  const size_t quantile = (looks.size() - 1) * 4 / 5;
  std::nth_element(looks.begin(), looks.begin() + static_cast<ptrdiff_t>(quantile), looks.end());
  return looks[quantile] * ChiSquaredQuantile;
}

double
EstimateKnownVariance(const Scene & scene, const Work & work)
{
  const CellGrid blocks{ scene.Pixels.Width, scene.Pixels.Height, BlockSide };
  const int32_t  columns = scene.Pixels.Width / BlockSide;
  const int32_t  rows = scene.Pixels.Height / BlockSide;
  auto variances = work.Collect<double>(static_cast<size_t>(rows), 4, [&](size_t row, std::vector<double> & ofBlocks) {
    for (int32_t column = 0; column < columns; ++column)
    {
      const Moments sums = SumCell(scene, blocks, column, static_cast<int32_t>(row));
      if (sums.Count == PixelsPerBlock)
      {
        ofBlocks.push_back(region::ScaledVariance(sums) / static_cast<double>(PixelsPerBlock * (PixelsPerBlock - 1)));
      }
    }
  });
  if (variances.empty())
  {
    return 1.0;
  }
  // Sorted, so that they are added in one order.
  std::sort(variances.begin(), variances.end());
  const size_t half = (variances.size() + 1) / 2;
  const double sum = std::accumulate(variances.begin(), variances.begin() + static_cast<ptrdiff_t>(half), 0.0);
  return std::max(sum / static_cast<double>(half) / MeanOfSmallerHalf, region::MinimumVariance);
}
} // namespace itk::cuda::partition
