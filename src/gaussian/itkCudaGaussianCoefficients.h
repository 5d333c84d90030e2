// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianCoefficients_h
#define itkCudaGaussianCoefficients_h

#include "itkCudaGaussianCore.h"
#include "itkCudaGaussianPlan.h"

#include <cmath>
#include <cstddef>

// Coefficients are always computed in double and rounded once.

namespace itk::cuda::gaussian
{
static_assert(NumberOfPolePairs == CudaGaussianKernel::NumberOfPolePairs, "the sweeps and the plan agree on the order");

template <typename T>
inline LineCoefficients<T>
MakeLineCoefficients(const CudaGaussianKernel & kernel)
{
  LineCoefficients<T> coefficients;
  double              centralValue = 0.0;
  for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
  {
    const std::complex<double> p = kernel.Pole[j];
    const std::complex<double> c = kernel.Weight[j];
    const double               coupling = std::abs(1.0 - p);
    const double               damping = std::norm(p);
    SectionCoefficients<T> &   section = coefficients.Section[j];
    section.Damping = static_cast<T>(damping);
    section.Coupling = static_cast<T>(coupling);
    section.InverseCoupling = static_cast<T>(1.0 / coupling);
    section.WeightU = static_cast<T>(damping * c.real());
    section.WeightV = static_cast<T>((c.real() * (p.real() - damping) - c.imag() * p.imag()) / coupling);
    centralValue += c.real();
  }
  coefficients.CentralValue = static_cast<T>(centralValue);
  coefficients.AnticausalSign = kernel.IsAntisymmetric() ? T(-1) : T(1);
  coefficients.OffsetResponse = kernel.Order == 0 ? T(1) : T(0);
  return coefficients;
}

inline StateMatrix<double>
Multiply(const StateMatrix<double> & a, const StateMatrix<double> & b)
{
  StateMatrix<double> product;
  product.UU = a.UU * b.UU + a.UV * b.VU;
  product.UV = a.UU * b.UV + a.UV * b.VV;
  product.VU = a.VU * b.UU + a.VV * b.VU;
  product.VV = a.VU * b.UV + a.VV * b.VV;
  return product;
}

/** The matrix that maps the state of a pole pair over `length` pixels. */
inline StateMatrix<double>
MakeStatePower(std::complex<double> pole, size_t length)
{
  const double        g = std::norm(pole);
  const double        e = std::abs(1.0 - pole);
  StateMatrix<double> square{ g, -e, e * g, 1.0 - e * e };
  StateMatrix<double> power;
  for (; length > 0; length >>= 1)
  {
    if (length & 1)
    {
      power = Multiply(square, power);
    }
    square = Multiply(square, square);
  }
  return power;
}

template <typename T>
inline StateMatrix<T>
Round(const StateMatrix<double> & matrix)
{
  return { static_cast<T>(matrix.UU), static_cast<T>(matrix.UV), static_cast<T>(matrix.VU), static_cast<T>(matrix.VV) };
}
} // namespace itk::cuda::gaussian

#endif
