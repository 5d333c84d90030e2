// SPDX-License-Identifier: Apache-2.0

// Boundary modes: lines on the host and plans on both sides against the sum, in float64, of the approximation's own
// kernel over the line continued pixel by pixel.

#include "itkCudaDetailGaussianEngine.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaGaussianBoundaryReference.h"
#include "gaussian/host/HostPlan.h"
#include "support/itkCudaTestSeed.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;
using gaussian::FilterLine;

constexpr Approximation Approximations[] = { Approximation::Deriche, Approximation::Accurate };
constexpr Mode          Modes[] = { Mode::Nearest, Mode::Reflect, Mode::Mirror, Mode::Wrap, Mode::Constant };

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
  for (const Approximation approximation : Approximations)
  {
    for (const double sigma : { 0.5, 1.0, 3.7, 12.0, 50.0 })
    {
      for (unsigned int order = 0; order <= 2; ++order)
      {
        const CudaGaussianImpulseResponse kernel = MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false);
        const double                      norm = L1Norm(kernel);
        for (const size_t length : { 1, 2, 3, 4, 7, 40, 131 })
        {
          for (const std::vector<double> & line : MakeLines(length, generator))
          {
            for (const Mode mode : Modes)
            {
              const CudaGaussianBoundary boundary{ mode, -2.5 * line[0] };
              const auto                 expected = SumOverContinuedLine(kernel, line, boundary);
              std::vector<double>        output(length);
              FilterLine(kernel, line.data(), output.data(), length, boundary);
              const double scale =
                norm * std::max(LargestOf(line), mode == Mode::Constant ? 2.5 * std::abs(line[0]) : 0.0);
              for (size_t n = 0; n < length; ++n)
              {
                const double error = std::abs(output[n] - expected[n]) / scale;
                worst = std::max(worst, error);
                // In double; the summed kernel ends at exp(-40) of its largest value.
                ASSERT_LE(error, 1e-12) << approximation << ", " << mode << ", order " << order << ", sigma " << sigma
                                        << ", pixel " << n << " of " << length;
              }
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
  const std::vector<double> line{ 3.0, -1.0, 7.0, 2.5, 2.5, -4.0 };
  const double              sum = std::accumulate(line.begin(), line.end(), 0.0);
  const double              mirrorSum = 2.0 * sum - line.front() - line.back();
  for (const Approximation approximation : Approximations)
  {
    for (const double sigma : { 1e3, 1e5, 1e7 })
    {
      const CudaGaussianImpulseResponse kernel = MakeGaussianImpulseResponse(approximation, 0, sigma, 1.0, false);
      const auto                        filter = [&](Mode mode, size_t length) {
        std::vector<double> output(length);
        FilterLine(kernel, line.data(), output.data(), length, { mode, 0.0 });
        return output;
      };
      // 1 - |p| has lost as many digits as sigma has.
      const double bound = 1e-14 * sigma + 1.0 / sigma / sigma;
      for (const double value : filter(Mode::Reflect, 6))
      {
        EXPECT_NEAR(value, sum / 6.0, bound) << approximation << ", sigma " << sigma;
      }
      for (const double value : filter(Mode::Wrap, 6))
      {
        EXPECT_NEAR(value, sum / 6.0, bound) << approximation << ", sigma " << sigma;
      }
      for (const double value : filter(Mode::Mirror, 6))
      {
        EXPECT_NEAR(value, mirrorSum / 10.0, bound) << approximation << ", sigma " << sigma;
      }
      for (const Mode mode : { Mode::Nearest, Mode::Reflect, Mode::Mirror, Mode::Wrap })
      {
        EXPECT_EQ(filter(mode, 1), std::vector<double>{ 3.0 }) << approximation << ", " << mode;
      }
    }
  }
}

TEST(CudaGaussianBoundary, SigmasMuchSmallerThanAPixelLeaveTheLine)
{
  const std::vector<double> line{ 3.0, -1.0, 7.0, 2.5 };
  for (const Approximation approximation : Approximations)
  {
    for (const double sigma : { 0.05, 1e-2, 1e-4 })
    {
      const CudaGaussianImpulseResponse kernel = MakeGaussianImpulseResponse(approximation, 0, sigma, 1.0, false);
      for (const Mode mode : Modes)
      {
        std::vector<double> output(line.size());
        FilterLine(kernel, line.data(), output.data(), line.size(), { mode, -9.0 });
        for (size_t n = 0; n < line.size(); ++n)
        {
          EXPECT_NEAR(output[n], line[n], 1e-9) << approximation << ", " << mode << ", sigma " << sigma;
        }
      }
    }
  }
}

TEST(CudaGaussianBoundary, ConstantsStayConstant)
{
  for (const Approximation approximation : Approximations)
  {
    for (const double sigma : { 0.5, 3.0, 50.0, 1000.0 })
    {
      for (unsigned int order = 0; order <= 2; ++order)
      {
        const CudaGaussianImpulseResponse kernel = MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false);
        for (const size_t length : { 1, 2, 3, 50 })
        {
          for (const Mode mode : Modes)
          {
            const std::vector<double> line(length, 1234.567);
            std::vector<double>       output(length);
            FilterLine(kernel, line.data(), output.data(), length, { mode, 1234.567 });
            EXPECT_EQ(output, std::vector<double>(length, order == 0 ? 1234.567 : 0.0))
              << approximation << ", " << mode << ", order " << order << ", sigma " << sigma;
          }
        }
      }
    }
  }
}

// --------------------------------------------------------------------------------------------------------------- plans

template <typename T>
CudaImageView
MakeView(const Volume & shape, std::vector<T> & pixels)
{
  CudaImageView view;
  view.Data = pixels.data();
  view.ComponentType = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  for (unsigned int d = 0; d < 4; ++d)
  {
    view.Size[d] = shape.Size[d];
    view.Stride[d] = shape.GetStride(d);
  }
  return view;
}

template <typename T>
class CudaGaussianBoundaryPlan : public testing::Test
{
protected:
  double
  Uniform(double a, double b)
  {
    return std::uniform_real_distribution<double>(a, b)(m_Generator);
  }

  /** An image of one to four axes, some of them of one to three pixels. */
  Volume
  DrawVolume(unsigned int dimension)
  {
    Volume             volume;
    const unsigned int largest[] = { 300, 60, 24, 12 };
    for (unsigned int d = 0; d < dimension; ++d)
    {
      volume.Size[d] = static_cast<size_t>(this->Uniform(1, this->Uniform(0, 1) < 0.3 ? 4 : largest[dimension - 1]));
    }
    volume.Pixels.resize(volume.GetStride(3) * volume.Size[3]);
    const double offset = this->Uniform(0, 1) < 0.3 ? 1000.0 : 0.0;
    for (double & pixel : volume.Pixels)
    {
      pixel = static_cast<T>(offset + this->Uniform(-1, 1));
    }
    return volume;
  }

  /** Plans of random sizes, sigmas and orders: `run(plan, input, output)` against sums over the continued lines. The
   * output holds NaN before it. */
  template <typename TRun>
  void
  CheckPlans(const TRun & run)
  {
    const double allowed = sizeof(T) == 4 ? 1e-6 : 1e-12;
    double       worst = 0.0;
    for (unsigned int i = 0; i < 160; ++i)
    {
      const unsigned int     dimension = i % 4 + 1;
      Volume                 volume = this->DrawVolume(dimension);
      CudaGaussianParameters parameters;
      CudaGaussianTerm       term;
      parameters.Boundary = { Modes[i / 4 % 5], static_cast<T>(this->Uniform(-2, 2)) };
      parameters.Approximation = Approximations[i / 20 % 2];
      for (unsigned int d = 0; d < dimension; ++d)
      {
        parameters.Sigma.push_back(std::exp(this->Uniform(std::log(0.5), std::log(50.0))));
        parameters.Spacing.push_back(1.0);
        term.Orders.push_back(static_cast<unsigned int>(this->Uniform(0, 3)));
      }
      std::vector<T> input(volume.Pixels.begin(), volume.Pixels.end());
      std::vector<T> output(input.size(), std::numeric_limits<T>::quiet_NaN());
      run(MakeGaussianPlan(parameters, { term }, CudaGaussianOutput::Components),
          MakeView(volume, input),
          MakeView(volume, output));

      double scale = LargestOf(volume.Pixels);
      for (unsigned int d = dimension; d-- > 0;)
      {
        const CudaGaussianImpulseResponse kernel =
          MakeGaussianImpulseResponse(parameters.Approximation, term.Orders[d], parameters.Sigma[d], 1.0, false);
        const bool isConstant = parameters.Boundary.Mode == Mode::Constant;
        scale = L1Norm(kernel) * std::max(scale, isConstant ? std::abs(parameters.Boundary.Value) : 0.0);
        volume.ForEachLine(
          d, [&](const std::vector<double> & line) { return SumOverContinuedLine(kernel, line, parameters.Boundary); });
      }
      for (size_t n = 0; n < output.size(); ++n)
      {
        const double error = std::abs(output[n] - volume.Pixels[n]) / scale;
        worst = std::max(worst, error);
        // Not a number is not less or equal.
        ASSERT_LE(error, allowed) << "draw " << i << ", pixel " << n << ", " << parameters.Boundary.Mode << ", "
                                  << parameters.Approximation << ", size " << testing::PrintToString(volume.Size)
                                  << ", sigma " << testing::PrintToString(parameters.Sigma) << ", orders "
                                  << testing::PrintToString(term.Orders);
      }
    }
    std::cout << "[ boundary ] largest error of plans: " << worst << std::endl;
  }

  std::mt19937 m_Generator{ GetSeed() };
};

using PixelTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaGaussianBoundaryPlan, PixelTypes);

TYPED_TEST(CudaGaussianBoundaryPlan, IsAChainOfSumsOverContinuedLines)
{
  const auto threader = MultiThreaderBase::New();
  this->CheckPlans([&](const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output) {
    CudaRunOnHost(plan, input, output, threader, nullptr);
  });
}

TYPED_TEST(CudaGaussianBoundaryPlan, IsAChainOfSumsOverContinuedLinesOnTheGpu)
{
  std::string reason;
  if (!CudaFiltersConfiguration::IsDeviceUsable(0, reason))
  {
    GTEST_SKIP() << "no GPU: " << reason;
  }
  this->CheckPlans([&](const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output) {
    CudaRunOnDevice(plan, input, output, 0, nullptr);
  });
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
