// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partitioned_Tuning_h
#define CudaFilters_partitioned_Tuning_h

#include <cstddef>

// Numbers only. A number that affects rounding may depend only on parameters, line length and component type.

namespace itk::cuda::partitioned
{
/** Fewest pixels of a section of an exactly partitioned line. */
constexpr size_t MinimumSectionLength = 16;

/** Sections of a line when the number is chosen automatically. A section has AutomaticSectionLength pixels, up to the
 * number of sections with which 16 lines fill a block of threads. A section of a longer line has
 * AutomaticLongSectionLength pixels: a multiprocessor's cache holds the sections of its threads. */
constexpr size_t AutomaticSectionLength = 32;
constexpr size_t AutomaticSectionsInOneLaunch = 64;
constexpr size_t AutomaticLongSectionLength = 64;

/** Bytes of a line's intermediate that a thread keeps in its local memory: 512 float pixels, the lines of the paper's
 * images. The driver reserves this for every thread that the device can hold. */
constexpr unsigned int LocalIntermediateBytes = 2048;

/** Pixels that a thread loads at once and ahead. They are many if a thread owns a long stretch and few threads run, and
 * fewer if sections of a line fill the device with threads. */
constexpr unsigned int LongStretchBatch = 16;
constexpr unsigned int SectionBatch = 8;

/** Largest radius of the central pixel's window whose weights are arguments of the launch. Other weights are uploaded
 * before. */
constexpr unsigned int InlineRadius = 255;

/** Largest block of threads of the exact partition. */
constexpr unsigned int MaximumThreads = 1024;

/** Threads of a block if a line has more sections than fit in one block of threads. */
constexpr unsigned int SplitThreads = 128;

/** Longest section of a line that such a thread copies to shared memory, in pixels: 256 bytes; and the pixels from one
 * copy to the next, odd so that the threads of a warp meet in no bank. SplitThreads of them stay below the 48 KB that
 * every device grants without being asked. */
template <typename T>
constexpr size_t TileLength = 256 / sizeof(T);
template <typename T>
constexpr size_t TilePitch = TileLength<T> + 1;

/** Pixels of such a section, where lines lie beside each other, and sections of contiguous lines that are loaded at
 * once and ahead. */
constexpr unsigned int TileBatch = 16;
constexpr unsigned int RowBatch = 4;

constexpr unsigned int WarpSize = 32;

/** Sections whose states a thread of the scan loads at once and ahead. */
constexpr unsigned int ScanBatch = 8;

/** Threads of a block of the scan over a line's sections. */
constexpr unsigned int ScanThreads = 64;

/** Largest number of pixels of a launch where the driver ends long kernels; and for the one-way partition, the largest
 * number of lines and of pixels of each line. The slowest GPUs with a display make some 17e9 operations on double in a
 * second, a pixel takes 30, and with four lines to a block 28 of 32 lanes are idle: a launch takes a tenth of a second.
 * A single thread takes up to 2 us for a pixel: 65 ms. */
constexpr size_t LaunchPixels = size_t{ 1 } << 23;
constexpr size_t LaunchLines = size_t{ 1 } << 16;
constexpr size_t LaunchLineLength = size_t{ 1 } << 15;

/** Side of the tiles that the transposition of contiguous lines moves through shared memory. */
constexpr unsigned int TransposeTile = 32;
constexpr unsigned int TransposeRows = 8;
} // namespace itk::cuda::partitioned

#endif
