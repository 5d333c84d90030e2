// SPDX-License-Identifier: Apache-2.0
#include "region/Laws.h"
#include "region/Math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace
{
using itk::cuda::region::AllLaws;
using itk::cuda::region::Criterion;
using itk::cuda::region::LawDescription;
using itk::cuda::region::LinearForm;
using itk::cuda::region::Linearize;
using itk::cuda::region::Moments;
using itk::cuda::region::NoiseLaw;

Moments
SumUp(const std::vector<uint32_t> & samples)
{
  Moments moments;
  for (const uint64_t sample : samples)
  {
    moments += { 1, sample, sample * sample };
  }
  return moments;
}

/** The formulas of the laws, in long double, for parameters above their bounds. */
long double
DirectCriterion(const LawDescription & law, const Moments & target, const Moments & background)
{
  const auto  n = [](const Moments & m) { return static_cast<long double>(m.Count); };
  const auto  mean = [n](const Moments & m) { return static_cast<long double>(m.Sum) / n(m); };
  const auto  meanSquare = [n](const Moments & m) { return static_cast<long double>(m.SumOfSquares) / n(m); };
  const auto  variance = [=](const Moments & m) { return meanSquare(m) - mean(m) * mean(m); };
  const auto  entropy = [](long double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); };
  long double result = 0;
  if (law.Law == NoiseLaw::GaussianCommonVariance)
  {
    const long double all = n(target) + n(background);
    return all / 2 * std::log((n(target) * variance(target) + n(background) * variance(background)) / all);
  }
  for (const Moments & m : { target, background })
  {
    switch (law.Law)
    {
      case NoiseLaw::Gamma:
        result += static_cast<long double>(law.NumberOfLooks) * n(m) * std::log(mean(m));
        break;
      case NoiseLaw::Rayleigh:
        result += static_cast<long double>(law.NumberOfLooks) * n(m) * std::log(meanSquare(m));
        break;
      case NoiseLaw::Poisson:
        result -= n(m) * mean(m) * std::log(mean(m));
        break;
      case NoiseLaw::Bernoulli:
        result += n(m) * entropy(mean(m));
        break;
      case NoiseLaw::Gaussian:
      case NoiseLaw::LogNormal:
        result += n(m) / 2 * std::log(variance(m));
        break;
      case NoiseLaw::GaussianCommonVariance:
        break; // above
    }
  }
  return result;
}

std::vector<uint32_t>
RandomSamples(NoiseLaw law, size_t count, std::mt19937 & engine)
{
  std::vector<uint32_t> samples(count);
  const uint32_t        range = law == NoiseLaw::Bernoulli ? 2 : 2 + engine() % 10000;
  // Not far from 0 in units of the range: the formulas of DirectCriterion() lose digits there.
  const uint32_t offset = engine() % (10 * range);
  for (uint32_t & sample : samples)
  {
    sample = (law == NoiseLaw::Bernoulli ? 0 : offset) + engine() % range;
  }
  return samples;
}
} // namespace

TEST(CudaSnakeMath, LogIsWithinTwoUnitsInTheLastPlace)
{
  constexpr unsigned int seed = 11;
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64 engine(seed);
  double          worst = 0.0;
  const auto      check = [&worst](double x) {
    const long double exact = std::log(static_cast<long double>(x));
    const double      unit =
      std::nextafter(std::abs(static_cast<double>(exact)), INFINITY) - std::abs(static_cast<double>(exact));
    worst = std::max(worst, static_cast<double>(std::abs(itk::cuda::region::Log(x) - exact)) / unit);
  };
  for (int i = 0; i < 2000000; ++i)
  {
    const uint64_t mantissa = engine() >> 12;
    const uint64_t exponent = i % 4 == 0 ? 1 + engine() % 2046 : 1023 - 3 + engine() % 6;
    const uint64_t bits = (exponent << 52) | mantissa;
    double         x;
    std::memcpy(&x, &bits, sizeof(x));
    check(x);
  }
  for (int i = 1; i <= 100000; ++i)
  {
    check(1.0 + i * std::numeric_limits<double>::epsilon());
    check(1.0 - i * std::numeric_limits<double>::epsilon());
  }
  std::cout << "worst error " << worst << " units in the last place" << std::endl;
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(itk::cuda::region::Log(1.0), 0.0);
}

TEST(CudaSnakeMath, ProductsAndDifferencesOf128Bits)
{
  const auto square = itk::cuda::region::Multiply(0xffffffffffffffffu, 0xffffffffffffffffu);
  EXPECT_EQ(square.High, 0xfffffffffffffffeu);
  EXPECT_EQ(square.Low, 1u);
  const auto difference = itk::cuda::region::Subtract({ 5, 0 }, { 4, 1 });
  EXPECT_EQ(difference.High, 0u);
  EXPECT_EQ(difference.Low, 0xffffffffffffffffu);
  EXPECT_EQ(itk::cuda::region::ToDouble({ 1, 0 }), std::ldexp(1.0, 64));
  EXPECT_EQ(itk::cuda::region::FloorDivide(-1, 4), -1);
  EXPECT_EQ(itk::cuda::region::FloorDivide(-4, 4), -1);
  EXPECT_EQ(itk::cuda::region::FloorDivide(7, 4), 1);
}

