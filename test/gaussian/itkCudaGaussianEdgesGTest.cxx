// SPDX-License-Identifier: Apache-2.0

// The edge states with which the device enters lines in other boundary modes than Nearest, here on the host: sweeps in
// double from them over the filled line, against the sum in float64 over the continued line.

#include "support/itkCudaGaussianBoundaryReference.h"
#include "gaussian/device/Edges.h"
#include "gaussian/plan/Schedule.h"
#include "support/itkCudaTestSeed.h"

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
LineState<double, VPairs>
ToDouble(const LineState<T, VPairs> & state)
{
  LineState<double, VPairs> inDouble;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    inDouble.Pair[j] = { state.Pair[j].U, state.Pair[j].V };
  }
  return inDouble;
}

/** Sweeps in double over the line and the pixels behind it, from these states. */
template <typename T, unsigned int VPairs>
std::vector<double>
SweepFilledLine(const CudaGaussianImpulseResponse & kernel,
                const PaddedLine<T> &               line,
                size_t                              filledLength,
                LineState<double, VPairs>           causal,
                LineState<double, VPairs>           anticausal)
{
  const double                       first = line.Get(0);
  const auto                         dynamics = MakeLineDynamics<double, VPairs>(kernel);
  const LineResponse<double, VPairs> response = MakeLineResponse<double, VPairs>(kernel);
  const auto                         getPixel = [&](size_t n) -> double {
    return static_cast<double>(line.Get(static_cast<std::ptrdiff_t>(n))) - first;
  };
  std::vector<double> output(filledLength);
  for (size_t n = 0; n < filledLength; ++n)
  {
    output[n] = AddContribution(response.CentralValue * getPixel(n), causal, response.Causal);
    Advance(causal, dynamics, getPixel(n));
  }
  for (size_t n = filledLength; n-- > 0;)
  {
    output[n] = AddContribution(output[n] + response.ConstantResponse * first, anticausal, response.Anticausal);
    Advance(anticausal, dynamics, getPixel(n));
  }
  output.resize(line.Length);
  return output;
}

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
  const auto          rule = MakeEdgeRule<T, VPairs>(kernel, boundary, pixels.size(), filledLength, GetWindow(problem));
  const PaddedLine<T> line{ pixels.data(), 1, pixels.size(), rule.Mode, rule.Value };
  const T             first = pixels.front();
  const auto          getEdge = [&](bool anticausal) {
    const auto getPixels = [&](size_t begin, size_t end, T(&batch)[7]) {
      for (size_t m = begin; m < begin + 7; ++m)
      {
        batch[m - begin] = m < end ? line.Get(GetPlaceBeyondEdge(rule, anticausal, m)) : first;
      }
    };
    return ToDouble(SumBeyondEdge<7>(rule, first, getPixels));
  };
  return SweepFilledLine<T, VPairs>(kernel, line, filledLength, getEdge(false), getEdge(true));
}

/** The same with edge states that follow from end states in T of the line, or of a window next to its ends. */
template <typename T, unsigned int VPairs>
std::vector<double>
FilterClosedLine(const CudaGaussianImpulseResponse & kernel,
                 const CudaGaussianBoundary &        boundary,
                 const std::vector<T> &              pixels,
                 size_t                              window)
{
  const size_t        length = pixels.size();
  const bool          ofWholeLine = window >= length;
  const size_t        count = std::min(window, length);
  const auto          closure = MakeEdgeStateSolver<T, VPairs>(kernel, boundary, length, ofWholeLine);
  const auto          dynamics = MakeLineDynamics<T, VPairs>(kernel);
  const PaddedLine<T> line{ pixels.data(), 1, length, boundary.Mode, closure.Value };
  const T             first = pixels.front();
  const auto          getEndState = [&](bool anticausal, size_t begin, size_t end) {
    LineState<T, VPairs> total;
    for (size_t n = begin; n < end; ++n)
    {
      Advance(total, dynamics, pixels[anticausal ? begin + end - 1 - n : n] - first);
    }
    return total;
  };
  // Of the pixels next to the ends.
  const auto causal = getEndState(false, length - count, length);
  const auto anticausal = getEndState(true, 0, count);
  const auto getEdge = [&](bool atEnd) {
    LineState<T, VPairs> edge;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      const auto closed =
        PrepareCausalEndState(boundary.Mode, dynamics.Section[j], causal.Pair[j], pixels.back() - first);
      const bool takesAnticausal = (boundary.Mode == Mode::Wrap) == atEnd;
      edge.Pair[j] =
        boundary.Mode == Mode::Constant
          ? SteadyState(dynamics.Section[j], closure.Value - first)
          : SolveEdgeState(
              closure, j, takesAnticausal ? anticausal.Pair[j] : closed, takesAnticausal ? closed : anticausal.Pair[j]);
    }
    return ToDouble(edge);
  };
  return SweepFilledLine<T, VPairs>(kernel, line, length, getEdge(false), getEdge(true));
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

