// SPDX-License-Identifier: Apache-2.0

// How lines are divided among blocks of threads: every pixel once, within the device's limits, and nothing left out
// that rounding would show.

#include "itkCudaDetailGaussianPlan.h"
#include "gaussian/plan/Schedule.h"
#include "gaussian/plan/Tuning.h"
#include "support/itkCudaGaussianLineReference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::gaussian;

using ApproximationEnum = CudaFiltersEnums::Approximation;

constexpr size_t Lengths[] = { 4,    5,    31,   32,   33,    63,    65,    127,   129,   255,
                               256,  257,  511,  512,  513,   1023,  1024,  1025,  1031,  2049,
                               4099, 8191, 8192, 8193, 16383, 16384, 16385, 32769, 100000 };

double
GetWindowInPixels(const LineProblem & problem)
{
  return GetWindowSigmas(problem.BytesPerComponent, problem.NumberOfPolePairs) * problem.SigmaInPixels;
}

/** Whether a line takes several tiles; one that has no more pixels than a tile is a whole line to no such method. */
bool
DividesLines(LineMethod method)
{
  return method == LineMethod::OverlappingTiles || method == LineMethod::TileScan || method == LineMethod::Strip ||
         method == LineMethod::StripScan;
}

void
CheckStrip(const LineSchedule & schedule, const LineProblem & problem)
{
  EXPECT_EQ(problem.NumberOfPolePairs, StripPolePairs);
  EXPECT_EQ(schedule.Step, ChunkLength);
  EXPECT_TRUE(schedule.Method == LineMethod::StripScan ||
              static_cast<double>(schedule.LookAhead * ChunkLength) >= GetWindowInPixels(problem) ||
              schedule.LookAhead + 1 >= schedule.NumberOfTiles);
  EXPECT_LE(schedule.LookAhead, MaximumLookAhead);
  EXPECT_LE(GetStripSharedBytes(schedule.LookAhead), problem.SharedMemoryPerBlock);
}

/** The chunks that a chunk needs are in its tile, and no tile begins or ends within one. */
void
CheckChunks(const LineSchedule & schedule, const LineProblem & problem)
{
  const size_t chunks = (problem.Length + ChunkLength - 1) / ChunkLength;
  const double window = schedule.LookAhead * static_cast<double>(ChunkLength);
  EXPECT_LE(schedule.LookAhead, MaximumLookAhead);
  EXPECT_TRUE(schedule.LookAhead == 0 || window >= GetWindowInPixels(problem) || schedule.LookAhead + 1 == chunks);
  // Nothing is left out of lines that have few chunks.
  EXPECT_TRUE(schedule.LookAhead > 0 || chunks == 1 || chunks > MaximumLookAhead + 1);
  if (schedule.NumberOfTiles > 1)
  {
    EXPECT_EQ(schedule.Step % ChunkLength, 0u);
    EXPECT_EQ(schedule.WarmUp, schedule.Method == LineMethod::OverlappingTiles ? window : 0.0);
  }
}

void
CheckSchedule(const LineSchedule & schedule, const LineProblem & problem)
{
  ASSERT_GT(schedule.Segments, 0u);
  EXPECT_GE(schedule.NumberOfTiles * schedule.Step, problem.Length);
  EXPECT_LT((schedule.NumberOfTiles - 1) * schedule.Step, problem.Length);
  if (schedule.Method == LineMethod::Strip || schedule.Method == LineMethod::StripScan)
  {
    CheckStrip(schedule, problem);
    return;
  }
  EXPECT_LE(std::min(schedule.Step + 2 * schedule.WarmUp, problem.Length),
            size_t{ schedule.Segments } * SegmentBytes / problem.BytesPerComponent);
  EXPECT_EQ(DividesLines(schedule.Method), schedule.NumberOfTiles > 1 || schedule.Step != problem.Length);
  if (schedule.Method == LineMethod::OverlappingTiles && problem.Kind == AxisKind::Contiguous)
  {
    EXPECT_GE(static_cast<double>(schedule.WarmUp), GetWindowInPixels(problem));
  }
  if (problem.Kind == AxisKind::Strided)
  {
    CheckChunks(schedule, problem);
    EXPECT_LE(GetStridedSharedBytes(schedule.Segments, problem.BytesPerComponent, problem.NumberOfPolePairs),
              problem.SharedMemoryPerBlock);
  }
}

/** Calls `check` with every problem of a list that reaches all methods. */
template <typename TCheck>
void
ForEachProblem(const TCheck & check)
{
  // The least is that of compute capability 7.5.
  for (const size_t sharedMemory : { size_t{ 64 } << 10, size_t{ 99 } << 10, size_t{ 163 } << 10, size_t{ 227 } << 10 })
  {
    for (const size_t length : Lengths)
    {
      for (const double sigma : { 0.5, 2.9, 4.0, 20.0, 60.0, 500.0, 1e300 })
      {
        // Every combination of layout, type, pole pairs and copy engine.
        for (unsigned int choice = 0; choice < 16; ++choice)
        {
          const AxisKind kind = choice & 1 ? AxisKind::Strided : AxisKind::Contiguous;
          check(LineProblem{
            kind, length, sigma, choice & 2 ? 8u : 4u, choice & 4 ? 3u : 2u, sharedMemory, (choice & 8) != 0 });
        }
      }
    }
  }
}

