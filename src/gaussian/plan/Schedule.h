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

// Schedules of line passes: how lines are divided among blocks of threads, and how much shared memory a block needs.

namespace itk::cuda::gaussian
{
/** How the lines of a pass are laid out in memory. */
enum class AxisKind : unsigned char
{
  Contiguous, // neighbours along the line are adjacent
  Strided     // pixels of equal index in neighbouring lines are adjacent
};

/** How a line is divided among blocks of threads. */
enum class LineMethod : unsigned char
{
  WholeLine,        // a block holds whole lines, and reads and writes each pixel once
  OverlappingTiles, // a tile also loads the pixels around its output on which its results depend
  TileScan,         // computes the tiles' end states, scans them, then filters the tiles from their true start states
  Strip,    // strided lines in chunks that depend on their neighbours (gaussian/device/PipelinedStrip.cuh); reads each
            // pixel once
  StripScan // a TileScan of the same lines, with chunks as tiles
};

constexpr LineMethod LineMethods[] = { LineMethod::WholeLine,
                                       LineMethod::OverlappingTiles,
                                       LineMethod::TileScan,
                                       LineMethod::Strip,
                                       LineMethod::StripScan };

/** How a pass is launched. Positions are along the line, in pixels.
 *
 * Strided lines are sequences of chunks of ChunkLength pixels. The state with which a sweep enters a chunk is computed
 * from the end states of the LookAhead chunks before it, or of all chunks before it if LookAhead is 0. The end state of
 * a chunk is the state in which a sweep leaves it if it entered with state zero. A result therefore depends on the
 * pixels of LookAhead chunks on either side and on the line's ends. All methods except Strip and StripScan give
 * the same bits. These two have the same chunks but shorter segments, and therefore other bits. */
struct LineSchedule
{
  LineMethod   Method{ LineMethod::WholeLine };
  unsigned int Segments{ 1 }; // segments, each of SegmentLength pixels, that the threads of one line's tile hold
  size_t       WarmUp{ 0 };   // pixels before and behind the tile's output
  size_t       Step{ 0 };     // pixels that a tile writes
  size_t       NumberOfTiles{ 1 };
  unsigned int LookAhead{ 0 }; // strided lines: chunks on either side on which a chunk depends; 0: all

  CudaGaussianBoundary Boundary{}; // how lines continue beyond their ends
};

/** Everything that determines a schedule, and with it the rounding of the result. */
struct LineProblem
{
  AxisKind     Kind{ AxisKind::Contiguous };
  size_t       Length{ 1 }; // pixels
  double       SigmaInPixels{ 1.0 };
  unsigned int BytesPerComponent{ 4 };    // or 8: double
  unsigned int NumberOfPolePairs{ 2 };    // 2 or 3
  size_t       SharedMemoryPerBlock{ 0 }; // bytes that the device allows a block
  bool         CanUseStrips{ false };     // whether the pass has one result and the copy engine can move its chunks
  size_t       WholeLength{ 0 }; // pixels of the whole line if this one is a part of a strided line, otherwise 0
};

/** Returns the number of chunks on either side on which the results of a chunk of a strided line depend, at most the
 * number of the line's other chunks. Returns 0, which stands for all chunks, if the line has one chunk or if the number
 * would exceed MaximumLookAhead. */
CudaFilters_EXPORT unsigned int
GetLookAhead(const LineProblem & problem);

/** Chooses the schedule of a pass. */
CudaFilters_EXPORT LineSchedule
MakeLineSchedule(const LineProblem & problem);

/** Makes the schedule with this method. Returns no value if the method cannot handle such lines. Ignores CanUseStrips.
 */
CudaFilters_EXPORT std::optional<LineSchedule>
                   MakeLineSchedule(const LineProblem & problem, LineMethod method);

/** Returns whether lines continue with other values than their edge values. The states with which sweeps enter the
 * lines are then summed before the pass, or computed within the pass from end states. */
inline bool
HasEdgeStates(const LineSchedule & schedule)
{
  return schedule.Boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest;
}

/** Returns the pixels over which sweeps run: the line, and the pixels behind it that fill its last tile or chunk. */
CudaFilters_EXPORT size_t
GetFilledLength(const LineSchedule & schedule, const LineProblem & problem);

/** Returns whether a pass computes the end states that edge states follow from (EdgeStateSolver). It does so if its
 * blocks of threads hold the whole line, or the chunks of a window, and if the line ends with its last tile or chunk.
 */
CudaFilters_EXPORT bool
HasLineEndStates(const LineSchedule & schedule, const LineProblem & problem);

/** Returns the distance in pixels beyond which another pixel has no effect on a result after rounding. */
CudaFilters_EXPORT size_t
GetWindow(const LineProblem & problem);

/** The positions along a line at which a TileScan stores states. */
struct StoredStates
{
  size_t Number; // of stored states
  size_t Step;   // their distance in pixels
  size_t Last;   // pixels from the last one to the end of the line, in whole segments; Step if the last tile is padded
};

/** Returns the positions of the stored states: one for each chunk of a strided line, or for each tile of a contiguous
 * one. */
CudaFilters_EXPORT StoredStates
GetStoredStates(const LineSchedule & schedule, AxisKind kind, size_t length, unsigned int bytesPerComponent);

/** How the segments of a contiguous line, or of one of its tiles, are divided among warps: into `Number` parts of
 * `Width` segments, where `Width` is a power of two. A warp holds one part of several lines, as many as its lanes have
 * room for. */
struct WarpShares
{
  unsigned int Width;
  unsigned int Number;
};

/** Returns the widest parts that leave few lanes idle or, if all leave too many, the parts that leave the fewest idle.
 * If a line has several parts, each part has at least one lane for each state of both sweeps.
 * \param segments of the line or tile, at least 1
 * \param numberOfPolePairs 2 or 3 */
CudaFilters_EXPORT WarpShares
GetWarpShares(unsigned int segments, unsigned int numberOfPolePairs = 2);

/** Returns the bytes of shared memory of a block for strided lines with this number of segments. */
CudaFilters_EXPORT size_t
GetStridedSharedBytes(unsigned int segments, unsigned int bytesPerComponent, unsigned int numberOfPolePairs = 2);

/** Returns the bytes that such a block needs in addition for edge states that are computed from end states. */
CudaFilters_EXPORT size_t
GetStridedEdgeBytes(unsigned int bytesPerComponent, unsigned int numberOfPolePairs);

/** Returns the bytes of shared memory with which a block filters strips of float lines (StripMemory), for all boundary
 * modes. */
constexpr size_t
GetStripSharedBytes(unsigned int lookAhead)
{
  const size_t ringLength = lookAhead == 0   ? StripRingLength<0>
                            : lookAhead == 1 ? StripRingLength<1>
                                             : StripRingLength<MaximumLookAhead>;
  const size_t chunk = size_t{ ChunkLength } * StripColumns * sizeof(float);
  const size_t states = size_t{ StripColumns } * StripSegments * 2 * StripPolePairs * 2 * sizeof(float);
  const size_t barriers = 2 * sizeof(uint64_t);
  const size_t windowEnds = states / StripSegments;
  return RoundUp(windowEnds + ringLength * (chunk + barriers) + (lookAhead + 1) * states, StripAlignment);
}
} // namespace itk::cuda::gaussian

#endif
