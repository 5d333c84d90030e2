// SPDX-License-Identifier: Apache-2.0
#include "runtime/DetailNames.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"

#include "young_van_vliet/Coefficients.h"
#include "young_van_vliet/Tuning.h"
#include "itkMacro.h"

#include <algorithm>
#include <cmath>
#include <iterator>

// Verifies the filter's parameters, makes its plan, and computes the coefficients and weights of Young and van
// Vliet's filter.

namespace itk::CudaDetail
{
size_t
CudaMaximumNumberOfSections(size_t lineLength)
{
  return std::max<size_t>(1, lineLength / cuda::young_van_vliet::MinimumSectionLength);
}

size_t
CudaAutomaticNumberOfSections(size_t lineLength)
{
  using namespace cuda::young_van_vliet;
  const size_t sections = std::min(lineLength / AutomaticSectionLength, AutomaticSectionsInOneLaunch);
  return std::max({ size_t{ 1 }, sections, lineLength / AutomaticLongSectionLength });
}

size_t
CudaCentralPixelRadius(double filterWindow)
{
  if (!(filterWindow > 0.0) || !std::isfinite(filterWindow))
  {
    itkGenericExceptionMacro("FilterWindow is " << filterWindow << "; it must be greater than zero and finite");
  }
  constexpr double largest = 0x1p53; // longer than any line, where the window's length has no effect
  return std::max<size_t>(1, static_cast<size_t>(std::min(0.5 * filterWindow, largest)));
}

namespace
{
void
VerifyPositive(const char * name, double value)
{
  if (!(value > 0.0) || !std::isfinite(value))
  {
    itkGenericExceptionMacro(<< name << " is " << value << "; it must be greater than zero and finite");
  }
}

void
VerifyLines(const CudaPartitionedGaussianParameters & parameters, size_t axis, size_t length)
{
  if (length < CudaPartitionedMinimumLineLength)
  {
    itkGenericExceptionMacro("The number of pixels along dimension " << axis << " is " << length
                                                                     << "; this filter requires at least "
                                                                     << CudaPartitionedMinimumLineLength);
  }
  const size_t limit = CudaMaximumNumberOfSections(length);
  if (parameters.LinePartition == CudaFiltersEnums::Partition::Exact && parameters.NumberOfSections.value_or(1) > limit)
  {
    itkGenericExceptionMacro("NumberOfBlocks is " << *parameters.NumberOfSections << "; lines of " << length
                                                  << " pixels (dimension " << axis << ") can be cut into at most "
                                                  << limit << (limit == 1 ? " block" : " blocks")
                                                  << " of 16 pixels or more");
  }
}

double
GetSigmaInPixels(const CudaPartitionedGaussianParameters & parameters, size_t axis)
{
  if (parameters.FilterWindow)
  {
    return *parameters.FilterWindow / parameters.WindowToSigmaRatio;
  }
  const double sigma = parameters.Sigma / std::abs(parameters.Spacing[axis]);
  if (!std::isfinite(sigma))
  {
    itkGenericExceptionMacro("Spacing along dimension " << axis << " is " << parameters.Spacing[axis]
                                                        << "; it must be finite and not zero");
  }
  return sigma;
}
} // namespace

void
VerifyCudaPartitionedGaussianParameters(const CudaPartitionedGaussianParameters & parameters)
{
  VerifyPositive("WindowToSigmaRatio", parameters.WindowToSigmaRatio);
  parameters.FilterWindow ? VerifyPositive("FilterWindow", *parameters.FilterWindow)
                          : VerifyPositive("Sigma", parameters.Sigma);
  // The kernels require a power of two, and have room in shared memory for the central pixels of at most 64 lines.
  constexpr unsigned int known[] = { 4, 8, 16, 32, 64 };
  if (std::find(std::begin(known), std::end(known), parameters.LinesPerBlock) == std::end(known))
  {
    itkGenericExceptionMacro("LinesPerBlock is " << parameters.LinesPerBlock << "; it must be 4, 8, 16, 32 or 64");
  }
  if (parameters.LinePartition == CudaFiltersEnums::Partition::Exact && parameters.NumberOfSections.value_or(1) < 1)
  {
    itkGenericExceptionMacro("NumberOfBlocks is 0; it must be at least 1");
  }
}

CudaPartitionedGaussianPlan
MakePartitionedGaussianPlan(const CudaPartitionedGaussianParameters & parameters,
                            const std::vector<size_t> &               lineLengths)
{
  VerifyCudaPartitionedGaussianParameters(parameters);
  if (parameters.Spacing.size() != lineLengths.size())
  {
    itkGenericExceptionMacro("Spacing is given for " << parameters.Spacing.size() << " axes; it must be given for "
                                                     << lineLengths.size());
  }
  CudaPartitionedGaussianPlan plan;
  plan.LinePartition = parameters.LinePartition;
  plan.LineBorders = parameters.LineBorders;
  plan.IntermediateStorage = parameters.IntermediateStorage;
  plan.LinesPerBlock = parameters.LinesPerBlock;
  for (size_t axis = 0; axis < lineLengths.size(); ++axis)
  {
    VerifyLines(parameters, axis, lineLengths[axis]);
    CudaPartitionedGaussianPass pass;
    pass.Axis = static_cast<unsigned int>(axis);
    pass.SigmaInPixels = GetSigmaInPixels(parameters, axis);
    pass.CentralRadius = CudaCentralPixelRadius(parameters.WindowToSigmaRatio * pass.SigmaInPixels);
    if (parameters.LinePartition == CudaFiltersEnums::Partition::Exact)
    {
      pass.NumberOfSections = parameters.NumberOfSections.value_or(CudaAutomaticNumberOfSections(lineLengths[axis]));
    }
    plan.Passes.push_back(pass);
  }
  return plan;
}
} // end namespace itk::CudaDetail

