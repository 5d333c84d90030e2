// SPDX-License-Identifier: Apache-2.0
#include "gaussian/plan/Schedule.h"

#include <algorithm>
#include <cmath>

// Chooses the schedule of a line pass from the properties of a LineProblem.

namespace itk::cuda::gaussian
{
namespace
{
unsigned int
GetMaximumStridedSegments(const LineProblem & problem)
{
  const unsigned int maximumThreads =
    problem.BytesPerComponent == sizeof(float) ? MaximumThreads<float> : MaximumThreads<double>;
  unsigned int segments = maximumThreads / WarpSize;
  const size_t edges = GetStridedEdgeBytes(problem.BytesPerComponent, problem.NumberOfPolePairs);
  while (segments > 1 && GetStridedSharedBytes(segments, problem.BytesPerComponent, problem.NumberOfPolePairs) + edges >
                           problem.SharedMemoryPerBlock)
  {
    segments /= 2;
  }
  return segments;
}

unsigned int
GetMaximumSegments(const LineProblem & problem)
{
  if (problem.Kind == AxisKind::Strided)
  {
    return GetMaximumStridedSegments(problem);
  }
  const auto warps = static_cast<unsigned int>(problem.SharedMemoryPerBlock / ContiguousWarpBytes);
  return std::min(MaximumContiguousSegments<float>, warps * WarpSize / ContiguousThreads * ContiguousThreads);
}

size_t
GetWholeLength(const LineProblem & problem)
{
  return problem.WholeLength == 0 ? problem.Length : problem.WholeLength;
}
} // namespace

size_t
GetWindow(const LineProblem & problem)
{
  // Longer than any line, and still exact as an integer.
  constexpr double longest = 1e15;
  const double     sigmas = GetWindowSigmas(problem.BytesPerComponent, problem.NumberOfPolePairs);
  return static_cast<size_t>(std::min(std::ceil(sigmas * problem.SigmaInPixels), longest));
}

unsigned int
GetLookAhead(const LineProblem & problem)
{
  const auto   neighbors = static_cast<double>(DivideUp(GetWholeLength(problem), ChunkLength) - 1);
  const double chunks = std::min(std::ceil(static_cast<double>(GetWindow(problem)) / ChunkLength), neighbors);
  return chunks <= MaximumLookAhead ? static_cast<unsigned int>(chunks) : 0;
}

namespace
{
/** Returns whether the shared memory of a block holds the chunks of a strip with this look-ahead. */
bool
FitsStrip(const LineProblem & problem, unsigned int lookAhead)
{
  return problem.Kind == AxisKind::Strided && problem.BytesPerComponent == sizeof(float) &&
         problem.NumberOfPolePairs == StripPolePairs && GetStripSharedBytes(lookAhead) <= problem.SharedMemoryPerBlock;
}

LineSchedule
MakeStrips(LineMethod method, const LineProblem & problem, unsigned int lookAhead)
{
  return { method, StripSegments, 0, ChunkLength, DivideUp(problem.Length, ChunkLength), lookAhead, {} };
}

/** Makes tiles of this number of segments, which include the warm-up on both sides. */
LineSchedule
MakeTiles(LineMethod method, const LineProblem & problem, unsigned int segments, size_t warmUp, unsigned int lookAhead)
{
  const size_t step = size_t{ segments } * SegmentBytes / problem.BytesPerComponent - 2 * warmUp;
  return { method, segments, warmUp, step, DivideUp(problem.Length, step), lookAhead, {} };
}

/** Returns the pixels before and after a tile on which its results depend, or no value if they depend on all pixels. */
std::optional<double>
GetWarmUp(const LineProblem & problem)
{
  if (problem.Kind == AxisKind::Strided)
  {
    const unsigned int lookAhead = GetLookAhead(problem);
    return lookAhead == 0 ? std::nullopt : std::optional(static_cast<double>(lookAhead) * ChunkLength);
  }
  // The warm-up consists of whole segments, so that tiles start at aligned addresses.
  const double segmentLength = SegmentBytes / problem.BytesPerComponent;
  return std::ceil(static_cast<double>(GetWindow(problem)) / segmentLength) * segmentLength;
}
} // namespace

size_t
GetFilledLength(const LineSchedule & schedule, const LineProblem & problem)
{
  const size_t segmentLength = SegmentBytes / problem.BytesPerComponent;
  if (schedule.Method == LineMethod::Strip || schedule.Method == LineMethod::StripScan)
  {
    return schedule.NumberOfTiles * ChunkLength;
  }
  if (problem.Kind == AxisKind::Strided)
  {
    return RoundUp(problem.Length, segmentLength);
  }
  const WarpShares parts = GetWarpShares(schedule.Segments, problem.NumberOfPolePairs);
  const size_t     lastBegin = (schedule.NumberOfTiles - 1) * schedule.Step;
  return lastBegin - std::min(lastBegin, schedule.WarmUp) + size_t{ parts.Width } * parts.Number * segmentLength;
}

bool
HasLineEndStates(const LineSchedule & schedule, const LineProblem & problem)
{
  const bool holdsEndStates =
    schedule.Method == LineMethod::WholeLine || (schedule.Method == LineMethod::Strip && schedule.NumberOfTiles > 1);
  return holdsEndStates && GetFilledLength(schedule, problem) == problem.Length;
}

StoredStates
GetStoredStates(const LineSchedule & schedule, AxisKind kind, size_t length, unsigned int bytesPerComponent)
{
  const size_t step = kind == AxisKind::Strided ? ChunkLength : schedule.Step;
  const size_t number = DivideUp(length, step);
  // The last chunk of a strip, and the last tile of contiguous lines, are filled up with the line's last value.
  const bool isFilled = kind == AxisKind::Contiguous || schedule.Method == LineMethod::StripScan;
  return { number, step, isFilled ? step : RoundUp(length - (number - 1) * step, SegmentBytes / bytesPerComponent) };
}

WarpShares
GetWarpShares(unsigned int segments, unsigned int numberOfPolePairs)
{
  WarpShares best{ WarpSize, (segments + WarpSize - 1) / WarpSize };
  const auto getLanes = [](const WarpShares & parts) { return parts.Width * parts.Number; };
  for (unsigned int width = WarpSize / 2; width > 0; width /= 2)
  {
    const WarpShares parts{ width, (segments + width - 1) / width };
    const bool isPossible = parts.Number == 1 || (width >= 2 * numberOfPolePairs && parts.Number <= MaximumWarpShares);
    if (isPossible && getLanes(best) - segments > getLanes(best) * MaximumIdleLanes && getLanes(parts) < getLanes(best))
    {
      best = parts;
    }
  }
  return best;
}

size_t
GetStridedSharedBytes(unsigned int segments, unsigned int bytesPerComponent, unsigned int numberOfPolePairs)
{
  const size_t tile = size_t{ segments } * SegmentBytes * WarpSize;
  const size_t states = size_t{ segments } * WarpSize * 2 * numberOfPolePairs * 2 * bytesPerComponent;
  return tile + states;
}

size_t
GetStridedEdgeBytes(unsigned int bytesPerComponent, unsigned int numberOfPolePairs)
{
  return size_t{ WarpSize } * 2 * numberOfPolePairs * 2 * bytesPerComponent;
}

std::optional<LineSchedule>
MakeLineSchedule(const LineProblem & problem, LineMethod method)
{
  const bool         strided = problem.Kind == AxisKind::Strided;
  const unsigned int segmentLength = SegmentBytes / problem.BytesPerComponent;
  const unsigned int maximumSegments = GetMaximumSegments(problem);
  const unsigned int lookAhead = strided ? GetLookAhead(problem) : 0;
  switch (method)
  {
    case LineMethod::WholeLine: {
      const size_t segments = DivideUp(problem.Length, segmentLength);
      if (segments > maximumSegments)
      {
        return std::nullopt;
      }
      return LineSchedule{ method, static_cast<unsigned int>(segments), 0, problem.Length, 1, lookAhead, {} };
    }
    case LineMethod::OverlappingTiles: {
      const unsigned int segments = strided ? std::min(OverlappingTileSegments, maximumSegments) : ContiguousThreads;
      const double       tile = static_cast<double>(size_t{ segments } * segmentLength);
      const auto         warmUp = GetWarmUp(problem);
      if (!warmUp || !(2.0 * *warmUp < tile))
      {
        return std::nullopt;
      }
      return MakeTiles(method, problem, segments, static_cast<size_t>(*warmUp), lookAhead);
    }
    case LineMethod::TileScan:
      return MakeTiles(
        method, problem, strided ? std::min(TileScanSegments, maximumSegments) : ContiguousThreads, 0, lookAhead);
    case LineMethod::Strip: {
      // A line of one chunk needs no partition, and StripScan has no kernel for it.
      const bool isShort = GetWholeLength(problem) <= ChunkLength;
      if ((lookAhead == 0 && !isShort) || !FitsStrip(problem, std::max(1u, lookAhead)))
      {
        return std::nullopt;
      }
      return MakeStrips(method, problem, std::max(1u, lookAhead));
    }
    case LineMethod::StripScan:
      break;
  }
  return FitsStrip(problem, 0) ? std::optional(MakeStrips(method, problem, 0)) : std::nullopt;
}

LineSchedule
MakeLineSchedule(const LineProblem & problem)
{
  if (problem.CanUseStrips && GetWholeLength(problem) > ChunkLength)
  {
    for (const LineMethod method : { LineMethod::Strip, LineMethod::StripScan })
    {
      if (const auto schedule = MakeLineSchedule(problem, method))
      {
        return *schedule;
      }
    }
  }
  if (problem.WholeLength != 0 && GetLookAhead(problem) == 0)
  {
    // Only the scan of a TileScan takes states from the rest of the line.
    return *MakeLineSchedule(problem, LineMethod::TileScan);
  }
  if (const auto schedule = MakeLineSchedule(problem, LineMethod::WholeLine))
  {
    return *schedule;
  }
  const auto   tiles = MakeLineSchedule(problem, LineMethod::OverlappingTiles);
  const double warmUp = tiles ? 2.0 * static_cast<double>(tiles->WarmUp) : 0.0;
  if (tiles && warmUp <= MaximumWarmUpShare * (static_cast<double>(tiles->Step) + warmUp))
  {
    return *tiles;
  }
  return *MakeLineSchedule(problem, LineMethod::TileScan);
}
} // namespace itk::cuda::gaussian
