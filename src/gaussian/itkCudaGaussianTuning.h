// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTuning_h
#define itkCudaGaussianTuning_h

#include <cstddef>

// Numbers only. Those that affect rounding may depend on nothing but line length, sigma, order, kind of axis and
// component type.

namespace itk::cuda::gaussian
{
constexpr unsigned int WarpSize = 32;

/** Bytes of line that one thread filters: 32 float or 16 double pixels. */
constexpr unsigned int SegmentBytes = 128;

template <typename T>
constexpr unsigned int SegmentLength = SegmentBytes / sizeof(T);

/** Threads of a block at most; a block holds one or more whole lines, or a tile of a long line. float: 64 registers a
 * thread; double needs more. */
template <typename T>
constexpr unsigned int MaximumThreads = sizeof(T) == 4 ? 1024 : 512;

/** Longest contiguous line that stays whole in a block, in segments (more segments would leave one block per
 * multiprocessor). */
template <typename T>
constexpr unsigned int MaximumContiguousSegments = 512;

/** Blocks of contiguous lines on a multiprocessor at least, which sets the registers of a thread: 64 for float. */
template <typename T>
constexpr unsigned int MinimumContiguousBlocks = sizeof(T) == 4 ? 2 : 1;

/** Threads of blocks that hold several contiguous lines or a tile of one. */
constexpr unsigned int ContiguousThreads = 256;

/** Segments (warps) of a tile of strided lines: two blocks on a multiprocessor of 227 KB, one of which loads while the
 * other computes. */
constexpr unsigned int OverlappingTileSegments = 16;
constexpr unsigned int PartitionTileSegments = 16;

/** Shared memory of a warp of contiguous lines at most: its pixels, totals, barrier, and its part of a table. */
constexpr unsigned int ContiguousWarpBytes = WarpSize * SegmentBytes + 512;

/** Streams of strided lines: strips of so many lines, of which a group of warps has 32 each, in chunks of so many rows,
 * of which a thread owns a segment. Rows of 256 bytes reach the rate of a copy, those of 128 do not. */
constexpr unsigned int StreamColumns = 64;
constexpr unsigned int StreamSegmentLength = 16;
constexpr unsigned int StreamSegments = 8;
constexpr unsigned int StreamRows = StreamSegmentLength * StreamSegments;
constexpr unsigned int StreamGroups = StreamColumns / WarpSize;
constexpr unsigned int StreamWorkers = StreamColumns * StreamSegments;

/** Pole pairs of the kernels that streams are for: the states of more would take the ring's place. */
constexpr unsigned int StreamPolePairs = 2;

/** Chunks on either side that a result depends on, and places of the ring that leave room for their states in 227 KB.
 */
constexpr unsigned int MaximumLookAhead = 3;
template <unsigned int VLookAhead>
constexpr unsigned int StreamRingLength = VLookAhead == 0   ? 6
                                          : VLookAhead == 1 ? 4
                                                            : 5;

/** Totals of tiles that a thread of the scan over them loads at once: it waits for memory otherwise. */
constexpr unsigned int ScanBatch = 16;

/** The warm-up of an overlapping tile, in sigma: the poles decay to exp(-1.3732 * 12) = 7e-8. */
constexpr double WarmUpSigmas = 12.0;

/** Overlapping tiles are used while the warm-up on both sides is at most this share of the tile. */
constexpr double MaximumWarmUpShare = 0.5;

/** Milliseconds of one pass: ITK's filter on the host's cores, and upload, pass and download, both from an image in
 * ordinary memory to the filter's own output. First along axis 0, then along the others. */
struct SinglePassTime
{
  size_t Values; // pixels times components
  double Host[2];
  double Device[2];
};

/** float, sigma 4, on 16 cores and an H200. Until single passes have been measured: the host's times are those of
 * smoothing (benchmarks/records/2026-11-21-h200.json) divided by the number of axes; the device's are the whole
 * filter's, which is more than one pass takes. A host of fewer cores is slower, so that the device is never taken too
 * early. */
constexpr SinglePassTime SinglePassTimes[] = {
  { size_t{ 1 } << 16, { 0.342, 0.342 }, { 0.0807, 0.0807 } }, // 256^2
  { size_t{ 1 } << 20, { 2.01, 2.01 }, { 0.666, 0.666 } },     // 1024^2
  { size_t{ 1 } << 24, { 25.1, 25.1 }, { 4.84, 4.84 } },       // 256^3
  { size_t{ 1 } << 26, { 151.0, 151.0 }, { 13.3, 13.3 } },     // 8192^2
  { size_t{ 1 } << 27, { 228.0, 228.0 }, { 24.0, 24.0 } },     // 512^3
};
} // namespace itk::cuda::gaussian

#endif
