// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianSchedule.h"

#include <algorithm>
#include <cmath>

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
  while (segments > 1 && GetStridedSharedBytes(segments, problem.BytesPerComponent, problem.NumberOfPolePairs) >
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

double
GetWindow(const LineProblem & problem)
{
  return std::ceil(GetWindowSigmas(problem.BytesPerComponent, problem.NumberOfPolePairs) * problem.SigmaInPixels);
}

/** Chunks on either side of a chunk of a stream that its results depend on. */
double
GetLookAhead(const LineProblem & problem)
{
  const size_t neighbours = DivideUp(problem.Length, StreamRows) - 1;
  const double chunks = std::ceil(GetWindow(problem) / StreamRows);
  return std::max(1.0, std::min(chunks, static_cast<double>(neighbours)));
}

/** Whether a block has room for such chunks. */
bool
FitsStream(const LineProblem & problem, unsigned int lookAhead)
{
  return problem.Kind == AxisKind::Strided && problem.BytesPerComponent == sizeof(float) &&
         problem.NumberOfPolePairs == StreamPolePairs &&
         GetStreamSharedBytes(lookAhead) <= problem.SharedMemoryPerBlock;
}

LineSchedule
MakeStream(LineMethod method, const LineProblem & problem, unsigned int lookAhead)
{
  return { method, StreamSegments, 0, StreamRows, DivideUp(problem.Length, StreamRows), lookAhead };
}

/** Tiles of so many segments, each with a warm-up. */
LineSchedule
MakeTiles(LineMethod method, const LineProblem & problem, unsigned int segments, size_t warmUp)
{
  const size_t step = size_t{ segments } * SegmentBytes / problem.BytesPerComponent - 2 * warmUp;
  return { method, segments, warmUp, step, DivideUp(problem.Length, step), 0 };
}
} // namespace

LineParts
GetLineParts(unsigned int segments, unsigned int numberOfPolePairs)
{
  LineParts  best{ WarpSize, (segments + WarpSize - 1) / WarpSize };
  const auto getLanes = [](const LineParts & parts) { return parts.Width * parts.Number; };
  for (unsigned int width = WarpSize / 2; width > 0; width /= 2)
  {
    const LineParts parts{ width, (segments + width - 1) / width };
    const bool isPossible = parts.Number == 1 || (width >= 2 * numberOfPolePairs && parts.Number <= MaximumLineParts);
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

std::optional<LineSchedule>
MakeLineSchedule(const LineProblem & problem, LineMethod method)
{
  const bool         strided = problem.Kind == AxisKind::Strided;
  const unsigned int segmentLength = SegmentBytes / problem.BytesPerComponent;
  const unsigned int maximumSegments = GetMaximumSegments(problem);
  switch (method)
  {
    case LineMethod::WholeLine: {
      const size_t segments = DivideUp(problem.Length, segmentLength);
      if (segments > maximumSegments)
      {
        return std::nullopt;
      }
      return LineSchedule{ method, static_cast<unsigned int>(segments), 0, problem.Length, 1, 0 };
    }
    case LineMethod::OverlappingTiles: {
      const unsigned int segments = strided ? std::min(OverlappingTileSegments, maximumSegments) : ContiguousThreads;
      const double       tile = static_cast<double>(size_t{ segments } * segmentLength);
      // A warm-up of whole segments lets tiles start at aligned addresses.
      const double warmUp = std::ceil(GetWindow(problem) / segmentLength) * segmentLength;
      if (!(2.0 * warmUp < tile))
      {
        return std::nullopt;
      }
      return MakeTiles(method, problem, segments, static_cast<size_t>(warmUp));
    }
    case LineMethod::Partition:
      return MakeTiles(
        method, problem, strided ? std::min(PartitionTileSegments, maximumSegments) : ContiguousThreads, 0);
    case LineMethod::Stream: {
      const double lookAhead = GetLookAhead(problem);
      if (lookAhead > MaximumLookAhead || !FitsStream(problem, static_cast<unsigned int>(lookAhead)))
      {
        return std::nullopt;
      }
      return MakeStream(method, problem, static_cast<unsigned int>(lookAhead));
    }
    default: // StreamPartition
      return FitsStream(problem, 0) ? std::optional(MakeStream(method, problem, 0)) : std::nullopt;
  }
}

LineSchedule
MakeLineSchedule(const LineProblem & problem)
{
  if (problem.CanStream && problem.Length > StreamRows)
  {
    for (const LineMethod method : { LineMethod::Stream, LineMethod::StreamPartition })
    {
      if (const auto schedule = MakeLineSchedule(problem, method))
      {
        return *schedule;
      }
    }
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
  return *MakeLineSchedule(problem, LineMethod::Partition);
}
} // namespace itk::cuda::gaussian
