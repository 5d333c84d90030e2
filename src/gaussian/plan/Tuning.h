// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_plan_Tuning_h
#define CudaFilters_gaussian_plan_Tuning_h

#include <cstddef>

// Constants of line passes. Those in the first part of the file may affect rounding. Such a constant may depend only on
// line length, sigma, order, kind of axis and component type. Those in the second part do not affect rounding.

namespace itk::cuda::gaussian
{
constexpr unsigned int WarpSize = 32;

/** Bytes of a line that one thread filters: 32 float or 16 double pixels. */
constexpr unsigned int SegmentBytes = 128;

template <typename T>
constexpr unsigned int SegmentLength = SegmentBytes / sizeof(T);

/** Largest number of threads of a block. A block holds one or more whole lines, or a tile of a long line. A thread has
 * 64 registers for float, and more for double. */
template <typename T>
constexpr unsigned int MaximumThreads = sizeof(T) == 4 ? 1024 : 512;

/** Largest number of segments of a contiguous line that one block holds as a whole. With more segments, only one block
 * would fit on a multiprocessor. */
template <typename T>
constexpr unsigned int MaximumContiguousSegments = 512;

/** Minimum resident blocks of contiguous lines per multiprocessor. This limits the registers of a thread, to 64 for
 * float. */
template <typename T>
constexpr unsigned int MinimumContiguousBlocks = sizeof(T) == 4 ? 2 : 1;

/** Threads of blocks that hold several contiguous lines or a tile of one. */
constexpr unsigned int ContiguousThreads = 256;

/** Largest number of parts, each narrower than a warp, of a contiguous line, and the largest accepted share of lanes
 * without a segment. Along x of 1060^3 float pixels at sigma 4, five parts of eight segments take 2.8 ms, and two parts
 * of a warp take 4.3 ms. */
constexpr unsigned int MaximumWarpShares = 8;
constexpr double       MaximumIdleLanes = 0.125;

/** Minimum resident blocks per multiprocessor of the combining kernel. Shared memory limits it, because each warp has
 * two tiles. */
template <typename T>
constexpr unsigned int MinimumCombiningBlocks = sizeof(T) == 4 ? 3 : 1;

/** Minimum resident blocks per multiprocessor of the kernel of products, where each warp has three tiles. */
template <typename T>
constexpr unsigned int MinimumProductBlocks = sizeof(T) == 4 ? 2 : 1;

/** Pixels of the chunks of strided lines, counted from the line's first pixel. The chunks are the same on the host, on
 * the device and in slabs, because a line may be cut between two of them. */
constexpr unsigned int ChunkLength = 128;

template <typename T>
constexpr unsigned int ChunkSegments = ChunkLength / SegmentLength<T>;

/** Largest number of chunks on either side on which a result depends. If the window reaches further, the result depends
 * on the whole line. */
constexpr unsigned int MaximumLookAhead = 3;

/** Segments (warps) of a tile of strided lines that includes the pixels around its output. */
constexpr unsigned int OverlappingTileSegments = 32;

/** Segments of a tile of a TileScan. A multiprocessor of 227 KB holds two such blocks, so that one loads while the
 * other computes. */
constexpr unsigned int TileScanSegments = 16;

/** Largest shared memory of a warp of contiguous lines: pixels, end states, barrier, and its part of a table. */
constexpr unsigned int ContiguousWarpBytes = WarpSize * SegmentBytes + 512;

/** Number of strided lines in a strip. Each group of warps has 32 of them, and a thread owns a segment of a chunk. Rows
 * of 256 bytes reach the rate of a copy; rows of 128 bytes do not. */
constexpr unsigned int StripColumns = 64;
constexpr unsigned int StripSegmentLength = 16;
constexpr unsigned int StripSegments = ChunkLength / StripSegmentLength;
constexpr unsigned int StripGroups = StripColumns / WarpSize;
constexpr unsigned int StripConsumers = StripColumns * StripSegments;

/** Alignment in bytes of the chunks that the copy engine writes to shared memory. */
constexpr unsigned int StripAlignment = 128;

/** Largest number of chunks of lines that are partitioned within a block of threads. The ring holds six chunks, so two
 * of eight are read twice. Along y and z of 1024^3 pixels at sigma 64 this reached 0.77 and 0.72 of the rate of a copy.
 * One block of 1,024 threads for 32 whole lines reached 0.74 and 0.69. With eviction priorities the L2 cache keeps two
 * thirds of the chunks that are read twice, which added 0.01. */
constexpr unsigned int MaximumWholeLineChunks = 8;

/** Number of pole pairs that strips support. The states of more pairs would need the shared memory of the ring. */
constexpr unsigned int StripPolePairs = 2;

/** Number of chunks of the ring, chosen so that the states of the chunks on either side also fit into 227 KB. */
template <unsigned int VLookAhead>
constexpr unsigned int StripRingLength = VLookAhead == 0   ? 6
                                         : VLookAhead == 1 ? 4
                                                           : 5;

/** Largest number of pixels in a launch (but at least one line), on devices whose driver ends long kernels. The slowest
 * GPUs with a display make about 17e9 operations on double in a second, and a pixel takes a hundred, so a launch takes
 * a tenth of a second. */
constexpr size_t LaunchPixels = size_t{ 1 } << 24;

/** End states of tiles that a thread of the scan loads at once, to hide the latency of memory. */
constexpr unsigned int ScanBatch = 16;

/** Number of chunks of both rings of a strip with a mask. The mask's ring has a quarter of the bytes of the other. With
 * windows of three chunks no chunk of the ring would be free. */
constexpr unsigned int MaskedStripRingLength = 4;
constexpr unsigned int MaximumMaskedLookAhead = 2;

/** Returns the distance in sigma beyond which pixels have no effect after rounding. Impulse responses of all orders
 * have at most 1.25e-7 of their weights there for float, and 1e-13 for double. The slowest pole decays as exp(-1.3732
 * n) with two pole pairs and as exp(-2.0345 n) with three. */
constexpr double
GetWindowSigmas(unsigned int bytesPerComponent, unsigned int numberOfPolePairs)
{
  return bytesPerComponent == sizeof(float) ? (numberOfPolePairs == 2 ? 12.0 : 9.0)
                                            : (numberOfPolePairs == 2 ? 22.5 : 15.5);
}

/** Largest share of the warm-up on both sides in a tile for which overlapping tiles are used. */
constexpr double MaximumWarmUpShare = 0.5;

/** Time in milliseconds of one pass, from an image in ordinary memory to the filter's own output. Host is the time of
 * ITK's filter on the host's cores, and Device is the time of upload, pass and download. Element 0 is for axis 0,
 * element 1 for the other axes. */
struct SinglePassTime
{
  size_t Values; // pixels times components
  double Host[2];
  double Device[2];
};

/** Times for float, sigma 4, 16 cores and one H200 (benchmarks/records/h200/single_pass.json). Where several images
 * have the same number of values, and for the axes beyond the first, an entry has the host's shortest and the device's
 * longest time. Images with fewer values than the first entry are left to the host, where starting threads costs more
 * than filtering the pixels. Hosts with fewer cores are slower: one core needs about 20 ns for a value. */
constexpr SinglePassTime SinglePassTimes[] = {
  { 4096, { 0.0523, 0.0532 }, { 0.051, 0.0588 } }, // 64^2, 16^3
  { 16384, { 0.202, 0.252 }, { 0.0681, 0.063 } },  // 128^2
  { 32768, { 0.109, 0.112 }, { 0.0641, 0.0659 } }, // 32^3
  { 65536, { 0.224, 0.399 }, { 0.0767, 0.0755 } }, // 256^2
  { 262144, { 0.35, 0.365 }, { 0.24, 0.246 } },    // 512^2, 64^3
  { 1048576, { 1.48, 2.48 }, { 0.597, 0.52 } },    // 1024^2
  { 2097152, { 2.74, 2.97 }, { 1.45, 1.34 } },     // 128^3
  { 4194304, { 5.36, 9.17 }, { 2.74, 2.71 } },     // 2048^2
  { 16777216, { 23.6, 30.2 }, { 4.46, 4.58 } },    // 4096^2, 256^3
};
} // namespace itk::cuda::gaussian