// What a pass does if a line ends with its last tile or chunk: of the whole line, or of a window next to the ends.
template <typename T>
double
GetLargestClosedError(double bound)
{
  std::mt19937                           generator(GetSeed());
  std::uniform_real_distribution<double> uniform(0, 1);
  double                                 worst = 0.0;
  for (unsigned int i = 0; i < 3000; ++i)
  {
    const double               sigma = 0.5 * std::pow(100.0, uniform(generator));
    const auto                 length = static_cast<size_t>(15.0 + std::pow(1000.0, uniform(generator)));
    const auto                 approximation = static_cast<Approximation>(i % 2);
    const auto                 kernel = MakeGaussianImpulseResponse(approximation, i / 2 % 3, sigma, 1.0, false);
    const CudaGaussianBoundary boundary{ OtherModes[i / 6 % 4], static_cast<T>(3.0 * uniform(generator)) };
    if (!HasEdgeStateSolver(kernel, boundary.Mode))
    {
      EXPECT_TRUE(boundary.Mode == Mode::Mirror && sigma < 1.0);
      continue;
    }
    LineProblem problem;
    problem.SigmaInPixels = sigma;
    problem.BytesPerComponent = sizeof(T);
    problem.NumberOfPolePairs = kernel.NumberOfPolePairs;
    const size_t              window = i / 24 % 2 == 0 ? length : GetWindow(problem);
    const std::vector<T>      line = DrawLine<T>(generator, length);
    const std::vector<double> inDouble(line.begin(), line.end());
    const auto                expected = SumOverContinuedLine(kernel, inDouble, boundary);
    const std::vector<double> output = kernel.NumberOfPolePairs == 2
                                         ? FilterClosedLine<T, 2>(kernel, boundary, line, window)
                                         : FilterClosedLine<T, 3>(kernel, boundary, line, window);
    const double              scale =
      L1Norm(kernel) * std::max(LargestOf(inDouble), boundary.Mode == Mode::Constant ? boundary.Value : 0.0);
    for (size_t n = 0; n < length; ++n)
    {
      const double error = std::abs(output[n] - expected[n]) / scale;
      worst = std::max(worst, error);
      if (!(error <= bound))
      {
        ADD_FAILURE() << "draw " << i << ", error " << error << ", " << boundary.Mode << ", " << approximation
                      << ", order " << i / 2 % 3 << ", sigma " << sigma << ", pixel " << n << " of " << length
                      << ", window " << window;
        return worst;
      }
    }
  }
  return worst;
}

TEST(CudaGaussianEdges, SweepsFromEndStatesGiveSumsOverTheContinuedLine)
{
  std::cout << "[  edges   ] largest error from end states in float: " << GetLargestClosedError<float>(1e-6)
            << std::endl;
  std::cout << "[  edges   ] largest error from end states in double: " << GetLargestClosedError<double>(1e-12)
            << std::endl;
}

// The inverse of a narrow kernel's step would multiply the rounding of end states, or be more than a float can hold.
TEST(CudaGaussianEdges, EndStatesOfNarrowKernelsAreNotUsedInTheModeMirror)
{
  for (const Approximation approximation : { Approximation::Deriche, Approximation::Accurate })
  {
    for (const double sigma : { 0.01, 0.05, 0.5, 0.55, 1.0, 50.0 })
    {
      const auto kernel = MakeGaussianImpulseResponse(approximation, 0, sigma, 1.0, false);
      EXPECT_EQ(HasEdgeStateSolver(kernel, Mode::Mirror), sigma >= 1.0) << approximation << ", sigma " << sigma;
      EXPECT_TRUE(HasEdgeStateSolver(kernel, Mode::Reflect));
      EXPECT_TRUE(HasEdgeStateSolver(kernel, Mode::Constant));
      EXPECT_FALSE(HasEdgeStateSolver(kernel, Mode::Nearest));
    }
  }
}

