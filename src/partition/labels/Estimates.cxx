// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/Estimates.h"

#include "partition/labels/EstimateFunctors.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace itk::cuda::partition
{
namespace
{
constexpr double ChiSquaredQuantile = 0.687; // 20 % quantile, 15 degrees of freedom, over the mean
// Mean of the values below the median of chi squared with 15 degrees of freedom, divided by its mean: 2 F17(m), F15(m)
// = 1/2.
constexpr double MeanOfSmallerHalf = 0.714;

/** Returns the estimates of all windows or blocks of a grid that have one. */
template <typename TEstimate>
std::vector<double>
Collect(const EstimateGrid & grid, const Work & work, const TEstimate & estimate)
{
  return work.Collect<double>(static_cast<size_t>(grid.Rows), 1, [&](size_t row, std::vector<double> & ofRow) {
    for (int32_t column = 0; column < grid.Columns; ++column)
    {
      const double value = estimate(column, static_cast<int32_t>(row));
      if (value != NoEstimate)
      {
        ofRow.push_back(value);
      }
    }
  });
}
} // namespace

double
CombineLooks(std::vector<double> looks)
{
  if (looks.empty())
  {
    return 1.0;
  }
  const size_t quantile = (looks.size() - 1) * 4 / 5;
  std::nth_element(looks.begin(), looks.begin() + static_cast<ptrdiff_t>(quantile), looks.end());
  return looks[quantile] * ChiSquaredQuantile;
}

double
CombineVariances(std::vector<double> variances)
{
  if (variances.empty())
  {
    return 1.0;
  }
  // They are added in sorted order, so that the rounding is reproducible.
  std::sort(variances.begin(), variances.end());
  const size_t half = (variances.size() + 1) / 2;
  const double sum = std::accumulate(variances.begin(), variances.begin() + static_cast<ptrdiff_t>(half), 0.0);
  return std::max(sum / static_cast<double>(half) / MeanOfSmallerHalf, region::MinimumVariance);
}

double
EstimateNumberOfLooks(const Scene & scene, NoiseLaw law, const Work & work)
{
  const EstimateGrid grid = EstimateGrid::OfLooks(scene.Pixels.Width, scene.Pixels.Height);
  return CombineLooks(Collect(
    grid, work, [&](int32_t x, int32_t y) { return EstimateLooks(scene, grid, x, y, law == NoiseLaw::Rayleigh); }));
}

double
EstimateKnownVariance(const Scene & scene, const Work & work)
{
  const EstimateGrid grid = EstimateGrid::OfVariances(scene.Pixels.Width, scene.Pixels.Height);
  return CombineVariances(
    Collect(grid, work, [&](int32_t x, int32_t y) { return EstimateVariance(scene, grid, x, y); }));
}
} // namespace itk::cuda::partition
