// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_plan_Schedule_h
#define CudaFilters_gaussian_plan_Schedule_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "gaussian/plan/Tuning.h"
#include "runtime/image/Math.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace itk::cuda::gaussian
{
/** How the lines of a pass are laid out in memory. */
enum class AxisKind : unsigned char
{
  Contiguous, // neighbours along the line are adjacent
  Strided     // neighbours of equal index in different lines are adjacent
};

/** How a line is divided among blocks of threads. */
enum class LineMethod : unsigned char
{
  WholeLine,        // a block holds whole lines: each pixel is read and written once
  OverlappingTiles, // a tile holds what its results depend on beside what it writes
  Partition,        // end states first, then a scan over them, then the tiles with their true start states
  Stream, // strided lines, in chunks that need those next to them (gaussian/device/PipelinedStrip.cuh); each pixel is
          // read once
  StreamPartition // the same as a Partition whose tiles are chunks
};

constexpr LineMethod LineMethods[] = { LineMethod::WholeLine,
                                       LineMethod::OverlappingTiles,
                                       LineMethod::Partition,
                                       LineMethod::Stream,
                                       LineMethod::StreamPartition };

/** A pass as launched: positions along the line, in pixels.
 *
 * Strided lines are sequences of chunks of ChunkLength pixels. The state with which a sweep enters a chunk follows from
 * the totals (end states from zero state) of the LookAhead chunks before it, or of all chunks before it if LookAhead is
 * 0. A result therefore depends on the pixels of LookAhead chunks on either side and on the line's ends. All methods
 * except the streams give the same bits. Streams have the same chunks but shorter segments, and therefore other
 * bits. */
struct LineSchedule
{
  LineMethod   Method{ LineMethod::WholeLine };
  unsigned int Segments{ 1 }; // of SegmentLength pixels, that the threads working on one line's tile hold
  size_t       WarmUp{ 0 };   // pixels before and behind the tile's output
  size_t       Step{ 0 };     // pixels of output of a tile
  size_t       NumberOfTiles{ 1 };
  unsigned int LookAhead{ 0 }; // strided lines: chunks on either side that a chunk needs; 0: all

  CudaGaussianBoundary Boundary{}; // how lines continue beyond their ends
};

/** All that a schedule depends on, and with it the rounding of the result. */
struct LineProblem
{
  AxisKind     Kind{ AxisKind::Contiguous };
  size_t       Length{ 1 }; // pixels
  double       SigmaInPixels{ 1.0 };
  unsigned int BytesPerComponent{ 4 };    // or 8: double
  unsigned int NumberOfPolePairs{ 2 };    // or 3
  size_t       SharedMemoryPerBlock{ 0 }; // bytes that a block can have on the device
  bool         CanStream{ false }; // whether the device's copy engine can move the chunks of a pass with one result
  size_t       WholeLength{ 0 };   // pixels of the strided line that this one is a part of; 0: it is whole
};

/** Chunks on either side of a chunk of a strided line that its results depend on. 0 stands for all chunks of the line:
 * the line has one chunk, or the window is longer than MaximumLookAhead. */
CudaFilters_EXPORT unsigned int
GetLookAhead(const LineProblem & problem);

/** The schedule that is chosen. */
CudaFilters_EXPORT LineSchedule
MakeLineSchedule(const LineProblem & problem);

/** The schedule with that method, if the method can treat such lines. It ignores CanStream. */
CudaFilters_EXPORT std::optional<LineSchedule>
                   MakeLineSchedule(const LineProblem & problem, LineMethod method);

/** Whether lines continue otherwise than with their edge values. Their edge states are then summed before the pass, or
 * follow from totals within it. */
inline bool
HasEdgeStates(const LineSchedule & schedule)
{
  return schedule.Boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest;
}

/** Pixels of a line and those behind it that fill its last tile or chunk, as far as sweeps run over them. */
CudaFilters_EXPORT size_t
GetFilledLength(const LineSchedule & schedule, const LineProblem & problem);

/** Whether a pass has the totals that edge states follow from (EdgeClosure). Its blocks of threads hold the whole line,
 * or the chunks of a window, and the line ends with its last tile or chunk. */
CudaFilters_EXPORT bool
HasLineTotals(const LineSchedule & schedule, const LineProblem & problem);

/** Pixels next to a pixel beyond which none has an effect on it after rounding. */
CudaFilters_EXPORT size_t
GetWindow(const LineProblem & problem);

/** Where a Partition keeps the states of a line. */
struct KeptStates
{
  size_t Number; // of places
  size_t Step;   // pixels from one to the next
  size_t Last;   // pixels from the last one to the end, in whole segments
};

/** Those of every chunk of a strided line, of every tile of a contiguous one. */
CudaFilters_EXPORT KeptStates
GetKeptStates(const LineSchedule & schedule, AxisKind kind, size_t length, unsigned int bytesPerComponent);

/** How the segments of a contiguous line, or of a tile of one, are divided among warps: into `Number` parts of `Width`
 * segments, a power of two. A warp holds one part of each of as many lines as it has lanes for. */
struct LineParts
{
  unsigned int Width;
  unsigned int Number;
};

/** The widest parts that leave few lanes without a segment; if there are none, the parts that leave the fewest. In a
 * line of several parts each part has a lane for each state of both sweeps. \param segments of the line or tile, at
 * least 1 \param numberOfPolePairs 2 or 3 */
CudaFilters_EXPORT LineParts
GetLineParts(unsigned int segments, unsigned int numberOfPolePairs = 2);

/** Shared memory of a block of strided lines with that many segments. */
CudaFilters_EXPORT size_t
GetStridedSharedBytes(unsigned int segments, unsigned int bytesPerComponent, unsigned int numberOfPolePairs = 2);

/** What it needs beside for edge states that follow from totals. */
CudaFilters_EXPORT size_t
GetStridedEdgeBytes(unsigned int bytesPerComponent, unsigned int numberOfPolePairs);

/** Shared memory of a block of a stream of float lines, whatever continues them: StreamMemory. */
constexpr size_t
GetStreamSharedBytes(unsigned int lookAhead)
{
  const size_t ringLength = lookAhead == 0   ? StreamRingLength<0>
                            : lookAhead == 1 ? StreamRingLength<1>
                                             : StreamRingLength<MaximumLookAhead>;
  const size_t chunk = size_t{ ChunkLength } * StreamColumns * sizeof(float);
  const size_t states = size_t{ StreamColumns } * StreamSegments * 2 * StreamPolePairs * 2 * sizeof(float);
  const size_t barriers = 2 * sizeof(uint64_t);
  const size_t windowEnds = states / StreamSegments;
  return RoundUp(windowEnds + ringLength * (chunk + barriers) + (lookAhead + 1) * states, StreamAlignment);
}
} // namespace itk::cuda::gaussian

#endif
