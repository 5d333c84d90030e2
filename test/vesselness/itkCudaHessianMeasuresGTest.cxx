// SPDX-License-Identifier: Apache-2.0

// Measures of Hessians against their papers' formulas in double.

#include "support/itkCudaExpectException.h"
#include "support/itkCudaHessianMeasureReference.h"
#include "pointwise/HessianMeasures.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

namespace
{
using namespace itk::CudaDetail;
using namespace itk::cuda::pointwise;
using namespace itk::cuda::test;

/** Random Hessians, half of them with small or equal eigenvalues, of norm about `norm`. */
template <unsigned int VDimension, typename T>
std::array<T, CudaTensorComponents(VDimension)>
MakeHessian(std::mt19937_64 & random, double norm)
{
  std::uniform_real_distribution<double>          uniform(-1.0, 1.0);
  std::array<T, CudaTensorComponents(VDimension)> hessian{};
  if (random() % 2 == 0)
  {
    for (T & x : hessian)
    {
      x = static_cast<T>(norm * uniform(random));
    }
    return hessian;
  }
  // - |a| u u' with a little of everything else
  std::array<double, VDimension> u{};
  for (double & x : u)
  {
    x = uniform(random);
  }
  const double noise = std::pow(10.0, 4.0 * uniform(random) - 4.0);
  unsigned int element = 0;
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    for (unsigned int j = i; j < VDimension; ++j)
    {
      hessian[element++] = static_cast<T>(norm * (-u[i] * u[j] + noise * uniform(random)));
    }
  }
  return hessian;
}

template <unsigned int VDimension, typename T>
void
CheckMeasure(const CudaHessianMeasure & measure, const MeasureFormula & formula, double norm, std::mt19937_64 & random)
{
  constexpr int              count = 400;
  constexpr double           bound = sizeof(T) == 4 ? 1e-5 : 1e-12;
  constexpr double           rounding = sizeof(T) == 4 ? 1e-6 : 1e-13; // of eigenvalues
  const MeasureParameters<T> parameters(measure);
  std::vector<double>        found;
  std::vector<double>        expected;
  std::vector<double>        spreads;
  for (int i = 0; i < count; ++i)
  {
    const auto        hessian = MakeHessian<VDimension, T>(random, norm);
    const Eigenvalues values = GetEigenvalues<VDimension>(hessian.data());
    found.push_back(static_cast<double>(GetHessianMeasure<VDimension>(parameters, hessian.data())));
    expected.push_back(formula(values));
    spreads.push_back(GetSpread(values, formula, rounding));
  }
  const double largest = *std::max_element(expected.begin(), expected.end());
  for (int i = 0; i < count; ++i)
  {
    EXPECT_LE(std::fabs(found[i] - expected[i]), bound * largest + spreads[i])
      << "number " << i << ", kind " << static_cast<int>(measure.Kind);
  }
}

template <unsigned int VDimension, typename T>
void
CheckAllMeasures()
{
  std::mt19937_64                        random(GetSeed());
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int repeat = 0; repeat < 60; ++repeat)
  {
    const bool   bright = repeat % 2 == 0;
    const double norm = std::pow(10.0, 8.0 * uniform(random) - 4.0);
    const auto   check = [&](const CudaHessianMeasure & measure, const MeasureFormula & formula) {
      CheckMeasure<VDimension, T>(measure, formula, norm, random);
    };
    const double       alpha = 0.3 + uniform(random);
    const double       beta = 0.3 + uniform(random);
    const double       c = norm * (0.1 + uniform(random));
    const unsigned int object = repeat % VDimension;
    const bool         isScaled = repeat % 4 < 2;
    const double       width = repeat % 5 == 0 ? 0.0 : alpha; // 0 leaves a factor out
    check(MakeObjectnessMeasure(VDimension, width, beta, c, object, bright, isScaled),
          [=](const Eigenvalues & l) { return GetObjectness(l, width, beta, c, object, bright, isScaled); });
    check(MakeFrangiMeasure(VDimension, alpha, beta, c, bright),
          [=](const Eigenvalues & l) { return GetFrangi(l, alpha, beta, c, bright); });
    const double satoAlpha = 0.05 + 0.95 * uniform(random);
    const double gamma12 = 0.5 * static_cast<double>(random() % 3);
    const double gamma23 = 0.5 * static_cast<double>(random() % 3);
    check(MakeSatoMeasure(VDimension, satoAlpha, gamma12, gamma23, bright),
          [=](const Eigenvalues & l) { return GetSato(l, satoAlpha, gamma12, gamma23, bright); });
    const double floor = norm * uniform(random);
    check(MakeJermanMeasure(VDimension, floor, bright),
          [=](const Eigenvalues & l) { return GetJerman(l, floor, bright); });
    check(MakeMeijeringMeasure(VDimension, bright), [=](const Eigenvalues & l) { return GetMeijering(l, bright); });
  }
}