namespace itk::cuda::young_van_vliet
{
namespace
{
using Complex = std::complex<double>;

// The rational approximation with sigma 1 of Young and van Vliet (1995). Its denominator is (1.16680 + s)(3.20373 +
// 2.21566 s + s^2), whose expansion at s = q (1 - 1/z) is b_0 ... b_3 up to a factor.
constexpr double RealRoot = 1.16680;
constexpr double PairNorm = 3.20373;
constexpr double PairSum = 2.21566;

Complex
GetPairRoot()
{
  return { 0.5 * PairSum, -std::sqrt(PairNorm - 0.25 * PairSum * PairSum) };
}

/** The three smoothers, including both smoothers of the conjugate pair. From the roots m_j follow a_j = m_j / (q + m_j)
 * and p_j = q / (q + m_j). */
struct Smoothers
{
  Complex Gain[3];   // a_j
  Complex Pole[3];   // p_j
  Complex Weight[3]; // c_j

  explicit Smoothers(double q)
  {
    const Complex root[3] = { RealRoot, GetPairRoot(), std::conj(GetPairRoot()) };
    for (unsigned int j = 0; j < 3; ++j)
    {
      Gain[j] = root[j] / (q + root[j]);
      Pole[j] = q / (q + root[j]);
      // The weights are the partial fraction coefficients of prod m_k / (m_k + s), which do not depend on q.
      Weight[j] = 1.0;
      for (unsigned int k = 0; k < 3; ++k)
      {
        if (k != j)
        {
          Weight[j] *= root[k] / (root[k] - root[j]);
        }
      }
    }
  }

