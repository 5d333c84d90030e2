// SPDX-License-Identifier: Apache-2.0

// The edge states with which the device enters lines in other boundary modes than Nearest, here on the host: sweeps in
// double from them over the filled line, against the sum in float64 over the continued line.

#include "support/itkCudaGaussianLineReference.h"
#include "gaussian/device/Edges.h"
#include "gaussian/plan/Schedule.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace itk::cuda::test
{
namespace
{
using namespace gaussian;
using Approximation = CudaFiltersEnums::Approximation;

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

/** Which states the sweeps begin with. */
enum class Start
{
  SumsBeyondTheEdges, // of lines that are filled up to some pixel
  EndStates           // of the whole line, or of a window next to its ends
};

/** A random line, and how it is filtered. */
template <typename T>
struct EdgeCase
{
  unsigned int                Number;
  Start                       Begin;
  double                      Sigma;
  Approximation               How;
  CudaGaussianImpulseResponse Kernel;
  CudaGaussianBoundary        Boundary;
  std::vector<T>              Line;
  size_t                      FilledLength;

  EdgeCase(Start start, unsigned int number, std::mt19937 & generator)
    : Number(number)
    , Begin(start)
    , Sigma(0.5 * std::pow(100.0, Draw(generator)))
    , How(static_cast<Approximation>(number % 2))
    , Kernel(MakeGaussianImpulseResponse(How, number / 2 % 3, Sigma, 1.0, false))
    , Boundary{ OtherModes[number / 6 % 4], static_cast<T>(3.0 * Draw(generator)) }
  {
    const double length =
      start == Start::EndStates ? 15.0 + std::pow(1000.0, Draw(generator)) : std::pow(400.0, Draw(generator));
    Line = DrawLine<T>(generator, static_cast<size_t>(length));
    FilledLength = Line.size() + static_cast<size_t>(Draw(generator) * (number % 3 == 0 ? 1000 : 40));
  }

  /** Returns the line as sweeps from the states give it. */
  template <unsigned int VPairs>
  std::vector<double>
  Filter() const
  {
    if (Begin == Start::SumsBeyondTheEdges)
    {
      return FilterFilledLine<T, VPairs>(Kernel, Boundary, Line, FilledLength);
    }
    LineProblem problem;
    problem.SigmaInPixels = Sigma;
    problem.BytesPerComponent = sizeof(T);
    problem.NumberOfPolePairs = VPairs;
    const size_t window = Number / 24 % 2 == 0 ? Line.size() : GetWindow(problem);
    return FilterClosedLine<T, VPairs>(Kernel, Boundary, Line, window);
  }

private:
  static double
  Draw(std::mt19937 & generator)
  {
    return std::uniform_real_distribution<double>(0, 1)(generator);
  }
};

template <typename T>
void
ExpectSumsOverTheContinuedLine(Start start, double bound)
{
  std::mt19937 generator(GetSeed());
  double       worst = 0.0;
  for (unsigned int i = 0; i < 3000; ++i)
  {
    const EdgeCase<T> edgeCase(start, i, generator);
    const auto &      boundary = edgeCase.Boundary;
    if (start == Start::EndStates && !HasEdgeStateSolver(edgeCase.Kernel, boundary.Mode))
    {
      EXPECT_TRUE(boundary.Mode == Mode::Mirror && edgeCase.Sigma < 1.0);
      continue;
    }
    const std::vector<double> inDouble(edgeCase.Line.begin(), edgeCase.Line.end());
    const std::vector<double> output =
      edgeCase.Kernel.NumberOfPolePairs == 2 ? edgeCase.template Filter<2>() : edgeCase.template Filter<3>();
    const double scale =
      L1Norm(edgeCase.Kernel) * std::max(LargestOf(inDouble), boundary.Mode == Mode::Constant ? boundary.Value : 0.0);
    const double error = LargestDifference(output, SumOverContinuedLine(edgeCase.Kernel, inDouble, boundary)) / scale;
    worst = std::max(worst, error);
    ASSERT_LE(error, bound) << "draw " << i << ", " << boundary.Mode << ", " << edgeCase.How << ", order "
                            << edgeCase.Kernel.Order << ", sigma " << edgeCase.Sigma << ", length " << inDouble.size()
                            << ", filled to " << edgeCase.FilledLength;
  }
  std::cout << "[  edges   ] largest error from states of " << sizeof(T) << " bytes: " << worst << std::endl;
}

TEST(CudaGaussianEdges, SweepsFromThemGiveSumsOverTheContinuedLine)
{
  ExpectSumsOverTheContinuedLine<float>(Start::SumsBeyondTheEdges, 1e-6);
  ExpectSumsOverTheContinuedLine<double>(Start::SumsBeyondTheEdges, 1e-12);
}

// What a pass does if a line ends with its last tile or chunk.
TEST(CudaGaussianEdges, SweepsFromEndStatesGiveSumsOverTheContinuedLine)
{
  ExpectSumsOverTheContinuedLine<float>(Start::EndStates, 1e-6);
  ExpectSumsOverTheContinuedLine<double>(Start::EndStates, 1e-12);
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

TEST(CudaGaussianEdges, PositionsAndWalksMeetThePixelsOfTheContinuedLine)
{
  for (const std::ptrdiff_t length : { 1, 2, 3, 4, 7, 33 })
  {
    std::vector<double> line(length);
    std::iota(line.begin(), line.end(), 0.0);
    for (const Mode mode : { Mode::Nearest, Mode::Reflect, Mode::Mirror, Mode::Wrap })
    {
      for (std::ptrdiff_t begin = -200; begin <= 200; ++begin)
      {
        ASSERT_EQ(static_cast<double>(GetPaddedPosition(mode, begin, length)), ValueAt(line, begin, { mode, 0.0 }))
          << mode << ", place " << begin << ", length " << length;
        for (const std::ptrdiff_t step : { -1, 1 })
        {
          PaddedWalk walk(mode, begin, step > 0, length);
          for (std::ptrdiff_t n = begin; mode != Mode::Nearest && n != begin + 80 * step; n += step)
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
