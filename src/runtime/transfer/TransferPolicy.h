// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferPolicy_h
#define CudaFilters_runtime_transfer_TransferPolicy_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <functional>

// Callbacks of transfers, the number of threads that a transfer uses, and counts of transfers.

namespace itk::cuda
{
enum class TransferDirection
{
  Upload,
  Download
};

/** Reports progress from the thread that transfers, as the fraction done from 0 to 1. It may throw to abort the
 * transfer. */
using TransferProgress = std::function<void(float)>;

/** Functions that an upload calls, from any of the threads that transfer. They may throw to abort the transfer. */
struct UploadCallbacks
{
  size_t RowsPerGroup;
  /** Called once for each group of rows `first` to `end` - 1 of the device image, in any order, after the copies of its
   * rows have been queued on the stream. Work on these rows can then be queued before the other rows are copied. */
  std::function<void(size_t first, size_t end)> RowsQueued;
  /** Called before each copy of an upload that belongs to a sequence. It returns when the device memory may be written.
   */
  std::function<void()> AwaitDevice{};
};

/** Returns the number of threads that a transfer of ordinary memory can use efficiently, including the calling one.
 * `isBidirectional` says that a transfer in the other direction runs at the same time. `fillsNewPages` says that a
 * download is the first to write to its pages. */
unsigned int
GetUsefulThreads(TransferDirection direction, size_t bytes, bool isBidirectional, bool fillsNewPages = false);

/** Numbers of transfers in this process and of the bytes of their host images, for tests. */
struct TransferCounts
{
  unsigned long Uploads;
  unsigned long Downloads;
  unsigned long UploadedBytes;
  unsigned long DownloadedBytes;
};

CudaFilters_EXPORT TransferCounts
GetTransferCounts();

/** Counts a transfer. Each transfer calls it once. */
void
CountTransfer(TransferDirection direction, size_t bytes);
} // namespace itk::cuda

#endif
