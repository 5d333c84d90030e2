// SPDX-License-Identifier: Apache-2.0

// Lines on the host. The kernels of both approximations against Gaussians sampled from their formula, and the boundary
// modes against the sum, in float64, of the kernel over the line continued pixel by pixel.

#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianLineReference.h"
#include "gaussian/host/HostPlan.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <iostream>
#include <limits>
#include <random>

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;
using gaussian::FilterLine;

// The figures that docs/developer/numerics.md states.
constexpr double SmoothingBound = 1e-5;
constexpr double DerivativeBound[] = { SmoothingBound, 2e-4, 1e-3 };
constexpr double OvershootBound = 1e-5;
/** From here on, in pixels, derivatives keep DerivativeBound; below, sampling them costs more. */
constexpr double SmallestDerivativeSigma = 1.5;

std::vector<double>
FilterWith(Approximation                approximation,
           unsigned int                 order,
           double                       sigma,
           std::vector<double>          line,
           const CudaGaussianBoundary & boundary = {})
{
  const CudaGaussianImpulseResponse kernel = MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false);
  FilterLine(kernel, line.data(), line.data(), line.size(), boundary);
  return line;
}

std::vector<double>
FilterAccurately(unsigned int order, double sigma, const std::vector<double> & line)
{
  return FilterWith(Approximation::Accurate, order, sigma, line);
}

/** Returns how far a kernel reaches, so that neither the ends of a line nor what is left out count. */
size_t
GetReach(double sigma)
{
  return static_cast<size_t>(std::ceil(12.0 * sigma) + 20.0);
}

std::vector<double>
FilterImpulse(Approximation approximation, unsigned int order, double sigma)
{
  std::vector<double> impulse(2 * GetReach(sigma) + 1, 0.0);
  impulse[GetReach(sigma)] = 1.0;
  return FilterWith(approximation, order, sigma, impulse);
}

/** The derivative of exp(-x^2/2) of that order. */
template <typename T>
T
HermiteFunction(unsigned int order, T x)
{
  const T factor = order == 0 ? T(1) : (order == 1 ? -x : x * x - T(1));
  return factor * std::exp(-x * x / T(2));
}

/** The derivative of the Gaussian at the pixels of FilterImpulse(), with the sum or moment that the filters give it:
 * the response to 1, a ramp, a parabola is 1. */
std::vector<double>
SampleGaussian(unsigned int order, double sigma)
{
  using Real = long double;
  const auto radius = static_cast<int>(GetReach(sigma));
  const auto sample = [sigma](unsigned int derivative, int n) {
    return HermiteFunction(derivative, static_cast<Real>(n) / static_cast<Real>(sigma));
  };
  Real sum = 0;
  Real smoothingSum = 0;
  for (int n = -radius; n <= radius; ++n)
  {
    sum += sample(order, n);
    smoothingSum += sample(0, n);
  }
  std::vector<Real> values;
  Real              response = 0;
  for (int n = -radius; n <= radius; ++n)
  {
    values.push_back(sample(order, n) - (order == 2 ? sum / smoothingSum * sample(0, n) : Real(0)));
    response += values.back() * (order == 0 ? Real(1) : order == 1 ? Real(-n) : Real(n) * Real(n) / 2);
  }
  std::vector<double> kernel;
  for (const Real value : values)
  {
    kernel.push_back(static_cast<double>(value / response));
  }
  return kernel;
}

/** Close together at first: the fewer pixels a kernel has, the more its error depends on where they lie. */
std::vector<double>
MakeSmoothingSigmas()
{
  std::vector<double> sigmas = { 8.0, 31.0, 100.0, 500.0 };
  for (double sigma = 0.5; sigma < 6.0; sigma *= 1.01)
  {
    sigmas.push_back(sigma);
  }
  return sigmas;
}

/** The worst of Gaussian blobs at several places between the pixels: error of the derivative, relative to its largest
 * value. */
double
GetBlobError(unsigned int order, double sigma)
{
  const double narrowest = std::max(1.0, 0.25 * sigma);
  double       worst = 0.0;
  for (const double width : { narrowest, 1.3 * narrowest, 2.0 * narrowest, 4.0 * narrowest, 16.0 * narrowest })
  {
    const double total = std::hypot(sigma, width);
    for (const double shift : { 0.0, 0.25, 0.5 })
    {
      const double        centre = static_cast<double>(GetReach(total)) + shift;
      std::vector<double> blob;
      std::vector<double> exact;
      for (size_t n = 0; n <= 2 * GetReach(total); ++n)
      {
        const double distance = static_cast<double>(n) - centre;
        blob.push_back(HermiteFunction(0, distance / width));
        exact.push_back(HermiteFunction(order, distance / total) * width / std::pow(total, order + 1.0));
      }
      worst = std::max(worst, LargestDifference(FilterAccurately(order, sigma, blob), exact) / LargestOf(exact));
    }
  }
  return worst;
}

