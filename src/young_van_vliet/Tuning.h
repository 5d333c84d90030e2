// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Tuning_h
#define CudaFilters_young_van_vliet_Tuning_h

#include <cstddef>

// Tuning constants of Young and van Vliet's filter. A constant that affects rounding may depend only on parameters,
// line length and component type.

namespace itk::cuda::young_van_vliet
{
/** Minimum number of pixels of a section of an exactly partitioned line. */
constexpr size_t MinimumSectionLength = 16;

/** The automatic choice of the number of sections of a line. A section has AutomaticSectionLength pixels, up to
 * AutomaticSectionsInOneLaunch sections, with which 16 lines fill a thread block. A section of a longer line has
 * AutomaticLongSectionLength pixels, so that a multiprocessor's cache holds the sections of its threads. */
constexpr size_t AutomaticSectionLength = 32;
constexpr size_t AutomaticSectionsInOneLaunch = 64;
constexpr size_t AutomaticLongSectionLength = 64;

/** Bytes of a line's intermediate that a thread keeps in local memory: 512 float pixels, which is the line length of
 * the paper's images. The driver reserves this memory for every thread that can be resident on the device. */
constexpr unsigned int LocalIntermediateBytes = 2048;

/** Number of pixels that a thread loads at once and one batch ahead. It is larger where a thread processes a long
 * span and few threads run, and smaller where the sections of lines fill the device with threads. */
constexpr unsigned int LongSpanBatch = 16;
constexpr unsigned int SectionBatch = 8;

/** Largest radius of the central pixel's window for which the weights are passed as kernel arguments. More weights are
 * uploaded before the launch. */
constexpr unsigned int InlineRadius = 255;

/** Maximum number of threads per block of the exact partition. */
constexpr unsigned int MaximumThreads = 1024;

/** Threads per block if a line has more sections than fit into one thread block. */
constexpr unsigned int SplitThreads = 128;

/** Longest section in pixels (256 bytes) that such a thread copies to shared memory, and the distance in pixels between
 * the copies of two threads, which is odd to avoid bank conflicts. The copies of SplitThreads threads need less than
 * the 48 KB of shared memory that every device provides without an attribute. */
template <typename T>
constexpr size_t TileLength = 256 / sizeof(T);
template <typename T>
constexpr size_t TilePitch = TileLength<T> + 1;

/** Batches of the loads of such sections: TileBatch pixels of a section of strided lines, and RowBatch sections of
 * contiguous lines, are loaded at once and one batch ahead. */
constexpr unsigned int TileBatch = 16;
constexpr unsigned int RowBatch = 4;

constexpr unsigned int WarpSize = 32;

/** Number of sections whose states a thread of the scan loads at once and one batch ahead. */
constexpr unsigned int ScanBatch = 8;

/** Threads per block of the scan over the sections of a line. */
constexpr unsigned int ScanThreads = 64;

/** Maximum number of pixels of a launch where the driver's watchdog ends long kernels, and for the one-way partition
 * also the maximum number of lines and of pixels of each line. The slowest GPUs with a display perform about 17e9
 * double-precision operations per second. A pixel takes 30 operations, and with four lines per block 28 of 32 lanes
 * are idle, so a launch takes about a tenth of a second. A single thread takes up to 2 us per pixel, which is 65 ms
 * for LaunchLineLength pixels. */
constexpr size_t LaunchPixels = size_t{ 1 } << 23;
constexpr size_t LaunchLines = size_t{ 1 } << 16;
constexpr size_t LaunchLineLength = size_t{ 1 } << 15;

/** Side of the tiles, and rows of threads per block, of the transposition of contiguous lines through shared memory. */
constexpr unsigned int TransposeTile = 32;
constexpr unsigned int TransposeRows = 8;
} // namespace itk::cuda::young_van_vliet

#endif
