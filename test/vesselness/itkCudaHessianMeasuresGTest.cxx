// SPDX-License-Identifier: Apache-2.0

// Measures of Hessians against their papers' formulas in double, written once more here.

#include "support/itkCudaExpectException.h"
#include "pointwise/HessianMeasures.h"
#include "support/itkCudaTestSeed.h"
#include "itkMacro.h"
#include "itkSymmetricEigenAnalysis.h"
#include "itkSymmetricSecondRankTensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace
{
using namespace itk::CudaDetail;
using namespace itk::cuda::pointwise;

/** Eigenvalues of a Hessian in double, by ITK. */
using Values = std::vector<double>;
/** A measure of ascending eigenvalues. Distance is that in eigenvalues to where it jumps; infinite if it is continuous.
 * Spread is how far it is from the measure of eigenvalues that roundings have changed, for measures that are steep. */
struct Reference
{
  double Value;
  double Distance{ std::numeric_limits<double>::infinity() };
  double Spread{ 0.0 };
};
using Formula = std::function<Reference(const Values &)>;

template <unsigned int VDimension, typename T>
Values
GetEigenValues(const std::array<T, CudaTensorComponents(VDimension)> & hessian)
{
  itk::SymmetricSecondRankTensor<double, VDimension> tensor;
  std::copy(hessian.begin(), hessian.end(), tensor.Begin());
  itk::FixedArray<double, VDimension> values;
  itk::SymmetricEigenAnalysisFixedDimension<VDimension,
                                            itk::SymmetricSecondRankTensor<double, VDimension>,
                                            itk::FixedArray<double, VDimension>>
    analysis;
  analysis.SetOrderEigenValues(true);
  analysis.ComputeEigenValues(tensor, values);
  return Values(values.Begin(), values.End());
}

void
SortByMagnitude(Values & values)
{
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
}

/** Frangi's equations 13 and 15, for bright and dark tubes. */
Reference
GetFrangi(Values l, double alpha, double beta, double c, bool bright)
{
  SortByMagnitude(l);
  const size_t d = l.size();
  double       square = 0.0;
  for (const double x : l)
  {
    square += x * x;
  }
  Reference result{ 0.0 };
  for (size_t i = 0; i < d; ++i)
  {
    // The sign decides, and so does the order of magnitudes of eigenvalues with different signs.
    result.Distance = std::min(result.Distance, std::fabs(l[i]));
    if (i > 0 && l[i] * l[i - 1] < 0.0)
    {
      result.Distance = std::min(result.Distance, std::fabs(l[i]) - std::fabs(l[i - 1]));
    }
  }
  for (size_t i = 1; i < d; ++i)
  {
    if (bright ? l[i] > 0.0 : l[i] < 0.0)
    {
      return result;
    }
  }
  const double structure = -std::expm1(-square / (2.0 * c * c));
  if (d == 2)
  {
    const double blob = l[0] / l[1];
    result.Value = std::exp(-blob * blob / (2.0 * beta * beta)) * structure;
    return result;
  }
  const double plate = std::fabs(l[1] / l[2]);
  const double blob = std::fabs(l[0]) / std::sqrt(std::fabs(l[1] * l[2]));
  result.Value =
    -std::expm1(-plate * plate / (2.0 * alpha * alpha)) * std::exp(-blob * blob / (2.0 * beta * beta)) * structure;
  return result;
}

double
GetSatoValue(Values l, double alpha, double gamma12, double gamma23, bool bright)
{
  if (!bright)
  {
    for (double & x : l)
    {
      x = -x;
    }
  }
  std::sort(l.begin(), l.end(), std::greater<double>()); // l1 >= l2 >= l3
  const double l1 = l[0], l2 = l[1], l3 = l.back();
  if (!(l2 < 0.0))
  {
    return 0.0;
  }
  const double psi = std::pow(l2 / l3, gamma23);
  const double omega = l1 <= 0.0                    ? std::pow(1.0 + l1 / std::fabs(l2), gamma12)
                       : l1 < std::fabs(l2) / alpha ? std::pow(1.0 - alpha * l1 / std::fabs(l2), gamma12)
                                                    : 0.0;
  return std::fabs(l3) * psi * omega;
}

/** Roots are steep at their ends, and l1 / l2 where l2 is small: the spread of what `rounding` does to eigenvalues. The
 * measure is monotone in each of them but for its ridge at l1 = 0. */
Reference
GetSato(const Values & l, double alpha, double gamma12, double gamma23, bool bright, double rounding)
{
  Reference    result{ GetSatoValue(l, alpha, gamma12, gamma23, bright) };
  const double step = rounding * std::max(std::fabs(l.front()), std::fabs(l.back()));
  const auto   update = [&](const Values & moved) {
    const double value = GetSatoValue(moved, alpha, gamma12, gamma23, bright);
    result.Spread = std::max(result.Spread, std::fabs(value - result.Value));
  };
  for (unsigned int corner = 0; corner < 1u << l.size(); ++corner)
  {
    Values moved = l;
    for (size_t i = 0; i < l.size(); ++i)
    {
      moved[i] += (corner >> i & 1u) == 0 ? -step : step;
    }
    update(moved);
    for (size_t i = 0; i < l.size(); ++i)
    {
      Values onRidge = moved;
      onRidge[i] = std::fabs(l[i]) <= step ? 0.0 : moved[i];
      update(onRidge);
    }
  }
  return result;
}

Reference
GetJerman(Values l, double floor, bool bright)
{
  if (bright)
  {
    for (double & x : l)
    {
      x = -x;
    }
  }
  SortByMagnitude(l);
  const double l3 = l.back();
  const double l2 = l.size() == 2 ? l3 : l[1];
  double       distance = std::min(std::fabs(l2), std::fabs(l3));
  for (size_t i = 1; i < l.size(); ++i)
  {
    if (l[i] * l[i - 1] < 0.0)
    {
      distance = std::min(distance, std::fabs(l[i]) - std::fabs(l[i - 1]));
    }
  }
  const double regularized = l3 > floor ? l3 : l3 > 0.0 ? floor : 0.0;
  if (l2 <= 0.0 || regularized <= 0.0)
  {
    return { 0.0, distance };
  }
  if (l2 >= regularized / 2.0)
  {
    return { 1.0, distance };
  }
  return { l2 * l2 * (regularized - l2) * std::pow(3.0 / (l2 + regularized), 3.0), distance };
}

Reference
GetMeijering(const Values & l, bool bright)
{
  const double alpha = -1.0 / static_cast<double>(l.size() + 1);
  double       trace = 0.0;
  for (const double x : l)
  {
    trace += x;
  }
  Values modified;
  for (const double x : l)
  {
    modified.push_back(x + alpha * (trace - x));
  }
  SortByMagnitude(modified);
  const double found = bright ? -modified.back() : modified.back();
  double       distance = std::numeric_limits<double>::infinity();
  for (const double x : modified)
  {
    if (x * modified.back() < 0.0)
    {
      distance = std::min(distance, std::fabs(modified.back()) - std::fabs(x));
    }
  }
  return { std::max(found, 0.0), distance };
}

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
CheckMeasure(const CudaHessianMeasure & measure, const Formula & formula, double norm, std::mt19937_64 & random)
{
  constexpr int              count = 400;
  const double               bound = sizeof(T) == 4 ? 1e-5 : 1e-12;
  const double               rounding = sizeof(T) == 4 ? 1e-5 : 1e-12;
  const MeasureParameters<T> parameters(measure);
  std::vector<double>        found;
  std::vector<Reference>     references;
  double                     largest = 0.0;
  for (int i = 0; i < count; ++i)
  {
    const auto      hessian = MakeHessian<VDimension, T>(random, norm);
    const Reference reference = formula(GetEigenValues<VDimension, T>(hessian));
    found.push_back(static_cast<double>(GetHessianMeasure<VDimension>(parameters, hessian.data())));
    references.push_back(reference);
    largest = std::max(largest, std::fabs(reference.Value));
  }
  for (int i = 0; i < count; ++i)
  {
    if (references[i].Distance > rounding * norm)
    {
      EXPECT_LE(std::fabs(found[i] - references[i].Value), bound * largest + references[i].Spread)
        << "number " << i << ", kind " << static_cast<int>(measure.Kind);
    }
  }
}

template <unsigned int VDimension, typename T>
void
CheckAllMeasures()
{
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int repeat = 0; repeat < 60; ++repeat)
  {
    const bool   bright = repeat % 2 == 0;
    const double norm = std::pow(10.0, 8.0 * uniform(random) - 4.0);
    const double alpha = 0.3 + uniform(random);
    const double beta = 0.3 + uniform(random);
    const double c = norm * (0.1 + uniform(random));
    CheckMeasure<VDimension, T>(
      MakeFrangiMeasure(VDimension, alpha, beta, c, bright),
      [=](const Values & l) { return GetFrangi(l, alpha, beta, c, bright); },
      norm,
      random);
    const double satoAlpha = 0.05 + 0.95 * uniform(random);
    const double gamma12 = 0.5 * static_cast<double>(random() % 3);
    const double gamma23 = 0.5 * static_cast<double>(random() % 3);
    CheckMeasure<VDimension, T>(
      MakeSatoMeasure(VDimension, satoAlpha, gamma12, gamma23, bright),
      [=](const Values & l) { return GetSato(l, satoAlpha, gamma12, gamma23, bright, sizeof(T) == 4 ? 1e-6 : 1e-13); },
      norm,
      random);
    const double floor = norm * uniform(random);
    CheckMeasure<VDimension, T>(
      MakeJermanMeasure(VDimension, floor, bright),
      [=](const Values & l) { return GetJerman(l, floor, bright); },
      norm,
      random);
    CheckMeasure<VDimension, T>(
      MakeMeijeringMeasure(VDimension, bright),
      [=](const Values & l) { return GetMeijering(l, bright); },
      norm,
      random);
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

TEST(CudaHessianMeasuresTest, BadParametersAreNamed)
{
  using itk::cuda::test::ExpectContains;
  using itk::cuda::test::GetException;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ExpectContains(GetException([] { MakeObjectnessMeasure(4, 0.5, 0.5, 5.0, 1, true, true); }), "4");
  ExpectContains(GetException([] { MakeObjectnessMeasure(3, 0.5, 0.5, 5.0, 3, true, true); }), "ObjectDimension");
  ExpectContains(GetException([] { MakeFrangiMeasure(3, 0.0, 0.5, 5.0, true); }), "Alpha");
  ExpectContains(GetException([=] { MakeFrangiMeasure(3, 0.5, nan, 5.0, true); }), "Beta");
  ExpectContains(GetException([] { MakeFrangiMeasure(2, 0.5, 0.5, -1.0, true); }), "structureness");
  ExpectContains(GetException([] { MakeSatoMeasure(3, -0.25, 1.0, 1.0, true); }), "SatoAlpha is -0.25");
  ExpectContains(GetException([] { MakeSatoMeasure(3, 0.5, 0.75, 1.0, true); }), "0.75");
  ExpectContains(GetException([=] { MakeSatoMeasure(3, 0.5, 1.0, nan, true); }), "Gamma23");
  ExpectContains(GetException([] { MakeJermanMeasure(3, -1.0, true); }), "floor");
  ExpectContains(GetException([=] { MakeJermanMeasure(3, nan, true); }), "floor");
  ExpectContains(GetException([] { MakeMeijeringMeasure(1, true); }), "1");
  ExpectContains(GetException([] { MakeEigenPlan(5, CudaEigenValueOrder::None, true); }), "5");
}
