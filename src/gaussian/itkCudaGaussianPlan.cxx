// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianPlan.h"

#include "itkMacro.h"

#include <cmath>

namespace itk
{
namespace
{
using Complex = std::complex<double>;

constexpr unsigned int NumberOfPolePairs = CudaGaussianKernel::NumberOfPolePairs;

// The limit of itk::RecursiveGaussianImageFilter.
constexpr double SmallestSpacing = 1e-8;

// Table 3 of Farneback and Westin (2006): the exponents, and the amplitudes A - iB for orders 0, 1, 2.
constexpr double DericheFrequency[NumberOfPolePairs] = { 0.6681, 2.0787 };
constexpr double DericheDecay[NumberOfPolePairs] = { -1.3932, -1.3732 };
const Complex    DericheAmplitude[3][NumberOfPolePairs] = {
     { { 1.3530, -1.8151 }, { -0.3531, -0.0902 } },
     { { -0.6724, 3.4327 }, { 0.6724, -0.6100 } },
     { { -1.3563, -5.2318 }, { 0.3446, 2.2355 } },
};

// Moments of the half-kernel, sum over n >= 0 of n^k h(n), k = 0, 1, 2: with p = pole and c = weight
// sum p^n = 1/(1-p), sum n p^n = p/(1-p)^2, sum n^2 p^n = p(1+p)/(1-p)^3.
double
HalfKernelMoment(const CudaGaussianKernel & kernel, unsigned int k)
{
  double moment = 0.0;
  for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
  {
    const Complex p = kernel.Pole[j];
    const Complex q = 1.0 / (1.0 - p);
    const Complex sum = k == 0 ? q : (k == 1 ? p * q * q : p * (1.0 + p) * q * q * q);
    moment += std::real(kernel.Weight[j] * sum);
  }
  return moment;
}

double
CentralValue(const CudaGaussianKernel & kernel)
{
  double h0 = 0.0;
  for (const Complex & weight : kernel.Weight)
  {
    h0 += weight.real();
  }
  return h0;
}

// Sum of the whole even kernel: its response to a constant 1.
double
EvenKernelSum(const CudaGaussianKernel & kernel)
{
  return 2.0 * HalfKernelMoment(kernel, 0) - CentralValue(kernel);
}

void
Scale(CudaGaussianKernel & kernel, double factor)
{
  for (Complex & weight : kernel.Weight)
  {
    weight *= factor;
  }
}
} // namespace

CudaGaussianKernel
MakeDericheGaussianKernel(unsigned int order, double sigma, double spacing, bool normalizeAcrossScale)
{
  if (order > 2)
  {
    itkGenericExceptionMacro("Order is " << order << "; it must be 0, 1 or 2");
  }
  if (!(sigma > 0.0) || !std::isfinite(sigma))
  {
    itkGenericExceptionMacro("Sigma is " << sigma << "; it must be greater than zero and finite");
  }
  if (!(std::abs(spacing) >= SmallestSpacing) || !std::isfinite(spacing))
  {
    itkGenericExceptionMacro("Spacing is " << spacing << "; its magnitude must be finite and at least "
                                           << SmallestSpacing);
  }

  CudaGaussianKernel kernel;
  kernel.Order = order;
  kernel.SigmaInPixels = sigma / std::abs(spacing);
  for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
  {
    kernel.Pole[j] = std::exp(Complex(DericheDecay[j], DericheFrequency[j]) / kernel.SigmaInPixels);
    kernel.Weight[j] = DericheAmplitude[order][j];
  }

  switch (order)
  {
    case 0:
      Scale(kernel, 1.0 / EvenKernelSum(kernel));
      break;
    case 1: {
      // The ramp x[n] = n gives sum_m h(m) (n - m) = -2 sum_{m>0} m h(m).
      const double rampResponse = -2.0 * HalfKernelMoment(kernel, 1);
      Scale(kernel, (spacing < 0.0 ? -1.0 : 1.0) * (normalizeAcrossScale ? sigma : 1.0) / rampResponse);
      break;
    }
    default: {
      // The right multiple of the smoothing kernel makes the response to a constant zero.
      CudaGaussianKernel smoothing = kernel;
      for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
      {
        smoothing.Weight[j] = DericheAmplitude[0][j];
      }
      const double beta = -EvenKernelSum(kernel) / EvenKernelSum(smoothing);
      for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
      {
        kernel.Weight[j] += beta * smoothing.Weight[j];
      }
      // n^2 / 2 gives, beside the constant's zero, sum_m h(m) m^2 / 2 = sum_{m>0} m^2 h(m).
      const double parabolaResponse = HalfKernelMoment(kernel, 2);
      Scale(kernel, (normalizeAcrossScale ? sigma * sigma : 1.0) / parabolaResponse);
    }
  }
  return kernel;
}
} // end namespace itk