  /** Returns 1 - p_i p_j, computed without cancellation. */
  Complex
  GetDistance(unsigned int i, unsigned int j) const
  {
    return Gain[i] + Pole[i] * Gain[j];
  }
};
} // namespace

double
GetScale(double sigmaInPixels)
{
  // Equations 11b of the paper. The second one is also used for sigmas below 0.5, down to q = 0, where the filter is
  // the identity.
  const double q = sigmaInPixels >= 2.5 ? 0.98711 * sigmaInPixels - 0.96330
                                        : 3.97156 - 4.14554 * std::sqrt(1.0 - 0.26891 * sigmaInPixels);
  return std::max(q, 0.0);
}

YoungVanVlietPoles
GetPoles(double sigmaInPixels)
{
  const Smoothers smoothers(GetScale(sigmaInPixels));
  return { smoothers.Pole[0].real(), smoothers.Pole[1] };
}

SmootherCoefficients<double>
MakeSmootherCoefficients(double sigmaInPixels)
{
  const Smoothers              s(GetScale(sigmaInPixels));
  SmootherCoefficients<double> c;
  c.RealGain = s.Gain[0].real();
  c.PairGainRe = s.Gain[1].real();
  c.PairGainIm = s.Gain[1].imag();
  c.RealWeight = s.Weight[0].real();
  c.PairWeightRe = 2.0 * s.Weight[1].real();
  c.PairWeightIm = -2.0 * s.Weight[1].imag();

  Complex h[2][3];
  Complex response[2];
  for (unsigned int i = 0; i < 2; ++i)
  {
    for (unsigned int j = 0; j < 3; ++j)
    {
      h[i][j] = s.Gain[i] * s.Weight[j] * s.Pole[j] / s.GetDistance(i, j);
      response[i] += s.Gain[j] * s.Weight[j] / s.GetDistance(i, j);
    }
  }
  // The columns for the state u + iv of the pair follow from h_1 (u + iv) + h_2 (u - iv) = (h_1 + h_2) u + i (h_1 -
  // h_2) v.
  const auto column = [&h](unsigned int i, unsigned int part) {
    return part == 0 ? h[i][0] : (part == 1 ? h[i][1] + h[i][2] : Complex(0.0, 1.0) * (h[i][1] - h[i][2]));
  };
  for (unsigned int part = 0; part < 3; ++part)
  {
    c.Border[0][part] = column(0, part).real();
    c.Border[1][part] = column(1, part).real();
    c.Border[2][part] = column(1, part).imag();
  }
  c.RealResponse = response[0].real();
  c.PairResponseRe = response[1].real();
  c.PairResponseIm = response[1].imag();
  return c;
}

SmootherPower<double>
MakeSmootherPower(double sigmaInPixels, size_t length)
{
  const YoungVanVlietPoles poles = GetPoles(sigmaInPixels);
  if (poles.RealPole == 0.0)
  {
    const double power = length == 0 ? 1.0 : 0.0;
    return { power, power, 0.0 };
  }
  const Complex pair = std::exp(static_cast<double>(length) * std::log(poles.PairPole));
  return { std::pow(poles.RealPole, static_cast<double>(length)), pair.real(), pair.imag() };
}

SectionLayout
MakeSectionLayout(size_t lineLength, size_t numberOfSections)
{
  return { numberOfSections, lineLength / numberOfSections, lineLength % numberOfSections };
}

SectionPowers<double>
MakeSectionPowers(double sigmaInPixels, const SectionLayout & layout)
{
  return { MakeSmootherPower(sigmaInPixels, layout.ShortLength),
           MakeSmootherPower(sigmaInPixels, layout.ShortLength + 1) };
}

namespace
{
double
SampleGaussian(double distance, double sigma)
{
  const double scaled = distance / sigma;
  return std::exp(-0.5 * scaled * scaled);
}

/** Returns the sum of the samples at distances `first` to `last`. A long sum is approximated by the integral from half
 * a pixel before the first to half a pixel after the last sample. Sigma is then so large that the difference is below
 * 1e-10 of the whole Gaussian. */
double
SumGaussian(size_t first, size_t last, double sigma)
{
  constexpr double longest = 1 << 20;
  constexpr double negligible = 40.0; // in sigmas; samples at larger distances vanish
  const auto       begin = static_cast<double>(first);
  const double     end = std::min(static_cast<double>(last), std::ceil(negligible * sigma));
  if (end - begin > longest)
  {
    const double scale = std::sqrt(0.5) / sigma;
    const double root = std::sqrt(std::acos(0.0)); // of pi / 2
    return sigma * root * (std::erf((end + 0.5) * scale) - std::erf((begin - 0.5) * scale));
  }
  double sum = 0.0;
  for (double k = end; k >= begin; k -= 1.0)
  {
    sum += SampleGaussian(k, sigma);
  }
  return sum;
}
} // namespace

std::vector<double>
MakeCentralWeights(double sigmaInPixels, size_t radius, size_t lineLength)
{
  const size_t        last = std::min(radius, lineLength);
  std::vector<double> weights(last + 1);
  double              sum = 0.0;
  for (size_t k = last + 1; k-- > 0;)
  {
    weights[k] = SampleGaussian(static_cast<double>(k), sigmaInPixels);
    if (k == last && radius > last)
    {
      weights[k] += SumGaussian(last + 1, radius, sigmaInPixels);
    }
    sum += (k == 0 ? 1.0 : 2.0) * weights[k];
  }
  for (double & weight : weights)
  {
    weight /= sum;
  }
  return weights;
}
} // namespace itk::cuda::young_van_vliet