// Constants that do not affect rounding.

namespace itk::cuda::gaussian
{
/** Limits of the bytes of planes, in the computed type, that the passes within planes process at a time. */
constexpr size_t MaximumBatchBytes = size_t{ 256 } << 20;
constexpr size_t MinimumBatchBytes = size_t{ 8 } << 20;

/** Bytes of a group of rows of a slab, in the computed type, that the passes across slabs process at a time if the
 * slab's memory holds pixels in the host's type. A group stays in the cache of an H200 from the conversion to the
 * filter. */
constexpr size_t BytesOfRowGroup = size_t{ 32 } << 20;
constexpr size_t MinimumRowGroups = 8;

/** Largest number of parts of a result in that case. Each part reads all lines of its slab. */
constexpr size_t MaximumPartsOfResult = 8;

/** Smallest slab on the host, in bytes, that is worth its launches, and the fewest slabs that keep both directions of
 * the link busy. */
constexpr size_t BytesOfSlab = size_t{ 16 } << 20;
constexpr size_t MinimumSlabs = 8;

/** Bytes of results on the device that keep the link busy, and the largest number of results. */
constexpr size_t BytesOfResults = size_t{ 64 } << 20;
constexpr size_t MaximumResultBuffers = 8;

/** Limits for images that fit into the device's memory. They are sent in slabs if they have at least this number of
 * bytes, and if the estimated time of the run, in units of the time of the upload alone, is at most this ratio. The
 * estimate is (K + a + 1) / K for K slabs if `a` later slabs must be uploaded before one can be filtered. Measured on
 * one H200 with 16 cores, in slabs and whole, in ms (float):
 *
 * page-locked: 4096^2 2.1, 2.6; 256^2 x 512 4.4, 5.1 (ratio 1.5); 8192^2 6.7, 10.1; 512^3 15.9, 20.4 (1.5); 512^3 sigma
 * 12 18.3, 20.3 (1.75); 1024^3 106, 163 (1.25)
 *
 * ordinary: 4096^2 2.5, 3.2 (ratio 1.25); 5120^2 3.6, 4.8; 7168^2 6.0, 8.8; 400^3 9.4, 11.2 (1.5); 512^3 17.7, 22.0
 * (1.5); 512^3 sigma 12 19.6, 22.2 (1.75) */
constexpr size_t MinimumBytesOfOverlap = size_t{ 64 } << 20;
constexpr double MaximumOverlapTimeRatio = 1.75;
} // namespace itk::cuda::gaussian

#endif
