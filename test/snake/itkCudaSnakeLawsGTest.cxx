// SPDX-License-Identifier: Apache-2.0
#include "partition/Model.h"
#include "region/Laws.h"
#include "region/Math.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>

// The criteria of two regions, which snakes minimise, and the descriptions of regions, which partitions minimise,
// beside the formulas of the laws.
namespace
{
using namespace itk::cuda::partition;
using namespace itk::cuda::region;

/** Sums of a few or of many samples; among them all equal ones and zeros, where parameters reach their bounds. */
Moments
RandomMoments(NoiseLaw law, std::mt19937_64 & engine)
{
  const int      number = 1 + static_cast<int>(engine() % (engine() % 3 == 0 ? 4 : 400));
  const uint64_t range = law == NoiseLaw::Bernoulli ? 2 : 1 + engine() % (engine() % 3 == 0 ? 3 : 5000);
  const uint64_t offset = law == NoiseLaw::Bernoulli || engine() % 2 == 0 ? 0 : engine() % 20000;
  Moments        sums;
  for (int i = 0; i < number; ++i)
  {
    const uint64_t sample = offset + engine() % range;
    sums += { 1, sample, sample * sample };
  }
  return sums;
}

DescriptionModel
RandomModel(NoiseLaw law, std::mt19937_64 & engine)
{
  DescriptionModel model;
  model.Law = { law, 0.25 + static_cast<double>(engine() % 20) / 4.0, 100000 };
  model.KnownVariance = 1.0 / 12.0 + static_cast<double>(engine() % 5000);
  model.LogNumberOfPixels = 11.5;
  return model;
}

/** Twice the negative logarithm of the likelihood of a Gaussian law, per sample, for a variance bounded from below. */
long double
GaussianTerm(long double variance)
{
  const long double v = std::max(variance, 1 / 12.0L);
  return std::log(v) + variance / v - 1;
}

long double
VarianceOf(const Moments & m)
{
  const auto n = static_cast<long double>(m.Count);
  const auto sum = static_cast<long double>(m.Sum);
  return (n * static_cast<long double>(m.SumOfSquares) - sum * sum) / (n * n);
}

/** The negative logarithm of the likelihood of a region, the parameters bounded as the laws say. */
long double
DirectLikelihood(const DescriptionModel & model, const Moments & m)
{
  const auto        n = static_cast<long double>(m.Count);
  const auto        looks = static_cast<long double>(model.Law.NumberOfLooks);
  const long double mean = static_cast<long double>(m.Sum) / n;
  const long double meanSquare = static_cast<long double>(m.SumOfSquares) / n;
  const long double half = 0.5L / static_cast<long double>(model.Law.NumberOfValidPixels);
  switch (model.Law.Law)
  {
    case NoiseLaw::Gamma: {
      const long double mu = std::max(mean, 0.5L);
      return looks * n * (std::log(mu) + mean / mu - 1);
    }
    case NoiseLaw::Rayleigh: {
      const long double s = std::max(meanSquare, 0.25L);
      return looks * n * (std::log(s) + meanSquare / s - 1);
    }
    case NoiseLaw::Poisson: {
      const long double mu = std::max(mean, half);
      return n * (mu - mean - mean * std::log(mu));
    }
    case NoiseLaw::Bernoulli: {
      const long double p = std::min(std::max(mean, half), 1 - half);
      return -n * (mean * std::log(p) + (1 - mean) * std::log(1 - p));
    }
    case NoiseLaw::GaussianCommonVariance:
      return n * VarianceOf(m) / (2 * static_cast<long double>(model.KnownVariance));
    case NoiseLaw::Gaussian:
    case NoiseLaw::LogNormal:
      break;
  }
  return n / 2 * GaussianTerm(VarianceOf(m));
}

long double
DirectDescription(const DescriptionModel & model, const Moments & m)
{
  const auto parameters = static_cast<long double>(GetTraits(model.Law.Law).OwnParameters);
  return DirectLikelihood(model, m) + parameters / 2 * std::log(static_cast<long double>(m.Count)) +
         static_cast<long double>(model.LogNumberOfPixels);
}

long double
DirectCriterion(const DescriptionModel & model, const Moments & target, const Moments & background)
{
  if (model.Law.Law != NoiseLaw::GaussianCommonVariance)
  {
    return DirectLikelihood(model, target) + DirectLikelihood(model, background);
  }
  const auto n = static_cast<long double>(target.Count);
  const auto m = static_cast<long double>(background.Count);
  return (n + m) / 2 * GaussianTerm((n * VarianceOf(target) + m * VarianceOf(background)) / (n + m));
}

/** Size of the terms whose differences a description is. */
double
ScaleOf(const LinearForm & f, const Moments & m)
{
  return 1.0 + std::abs(f.Count * static_cast<double>(m.Count)) + std::abs(f.Sum * static_cast<double>(m.Sum)) +
         std::abs(f.SumOfSquares * static_cast<double>(m.SumOfSquares));
}
/** The rounding of a dozen operations on terms of this size. */
double
RoundingOf(const DescriptionModel & model, const Moments & m, long double expected)
{
  return 1e-14 * (1.0 + 20.0 * static_cast<double>(m.Count) * model.Law.NumberOfLooks +
                  std::abs(static_cast<double>(expected)) + 12.0 * static_cast<double>(m.Sum));
}

bool
IsFinite(const LinearForm & form)
{
  return std::isfinite(form.Count) && std::isfinite(form.Sum) && std::isfinite(form.SumOfSquares);
}
} // namespace

