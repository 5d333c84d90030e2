// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianSchedule_h
#define itkCudaGaussianSchedule_h

#include "CudaFiltersExport.h"

#include <cstddef>

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
  OverlappingTiles, // a tile starts its sweeps WarmUpSigmas * sigma outside of what it writes
  Partition, // end states of all tiles first, then a scan over the tiles, then the tiles with their true start states
  Stream, // strided lines, in chunks that need those next to them (itkCudaGaussianStream.cuh); each pixel is read once
  StreamPartition // the same as a Partition whose tiles are chunks
};

/** A pass as launched: positions along the line, in pixels. */
struct LineSchedule
{
  LineMethod   Method{ LineMethod::WholeLine };
  unsigned int Segments{ 1 }; // of SegmentLength pixels, that the threads working on one line's tile hold
  size_t       WarmUp{ 0 };   // pixels before and behind the tile's output
  size_t       Step{ 0 };     // pixels of output of a tile
  size_t       NumberOfTiles{ 1 };
  unsigned int LookAhead{ 0 }; // Stream: chunks on either side that a chunk needs
};

/** The schedule for lines of this length. It depends on nothing else than its arguments, and so does the rounding of
 * the result. \param bytesPerComponent 4 (float) or 8 (double) \param sharedMemoryPerBlock bytes that a block can have
 * on the device \param streams whether the streams may be chosen: one result, and HasBulkCopies() */
CudaFilters_EXPORT LineSchedule
MakeLineSchedule(AxisKind     kind,
                 size_t       lineLength,
                 double       sigmaInPixels,
                 unsigned int bytesPerComponent,
                 size_t       sharedMemoryPerBlock,
                 bool         streams,
                 unsigned int numberOfPolePairs = 2);

/** The schedule with that method, or one with Segments == 0 if the method cannot treat such lines. */
CudaFilters_EXPORT LineSchedule
MakeLineSchedule(LineMethod   method,
                 AxisKind     kind,
                 size_t       lineLength,
                 double       sigmaInPixels,
                 unsigned int bytesPerComponent,
                 size_t       sharedMemoryPerBlock,
                 unsigned int numberOfPolePairs = 2);

/** How the segments of a contiguous line, or of a tile of one, are divided among warps: into `Number` parts of `Width`
 * segments, a power of two, of which a warp holds as many as it has lanes for, of as many lines. */
struct LineParts
{
  unsigned int Width;
  unsigned int Number;
};

/** The widest parts that leave few lanes without a segment, or else those that leave the fewest. A line of several
 * parts has lanes for the states of both sweeps, one each, in each of them. \param segments of the line or tile, at
 * least 1 \param numberOfPolePairs 2 or 3 */
CudaFilters_EXPORT LineParts
GetLineParts(unsigned int segments, unsigned int numberOfPolePairs = 2);

/** Shared memory of a block of strided lines with that many segments. */
CudaFilters_EXPORT size_t
GetStridedSharedBytes(unsigned int segments, unsigned int bytesPerComponent, unsigned int numberOfPolePairs = 2);

/** Shared memory of a block of a stream of float lines. */
CudaFilters_EXPORT size_t
GetStreamSharedBytes(unsigned int lookAhead);
} // namespace itk::cuda::gaussian

#endif