TEST(GaussianLineSchedule, CoversEveryPixelOnce)
{
  ForEachProblem([](const LineProblem & problem) { CheckSchedule(MakeLineSchedule(problem), problem); });
}

TEST(GaussianLineSchedule, EveryMethodCoversEveryPixelOnceOrSaysThatItCannot)
{
  ForEachProblem([](const LineProblem & problem) {
    for (const LineMethod method : LineMethods)
    {
      const auto schedule = MakeLineSchedule(problem, method);
      EXPECT_TRUE(schedule || method != LineMethod::TileScan);
      if (schedule && (!DividesLines(schedule->Method) || schedule->NumberOfTiles > 1))
      {
        EXPECT_EQ(schedule->Method, method);
        CheckSchedule(*schedule, problem);
      }
    }
  });
}

// Whatever the part of a line, its chunks need as many others as those of the whole line.
TEST(GaussianLineSchedule, PartsOfALineLookAsFarAheadAsTheLine)
{
  ForEachProblem([](const LineProblem & problem) {
    if (problem.Kind == AxisKind::Contiguous || problem.Length <= ChunkLength)
    {
      return;
    }
    const LineSchedule whole = MakeLineSchedule(problem);
    for (size_t length = ChunkLength; length < problem.Length; length = 3 * length)
    {
      LineProblem part = problem;
      part.Length = length;
      part.WholeLength = problem.Length;
      const LineSchedule schedule = MakeLineSchedule(part);
      EXPECT_EQ(schedule.LookAhead, whole.LookAhead);
      // States come from outside by scans alone.
      EXPECT_TRUE(whole.LookAhead > 0 || schedule.Method == LineMethod::TileScan ||
                  schedule.Method == LineMethod::StripScan);
      EXPECT_EQ(whole.Method == LineMethod::Strip, schedule.Method == LineMethod::Strip);
    }
  });
}

/** The share of a kernel's weights that lies beyond so many pixels, on both sides. */
double
GetShareBeyond(const CudaGaussianImpulseResponse & kernel, double pixels)
{
  const std::vector<double> half = cuda::test::SampleHalf(kernel);
  double                    beyond = 0.0;
  for (auto n = static_cast<size_t>(pixels) + 1; n < half.size(); ++n)
  {
    beyond += 2.0 * std::abs(half[n]);
  }
  return beyond / cuda::test::L1Norm(kernel);
}

TEST(GaussianLineSchedule, WindowsLeaveOutLessThanRoundingShows)
{
  for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
  {
    for (double sigma = 0.5; sigma < 600.0; sigma *= 1.07)
    {
      for (unsigned int order = 0; order < 3; ++order)
      {
        const auto kernel = MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false);
        for (const unsigned int bytes : { 4u, 8u })
        {
          // Tiles and chunks begin where segments do.
          const double segment = SegmentBytes / bytes;
          const double window = GetWindowSigmas(bytes, kernel.NumberOfPolePairs) * sigma;
          EXPECT_LE(GetShareBeyond(kernel, std::ceil(window / segment) * segment), bytes == 4 ? 1.25e-7 : 1e-13)
            << approximation << ", sigma " << sigma << ", order " << order << ", " << bytes << " bytes";
        }
      }
    }
  }
}

TEST(GaussianLineSchedule, LinePartsHoldEverySegmentAndLeaveFewLanesIdle)
{
  for (const unsigned int pairs : { 2u, 3u })
  {
    for (unsigned int segments = 1; segments <= 512; ++segments)
    {
      const WarpShares   parts = GetWarpShares(segments, pairs);
      const unsigned int lanes = parts.Width * parts.Number;
      EXPECT_EQ(parts.Width & (parts.Width - 1), 0u) << segments;
      EXPECT_LE(parts.Width, WarpSize) << segments;
      EXPECT_GE(lanes, segments);
      // Never more than a power of two of lanes, or whole warps, would be.
      unsigned int undivided = 1;
      while (undivided < segments)
      {
        undivided = undivided < WarpSize ? 2 * undivided : undivided + WarpSize;
      }
      EXPECT_LE(lanes, undivided) << segments;
      EXPECT_LT(lanes - segments, parts.Width) << segments;
      // Lanes of a part hand over a state each; smaller parts than warps are few.
      EXPECT_TRUE(parts.Number == 1 || parts.Width >= 2 * pairs) << segments;
      EXPECT_TRUE(parts.Number <= MaximumWarpShares || parts.Width == WarpSize) << segments;
      if (segments >= 2 * WarpSize)
      {
        EXPECT_LE(lanes - segments, lanes / 5) << segments;
      }
    }
  }
}
} // namespace