TEST(CudaSnakeMath, LogIsWithinTwoUnitsInTheLastPlace)
{
  std::mt19937_64 engine(itk::cuda::test::GetSeed());
  double          worst = 0.0;
  const auto      check = [&worst](double x) {
    const long double exact = std::log(static_cast<long double>(x));
    const double      unit =
      std::nextafter(std::abs(static_cast<double>(exact)), INFINITY) - std::abs(static_cast<double>(exact));
    worst = std::max(worst, static_cast<double>(std::abs(Log(x) - exact)) / unit);
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
  EXPECT_EQ(Log(1.0), 0.0);
}

TEST(CudaSnakeLaws, CriteriaAndDescriptionsAgreeWithTheFormulas)
{
  std::mt19937_64 engine(itk::cuda::test::GetSeed());
  for (const NoiseLaw law : AllLaws)
  {
    SCOPED_TRACE(GetTraits(law).Name);
    for (int trial = 0; trial < 2000; ++trial)
    {
      const DescriptionModel model = RandomModel(law, engine);
      const Moments          target = RandomMoments(law, engine);
      const Moments          background = RandomMoments(law, engine);
      const long double      description = DirectDescription(model, target);
      ASSERT_NEAR(model.Describe(target), static_cast<double>(description), RoundingOf(model, target, description))
        << "trial " << trial;
      const long double criterion = DirectCriterion(model, target, background);
      ASSERT_NEAR(Criterion(model.Law, target, target + background),
                  static_cast<double>(criterion),
                  RoundingOf(model, target + background, criterion))
        << "trial " << trial;
    }
    const DescriptionModel model = RandomModel(law, engine);
    EXPECT_EQ(model.Describe({}), 0.0);
    EXPECT_TRUE(IsFinite(model.Linearize({})));
    EXPECT_TRUE(IsFinite(Linearize(model.Law, { 1000, 0, 0 }, { 1010, 10, 10 })));
    EXPECT_TRUE(std::isfinite(Criterion(model.Law, { 1010, 10, 10 }, { 1010, 10, 10 }))) << "one region";
  }
}

TEST(CudaSnakeLaws, HundredMegapixelsLoseNothing)
{
  // 10^8 pixels of 16 bits with variance 4: the sums of squares agree in 14 digits, the variance is exact.
  const int64_t n = 100000000;
  for (uint64_t mean = 64000; mean < 65000; ++mean)
  {
    const Moments m{ n, mean * n, mean * mean * n + 4 * n };
    EXPECT_DOUBLE_EQ(GaussianRegion{}.Criterion(m), 0.5 * n * std::log(4.0)) << mean;
  }
}

// Samples leave one region for another. What regions have alike cancels, as it does where tangents are used.
TEST(CudaSnakeLaws, TangentsBoundChangesFromAbove)
{
  std::mt19937_64 engine(itk::cuda::test::GetSeed());
  for (const NoiseLaw law : AllLaws)
  {
    SCOPED_TRACE(GetTraits(law).Name);
    int touching = 0;
    for (int trial = 0; trial < 20000; ++trial)
    {
      const DescriptionModel model = RandomModel(law, engine);
      const Moments          moving = RandomMoments(law, engine);
      const Moments          from = moving + RandomMoments(law, engine);
      const Moments          to = RandomMoments(law, engine);
      const LinearForm       tangentOfFrom = model.Linearize(from);
      const LinearForm       tangentOfTo = model.Linearize(to);
      const double           before = model.Describe(from) + model.Describe(to);
      const double           change = model.Describe(from - moving) + model.Describe(to + moving) - before;
      const double           linear = tangentOfTo(moving) - tangentOfFrom(moving);
      const double scale = ScaleOf(tangentOfFrom, from) + ScaleOf(tangentOfTo, to) + ScaleOf(tangentOfTo, moving);
      ASSERT_GE(linear, change - 1e-13 * scale) << "trial " << trial;
      touching += linear < change + 1.0 + 0.1 * std::abs(change) ? 1 : 0;

      const double criterion = Criterion(model.Law, to, from + to);
      const double bound = Linearize(model.Law, to, from + to)(moving);
      const double rounding = 1e-11 * (1.0 + std::abs(bound) + std::abs(criterion));
      ASSERT_GE(bound, Criterion(model.Law, to + moving, from + to) - criterion - rounding) << "trial " << trial;
    }
    EXPECT_GT(touching, 100) << "a bound far above would prove little";
  }
}
