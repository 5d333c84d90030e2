// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_detection_Tails_h
#define CudaFilters_detection_Tails_h

#include "runtime/HostDevice.h"
#include "region/Math.h"

#include <cmath>
#include <cstdint>

// Logarithms of the upper tails of distributions. Each is a deviance, which is the logarithm of a likelihood ratio, and
// corrections of order 1, so that a tail far below the smallest double has all its digits (Loader, Fast and accurate
// computation of binomial probabilities, 2000). The functions give the same bits on the host and on the device.
//
// Each function takes the logarithm of a probability, `limit`. A tail that is certainly above it is not computed to the
// end; the result is then a lower bound of the tail, also above the limit. Most pixels of an image end there.
namespace itk::cuda::detection
{
using region::Log;

constexpr double HalfLogTwoPi = 0.91893853320467274178;
constexpr double LogTwo = 0.69314718055994530942;
constexpr double TwoPi = 6.28318530717958647693;

/** Returns log Gamma(z) - [(z - 1/2) log z - z + log(2 pi) / 2], the error of Stirling's formula, for z > 0. It is
 * below 1 / (12 z). */
ITK_CUDA_HOST_DEVICE inline double
StirlingError(double z)
{
  constexpr double beginOfSeries = 16.0;
  // Gamma(z) = Gamma(shifted) / product
  double shifted = z;
  double product = 1.0;
  while (shifted < beginOfSeries)
  {
    product *= shifted;
    shifted += 1.0;
  }
  const double r = 1.0 / shifted;
  const double r2 = r * r;
  const double series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 / 1188.0))));
  return z == shifted ? series
                      : series + (shifted - 0.5) * Log(shifted) - (z - 0.5) * Log(z) - (shifted - z) - Log(product);
}

/** Returns x log(x / expected), and 0 for x = 0. */
ITK_CUDA_HOST_DEVICE inline double
Surprise(double x, double expected)
{
  return x > 0.0 ? x * Log(x / expected) : 0.0;
}

/** Returns the continued fraction of the incomplete beta function, by the method of Lentz: the factor of
 * x^a (1 - x)^b / (a B(a, b)). It is 1 or more, and converges within O(sqrt(max(a, b))) steps for x < a / (a + b). */
ITK_CUDA_HOST_DEVICE inline double
BetaFraction(double a, double b, double x)
{
  constexpr double precision = 1e-14;
  constexpr double tiny = 1e-300;
  constexpr int    maximumSteps = 100000;
  const auto       away = [](double denominator) { return std::fabs(denominator) < tiny ? tiny : denominator; };
  double           c = 1.0;
  double           d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
  double           fraction = d;
  for (int step = 1; step < maximumSteps; ++step)
  {
    const double m = step;
    const double even = m * (b - m) * x / ((a + (2.0 * m - 1.0)) * (a + 2.0 * m));
    d = 1.0 / away(1.0 + even * d);
    c = away(1.0 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + (2.0 * m + 1.0)));
    d = 1.0 / away(1.0 + odd * d);
    c = away(1.0 + odd / c);
    const double factor = d * c;
    fraction *= factor;
    if (std::fabs(factor - 1.0) < precision)
    {
      break;
    }
  }
  return fraction;
}

/** Returns log I_x(a, b), the logarithm of the distribution function of a beta distribution, for x < a / (a + b).
 * \param y 1 - x, which is given because the difference loses digits */
ITK_CUDA_HOST_DEVICE inline double
LogBetaTail(double a, double b, double x, double y, double limit)
{
  const double n = a + b;
  const double deviance = Surprise(a, n * x) + Surprise(b, n * y);
  const double leading = -deviance + 0.5 * Log(b / (TwoPi * n * a));
  const double bound = leading - (1.0 / a + 1.0 / b) / 12.0; // the fraction and the error of n add to it
  if (bound > limit)
  {
    return bound;
  }
  return leading + (StirlingError(n) - StirlingError(a) - StirlingError(b)) + Log(BetaFraction(a, b, x));
}

