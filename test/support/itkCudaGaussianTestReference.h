// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTestReference_h
#define itkCudaGaussianTestReference_h

#include <array>
#include <cmath>
#include <complex>

// Deriche's kernel for the tests of the Gaussian filters. It shares no code with the module, because a test that used
// the module's coefficients could not detect an error in them.

namespace itk::cuda::test
{
/** The parameters of a filter along one axis, as the user sets them. */
struct GaussianParameters
{
  unsigned int Axis{ 0 };
  unsigned int Order{ 0 };
  double       Sigma{ 1.0 };
  double       Spacing{ 1.0 };
  bool         NormalizeAcrossScale{ false };

  double
  SigmaInPixels() const
  {
    return Sigma / std::abs(Spacing);
  }
};

/** Deriche's half-kernel h+(n) = Re sum_j c_j p_j^n, computed in long double from its definition:
 * R. Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA RR-1893 (1993), with the constants of
 * G. Farneback and C.-F. Westin, "Improving Deriche-style recursive Gaussian filters", J Math Imaging Vis 26:293-299
 * (2006). */
class DericheHalfKernel
{
public:
  using RealType = long double;
  using ComplexType = std::complex<long double>;

  explicit DericheHalfKernel(const GaussianParameters & parameters)
    : m_Odd(parameters.Order == 1)
  {
    static constexpr RealType        w[2] = { 0.6681L, 2.0787L };
    static constexpr RealType        l[2] = { -1.3932L, -1.3732L };
    static constexpr RealType        a[3][2] = { { 1.3530L, -0.3531L }, { -0.6724L, 0.6724L }, { -1.3563L, 0.3446L } };
    static constexpr RealType        b[3][2] = { { 1.8151L, 0.0902L }, { -3.4327L, 0.6100L }, { 5.2318L, -2.2355L } };
    const std::array<ComplexType, 2> order0{ ComplexType(a[0][0], -b[0][0]), ComplexType(a[0][1], -b[0][1]) };
    const unsigned int               order = parameters.Order;
    for (unsigned int j = 0; j < 2; ++j)
    {
      m_Pole[j] = std::exp(ComplexType(l[j], w[j]) / static_cast<RealType>(parameters.SigmaInPixels()));
      m_Weight[j] = ComplexType(a[order][j], -b[order][j]);
    }
    if (order == 2)
    {
      // A multiple of the smoothing kernel makes the sum of the kernel zero.
      const RealType beta = -FullSum(m_Weight) / FullSum(order0);
      for (unsigned int j = 0; j < 2; ++j)
      {
        m_Weight[j] += beta * order0[j];
      }
    }
    const RealType scale = Normalisation(parameters);
    for (ComplexType & weight : m_Weight)
    {
      weight *= scale;
    }
  }

  const ComplexType &
  Pole(unsigned int j) const
  {
    return m_Pole[j];
  }
  const ComplexType &
  Weight(unsigned int j) const
  {
    return m_Weight[j];
  }
  /** Returns the sign of the kernel for n < 0. */
  double
  MirrorSign() const
  {
    return m_Odd ? -1.0 : 1.0;
  }

private:
  /** Returns the sum over all n of the even kernel with these weights. */
  RealType
  FullSum(const std::array<ComplexType, 2> & weight) const
  {
    RealType sum = 0;
    for (unsigned int j = 0; j < 2; ++j)
    {
      sum += std::real(RealType(2) * weight[j] / (RealType(1) - m_Pole[j]) - weight[j]);
    }
    return sum;
  }
  /** Returns the sum of n h+(n). */
  RealType
  FirstMoment() const
  {
    RealType sum = 0;
    for (unsigned int j = 0; j < 2; ++j)
    {
      const ComplexType q = RealType(1) - m_Pole[j];
      sum += std::real(m_Weight[j] * m_Pole[j] / (q * q));
    }
    return sum;
  }
  /** Returns the sum of n^2 h+(n). */
  RealType
  SecondMoment() const
  {
    RealType sum = 0;
    for (unsigned int j = 0; j < 2; ++j)
    {
      const ComplexType q = RealType(1) - m_Pole[j];
      sum += std::real(m_Weight[j] * m_Pole[j] * (RealType(1) + m_Pole[j]) / (q * q * q));
    }
    return sum;
  }
  /** Returns the normalisation. Order 0 has sum 1, order 1 maps n to 1, and order 2 maps n^2/2 to 1. */
  RealType
  Normalisation(const GaussianParameters & parameters) const
  {
    const RealType sigma = parameters.NormalizeAcrossScale ? static_cast<RealType>(parameters.Sigma) : 1.0L;
    switch (parameters.Order)
    {
      case 0:
        return 1 / FullSum(m_Weight);
      case 1:
        return (parameters.Spacing < 0 ? -sigma : sigma) / (-2 * FirstMoment());
      default:
        return sigma * sigma / SecondMoment();
    }
  }

  std::array<ComplexType, 2> m_Pole;
  std::array<ComplexType, 2> m_Weight;
  bool                       m_Odd;
};
} // namespace itk::cuda::test

#endif
