// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferPolicy_h
#define CudaFilters_runtime_transfer_TransferPolicy_h

#include "CudaFiltersExport.h"
#include "runtime/memory/PinnedMemory.h"

#include <cstddef>
#include <functional>

// Callbacks of transfers, how a transfer is divided among threads and page-locked memory, and counts of transfers.

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

/** What an upload calls when groups of rows are queued, from one of the threads that transfer, and how many rows a
 * group has. The function may throw to abort the transfer. */
struct UploadCallbacks
{
  size_t RowsPerGroup;
  /** Called once for each group of rows `first` to `end` - 1 of the device image, in their order, after the copies of
   * its rows have been queued on the stream. Work on these rows can then be queued before the other rows are copied. */
  std::function<void(size_t first, size_t end)> RowsQueued;
};

/** Transfers of ordinary memory that follow each other. */
struct TransferWorkload
{
  TransferDirection Direction;
  size_t            Bytes; // of the first transfer
  size_t            NumberOfTransfers;
  bool              IsBidirectional;        // transfers in the other direction run at the same time
  bool              FillsNewPages{ false }; // a download is the first to write to its pages
  unsigned int      NumberOfSharers{ 1 };   // workloads of this direction that run at the same time

  bool
  IsUpload() const
  {
    return Direction == TransferDirection::Upload;
  }
};

/** Returns the number of threads that such transfers can use efficiently, including the calling one, if `waiting` other
 * threads are already waiting for work. */
unsigned int
GetUsefulThreads(const TransferWorkload & workload, unsigned int waiting);

/** How transfers of ordinary memory use page-locked memory. */
struct TransferPolicy
{
  /** \param threads number of threads, including the calling one */
  TransferPolicy(const TransferWorkload & workload, size_t threads);

  /** Returns the size of the next copy of a transfer that has `left` bytes to go. The copies of the last download
   * shrink toward its end: a thread empties a slot only after its copy, so the caller waits for less if the last copy
   * is small. */
  size_t
  GetChunkBytes(size_t left, bool isLastTransfer) const;

  size_t Threads;
  size_t ChunkBytes;         // maximum size of a copy to or from the device
  size_t SmallestChunkBytes; // of the last transfer
  size_t SliceBytes;         // what a thread copies at a time between the host image and a slot
  size_t Slots;              // number of slots of page-locked memory
  bool   ThreadsHaveSlots;   // whether each thread has its own slots, whose memory stays in its caches
  bool   BypassesCaches;     // whether the threads write past the processor's caches
};

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