/** Returns the logarithm of the probability that F >= ratio, for F with the F distribution of 2 a and 2 b degrees of
 * freedom, which is the ratio of the means of two gamma distributed numbers of these shapes, and ratio > 1. */
ITK_CUDA_HOST_DEVICE inline double
LogTailOfF(double a, double b, double ratio, double limit)
{
  const double sum = a * ratio + b;
  return LogBetaTail(b, a, b / sum, a * ratio / sum, limit);
}

/** Returns the logarithm of the probability that T >= sqrt(square), for T with Student's distribution of that many
 * degrees of freedom, and square > 1. */
ITK_CUDA_HOST_DEVICE inline double
LogTailOfStudent(double freedom, double square, double limit)
{
  const double sum = freedom + square;
  return LogBetaTail(0.5 * freedom, 0.5, freedom / sum, square / sum, limit + LogTwo) - LogTwo;
}

/** Returns the logarithm of the probability of k ones of n, which have the probability p each.
 * \param q 1 - p */
ITK_CUDA_HOST_DEVICE inline double
LogBinomial(double k, double n, double p, double q)
{
  if (k == 0.0 || k == n)
  {
    return n * Log(k == 0.0 ? q : p);
  }
  const double deviance = Surprise(k, n * p) + Surprise(n - k, n * q);
  return -deviance + (StirlingError(n) - StirlingError(k) - StirlingError(n - k)) +
         0.5 * Log(n / (TwoPi * k * (n - k)));
}

/** Returns the logarithm of P(X > k) + P(X = k) / 2 for the binomial distribution, k > n p. This probability, the mid-p
 * of Lancaster (Biometrika 48, 1961), is uniform on the average over the steps of a discrete distribution; P(X >= k)
 * would be too large by half a step. */
ITK_CUDA_HOST_DEVICE inline double
LogMidTailOfBinomial(double k, double n, double p, double q, double limit)
{
  if (k == n)
  {
    return n * Log(p) - LogTwo;
  }
  const double deviance = Surprise(k, n * p) + Surprise(n - k, n * q);
  const double bound = -deviance + 0.5 * Log(n / (TwoPi * k * (n - k))) - (1.0 / k + 1.0 / (n - k)) / 12.0 - LogTwo;
  if (bound > limit)
  {
    return bound;
  }
  const double terms = q * BetaFraction(k, n - k + 1.0, p); // P(X >= k) / P(X = k)
  return LogBinomial(k, n, p, q) + Log(terms - 0.5);
}

/** Returns the logarithm of P(X > k) + P(X = k) / 2 for the hypergeometric distribution: k ones among
 * `drawn` elements out of `number`, which contain `ones` ones. This is Fisher's exact test with the mid-p. */
ITK_CUDA_HOST_DEVICE inline double
LogMidTailOfHypergeometric(int64_t k, int64_t drawn, int64_t ones, int64_t number, double limit)
{
  const auto   n = static_cast<double>(number);
  const double p = static_cast<double>(drawn) / n;
  const double q = static_cast<double>(number - drawn) / n;
  const auto   binomial = [p, q](int64_t x, int64_t of) {
    return LogBinomial(static_cast<double>(x), static_cast<double>(of), p, q);
  };
  const double first = binomial(k, ones) + binomial(drawn - k, number - ones) - binomial(drawn, number);
  if (first - LogTwo > limit)
  {
    return first - LogTwo;
  }
  constexpr double precision = 1e-17;
  const int64_t    last = ones < drawn ? ones : drawn;
  double           term = 1.0;
  double           terms = 0.5;
  for (int64_t x = k; x < last && term > precision * terms; ++x)
  {
    term *= static_cast<double>(ones - x) * static_cast<double>(drawn - x) /
            (static_cast<double>(x + 1) * static_cast<double>(number - ones - drawn + x + 1));
    terms += term;
  }
  return first + Log(terms);
}
} // namespace itk::cuda::detection

#endif