std::vector<CudaHessianMeasure>
GetOneOfEach(unsigned int dimension)
{
  return { MakeObjectnessMeasure(dimension, 0.5, 0.5, 5.0, 1, true, true),
           MakeFrangiMeasure(dimension, 0.5, 0.5, 5.0, true),
           MakeSatoMeasure(dimension, 0.25, 1.0, 1.0, true),
           MakeJermanMeasure(dimension, 0.5, true),
           MakeMeijeringMeasure(dimension, true) };
}

template <unsigned int VDimension, typename T>
void
CheckSpecialHessians()
{
  constexpr unsigned int count = CudaTensorComponents(VDimension);
  for (const CudaHessianMeasure & measure : GetOneOfEach(VDimension))
  {
    const MeasureParameters<T> parameters(measure);
    const T                    zero[count] = {};
    EXPECT_EQ(GetHessianMeasure<VDimension>(parameters, zero), T{ 0 });
    for (unsigned int i = 0; i < count; ++i)
    {
      for (const T bad : { std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity() })
      {
        T hessian[count] = {};
        hessian[i] = bad;
        EXPECT_TRUE(std::isnan(GetHessianMeasure<VDimension>(parameters, hessian)));
      }
    }
  }
}

template <unsigned int VDimension>
void
CheckScales()
{
  // Ratios do not depend on the scale, and the float of a tube of 1e-30 or 1e30 is that of the tube of 1.
  std::array<float, CudaTensorComponents(VDimension)> tube{};
  tube[0] = -1.0f;
  tube[VDimension] = -0.75f; // element (1, 1)
  if (VDimension == 2)
  {
    tube[2] = -0.125f;
  }
  const auto get = [&](const CudaHessianMeasure & measure, float scale) {
    auto hessian = tube;
    for (float & x : hessian)
    {
      x *= scale;
    }
    return GetHessianMeasure<VDimension>(MeasureParameters<float>(measure), hessian.data());
  };
  for (const float scale : { std::ldexp(1.0f, -100), std::ldexp(1.0f, 100) })
  {
    const auto objectness = [](double gamma) {
      return MakeObjectnessMeasure(VDimension, 0.5, 0.5, gamma, 1, true, true);
    };
    EXPECT_GT(get(objectness(1.0), 1.0f), 0.1f);
    EXPECT_EQ(get(objectness(scale), scale), get(objectness(1.0), 1.0f) * scale);
    EXPECT_EQ(get(objectness(0.0), scale), get(objectness(0.0), 1.0f) * scale);
    const auto sato = MakeSatoMeasure(VDimension, 0.25, 0.5, 0.5, true);
    EXPECT_EQ(get(sato, scale), get(sato, 1.0f) * scale);
    const auto meijering = MakeMeijeringMeasure(VDimension, true);
    EXPECT_EQ(get(meijering, scale), get(meijering, 1.0f) * scale);
    EXPECT_EQ(get(MakeJermanMeasure(VDimension, 4.0 * scale, true), scale),
              get(MakeJermanMeasure(VDimension, 4.0, true), 1.0f));
  }
}
} // namespace

TEST(CudaHessianMeasuresTest, MeasuresAreThoseOfTheFormulas)
{
  CheckAllMeasures<2, float>();
  CheckAllMeasures<3, float>();
  CheckAllMeasures<2, double>();
  CheckAllMeasures<3, double>();
}

TEST(CudaHessianMeasuresTest, ZeroGivesZeroAndWhatIsNotFiniteNaN)
{
  CheckSpecialHessians<2, float>();
  CheckSpecialHessians<3, float>();
  CheckSpecialHessians<2, double>();
  CheckSpecialHessians<3, double>();
}

TEST(CudaHessianMeasuresTest, ScalesOverflowNowhere)
{
  CheckScales<2>();
  CheckScales<3>();
}
