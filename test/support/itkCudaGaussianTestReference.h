// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTestReference_h
#define itkCudaGaussianTestReference_h

#include "itkImage.h"
#include "itkImageLinearIteratorWithIndex.h"
#include "itkRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

// The float64 references for the tests of the Gaussian filters. They share no code with the module, because a test that
// used the module's coefficients could not detect an error in them.

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

/** Returns h+(0), h+(1), ... up to where it has decayed to exp(-1.37 * 40) = 1e-24. */
inline std::vector<double>
SampleHalfKernel(const GaussianParameters & parameters)
{
  const DericheHalfKernel        kernel(parameters);
  DericheHalfKernel::ComplexType term[2] = { kernel.Weight(0), kernel.Weight(1) };
  std::vector<double>            samples(static_cast<size_t>(40.0 * parameters.SigmaInPixels()) + 40);
  for (double & sample : samples)
  {
    sample = static_cast<double>(term[0].real() + term[1].real());
    term[0] *= kernel.Pole(0);
    term[1] *= kernel.Pole(1);
  }
  return samples;
}

/** Returns ||h||_1, the sum of the absolute values of the whole kernel. */
inline double
KernelL1Norm(const GaussianParameters & parameters)
{
  const std::vector<double> samples = SampleHalfKernel(parameters);
  double                    sum = -std::abs(samples[0]);
  for (const double sample : samples)
  {
    sum += 2.0 * std::abs(sample);
  }
  return sum;
}

inline double
KernelL1Norm(const std::vector<GaussianParameters> & passes)
{
  double product = 1.0;
  for (const GaussianParameters & pass : passes)
  {
    product *= KernelL1Norm(pass);
  }
  return product;
}

/** Filters a line in modal form, with one complex state for each pole pair and direction: s[n] = p s[n-1] + x[n] and
 * t[n] = p (t[n+1] + x[n+1]), y = Re sum_j c_j (s_j +- t_j). Edge values are continued to infinity. States and sums
 * have type TReal. */
template <typename TReal = double>
void
ModalFilterLine(const DericheHalfKernel & kernel, std::vector<double> & line)
{
  const std::vector<double> x = line;
  const size_t              length = x.size();
  std::vector<TReal>        sums(length, 0);
  for (unsigned int j = 0; j < 2; ++j)
  {
    const DericheHalfKernel::ComplexType gain = 1.0L / (1.0L - kernel.Pole(j));
    const auto                           pr = static_cast<TReal>(kernel.Pole(j).real());
    const auto                           pi = static_cast<TReal>(kernel.Pole(j).imag());
    const auto                           cr = static_cast<TReal>(kernel.Weight(j).real());
    const auto                           ci = static_cast<TReal>(kernel.Weight(j).imag());
    auto                                 sr = static_cast<TReal>(gain.real()) * x.front();
    auto                                 si = static_cast<TReal>(gain.imag()) * x.front();
    for (size_t n = 0; n < length; ++n)
    {
      const TReal re = pr * sr - pi * si + x[n];
      si = pr * si + pi * sr;
      sr = re;
      sums[n] += cr * sr - ci * si;
    }
    sr = static_cast<TReal>((gain * kernel.Pole(j)).real()) * x.back();
    si = static_cast<TReal>((gain * kernel.Pole(j)).imag()) * x.back();
    for (size_t n = length; n-- > 0;)
    {
      sums[n] += kernel.MirrorSign() * (cr * sr - ci * si);
      sr += x[n];
      const TReal re = pr * sr - pi * si;
      si = pr * si + pi * sr;
      sr = re;
    }
  }
  std::copy(sums.begin(), sums.end(), line.begin());
}

/** Filters a line by the sum over the kernel, term by term. */
inline void
ConvolveLine(const GaussianParameters & parameters, std::vector<double> & line)
{
  const std::vector<double> x = line;
  const std::vector<double> weight = SampleHalfKernel(parameters);
  const double              mirrorSign = DericheHalfKernel(parameters).MirrorSign();
  const auto                last = static_cast<std::ptrdiff_t>(x.size()) - 1;
  for (std::ptrdiff_t n = 0; n <= last; ++n)
  {
    double sum = weight[0] * x[n]; // 0 for the odd kernel
    for (std::ptrdiff_t k = 1; k < static_cast<std::ptrdiff_t>(weight.size()); ++k)
    {
      sum += weight[k] * (x[std::max<std::ptrdiff_t>(n - k, 0)] + mirrorSign * x[std::min(n + k, last)]);
    }
    line[n] = sum;
  }
}

/** Calls `function(std::vector<double> & line)` for every line of the image along `axis`. */
template <typename TImage, typename TFunction>
void
ForEachLine(TImage * image, unsigned int axis, TFunction function)
{
  ImageLinearIteratorWithIndex<TImage> it(image, image->GetBufferedRegion());
  it.SetDirection(axis);
  std::vector<double> line(image->GetBufferedRegion().GetSize(axis));
  for (it.GoToBegin(); !it.IsAtEnd(); it.NextLine())
  {
    for (size_t n = 0; !it.IsAtEndOfLine(); ++it, ++n)
    {
      line[n] = it.Get();
    }
    function(line);
    it.GoToBeginOfLine();
    for (size_t n = 0; !it.IsAtEndOfLine(); ++it, ++n)
    {
      it.Set(line[n]);
    }
  }
}

/** Largest standard deviation for which ITK's filter on double images serves as the reference. Beyond it the direct
 * form drifts. */
constexpr double LargestSigmaOfITKReference = 200.0;

/** Filters a double image along one axis, in place, in modal form. */
template <unsigned int VDimension, typename TReal = double>
void
ModalFilter(Image<double, VDimension> * image, const GaussianParameters & parameters)
{
  const DericheHalfKernel kernel(parameters);
  ForEachLine(image, parameters.Axis, [&](std::vector<double> & line) { ModalFilterLine<TReal>(kernel, line); });
}

/** Filters a double image along one axis with ITK's class. */
template <unsigned int VDimension>
typename Image<double, VDimension>::Pointer
ITKFilter(Image<double, VDimension> * image, const GaussianParameters & parameters)
{
  using ImageType = Image<double, VDimension>;
  auto filter = RecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetInput(image);
  filter->SetDirection(parameters.Axis);
  filter->SetOrder(static_cast<GaussianOrderEnum>(parameters.Order));
  filter->SetSigma(parameters.Sigma);
  filter->SetNormalizeAcrossScale(parameters.NormalizeAcrossScale);
  filter->Update();
  typename ImageType::Pointer output = filter->GetOutput();
  output->DisconnectPipeline();
  return output;
}

/** Returns the float64 result of consecutive line passes. The function may change `image` itself. */
template <unsigned int VDimension>
typename Image<double, VDimension>::Pointer
Float64Reference(typename Image<double, VDimension>::Pointer image, const std::vector<GaussianParameters> & passes)
{
  for (const GaussianParameters & pass : passes)
  {
    if (pass.SigmaInPixels() <= LargestSigmaOfITKReference)
    {
      image = ITKFilter<VDimension>(image, pass);
    }
    else
    {
      ModalFilter<VDimension>(image, pass);
    }
  }
  return image;
}
} // namespace itk::cuda::test

#endif
