// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionedGaussianReference_h
#define itkCudaPartitionedGaussianReference_h

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// The partitioned Gaussian filters in double and in direct form, written from the papers without any of the module's
// own code.

namespace itk::cuda::test
{
/** Young and van Vliet's recursion b_0 w[n] = B b_0 x[n] + b_1 w[n-1] + b_2 w[n-2] + b_3 w[n-3]. */
struct DirectRecursion
{
  std::array<double, 4> Denominator; // b_0, -b_1, -b_2, -b_3, scaled so that they sum to Gain
  double                Gain;

  explicit DirectRecursion(double sigma)
  {
    const double q = sigma >= 2.5 ? 0.98711 * sigma - 0.96330 : 3.97156 - 4.14554 * std::sqrt(1.0 - 0.26891 * sigma);
    // (1.16680 + q (1 - z)) (3.20373 + 2.21566 q (1 - z) + q^2 (1 - z)^2), z the delay.
    const double first[] = { 1.16680 + q, -q };
    const double second[] = { 3.20373 + 2.21566 * q + q * q, -2.21566 * q - 2.0 * q * q, q * q };
    Denominator.fill(0.0);
    for (size_t i = 0; i < 2; ++i)
    {
      for (size_t j = 0; j < 3; ++j)
      {
        Denominator[i + j] += first[i] * second[j];
      }
    }
    Gain = 1.16680 * 3.20373;
  }

  /** Runs one pass over `x` in its order. `before` is the value of the results before the first one. */
  std::vector<double>
  Run(const std::vector<double> & x, double before) const
  {
    std::vector<double> w(x.size());
    double              past[3] = { before, before, before };
    for (size_t n = 0; n < x.size(); ++n)
    {
      w[n] =
        (Gain * x[n] - Denominator[1] * past[0] - Denominator[2] * past[1] - Denominator[3] * past[2]) / Denominator[0];
      past[2] = past[1];
      past[1] = past[0];
      past[0] = w[n];
    }
    return w;
  }
};

inline std::vector<double>
Reversed(std::vector<double> values)
{
  std::reverse(values.begin(), values.end());
  return values;
}

/** Filters a line as published: w starts by repeating its first value, and the result by repeating its own. */
inline std::vector<double>
OneWayAsPublished(const std::vector<double> & x, double sigma)
{
  const DirectRecursion     recursion(sigma);
  const std::vector<double> w = Reversed(recursion.Run(x, x.front()));
  return Reversed(recursion.Run(w, w.front()));
}

/** Filters a line with exact borders. The line repeats its last value so often that it makes no difference where it
 * ends. */
inline std::vector<double>
OneWayExactBorders(std::vector<double> x, double sigma)
{
  const size_t length = x.size();
  x.resize(length + static_cast<size_t>(60.0 * sigma) + 60, x.back());
  std::vector<double> y = OneWayAsPublished(x, sigma);
  y.resize(length);
  return y;
}

/** Returns the sum over a Gaussian with the given sigma, cut at +-radius and normalised to sum 1. Lines repeat their
 * end values. */
inline double
GaussianSum(const std::vector<double> & x, size_t n, double sigma, size_t radius)
{
  double     sum = 0.0;
  double     weights = 0.0;
  const auto last = static_cast<int64_t>(x.size()) - 1;
  for (int64_t k = -static_cast<int64_t>(radius); k <= static_cast<int64_t>(radius); ++k)
  {
    const double weight = std::exp(-static_cast<double>(k * k) / (2.0 * sigma * sigma));
    sum += weight * x[static_cast<size_t>(std::clamp<int64_t>(static_cast<int64_t>(n) + k, 0, last))];
    weights += weight;
  }
  return sum / weights;
}

/** Filters a line with Algorithm 1 as reconstructed. The left half 0 ... c-1 is filtered forward and back, and the
 * right half c+1 ... L-1 back and forward. The pixel c = L/2 is computed by convolution and also stands for its two
 * neighbours where a half's second pass starts. */
inline std::vector<double>
TwoWay(const std::vector<double> & x, double sigma, size_t radius)
{
  const DirectRecursion recursion(sigma);
  const size_t          centre = x.size() / 2;
  const double          pixel = GaussianSum(x, centre, sigma, radius);
  std::vector<double>   left(x.begin(), x.begin() + static_cast<ptrdiff_t>(centre));
  std::vector<double>   right(x.begin() + static_cast<ptrdiff_t>(centre) + 1, x.end());
  left = Reversed(recursion.Run(Reversed(recursion.Run(left, left.front())), pixel));
  right = recursion.Run(Reversed(recursion.Run(Reversed(right), right.back())), pixel);
  std::vector<double> y(left);
  y.push_back(pixel);
  y.insert(y.end(), right.begin(), right.end());
  return y;
}
} // namespace itk::cuda::test

#endif
