// SPDX-License-Identifier: Apache-2.0
#include "detection/Tails.h"
#include "partition/itkCudaPartitionTestCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

// Tails against sums and integrals in long double, and against numbers that were computed with 50 digits.
namespace
{
using namespace itk::cuda::detection;
using itk::cuda::test::PrintSeed;

constexpr double Never = 1e300; // a limit that no tail is above

long double
LogChoose(int64_t n, int64_t k)
{
  return std::lgamma(n + 1.0L) - std::lgamma(k + 1.0L) - std::lgamma(n - k + 1.0L);
}

/** P(X > k) + P(X = k) / 2 of terms exp(log(x)), k <= x <= last. */
template <typename TLog>
double
SumMidTail(int64_t k, int64_t last, const TLog & log)
{
  long double sum = 0.5L;
  for (int64_t x = k + 1; x <= last; ++x)
  {
    sum += std::exp(log(x) - log(k));
  }
  return static_cast<double>(log(k) + std::log(sum));
}

/** The integral of the density of a beta distribution from 0 to x, by Simpson's rule in t with u = x t^power, which
 * leaves no singularity at 0. */
double
IntegrateBeta(long double a, long double b, long double x)
{
  const long double logBeta = std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  const long double power = std::max(1.0L, 4.0L / a);
  constexpr int     steps = 20000;
  const auto        logDensity = [&](long double t) {
    const long double u = x * std::pow(t, power);
    return a * std::log(x) + (power * a - 1.0L) * std::log(t) + std::log(power) + (b - 1.0L) * std::log1p(-u) - logBeta;
  };
  const long double largest = std::max(logDensity(1.0L), logDensity(0.999L));
  long double       sum = std::exp(logDensity(1.0L) - largest);
  for (int i = 1; i < steps; ++i)
  {
    sum += (i % 2 == 1 ? 4.0L : 2.0L) * std::exp(logDensity(static_cast<long double>(i) / steps) - largest);
  }
  return static_cast<double>(largest + std::log(sum / (3.0L * steps)));
}

TEST(CudaDetectionTails, StirlingErrorIsThatOfTheGammaFunction)
{
  for (double z = 0.25; z < 1e4; z *= 1.1)
  {
    const long double exact = std::lgamma(static_cast<long double>(z)) -
                              (z - 0.5L) * std::log(static_cast<long double>(z)) + z -
                              0.91893853320467274178032973640562L;
    EXPECT_NEAR(StirlingError(z), static_cast<double>(exact), 2e-13) << z;
    EXPECT_LT(StirlingError(z), 1.0 / (12.0 * z)) << z;
  }
}

TEST(CudaDetectionTails, TailsOfFAreIntegralsOfABetaDensity)
{
  std::mt19937_64                        engine(PrintSeed(601));
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < 60; ++i)
  {
    const double a = std::pow(10.0, -0.3 + 2.5 * uniform(engine));
    const double b = std::pow(10.0, -0.3 + 3.5 * uniform(engine));
    const double ratio = 1.0 + (0.5 + 4.0 * uniform(engine)) * std::sqrt(1.0 / a + 1.0 / b);
    const double x = b / (b + a * ratio);
    EXPECT_NEAR(LogTailOfF(a, b, ratio, Never), IntegrateBeta(b, a, x), 1e-6) << a << ' ' << b << ' ' << ratio;
  }
}

TEST(CudaDetectionTails, StudentsTailsHaveClosedFormsForOneAndTwoDegreesOfFreedom)
{
  for (double t = 1.01; t < 1e6; t *= 1.5)
  {
    const double one = std::atan2(1.0, t) / std::acos(-1.0);
    const double two = 1.0 / (std::sqrt(2.0 + t * t) * (std::sqrt(2.0 + t * t) + t));
    EXPECT_NEAR(LogTailOfStudent(1.0, t * t, Never), std::log(one), 1e-12) << t;
    EXPECT_NEAR(LogTailOfStudent(2.0, t * t, Never), std::log(two), 1e-12) << t;
  }
}

