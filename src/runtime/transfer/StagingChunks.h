// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_StagingChunks_h
#define CudaFilters_runtime_transfer_StagingChunks_h

#include "runtime/memory/PinnedMemory.h"
#include "runtime/device/Stream.h"
#include "CudaFiltersExport.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace itk::cuda
{
/** What a transfer copies in one go. */
struct StagingChunk
{
  /** Each copy costs the device 2.7 us beside its bytes, and the driver some 10 us. */
  static constexpr size_t SmallestSize = size_t{ 1 } << 19;
  static constexpr size_t LargestSize = PinnedBuffer::ChunkSize;
  static constexpr size_t PageSize = 4096; // to a multiple of which sizes are rounded

  size_t Batch;
  size_t Begin; // bytes from the start of all
  size_t End;
};

/** Page-locked memory for a chunk on its way between host and device. */
struct StagingSlot
{
  PinnedBuffer                Memory;
  std::optional<Event>        Copied;
  std::optional<StagingChunk> Pending;         // to be waited for
  std::atomic<size_t>         SlicesLeft{ 0 }; // to be filled
  std::atomic<size_t>         Turns{ 0 };      // chunks that were put into it
};

class HelperThreads;

/** \class StagingChunks
 * \brief Page-locked chunks that work on a stream may still use.
 *
 * An upload leaves its chunks here and can return while its last copies run. A download on the same stream takes the
 * chunks again. They go back to the pool once the stream's work is done: by Synchronize(), by Drain(), or by the
 * destructor, which waits for the stream if there are chunks. The stream must live longer.
 */
class CudaFilters_EXPORT StagingChunks
{
public:
  explicit StagingChunks(const Context & context);
  ~StagingChunks();

  StagingChunks(const StagingChunks &) = delete;
  StagingChunks &
  operator=(const StagingChunks &) = delete;

  /** Where the work runs that may use the chunks. */
  const Context &
  GetContext() const
  {
    return m_Context;
  }

  /** Says that a transfer in the other direction runs at the same time. The host's memory is then the limit: transfers
   * take a share of the threads each, and write past the caches but in slots that are kept. */
  void
  SetSharesHost(bool shares)
  {
    m_SharesHost = shares;
  }
  bool
  SharesHost() const
  {
    return m_SharesHost;
  }

  /** Sets what a download calls before it asks for other threads; one of page-locked memory, once its copies are
   * queued. It returns when the downloads before are done. It may throw to end this one. */
  void
  SetTurn(std::function<void()> await)
  {
    m_AwaitTurn = std::move(await);
  }
  void
  AwaitTurn() const
  {
    if (m_AwaitTurn)
    {
      m_AwaitTurn();
    }
  }

  /** Sets threads that serve the transfers one after the other; without them each transfer takes its own. */
  void
  SetHelpers(HelperThreads * helpers)
  {
    m_Helpers = helpers;
  }
  HelperThreads *
  GetHelpers() const
  {
    return m_Helpers;
  }

  /** Sets that uploads leave their slots, with the last copies under way, to the next one. Its threads then go on in
   * memory that lies in their caches. */
  void
  SetKeepsSlots(bool keeps)
  {
    m_KeepsSlots = keeps;
  }
  bool
  KeepsSlots() const
  {
    return m_KeepsSlots;
  }
  std::deque<StagingSlot> &
  GetSlots()
  {
    return m_Slots;
  }

  /** Keeps a chunk until the stream's work is done. */
  void
  Keep(PinnedBuffer && chunk);

  /** A chunk for work that comes after all work queued on the stream: a kept chunk or a new one.
   * \exception CudaError */
  PinnedBuffer
  Take();

  /** Gives the chunks back: the caller knows that the work that uses them is done. */
  void
  Forget() noexcept
  {
    m_Chunks.clear();
    m_Slots.clear();
  }

  /** Waits for all work on the stream; throws CudaError if any of it failed. */
  void
  Synchronize();

  /** Waits for all work on the stream, or for its failure. */
  void
  Drain() noexcept;

private:
  const Context             m_Context;
  std::vector<PinnedBuffer> m_Chunks;
  bool                      m_KeepsSlots{ false };
  std::deque<StagingSlot>   m_Slots;
  bool                      m_SharesHost{ false };
  std::function<void()>     m_AwaitTurn;
  HelperThreads *           m_Helpers{ nullptr };
};

/** \class UploadStaging
 * \brief Page-locked memory that the last copies of an upload read. Release() gives it back when they are done,
 * whatever was queued behind them. Without Release() it goes back when all work on the stream is done, or has failed.
 */
class UploadStaging
{
public:
  explicit UploadStaging(const Context & context)
    : m_Chunks(context)
  {}

  UploadStaging(const UploadStaging &) = delete;
  UploadStaging &
  operator=(const UploadStaging &) = delete;

  /** For the upload itself. */
  StagingChunks &
  GetChunks()
  {
    return m_Chunks;
  }

  /** To be called when the upload's last copy has been queued. */
  void
  MarkSent()
  {
    m_Sent.Record(m_Chunks.GetContext());
  }

  /** Waits for the copies before the mark, and gives the memory back. \exception CudaError */
  void
  Release()
  {
    m_Sent.Synchronize();
    m_Chunks.Forget();
  }

private:
  StagingChunks m_Chunks;
  Event         m_Sent;
};
} // namespace itk::cuda

#endif
