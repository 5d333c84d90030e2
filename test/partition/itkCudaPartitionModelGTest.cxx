// SPDX-License-Identifier: Apache-2.0
#include "partition/Model.h"
#include "partition/itkCudaPartitionTestCase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace
{
using itk::cuda::partition::LinearForm;
using itk::cuda::partition::DescriptionModel;
using itk::cuda::partition::Moments;
using itk::cuda::partition::NoiseLaw;
using itk::cuda::region::AllLaws;
using itk::cuda::test::NameOf;

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

/** The description in long double, the parameters bounded as the laws say. */
long double
DirectDescription(const DescriptionModel & model, const Moments & m)
{
  const auto        n = static_cast<long double>(m.Count);
  const auto        looks = static_cast<long double>(model.Law.NumberOfLooks);
  const long double mean = static_cast<long double>(m.Sum) / n;
  const long double meanSquare = static_cast<long double>(m.SumOfSquares) / n;
  const long double variance =
    (n * static_cast<long double>(m.SumOfSquares) - static_cast<long double>(m.Sum) * static_cast<long double>(m.Sum)) /
    (n * n);
  const long double half = 0.5L / static_cast<long double>(model.Law.NumberOfValidPixels);
  long double       likelihood = 0;
  int               parameters = 1;
  switch (model.Law.Law)
  {
    case NoiseLaw::Gamma: {
      const long double mu = std::max(mean, 0.5L);
      likelihood = looks * n * (std::log(mu) + mean / mu - 1);
      break;
    }
    case NoiseLaw::Rayleigh: {
      const long double s = std::max(meanSquare, 0.25L);
      likelihood = looks * n * (std::log(s) + meanSquare / s - 1);
      break;
    }
    case NoiseLaw::Poisson: {
      const long double mu = std::max(mean, half);
      likelihood = n * (mu - mean - mean * std::log(mu));
      break;
    }
    case NoiseLaw::Bernoulli: {
      const long double p = std::min(std::max(mean, half), 1 - half);
      likelihood = -n * (mean * std::log(p) + (1 - mean) * std::log(1 - p));
      break;
    }
    case NoiseLaw::GaussianCommonVariance:
      likelihood = n * variance / (2 * static_cast<long double>(model.KnownVariance));
      break;
    case NoiseLaw::Gaussian:
    case NoiseLaw::LogNormal: {
      const long double v = std::max(variance, 1 / 12.0L);
      likelihood = n / 2 * (std::log(v) + variance / v - 1);
      parameters = 2;
      break;
    }
  }
  return likelihood + parameters / 2.0L * std::log(n) + static_cast<long double>(model.LogNumberOfPixels);
}

/** Size of the terms whose differences a description is. */
double
ScaleOf(const LinearForm & f, const Moments & m)
{
  return 1.0 + std::abs(f.Count * static_cast<double>(m.Count)) + std::abs(f.Sum * static_cast<double>(m.Sum)) +
         std::abs(f.SumOfSquares * static_cast<double>(m.SumOfSquares));
}
} // namespace

TEST(CudaPartitionModel, DescriptionsAgreeWithTheFormulas)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(101));
  for (const NoiseLaw law : AllLaws)
  {
    for (int trial = 0; trial < 2000; ++trial)
    {
      const DescriptionModel model = RandomModel(law, engine);
      const Moments          sums = RandomMoments(law, engine);
      const long double      expected = DirectDescription(model, sums);
      // A dozen roundings of terms of this size.
      const double tolerance =
        1e-14 * (1.0 + 20.0 * static_cast<double>(sums.Count) * model.Law.NumberOfLooks +
                 std::abs(static_cast<double>(expected)) + std::abs(static_cast<double>(sums.Sum)) * 12.0);
      ASSERT_NEAR(model.Describe(sums), static_cast<double>(expected), tolerance) << NameOf(law) << " trial " << trial;
    }
    EXPECT_EQ(RandomModel(law, engine).Describe({}), 0.0) << NameOf(law);
  }
}

// Samples leave one region for another. What regions have alike cancels, as it does where tangents are used.
TEST(CudaPartitionModel, TangentsAreNowhereBelowTheDescription)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(102));
  for (const NoiseLaw law : AllLaws)
  {
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
      ASSERT_GE(linear, change - 1e-13 * scale) << NameOf(law) << " trial " << trial;
      touching += linear < change + 1.0 + 0.1 * std::abs(change) ? 1 : 0;
    }
    EXPECT_GT(touching, 100) << NameOf(law); // a bound far above would prove little
  }
}

TEST(CudaPartitionModel, TangentsAreFirstOrderChanges)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(103));
  for (const NoiseLaw law : AllLaws)
  {
    for (int trial = 0; trial < 500; ++trial)
    {
      const DescriptionModel model = RandomModel(law, engine);
      const Moments          moving = RandomMoments(law, engine);
      const Moments          other = RandomMoments(law, engine);
      // Half a million times as many pixels as move, in both regions: the second order is that much smaller.
      Moments from = moving;
      Moments to = other + moving;
      for (int bit = 0; bit < 19; ++bit)
      {
        from += from;
        to += to;
      }
      const double before = model.Describe(from) + model.Describe(to);
      const double change = model.Describe(from - moving) + model.Describe(to + moving) - before;
      const double fromSide = model.Linearize(from)(moving);
      const double toSide = model.Linearize(to)(moving);
      const double rounding = 1e-15 * (ScaleOf(model.Linearize(from), from) + ScaleOf(model.Linearize(to), to));
      ASSERT_NEAR(change, toSide - fromSide, 1e-5 * (std::abs(toSide) + std::abs(fromSide)) + 1e-5 + rounding)
        << NameOf(law) << " trial " << trial;
    }
  }
}

TEST(CudaPartitionModel, RegionsWithoutPixelsHaveFiniteTangents)
{
  for (const NoiseLaw law : AllLaws)
  {
    std::mt19937_64  engine(1);
    const LinearForm tangent = RandomModel(law, engine).Linearize({});
    EXPECT_TRUE(std::isfinite(tangent.Count) && std::isfinite(tangent.Sum) && std::isfinite(tangent.SumOfSquares))
      << NameOf(law);
  }
}