TEST(CudaGaussianAccurateLine, SmoothsLikeTheSampledGaussian)
{
  double worst = 0.0;
  for (const double sigma : MakeSmoothingSigmas())
  {
    const std::vector<double> expected = SampleGaussian(0, sigma);
    const double              error =
      LargestDifference(FilterImpulse(Approximation::Accurate, 0, sigma), expected) / LargestOf(expected);
    EXPECT_LE(error, SmoothingBound) << "sigma " << sigma;
    worst = std::max(worst, error);
  }
  std::cout << "[ accurate ] order 0: " << worst << " of g(0)" << std::endl;
}

TEST(CudaGaussianAccurateLine, DifferentiatesGaussianBlobs)
{
  for (const double sigma : { 0.5, 0.8, 1.0, 1.25, 1.5, 1.7, 2.0, 3.0, 5.0, 20.0, 100.0 })
  {
    for (unsigned int order = 1; order <= 2; ++order)
    {
      const double error = GetBlobError(order, sigma);
      std::cout << "[ accurate ] order " << order << ", sigma " << sigma << ": " << error << " of the largest output"
                << std::endl;
      if (sigma >= SmallestDerivativeSigma)
      {
        EXPECT_LE(error, DerivativeBound[order]) << "order " << order << ", sigma " << sigma;
      }
    }
  }
}

TEST(CudaGaussianAccurateLine, StepsDoNotOvershoot)
{
  for (const double sigma : MakeSmoothingSigmas())
  {
    std::vector<double> step(2 * GetReach(sigma) + 1, 0.0);
    std::fill(step.begin() + static_cast<std::ptrdiff_t>(GetReach(sigma)), step.end(), 1.0);
    const std::vector<double> output = FilterAccurately(0, sigma, step);
    const auto                range = std::minmax_element(output.begin(), output.end());
    EXPECT_GE(*range.first, -OvershootBound) << "sigma " << sigma;
    EXPECT_LE(*range.second, 1.0 + OvershootBound) << "sigma " << sigma;
  }
}

/** The result may differ from zero by the rounding of its sums. `scale` bounds these: it is the kernel's L1 norm times
 * the largest value. */
TEST(CudaGaussianAccurateLine, SecondOrderIsZeroInsideRamps)
{
  for (const double sigma : { 0.5, 0.7, 1.0, 2.0, 8.0, 31.0, 500.0 })
  {
    std::vector<double> ramp(2 * GetReach(3.0 * sigma) + 1);
    std::iota(ramp.begin(), ramp.end(), 0.0);
    const std::vector<double> output = FilterAccurately(2, sigma, ramp);
    const std::vector<double> kernel = SampleGaussian(2, sigma);
    const double              scale = std::accumulate(kernel.begin(), kernel.end(), 0.0, [&](double sum, double value) {
      return sum + std::abs(value) * static_cast<double>(ramp.size());
    });
    const auto                reach = static_cast<size_t>(std::ceil(16.0 * sigma)); // exp(-2 * 16) = 1e-14
    for (size_t n = reach; n + reach < ramp.size(); ++n)
    {
      ASSERT_LE(std::abs(output[n]), 1e-12 * scale) << "sigma " << sigma << ", pixel " << n;
    }
  }
}

class CudaGaussianSmallSigmaTest : public ::testing::TestWithParam<Approximation>
{};
INSTANTIATE_TEST_SUITE_P(Approximation, CudaGaussianSmallSigmaTest, ::testing::ValuesIn(AllApproximations));

