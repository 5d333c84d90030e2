// SPDX-License-Identifier: Apache-2.0

// The edge states with which the device enters lines in other boundary modes than Nearest, here on the host: sweeps in
// double from them over the filled line, against the sum in float64 over the continued line.

#include "itkCudaGaussianBoundaryReference.h"
#include "itkCudaGaussianEdges.h"
#include "itkCudaGaussianSchedule.h"
#include "itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace itk::cuda::test
{
namespace
{
using namespace gaussian;
using Approximation = CudaFiltersEnums::Approximation;

constexpr Mode OtherModes[] = { Mode::Reflect, Mode::Mirror, Mode::Wrap, Mode::Constant };

template <typename T, unsigned int VPairs>
std::vector<double>
FilterFilledLine(const CudaGaussianImpulseResponse & kernel,
                 const CudaGaussianBoundary &        boundary,
                 const std::vector<T> &              pixels,
                 size_t                              filledLength)
{
  LineProblem problem;
  problem.SigmaInPixels = kernel.SigmaInPixels;
  problem.BytesPerComponent = sizeof(T);
  problem.NumberOfPolePairs = VPairs;
  const auto rule = MakeEdgeRule<T, VPairs>(kernel, boundary, pixels.size(), filledLength, GetWindow(problem));
  const ContinuedLine<T> line{ pixels.data(), 1, pixels.size(), rule.Mode, rule.Value };
  const T                first = pixels.front();
  const auto             getEdge = [&](bool anticausal) {
    const auto state =
      SumBeyondEdge(rule, first, [&](size_t m) { return line.Get(GetPlaceBeyondEdge(rule, anticausal, m)); });
    LineState<double, VPairs> edge;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      edge.Pair[j] = { state.Pair[j].U, state.Pair[j].V };
    }
    return edge;
  };
  const auto                         dynamics = MakeLineDynamics<double, VPairs>(kernel);
  const LineResponse<double, VPairs> response = MakeLineResponse<double, VPairs>(kernel);
  const auto                         getPixel = [&](size_t n) -> double {
    return static_cast<double>(line.Get(static_cast<std::ptrdiff_t>(n))) - first;
  };
  std::vector<double>       output(filledLength);
  LineState<double, VPairs> causal = getEdge(false);
  for (size_t n = 0; n < filledLength; ++n)
  {
    output[n] = AddContribution(response.CentralValue * getPixel(n), causal, response.Causal);
    Advance(causal, dynamics, getPixel(n));
  }
  LineState<double, VPairs> anticausal = getEdge(true);
  for (size_t n = filledLength; n-- > 0;)
  {
    output[n] = AddContribution(output[n] + response.OffsetResponse * first, anticausal, response.Anticausal);
    Advance(anticausal, dynamics, getPixel(n));
  }
  output.resize(pixels.size());
  return output;
}

/** Noise with an offset or without, and one pixel at an end. */
template <typename T>
std::vector<T>
DrawLine(std::mt19937 & generator, size_t length)
{
  std::uniform_real_distribution<double> uniform(-1, 1);
  const double                           offset = uniform(generator) < 0 ? 1000.0 : 0.0;
  const bool                             isImpulse = uniform(generator) < -0.8;
  std::vector<T>                         line(length);
  std::generate(
    line.begin(), line.end(), [&] { return static_cast<T>(isImpulse ? 0.0 : offset + uniform(generator)); });
  line.back() = isImpulse ? T(1) : line.back();
  return line;
}

template <typename T>
double
GetLargestError(double bound)
{
  std::mt19937                           generator(GetSeed());
  std::uniform_real_distribution<double> uniform(0, 1);
  double                                 worst = 0.0;
  for (unsigned int i = 0; i < 3000; ++i)
  {
    const double               sigma = 0.5 * std::pow(100.0, uniform(generator));
    const auto                 length = static_cast<size_t>(std::pow(400.0, uniform(generator)));
    const size_t               filled = length + static_cast<size_t>(uniform(generator) * (i % 3 == 0 ? 1000 : 40));
    const auto                 approximation = static_cast<Approximation>(i % 2);
    const auto                 kernel = MakeGaussianImpulseResponse(approximation, i / 2 % 3, sigma, 1.0, false);
    const CudaGaussianBoundary boundary{ OtherModes[i / 6 % 4], static_cast<T>(3.0 * uniform(generator)) };
    const std::vector<T>       line = DrawLine<T>(generator, length);
    const std::vector<double>  inDouble(line.begin(), line.end());
    const auto                 expected = SumOverContinuedLine(kernel, inDouble, boundary);
    const std::vector<double>  output = kernel.NumberOfPolePairs == 2
                                          ? FilterFilledLine<T, 2>(kernel, boundary, line, filled)
                                          : FilterFilledLine<T, 3>(kernel, boundary, line, filled);
    const double               scale =
      L1Norm(kernel) * std::max(LargestOf(inDouble), boundary.Mode == Mode::Constant ? boundary.Value : 0.0);
    for (size_t n = 0; n < length; ++n)
    {
      const double error = std::abs(output[n] - expected[n]) / scale;
      worst = std::max(worst, error);
      if (!(error <= bound))
      {
        ADD_FAILURE() << "draw " << i << ", error " << error << ", " << boundary.Mode << ", " << approximation
                      << ", order " << i / 2 % 3 << ", sigma " << sigma << ", pixel " << n << " of " << length
                      << ", filled to " << filled;
        return worst;
      }
    }
  }
  return worst;
}

TEST(CudaGaussianEdges, SweepsFromThemGiveSumsOverTheContinuedLine)
{
  std::cout << "[  edges   ] largest error from states in float: " << GetLargestError<float>(1e-6) << std::endl;
  std::cout << "[  edges   ] largest error from states in double: " << GetLargestError<double>(1e-12) << std::endl;
}

TEST(CudaGaussianEdges, PositionsAreThoseOfTheContinuedLine)
{
  for (const std::ptrdiff_t length : { 1, 2, 3, 4, 7, 33 })
  {
    std::vector<double> line(length);
    for (std::ptrdiff_t n = 0; n < length; ++n)
    {
      line[n] = static_cast<double>(n);
    }
    for (const Mode mode : { Mode::Nearest, Mode::Reflect, Mode::Mirror, Mode::Wrap })
    {
      for (std::ptrdiff_t n = -200; n <= 200; ++n)
      {
        EXPECT_EQ(static_cast<double>(GetContinuedPosition(mode, n, length)), ValueAt(line, n, { mode, 0.0 }))
          << mode << ", place " << n << ", length " << length;
      }
    }
  }
}

TEST(CudaGaussianEdges, FilledLinesEndWithTheirLastTile)
{
  for (const size_t length : { 1, 4, 31, 32, 33, 128, 129, 500, 1024, 5000, 16385, 40000 })
  {
    for (const AxisKind kind : { AxisKind::Contiguous, AxisKind::Strided })
    {
      for (const LineMethod method : LineMethods)
      {
        LineProblem problem{ kind, length, 4.0, 4, 2, 232448, true };
        const auto  schedule = MakeLineSchedule(problem, method);
        if (!schedule)
        {
          continue;
        }
        const size_t filled = GetFilledLength(*schedule, problem);
        const bool   isStream = method == LineMethod::Stream || method == LineMethod::StreamPartition;
        EXPECT_GE(filled, length) << static_cast<int>(method) << ", length " << length;
        EXPECT_EQ(filled % (isStream ? ChunkLength : SegmentLength<float>), 0u);
        if (kind == AxisKind::Strided)
        {
          EXPECT_LT(filled, length + (isStream ? ChunkLength : SegmentLength<float>));
        }
        else if (method == LineMethod::Partition)
        {
          EXPECT_EQ(filled, schedule->NumberOfTiles * schedule->Step);
        }
      }
    }
  }
}
} // namespace
} // namespace itk::cuda::test
