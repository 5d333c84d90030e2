// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/Estimates.h"

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
} // namespace itk::cuda::partition