// Below 0.212 and 0.376 pixels, derivatives are differences of pixels.
TEST_P(CudaGaussianSmallSigmaTest, DerivativesAreDifferencesInTheLimit)
{
  std::mt19937                           generator(GetSeed());
  std::uniform_real_distribution<double> uniform(1000.0, 1100.0);
  std::vector<double>                    line(50);
  std::generate(line.begin(), line.end(), [&] { return uniform(generator); });
  for (const double sigma : { 1e-300, 1e-12, 1e-3, 0.01, 0.03, 0.05, 0.06, 0.1, 0.2 })
  {
    for (const double spacing : { 1.0, -1.0, 1e8 })
    {
      for (const Mode mode : AllModes)
      {
        const CudaGaussianBoundary boundary{ mode, -20.0 };
        const std::vector<double>  x = PadLine(line, 1, boundary);
        for (const unsigned int order : { 1u, 2u })
        {
          const auto          kernel = MakeGaussianImpulseResponse(GetParam(), order, sigma, spacing, false);
          std::vector<double> filtered = line;
          std::vector<float>  floats(line.begin(), line.end());
          FilterLine(kernel, filtered.data(), filtered.data(), line.size(), boundary);
          FilterLine(kernel, floats.data(), floats.data(), line.size(), boundary);
          for (size_t n = 0; n < line.size(); ++n)
          {
            const double sign = spacing < 0.0 ? -1.0 : 1.0;
            const double expected = order == 1 ? sign * (x[n + 2] - x[n]) / 2.0 : x[n + 2] - 2.0 * x[n + 1] + x[n];
            // A few roundings of the pixels' differences, which are below 1100; those of the float pixels as well.
            ASSERT_NEAR(filtered[n], expected, 1100.0 * 16 * 0x1p-53)
              << "sigma " << sigma << ", spacing " << spacing << ", order " << order << ", " << mode << ", pixel " << n;
            ASSERT_NEAR(floats[n], expected, 1100.0 * 16 * 0x1p-24)
              << "sigma " << sigma << ", spacing " << spacing << ", order " << order << ", " << mode << ", pixel " << n;
          }
        }
      }
    }
  }
}

/** The errors of the exponentials themselves bound the kernels, so nothing stands out at any sigma: Accurate keeps
 * 1e-5, 1e-4 and 2e-3, and Deriche's constants, which are ITK's, give 4e-3, 4e-2 and 0.16 (the last two at 0.3 pixels).
 */
TEST_P(CudaGaussianSmallSigmaTest, FollowsTheSampledGaussianAtEverySigma)
{
  const bool   isAccurate = GetParam() == Approximation::Accurate;
  const double bounds[] = { isAccurate ? 1e-5 : 4e-3, isAccurate ? 1e-4 : 4e-2, isAccurate ? 2e-3 : 0.16 };
  for (double sigma = 0.15; sigma < 1.0; sigma *= 1.0005) // below it the reference loses its digits
  {
    for (unsigned int order = 0; order <= 2; ++order)
    {
      ASSERT_LE(LargestDifference(FilterImpulse(GetParam(), order, sigma), SampleGaussian(order, sigma)), bounds[order])
        << "sigma " << sigma << ", order " << order;
    }
  }
}

TEST_P(CudaGaussianSmallSigmaTest, GoesOverIntoDifferences)
{
  const bool   isAccurate = GetParam() == Approximation::Accurate;
  const double sigma = isAccurate ? 0.376 : 0.212;
  const double steps[] = { 1e-12, isAccurate ? 1.3e-5 : 2.3e-3, isAccurate ? 1.7e-5 : 1.8e-2 };
  for (unsigned int order = 0; order <= 2; ++order)
  {
    const auto below = FilterImpulse(GetParam(), order, sigma * (1.0 - 1e-14));
    EXPECT_LE(LargestDifference(below, FilterImpulse(GetParam(), order, sigma)), steps[order]) << "order " << order;
  }
}

// ----------------------------------------------------------------------------------------------------- boundary modes

/** Noise, and lines that are hard on recursions. */
std::vector<std::vector<double>>
MakeLines(size_t length, std::mt19937 & generator)
{
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> lines(5, std::vector<double>(length));
  for (size_t n = 0; n < length; ++n)
  {
    lines[0][n] = normal(generator);
    lines[1][n] = 1e6 + 10.0 * normal(generator);
    lines[2][n] = n % 2 == 0 ? 1e4 : -1e4;
    lines[3][n] = n + 1 == length ? 1.0 : 0.0;
    lines[4][n] = static_cast<double>(n) - 1000.0;
  }
  return lines;
}

TEST(CudaGaussianBoundary, LinesAreSumsOverTheContinuedLine)
{
  std::mt19937 generator(GetSeed());
  double       worst = 0.0;
  for (const Approximation approximation : AllApproximations)
  {
    for (const double sigma : { 0.5, 1.0, 3.7, 12.0, 50.0 })
    {
      for (unsigned int order = 0; order <= 2; ++order)
      {
        const ReferenceKernel kernel = MakeReferenceKernel(approximation, { 0, order, sigma });
        const double          norm = L1Norm(kernel);
        for (const size_t length : { 1, 2, 3, 4, 7, 40, 131 })
        {
          for (const std::vector<double> & line : MakeLines(length, generator))
          {
            for (const Mode mode : AllModes)
            {
              const CudaGaussianBoundary boundary{ mode, -2.5 * line[0] };
              const double               scale =
                norm * std::max(LargestOf(line), mode == Mode::Constant ? 2.5 * std::abs(line[0]) : 0.0);
              const double error = LargestDifference(FilterWith(approximation, order, sigma, line, boundary),
                                                     SumOverContinuedLine(kernel, line, boundary)) /
                                   scale;
              worst = std::max(worst, error);
              // In double; the summed kernel ends at exp(-40) of its largest value.
              ASSERT_LE(error, 1e-12) << approximation << ", " << mode << ", order " << order << ", sigma " << sigma
                                      << ", length " << length;
            }
          }
        }
      }
    }
  }
  std::cout << "[ boundary ] largest error of lines in double: " << worst << std::endl;
}

