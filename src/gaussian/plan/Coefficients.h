// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_plan_Coefficients_h
#define CudaFilters_gaussian_plan_Coefficients_h

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "gaussian/Core.h"

#include <cmath>
#include <cstddef>

// Computes the coefficients of line passes from impulse responses, in double. They are rounded once.

namespace itk::cuda::gaussian
{
// VPairs is kernel.NumberOfPolePairs.
template <typename T, unsigned int VPairs>
inline LineDynamics<T, VPairs>
MakeLineDynamics(const CudaGaussianImpulseResponse & kernel)
{
  LineDynamics<T, VPairs> dynamics;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    const double coupling = std::abs(1.0 - kernel.Pole[j]);
    dynamics.Section[j] = { static_cast<T>(std::norm(kernel.Pole[j])),
                            static_cast<T>(coupling),
                            static_cast<T>(1.0 / coupling) };
  }
  return dynamics;
}

template <typename T, unsigned int VPairs>
inline LineResponse<T, VPairs>
MakeLineResponse(const CudaGaussianImpulseResponse & kernel)
{
  LineResponse<T, VPairs> response;
  double                  centralValue = 0.0;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    const std::complex<double> p = kernel.Pole[j];
    const std::complex<double> c = kernel.Weight[j];
    const double               damping = std::norm(p);
    const double               u = damping * c.real();
    const double               v = (c.real() * (p.real() - damping) - c.imag() * p.imag()) / std::abs(1.0 - p);
    response.Causal.WeightU[j] = static_cast<T>(u);
    response.Causal.WeightV[j] = static_cast<T>(v);
    response.Anticausal.WeightU[j] = static_cast<T>(kernel.IsAntisymmetric() ? -u : u);
    response.Anticausal.WeightV[j] = static_cast<T>(kernel.IsAntisymmetric() ? -v : v);
    centralValue += c.real();
  }
  response.CentralValue = static_cast<T>(centralValue);
  response.ConstantResponse = static_cast<T>(kernel.ConstantResponse);
  return response;
}

/** Returns the matrix that advances the state of a pole pair over `length` pixels. */
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
RoundTo(const StateMatrix<double> & matrix)
{
  return { static_cast<T>(matrix.UU), static_cast<T>(matrix.UV), static_cast<T>(matrix.VU), static_cast<T>(matrix.VV) };
}
} // namespace itk::cuda::gaussian

#endif
