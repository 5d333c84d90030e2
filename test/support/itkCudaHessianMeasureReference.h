// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHessianMeasureReference_h
#define itkCudaHessianMeasureReference_h

#include "itkSymmetricEigenAnalysis.h"
#include "itkSymmetricSecondRankTensor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

// The measures of Hessians by their papers' formulas in double. They share no code with the module.

namespace itk::cuda::test
{
/** The eigenvalues of a Hessian in ascending order. */
using Eigenvalues = std::vector<double>;
using MeasureFormula = std::function<double(const Eigenvalues &)>;

/** Returns the eigenvalues, by ITK, of the symmetric matrix whose upper triangle `elements` has, row by row. */
template <unsigned int VDimension, typename T>
Eigenvalues
GetEigenvalues(const T * elements)
{
  using TensorType = SymmetricSecondRankTensor<double, VDimension>;
  using ValuesType = FixedArray<double, VDimension>;
  TensorType tensor;
  std::copy_n(elements, TensorType::InternalDimension, tensor.Begin());
  ValuesType                                                               values;
  SymmetricEigenAnalysisFixedDimension<VDimension, TensorType, ValuesType> analysis;
  analysis.SetOrderEigenValues(true);
  analysis.ComputeEigenValues(tensor, values);
  return Eigenvalues(values.Begin(), values.End());
}

/** Returns the Frobenius norm of the Hessian. */
inline double
GetNorm(const Eigenvalues & values)
{
  double squares = 0.0;
  for (const double value : values)
  {
    squares += value * value;
  }
  return std::sqrt(squares);
}

inline Eigenvalues
SortByMagnitude(Eigenvalues values)
{
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  return values;
}

inline Eigenvalues
Negate(Eigenvalues values)
{
  std::reverse(values.begin(), values.end());
  std::transform(values.begin(), values.end(), values.begin(), std::negate<>());
  return values;
}

/** Frangi's measure (equations 13 and 15) generalised by Antiga to objects of any dimension. A width that is 0 leaves
 * its factor out, or makes the measure 0 if it is `beta`. */
inline double
GetObjectness(const Eigenvalues & values,
              double              alpha,
              double              beta,
              double              gamma,
              unsigned int        objectDimension,
              bool                bright,
              bool                isScaled)
{
  const Eigenvalues l = SortByMagnitude(values);
  const size_t      dimension = l.size();
  const auto        decay = [](double ratio, double width) { return std::exp(-0.5 * ratio * ratio / (width * width)); };
  // The ratio of an eigenvalue to the geometric mean of those behind it.
  const auto getRatio = [&l, dimension](size_t position) {
    double product = 1.0;
    for (size_t i = position + 1; i < dimension; ++i)
    {
      product *= std::fabs(l[i]);
    }
    return std::fabs(l[position]) / std::pow(product, 1.0 / static_cast<double>(dimension - position - 1));
  };
  if (l.back() == 0.0 || std::any_of(l.begin() + objectDimension, l.end(), [bright](double value) {
        return bright ? value > 0.0 : value < 0.0;
      }))
  {
    return 0.0;
  }
  double measure = isScaled ? std::fabs(l.back()) : 1.0;
  if (objectDimension + 1 < dimension)
  {
    const double ratio = getRatio(objectDimension);
    measure *= !std::isfinite(ratio) ? 0.0 : alpha == 0.0 ? 1.0 : 1.0 - decay(ratio, alpha);
  }
  if (objectDimension > 0)
  {
    const double ratio = getRatio(objectDimension - 1);
    measure *= std::isfinite(ratio) && beta != 0.0 ? decay(ratio, beta) : 0.0;
  }
  return gamma == 0.0 ? measure : measure * -std::expm1(-0.5 * GetNorm(l) * GetNorm(l) / (gamma * gamma));
}

/** Frangi's measure, with the constant c of the structureness. */
inline double
GetFrangi(const Eigenvalues & values, double alpha, double beta, double c, bool bright)
{
  return GetObjectness(values, alpha, beta, c, 1, bright, false);
}

inline double
GetSato(const Eigenvalues & values, double alpha, double gamma12, double gamma23, bool bright)
{
  const Eigenvalues l = bright ? values : Negate(values);
  const double      l1 = l.back(), l2 = l[l.size() - 2], l3 = l.front(); // l1 >= l2 >= l3; l2 is l3 in a plane
  const double      across = l.size() == 2 ? l3 : l2;
  if (!(across < 0.0))
  {
    return 0.0;
  }
  const double ratio = l1 / std::fabs(across);
  const double omega = l1 <= 0.0             ? std::pow(1.0 + ratio, gamma12)
                       : alpha * ratio < 1.0 ? std::pow(1.0 - alpha * ratio, gamma12)
                                             : 0.0;
  return std::fabs(l3) * std::pow(across / l3, gamma23) * omega;
}

inline double
GetJerman(const Eigenvalues & values, double floor, bool bright)
{
  const Eigenvalues l = SortByMagnitude(bright ? Negate(values) : values);
  const double      second = l[1]; // the last one in a plane
  if (!(second > 0.0 && l.back() > 0.0))
  {
    return 0.0;
  }
  const double regular = std::max(l.back(), floor);
  return second >= regular / 2.0 ? 1.0 : second * second * (regular - second) * std::pow(3.0 / (second + regular), 3.0);
}

inline double
GetMeijering(const Eigenvalues & values, bool bright)
{
  double trace = 0.0;
  for (const double value : values)
  {
    trace += value;
  }
  Eigenvalues modified;
  for (const double value : values)
  {
    modified.push_back(value - (trace - value) / static_cast<double>(values.size() + 1));
  }
  const double largest = SortByMagnitude(modified).back();
  return std::max(bright ? -largest : largest, 0.0);
}

/** Returns how far a measure is, at most, from that of eigenvalues which differ by `rounding` times the largest one.
 * Measures jump where eigenvalues change their signs or their order of magnitudes, and roots are steep at their ends.
 * Between the corners the measures are monotone but for a ridge at 0. */
inline double
GetSpread(const Eigenvalues & values, const MeasureFormula & formula, double rounding)
{
  const double expected = formula(values);
  const double step = rounding * std::max(std::fabs(values.front()), std::fabs(values.back()));
  double       spread = 0.0;
  const auto   update = [&](Eigenvalues moved) {
    std::sort(moved.begin(), moved.end());
    spread = std::max(spread, std::fabs(formula(moved) - expected));
  };
  for (unsigned int corner = 0; corner < 1u << values.size(); ++corner)
  {
    Eigenvalues moved = values;
    for (size_t i = 0; i < values.size(); ++i)
    {
      moved[i] += (corner >> i & 1u) == 0 ? -step : step;
    }
    update(moved);
    for (size_t i = 0; i < values.size(); ++i)
    {
      Eigenvalues onRidge = moved;
      onRidge[i] = std::fabs(values[i]) <= step ? 0.0 : moved[i];
      update(onRidge);
    }
  }
  return spread;
}
} // namespace itk::cuda::test

#endif
