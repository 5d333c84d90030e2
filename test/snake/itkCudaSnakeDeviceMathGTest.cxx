// SPDX-License-Identifier: Apache-2.0
#include "snake/itkCudaSnakeDeviceMath.h"
#include "snake/itkCudaSnakeDeviceTest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <random>
#include <string>

// Logarithm and criteria have the same bits on the device as on the host, from which follows that decisions agree.
namespace
{
using itk::cuda::region::AllLaws;
using itk::cuda::region::CriterionCase;
using itk::cuda::region::CriterionValue;
using itk::cuda::region::LawDescription;
using itk::cuda::region::Moments;
using itk::cuda::region::NoiseLaw;

class CudaSnakeDeviceMathGpu : public itk::cuda::SnakeDeviceTest
{};

bool
HaveSameBits(double x, double y)
{
  return std::memcmp(&x, &y, sizeof(x)) == 0;
}

/** Sums of `count` samples up to `largest`, of any spread: from all the same to half of them 0. */
Moments
RandomMoments(NoiseLaw law, int64_t count, uint64_t largest, std::mt19937_64 & engine)
{
  const auto part = [&engine](uint64_t whole) {
    // Also the two ends: regions of one value.
    const uint64_t choice = engine() % 16;
    return choice == 0 ? 0 : (choice == 1 ? whole : engine() % (whole + 1));
  };
  const auto     n = static_cast<uint64_t>(count);
  const uint64_t low = law == NoiseLaw::Bernoulli ? 0 : part(largest / 2);
  const uint64_t high = law == NoiseLaw::Bernoulli ? 1 : low + part(largest - low);
  const uint64_t highs = part(n);
  return { count, (n - highs) * low + highs * high, (n - highs) * low * low + highs * high * high };
}
} // namespace

TEST_F(CudaSnakeDeviceMathGpu, TenMillionLogarithms)
{
  constexpr unsigned int seed = 31;
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64     engine(seed);
  std::vector<double> values(10000000);
  for (size_t i = 0; i < values.size(); ++i)
  {
    // Any normal number, and twice as many of those near 1, where the exponent and the series cancel.
    const uint64_t exponent = i % 3 == 0 ? 1 + engine() % 2046 : 1023 - 2 + engine() % 4;
    const uint64_t bits = (exponent << 52) | (engine() >> 12);
    std::memcpy(&values[i], &bits, sizeof(bits));
  }
  const std::vector<double> results = itk::cuda::region::LogOnDevice(values, m_Device);
  size_t                    differences = 0;
  for (size_t i = 0; i < values.size(); ++i)
  {
    differences += HaveSameBits(results[i], itk::cuda::region::Log(values[i])) ? 0 : 1;
  }
  EXPECT_EQ(differences, 0u);
}

TEST_F(CudaSnakeDeviceMathGpu, AMillionCriteria)
{
  constexpr unsigned int seed = 32;
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64            engine(seed);
  std::vector<CriterionCase> cases(1000000);
  for (size_t i = 0; i < cases.size(); ++i)
  {
    const NoiseLaw law = AllLaws[i % std::size(AllLaws)];
    const auto     logUniform = [&engine](double largest) {
      const double u = static_cast<double>(engine() >> 11) / 9007199254740992.0;
      return 1 + static_cast<int64_t>(std::exp(u * std::log(largest)));
    };
    const uint64_t largest = engine() % 2 == 0 ? 255 : 65535;
    const Moments  target = RandomMoments(law, logUniform(1.5e8), largest, engine);
    const Moments  background = RandomMoments(law, logUniform(1.5e8), largest, engine);
    LawDescription description;
    description.Law = law;
    description.NumberOfLooks = 0.5 + static_cast<double>(engine() % 1000) / 100.0;
    description.NumberOfValidPixels = target.Count + background.Count;
    cases[i] = { description, target, target + background };
  }
  const std::vector<CriterionValue> results = itk::cuda::region::EvaluateOnDevice(cases, m_Device);
  size_t                            differences = 0;
  for (size_t i = 0; i < cases.size(); ++i)
  {
    const CriterionValue expected = itk::cuda::region::Evaluate(cases[i]);
    ASSERT_TRUE(std::isfinite(expected.Criterion)) << "case " << i;
    const bool same = HaveSameBits(results[i].Criterion, expected.Criterion) &&
                      HaveSameBits(results[i].Form.Count, expected.Form.Count) &&
                      HaveSameBits(results[i].Form.Sum, expected.Form.Sum) &&
                      HaveSameBits(results[i].Form.SumOfSquares, expected.Form.SumOfSquares);
    differences += same ? 0 : 1;
  }
  EXPECT_EQ(differences, 0u);
}