TEST(CudaSnakeLaws, CriteriaAgreeWithTheFormulas)
{
  constexpr unsigned int seed = 12;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 engine(seed);
  for (const NoiseLaw law : AllLaws)
  {
    for (int trial = 0; trial < 300; ++trial)
    {
      const Moments        target = SumUp(RandomSamples(law, 20 + engine() % 3000, engine));
      const Moments        background = SumUp(RandomSamples(law, 20 + engine() % 3000, engine));
      const LawDescription description{ law, 0.5 + trial % 5, target.Count + background.Count };
      const long double    expected = DirectCriterion(description, target, background);
      const double         scale =
        static_cast<double>(std::abs(expected)) + static_cast<double>(description.NumberOfValidPixels);
      EXPECT_NEAR(Criterion(description, target, target + background), static_cast<double>(expected), 1e-13 * scale)
        << "law " << static_cast<int>(law);
    }
  }
}

TEST(CudaSnakeLaws, HundredMegapixelsLoseNothing)
{
  // 10^8 pixels of 16 bits with variance 4: the sums of squares agree in 14 digits, the variance is exact.
  const int64_t  n = 100000000;
  const uint64_t mean = 65000;
  const Moments  m{ n, mean * n, mean * mean * n + 4 * n };
  EXPECT_DOUBLE_EQ(itk::cuda::region::GaussianRegion{}.Criterion(m), 0.5 * n * std::log(4.0));
}

TEST(CudaSnakeLaws, LinearFormBoundsTheChangeOfTheCriterionFromAbove)
{
  constexpr unsigned int seed = 13;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 engine(seed);
  for (const NoiseLaw law : AllLaws)
  {
    double smallest = 0.0;
    for (int trial = 0; trial < 2000; ++trial)
    {
      // Every fourth trial has a region of one value, where a bound is active.
      std::vector<uint32_t> samples = RandomSamples(law, 400, engine);
      if (trial % 4 == 0)
      {
        std::fill(samples.begin(), samples.begin() + 200, trial % 8 == 0 ? 0 : samples[0]);
      }
      const Moments        total = SumUp(samples);
      const Moments        target = SumUp({ samples.begin(), samples.begin() + 200 });
      const size_t         moved = 200 + engine() % 100;
      const Moments        next = SumUp({ samples.begin() + engine() % 100, samples.begin() + moved });
      const LawDescription description{ law, 2.0, total.Count };
      const double         change = Criterion(description, next, total) - Criterion(description, target, total);
      const double         bound = Linearize(description, target, total)(next - target);
      const double         rounding = 1e-11 * (1.0 + std::abs(bound) + std::abs(Criterion(description, target, total)));
      smallest = std::min(smallest, bound - change);
      ASSERT_GE(bound - change, -rounding) << "law " << static_cast<int>(law) << " trial " << trial;
    }
  }
}

TEST(CudaSnakeLaws, BoundsKeepRegionsOfOneValueFinite)
{
  const Moments zeros{ 1000, 0, 0 };
  const Moments background = SumUp({ 3, 5, 9, 12, 4, 8, 1, 0, 7, 6 });
  const Moments ones{ 10, 10, 10 };
  for (const NoiseLaw law : AllLaws)
  {
    const Moments        other = law == NoiseLaw::Bernoulli ? ones : background;
    const LawDescription description{ law, 1.0, zeros.Count + other.Count };
    EXPECT_TRUE(std::isfinite(Criterion(description, zeros, zeros + other))) << static_cast<int>(law);
    const LinearForm form = Linearize(description, zeros, zeros + other);
    EXPECT_TRUE(std::isfinite(form.Count) && std::isfinite(form.Sum) && std::isfinite(form.SumOfSquares));
    EXPECT_TRUE(std::isfinite(Criterion(description, zeros + other, zeros + other))) << static_cast<int>(law);
  }
  // At the bound: n/2 (log v0 + v/v0 - 1) with v = 0.
  EXPECT_DOUBLE_EQ(itk::cuda::region::GaussianRegion{}.Criterion(zeros), 500.0 * (std::log(1.0 / 12.0) - 1.0));
  EXPECT_DOUBLE_EQ(itk::cuda::region::GammaRegion{ 1.0 }.Criterion(zeros), 1000.0 * (std::log(0.5) - 1.0));
  EXPECT_DOUBLE_EQ(itk::cuda::region::RayleighRegion{ 1.0 }.Criterion(zeros), 1000.0 * (std::log(0.25) - 1.0));
  EXPECT_DOUBLE_EQ(itk::cuda::region::PoissonRegion{ 0.5 / 1010 }.Criterion(zeros), 1000.0 * 0.5 / 1010);
  EXPECT_NEAR(
    itk::cuda::region::BernoulliRegion{ 0.5 / 1010 }.Criterion(zeros), -1000.0 * std::log1p(-0.5 / 1010), 1e-12);
}

TEST(CudaSnakeLaws, CriterionIsContinuousWhereABoundBecomesActive)
{
  // Variance just above and just below 1/12.
  const int64_t n = 1200000;
  const double  above = itk::cuda::region::GaussianRegion{}.Criterion({ n, 0 + 109488, 109488 });
  const double  below = itk::cuda::region::GaussianRegion{}.Criterion({ n, 0 + 109486, 109486 });
  const double  slope = (above - below) / 2;
  EXPECT_NEAR(slope, 0.5 / (1.0 / 12.0), 2.0);
}