// A line one pixel shorter or longer has filled pixels.
TEST(CudaGaussianEdges, EndStatesAreUsedWhereNothingIsFilled)
{
  const auto hasEndStates = [](AxisKind kind, size_t length, double sigma, LineMethod method, unsigned int bytes) {
    const LineProblem problem{ kind, length, sigma, bytes, 2, 232448, true };
    const auto        schedule = MakeLineSchedule(problem, method);
    return schedule && HasLineEndStates(*schedule, problem);
  };
  for (const unsigned int bytes : { 4u, 8u })
  {
    for (const size_t length : { 32, 64, 128, 256, 512, 640, 1024, 2048, 4096 })
    {
      for (const int off : { -1, 0, 1 })
      {
        EXPECT_EQ(hasEndStates(AxisKind::Contiguous, length + off, 4.0, LineMethod::WholeLine, bytes), off == 0)
          << "length " << length + off;
        const size_t longest = bytes == 4 ? 1024 : 256;
        EXPECT_EQ(hasEndStates(AxisKind::Strided, length + off, 4.0, LineMethod::WholeLine, bytes),
                  off == 0 && length <= longest)
          << "length " << length + off;
      }
      EXPECT_FALSE(hasEndStates(AxisKind::Contiguous, length, 1.0, LineMethod::OverlappingTiles, bytes));
      EXPECT_FALSE(hasEndStates(AxisKind::Contiguous, length, 4.0, LineMethod::TileScan, bytes));
      EXPECT_FALSE(hasEndStates(AxisKind::Strided, length, 4.0, LineMethod::TileScan, bytes));
    }
  }
  // The parts of a warp that these lines share leave lanes without a segment.
  EXPECT_FALSE(hasEndStates(AxisKind::Contiguous, 96, 4.0, LineMethod::WholeLine, 4));
  EXPECT_FALSE(hasEndStates(AxisKind::Contiguous, 160, 4.0, LineMethod::WholeLine, 4));
  for (const double sigma : { 1.0, 20.0, 30.0 })
  {
    for (const size_t length : { 256, 512, 1024 })
    {
      EXPECT_TRUE(hasEndStates(AxisKind::Strided, length, sigma, LineMethod::Strip, 4));
      EXPECT_FALSE(hasEndStates(AxisKind::Strided, length - 1, sigma, LineMethod::Strip, 4));
      EXPECT_FALSE(hasEndStates(AxisKind::Strided, length + 1, sigma, LineMethod::Strip, 4));
    }
    EXPECT_FALSE(hasEndStates(AxisKind::Strided, 128, sigma, LineMethod::Strip, 4));
    EXPECT_FALSE(hasEndStates(AxisKind::Strided, 1024, sigma, LineMethod::StripScan, 4));
  }
}

TEST(CudaGaussianEdges, WalksMeetThePixelsOfTheContinuedLine)
{
  for (const std::ptrdiff_t length : { 1, 2, 3, 4, 7, 33 })
  {
    for (const Mode mode : { Mode::Reflect, Mode::Mirror, Mode::Wrap })
    {
      for (std::ptrdiff_t begin = -150; begin <= 150; begin += 1)
      {
        for (const std::ptrdiff_t step : { -1, 1 })
        {
          PaddedWalk walk(mode, begin, step > 0, length);
          for (std::ptrdiff_t n = begin; n != begin + 80 * step; n += step)
          {
            ASSERT_EQ(walk.GetPosition(), GetPaddedPosition(mode, n, length))
              << mode << ", place " << n << " from " << begin << ", length " << length;
            walk.Advance();
          }
        }
      }
    }
  }
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
        EXPECT_EQ(static_cast<double>(GetPaddedPosition(mode, n, length)), ValueAt(line, n, { mode, 0.0 }))
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
        const bool   isStrip = method == LineMethod::Strip || method == LineMethod::StripScan;
        EXPECT_GE(filled, length) << static_cast<int>(method) << ", length " << length;
        EXPECT_EQ(filled % (isStrip ? ChunkLength : SegmentLength<float>), 0u);
        if (kind == AxisKind::Strided)
        {
          EXPECT_LT(filled, length + (isStrip ? ChunkLength : SegmentLength<float>));
        }
        else if (method == LineMethod::TileScan)
        {
          EXPECT_EQ(filled, schedule->NumberOfTiles * schedule->Step);
        }
      }
    }
  }
}
} // namespace
} // namespace itk::cuda::test
