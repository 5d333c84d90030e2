// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferPolicy_h
#define CudaFilters_runtime_transfer_TransferPolicy_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <functional>

namespace itk::cuda
{
enum class TransferDirection
{
  Upload,
  Download
};

/** Called from the thread that transfers, with the share done, 0 to 1. It may throw to abort the transfer. */
using TransferProgress = std::function<void(float)>;

/** Tells when rows of the device image are on their way. Work on them can then begin before the other rows are. The
 * functions are called from any of the threads that transfer. They may throw to abort the transfer. */
struct RowGroups
{
  size_t RowsPerGroup;
  /** Called once for each group, rows `first` to `end` - 1, in any order, when the stream's work up to here copies
   * them. */
  std::function<void(size_t first, size_t end)> Sent;
  /** Called before each copy of an upload that is one of a sequence: it returns when the device's memory may be
   * written. */
  std::function<void()> Open{};
};

/** Threads that a transfer of ordinary memory is worth, the calling one included; `sharesHost`: another one runs in the
 * other direction at the same time; `fillsNewPages`: a download is the first to write to its pages. */
unsigned int
GetUsefulThreads(TransferDirection direction, size_t bytes, bool sharesHost, bool fillsNewPages = false);

/** How many transfers there were in this process, and of how many bytes of host images, for tests. */
struct TransferCounts
{
  unsigned long Uploads;
  unsigned long Downloads;
  unsigned long UploadedBytes;
  unsigned long DownloadedBytes;
};

CudaFilters_EXPORT TransferCounts
GetTransferCounts();

/** Called by each transfer. */
void
CountTransfer(TransferDirection direction, size_t bytes);
} // namespace itk::cuda

#endif
