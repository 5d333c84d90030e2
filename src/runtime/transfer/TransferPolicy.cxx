// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferPolicy.h"
#include "runtime/Settings.h"

#include <algorithm>
#include <atomic>

// Chooses the number of threads of a transfer from measured times, and counts transfers.

namespace itk::cuda
{
namespace
{
// Minimum number of bytes that make another thread worthwhile.
constexpr size_t bytesPerUploadThread = size_t{ 1 } << 19;
constexpr size_t bytesPerDownloadThread = size_t{ 1 } << 20;
// Measured on one H200 with 16 cores and chunks for each thread: an upload of 200 MB takes 5.6 ms with 4 threads, 4.4
// ms with 6 and 4.5 ms with 8. An upload of 30 MB takes 1.3 ms, 1.0 ms and 1.0 ms.
constexpr unsigned int maximumUploadThreads = 8;

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
GetUsefulThreads(TransferDirection direction, size_t bytes, bool isBidirectional, bool fillsNewPages)
{
  const bool         isUpload = direction == TransferDirection::Upload;
  const unsigned int all = GetNumberOfTransferThreads();
  const unsigned int ofAll = isUpload ? std::min(all, maximumUploadThreads) : all;
  const unsigned int limit = std::max(1u, isBidirectional ? GetShareOfThreads(direction, all, fillsNewPages) : ofAll);
  return static_cast<unsigned int>(
    std::clamp<size_t>(bytes / (isUpload ? bytesPerUploadThread : bytesPerDownloadThread), 1, limit));
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