/** The mean of a periodic line is that of its period, and is all that a Gaussian much wider than the line leaves. */
TEST(CudaGaussianBoundary, SigmasMuchWiderThanTheLineGiveTheMeanOfAPeriod)
{
  const std::vector<double>     line{ 3.0, -1.0, 7.0, 2.5, 2.5, -4.0 };
  const double                  sum = std::accumulate(line.begin(), line.end(), 0.0);
  const double                  mirrorSum = 2.0 * sum - line.front() - line.back();
  const std::pair<Mode, double> means[] = { { Mode::Reflect, sum / 6.0 },
                                            { Mode::Wrap, sum / 6.0 },
                                            { Mode::Mirror, mirrorSum / 10.0 } };
  for (const Approximation approximation : AllApproximations)
  {
    for (const double sigma : { 1e3, 1e5, 1e7 })
    {
      // 1 - |p| has lost as many digits as sigma has.
      const double bound = 1e-14 * sigma + 1.0 / sigma / sigma;
      for (const auto & [mode, mean] : means)
      {
        const std::vector<double> expected(line.size(), mean);
        EXPECT_LE(LargestDifference(FilterWith(approximation, 0, sigma, line, { mode }), expected), bound)
          << approximation << ", " << mode << ", sigma " << sigma;
        EXPECT_EQ(FilterWith(approximation, 0, sigma, { 3.0 }, { mode }), std::vector<double>{ 3.0 });
      }
    }
  }
}

TEST(CudaGaussianBoundary, SigmasMuchSmallerThanAPixelLeaveTheLine)
{
  const std::vector<double> line{ 3.0, -1.0, 7.0, 2.5 };
  for (const Approximation approximation : AllApproximations)
  {
    for (const double sigma : { 0.05, 1e-2, 1e-4 })
    {
      for (const Mode mode : AllModes)
      {
        EXPECT_LE(LargestDifference(FilterWith(approximation, 0, sigma, line, { mode, -9.0 }), line), 1e-9)
          << approximation << ", " << mode << ", sigma " << sigma;
      }
    }
  }
}

TEST(CudaGaussianBoundary, ConstantsStayConstant)
{
  for (const Approximation approximation : AllApproximations)
  {
    for (const double sigma : { 0.5, 3.0, 50.0, 1000.0 })
    {
      for (unsigned int order = 0; order <= 2; ++order)
      {
        for (const size_t length : { 1, 2, 3, 50 })
        {
          for (const Mode mode : AllModes)
          {
            const std::vector<double> line(length, 1234.567);
            EXPECT_EQ(FilterWith(approximation, order, sigma, line, { mode, 1234.567 }),
                      std::vector<double>(length, order == 0 ? 1234.567 : 0.0))
              << approximation << ", " << mode << ", order " << order << ", sigma " << sigma;
          }
        }
      }
    }
  }
}

TEST(CudaGaussianBoundary, IsVerifiedWhereThePlanIsMade)
{
  CudaGaussianParameters parameters;
  parameters.Sigma = { 1.0 };
  parameters.Spacing = { 1.0 };
  const CudaGaussianImpulseResponse kernel = MakeDericheImpulseResponse(0, 1.0, 1.0, false);
  const auto                        expect = [&](const CudaGaussianBoundary & boundary, const std::string & text) {
    parameters.Boundary = boundary;
    ExpectContains(GetException([&] { MakeSmoothingPlan(parameters); }), text);
    ExpectContains(GetException([&] { MakeGaussianLinePlan(0, kernel, boundary); }), text);
  };
  expect({ Mode::Constant, std::numeric_limits<double>::quiet_NaN() }, "BoundaryValue is nan; it must be finite");
  expect({ Mode::Constant, std::numeric_limits<double>::infinity() }, "BoundaryValue is inf; it must be finite");
  expect({ static_cast<Mode>(5), 0.0 }, "BoundaryMode is 5; it must be Nearest, Reflect, Mirror, Wrap or Constant");
  // Other modes have no value.
  parameters.Boundary = { Mode::Reflect, std::numeric_limits<double>::quiet_NaN() };
  EXPECT_EQ(MakeSmoothingPlan(parameters).Boundary.Mode, Mode::Reflect);
}
} // namespace
} // namespace itk::cuda::test
