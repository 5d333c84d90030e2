// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferPolicy.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/image/Math.h"

#include <algorithm>
#include <atomic>

// Chooses threads, chunks and slices of a transfer from measured times, and counts transfers.

namespace itk::cuda
{
namespace
{
constexpr size_t kibibyte = size_t{ 1 } << 10;
constexpr size_t mebibyte = size_t{ 1 } << 20;
constexpr size_t pageSize = 4 * kibibyte; // chunks are multiples of it

// Minimum number of bytes that make another thread worthwhile if it must be woken, which takes tens of microseconds on
// a virtual machine.
constexpr size_t bytesPerUploadThread = 512 * kibibyte;
constexpr size_t bytesPerDownloadThread = mebibyte;
// The same if a thread waits for work. Threads wait where transfers follow each other closely, so that further threads
// which are woken now come in time for the next transfer. Measured on one H200 with 16 cores, for smoothing 64^3, 80^3
// and 96^3 again and again: 0.20, 0.31 and 0.34 ms; 0.25, 0.34 and 0.37 ms if only the waiting threads take part.
constexpr size_t bytesPerThreadInSequence = 128 * kibibyte;
// Measured on one H200 with 16 cores and chunks for each thread: an upload of 200 MB takes 5.6 ms with 4 threads, 4.4
// ms with 6 and 4.5 ms with 8. An upload of 30 MB takes 1.3 ms, 1.0 ms and 1.0 ms.
constexpr unsigned int maximumUploadThreads = 8;

// Each copy costs the device 2.7 us in addition to its bytes.
constexpr size_t smallestChunk = 512 * kibibyte;
constexpr size_t largestChunk = PinnedBuffer::ChunkSize;

// Transfers of more bytes reuse the same page-locked memory so often that it stays in the caches, and each thread has
// chunks of its own.
constexpr size_t mostSharedBytes = 64 * mebibyte;
// Measured on one H200 with 16 cores: if all threads work on slices of the same chunk, smoothing takes 1.05 ms instead
// of 1.6 ms for 2048^2 float, 0.74 ms instead of 1.06 ms for 128^3, and 3.4 ms instead of 3.8 ms for 4096^2. The link
// gets its first work sooner, and less work remains for the host at the end. If there were more chunks than slots,
// threads would wait for each other, and 8192^2 takes 12 to 13.3 ms instead of 12.0 ms. With slices of 128 KB the
// download of 30 MB takes 1.1 ms instead of 0.96 ms.
constexpr size_t sharedSlotsPerThread = 4;
constexpr size_t sharedChunks = 16; // up to 32 MB; larger transfers use chunks of the maximum size
constexpr size_t largestSlice = 256 * kibibyte;
constexpr size_t smallestSlice = 64 * kibibyte;

// A thread of an upload fills one of two slots while the other is copied. A thread of a download empties one of three
// while the link fills the others.
constexpr size_t uploadSlotsPerThread = 2;
constexpr size_t downloadSlotsPerThread = 3;

// Measured on one H200 with 16 cores. From 2 to 64 MB it is faster if the link reads from memory than if it snoops the
// caches of several cores: 30 MB take 0.9 to 1.1 ms instead of 1.6 ms. Smaller images take longer if they bypass the
// caches (smoothing 256^2: 0.11 ms instead of 0.08 ms), unless the link is also used in the other direction. Larger
// images reuse the same slots so often that the caches save the way to memory: copies of 200 MB alone take 4.2 ms with
// the caches and 4.6 ms without. 512 MiB in each direction at the same time take 12 to 15 ms with them and 16 to 20 ms
// without.
constexpr size_t minimumBypassingCaches = 2 * mebibyte;

/** Returns the share of `all` threads for a transfer while another one runs in the other direction. Two further threads
 * queue work and wait for copies, and they need a processor. The threads of an upload read from memory, while those of
 * a download read data that the link has brought into the caches. On one H200 with 16 cores and 32 slabs, smoothing
 * takes 7.6 to 8.2 ms for 8192^2 and 25.9 to 28.6 ms for 16384^2 with 8 threads for uploads and 6 for downloads. It
 * takes 7.7 to 8.3 ms and 26.6 to 31.8 ms with 7 and 7, and 8.0 to 9.4 ms and at least 26.6 ms with 9 and 6.
 *
 * If a download fills new pages, it needs more threads, because the system provides a new page while its first bytes
 * are written, which takes longer than everything else. Smoothing to such memory takes 42 to 44 ms for 512^3 with 6
 * threads for downloads, 32 to 36 ms with 10 and 33 to 39 ms with 12. For 1024^3 it takes 294 to 299, 215 to 222 and
 * 211 to 224 ms. It is not faster with fewer than 8 threads for uploads. */
unsigned int
GetShareOfThreads(TransferDirection direction, unsigned int all, bool fillsNewPages)
{
  if (direction == TransferDirection::Upload)
  {
    return (all + 1) / 2;
  }
  return fillsNewPages ? 5 * all / 8 : (3 * all + 4) / 8;
}
} // namespace

unsigned int
GetUsefulThreads(const TransferWorkload & workload, unsigned int waiting)
{
  const bool         isUpload = workload.IsUpload();
  const unsigned int all = CudaFiltersConfiguration::GetNumberOfTransferThreads();
  const unsigned int ofAll = isUpload ? std::min(all, maximumUploadThreads) : all;
  const unsigned int ofDirection =
    workload.IsBidirectional ? GetShareOfThreads(workload.Direction, all, workload.FillsNewPages) : ofAll;
  const unsigned int limit = std::max(1u, ofDirection / workload.NumberOfSharers);
  const size_t       woken = workload.Bytes / (isUpload ? bytesPerUploadThread : bytesPerDownloadThread);
  const size_t       inSequence = waiting > 0 ? workload.Bytes / bytesPerThreadInSequence : 0;
  return static_cast<unsigned int>(std::clamp<size_t>(std::max(woken, inSequence), 1, limit));
}

TransferPolicy::TransferPolicy(const TransferWorkload & workload, size_t threads)
  : Threads(threads)
{
  const size_t bytes = workload.Bytes;
  const bool   isUpload = workload.IsUpload();
  const bool   isAlone = workload.NumberOfTransfers == 1;
  const bool   isLarge = bytes > mostSharedBytes;
  ChunkBytes = std::clamp(RoundUp(bytes / sharedChunks, largestSlice), smallestChunk, largestChunk);
  if (isAlone && threads > 1 && bytes <= std::min(mostSharedBytes, sharedSlotsPerThread * threads * ChunkBytes))
  {
    SmallestChunkBytes = ChunkBytes;
    SliceBytes = std::clamp(RoundUp(bytes / (2 * threads), pageSize), smallestSlice, largestSlice);
    ThreadsHaveSlots = false;
    Slots = DivideUp(bytes + bytes / 4, ChunkBytes); // the device's rows may have padding of up to a quarter
  }
  else
  {
    Slots = threads * (isUpload ? uploadSlotsPerThread : downloadSlotsPerThread);
    ChunkBytes = isAlone ? std::clamp(RoundUp(bytes / Slots, pageSize), smallestChunk, largestChunk) : largestChunk;
    SmallestChunkBytes = isUpload ? ChunkBytes : smallestChunk;
    SliceBytes = ChunkBytes;
    ThreadsHaveSlots = isUpload;
  }
  BypassesCaches = isUpload ? isAlone && !isLarge && (workload.IsBidirectional || bytes >= minimumBypassingCaches)
                            : workload.IsBidirectional;
}

size_t
TransferPolicy::GetChunkBytes(size_t left, bool isLastTransfer) const
{
  return isLastTransfer ? std::clamp(RoundUp(left / Threads, pageSize), SmallestChunkBytes, ChunkBytes) : ChunkBytes;
}

namespace
{
std::atomic<unsigned long> uploads{ 0 };
std::atomic<unsigned long> downloads{ 0 };
std::atomic<unsigned long> uploadedBytes{ 0 };
std::atomic<unsigned long> downloadedBytes{ 0 };
} // namespace

TransferCounts
GetTransferCounts()
{
  return { uploads, downloads, uploadedBytes, downloadedBytes };
}

void
CountTransfer(TransferDirection direction, size_t bytes)
{
  const bool isUpload = direction == TransferDirection::Upload;
  ++(isUpload ? uploads : downloads);
  (isUpload ? uploadedBytes : downloadedBytes) += bytes;
}
} // namespace itk::cuda