TEST(CudaDetectionTails, DiscreteTailsAreSumsOfTheirTerms)
{
  std::mt19937_64 engine(PrintSeed(602));
  for (int i = 0; i < 300; ++i)
  {
    const auto   drawn = static_cast<int64_t>(1 + engine() % 200);
    const auto   number = drawn + static_cast<int64_t>(1 + engine() % 1000);
    const auto   ones = static_cast<int64_t>(1 + engine() % static_cast<uint64_t>(number - 1));
    const double p = static_cast<double>(drawn) / static_cast<double>(number);
    const auto   mean = static_cast<double>(ones) * p;
    const auto   last = std::min(drawn, ones);
    const auto   least = static_cast<int64_t>(mean) + 1;
    if (least <= last)
    {
      const auto k = least + static_cast<int64_t>(engine() % static_cast<uint64_t>(last - least + 1));
      const auto hypergeometric = [&](int64_t x) {
        return LogChoose(ones, x) + LogChoose(number - ones, drawn - x) - LogChoose(number, drawn);
      };
      EXPECT_NEAR(LogMidTailOfHypergeometric(k, drawn, ones, number, Never), SumMidTail(k, last, hypergeometric), 1e-10)
        << k << ' ' << drawn << ' ' << ones << ' ' << number;
    }
    const auto n = static_cast<int64_t>(1 + engine() % 5000);
    const auto above = static_cast<int64_t>(static_cast<double>(n) * p) + 1;
    const auto k = above + static_cast<int64_t>(engine() % static_cast<uint64_t>(n - above + 1));
    const auto binomial = [&](int64_t x) {
      return LogChoose(n, x) + static_cast<long double>(x) * std::log(static_cast<long double>(p)) +
             static_cast<long double>(n - x) * std::log1p(-static_cast<long double>(p));
    };
    EXPECT_NEAR(LogMidTailOfBinomial(static_cast<double>(k), static_cast<double>(n), p, 1.0 - p, Never),
                SumMidTail(k, n, binomial),
                1e-9)
      << k << ' ' << n << ' ' << p;
  }
}

TEST(CudaDetectionTails, TailsFarBelowTheSmallestDoubleHaveTheirDigits)
{
  // scipy.special.betainc and its logarithm underflow here; the numbers are from mpmath with 50 digits.
  EXPECT_NEAR(LogTailOfF(324.0, 2944.0, 6.0, Never), -740.14823803859772, 1e-9);
  EXPECT_NEAR(LogTailOfStudent(735.0, 3600.0, Never), -656.29444519503661, 1e-9);
  EXPECT_NEAR(LogMidTailOfBinomial(1e6, 2e6, 0.1, 0.9, Never), -1021659.1976562387, 1e-6);
}

TEST(CudaDetectionTails, ATailThatEndsEarlyIsAboveTheLimit)
{
  std::mt19937_64                        engine(PrintSeed(603));
  std::uniform_real_distribution<double> uniform;
  int                                    early = 0;
  const auto                             expect = [&early](const auto & tail) {
    const double exact = tail(Never);
    for (const double limit : { exact - 3.0, exact - 1e-9, exact, exact + 1e-9, exact + 3.0 })
    {
      const double found = tail(limit);
      EXPECT_EQ(found <= limit, exact <= limit);
      EXPECT_TRUE(found == exact || (found > limit && found < exact));
      early += found != exact ? 1 : 0;
    }
  };
  for (int i = 0; i < 1000; ++i)
  {
    const double a = std::pow(10.0, -0.3 + 3.0 * uniform(engine));
    const double b = std::pow(10.0, -0.3 + 4.0 * uniform(engine));
    const double z = 1.0 + 6.0 * uniform(engine);
    const double k = std::floor(a + z * std::sqrt(a)) + 1.0;
    const auto   n = static_cast<int64_t>(a) + 1;
    expect([=](double limit) { return LogTailOfF(a, b, 1.0 + z * std::sqrt(1.0 / a + 1.0 / b), limit); });
    expect([=](double limit) { return LogTailOfStudent(a, z * z, limit); });
    expect([=](double limit) { return LogMidTailOfBinomial(k, k + std::floor(b), a / (a + b), b / (a + b), limit); });
    expect([=](double limit) { return LogMidTailOfHypergeometric(n, n, n + 5, 3 * n + 10, limit); });
  }
  EXPECT_GT(early, 1000);
}
} // namespace
