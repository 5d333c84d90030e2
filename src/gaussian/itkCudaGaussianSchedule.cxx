// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianSchedule.h"
#include "itkCudaGaussianTuning.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace itk::cuda::gaussian
{
namespace
{
size_t
DivideUp(size_t numerator, size_t denominator)
{
  return (numerator + denominator - 1) / denominator;
}

unsigned int
GetSegmentLength(unsigned int bytesPerComponent)
{
  return SegmentBytes / bytesPerComponent;
}

unsigned int
GetMaximumStridedSegments(unsigned int bytesPerComponent, size_t sharedMemoryPerBlock, unsigned int numberOfPolePairs)
{
  const unsigned int maximumThreads = bytesPerComponent == 4 ? MaximumThreads<float> : MaximumThreads<double>;
  unsigned int       segments = maximumThreads / WarpSize;
  while (segments > 1 && GetStridedSharedBytes(segments, bytesPerComponent, numberOfPolePairs) > sharedMemoryPerBlock)
  {
    segments /= 2;
  }
  return segments;
}

/** Chunks on either side of a chunk of a stream that its results depend on; 0 if they are too many. */
unsigned int
GetLookAhead(size_t lineLength, double sigmaInPixels)
{
  const size_t neighbours = DivideUp(lineLength, StreamRows) - 1;
  const double warmUp = std::ceil(WarmUpSigmas * sigmaInPixels / StreamRows);
  const double chunks = std::max(1.0, std::min(warmUp, static_cast<double>(neighbours)));
  return chunks <= MaximumLookAhead ? static_cast<unsigned int>(chunks) : 0;
}

/** Pixels to warm up, a multiple of the segment length so that tiles start at aligned addresses. */
size_t
GetWarmUp(double sigmaInPixels, unsigned int segmentLength)
{
  const double pixels = std::ceil(WarmUpSigmas * sigmaInPixels);
  return pixels < 1e15 ? DivideUp(static_cast<size_t>(pixels), segmentLength) * segmentLength : size_t{ 1 } << 50;
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

size_t
GetStreamSharedBytes(unsigned int lookAhead)
{
  const size_t ringLength = lookAhead == 0   ? StreamRingLength<0>
                            : lookAhead == 1 ? StreamRingLength<1>
                                             : StreamRingLength<MaximumLookAhead>;
  const size_t chunk = size_t{ StreamRows } * StreamColumns * sizeof(float);
  const size_t states = size_t{ StreamColumns } * StreamSegments * 2 * StreamPolePairs * 2 * sizeof(float);
  return ringLength * (chunk + 2 * sizeof(uint64_t)) + (lookAhead + 1) * states;
}

LineSchedule
MakeLineSchedule(LineMethod   method,
                 AxisKind     kind,
                 size_t       lineLength,
                 double       sigmaInPixels,
                 unsigned int bytesPerComponent,
                 size_t       sharedMemoryPerBlock,
                 unsigned int numberOfPolePairs)
{
  const unsigned int segmentLength = GetSegmentLength(bytesPerComponent);
  const bool         strided = kind == AxisKind::Strided;
  const unsigned int maximumSegments =
    strided ? GetMaximumStridedSegments(bytesPerComponent, sharedMemoryPerBlock, numberOfPolePairs)
            : std::min<unsigned int>(MaximumContiguousSegments<float>,
                                     static_cast<unsigned int>(sharedMemoryPerBlock / ContiguousWarpBytes) * WarpSize /
                                       ContiguousThreads * ContiguousThreads);

  LineSchedule schedule;
  schedule.Method = method;
  switch (method)
  {
    case LineMethod::WholeLine: {
      const size_t segments = DivideUp(lineLength, segmentLength);
      schedule.Segments = segments <= maximumSegments ? static_cast<unsigned int>(segments) : 0;
      schedule.Step = lineLength;
      break;
    }
    case LineMethod::OverlappingTiles: {
      const unsigned int segments = strided ? std::min(OverlappingTileSegments, maximumSegments) : ContiguousThreads;
      const size_t       tile = size_t{ segments } * segmentLength;
      schedule.WarmUp = GetWarmUp(sigmaInPixels, segmentLength);
      schedule.Segments = 2 * schedule.WarmUp < tile ? segments : 0;
      schedule.Step = schedule.Segments > 0 ? tile - 2 * schedule.WarmUp : 0;
      break;
    }
    case LineMethod::Partition:
      schedule.Segments = strided ? std::min(PartitionTileSegments, maximumSegments) : ContiguousThreads;
      schedule.Step = size_t{ schedule.Segments } * segmentLength;
      break;
    case LineMethod::Stream:
    case LineMethod::StreamPartition: {
      const bool partition = method == LineMethod::StreamPartition;
      schedule.LookAhead = partition ? 0 : GetLookAhead(lineLength, sigmaInPixels);
      const bool possible = strided && bytesPerComponent == sizeof(float) && numberOfPolePairs == StreamPolePairs &&
                            (partition || schedule.LookAhead > 0);
      const bool fits = GetStreamSharedBytes(schedule.LookAhead) <= sharedMemoryPerBlock;
      schedule.Segments = possible && fits ? StreamSegments : 0;
      schedule.Step = StreamRows;
      break;
    }
  }
  schedule.NumberOfTiles = schedule.Segments > 0 ? DivideUp(lineLength, schedule.Step) : 0;
  return schedule;
}

LineSchedule
MakeLineSchedule(AxisKind     kind,
                 size_t       lineLength,
                 double       sigmaInPixels,
                 unsigned int bytesPerComponent,
                 size_t       sharedMemoryPerBlock,
                 bool         streams,
                 unsigned int numberOfPolePairs)
{
  const auto make = [&](LineMethod method) {
    return MakeLineSchedule(
      method, kind, lineLength, sigmaInPixels, bytesPerComponent, sharedMemoryPerBlock, numberOfPolePairs);
  };
  if (streams && lineLength > StreamRows)
  {
    for (const LineMethod method : { LineMethod::Stream, LineMethod::StreamPartition })
    {
      const LineSchedule schedule = make(method);
      if (schedule.Segments > 0)
      {
        return schedule;
      }
    }
  }
  LineSchedule schedule = make(LineMethod::WholeLine);
  if (schedule.Segments > 0)
  {
    return schedule;
  }
  schedule = make(LineMethod::OverlappingTiles);
  const double tile = static_cast<double>(schedule.Step + 2 * schedule.WarmUp);
  if (schedule.Segments > 0 && 2.0 * static_cast<double>(schedule.WarmUp) <= MaximumWarmUpShare * tile)
  {
    return schedule;
  }
  return make(LineMethod::Partition);
}
} // namespace itk::cuda::gaussian
