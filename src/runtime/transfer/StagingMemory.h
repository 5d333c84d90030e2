// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_StagingMemory_h
#define CudaFilters_runtime_transfer_StagingMemory_h

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
/** The range of bytes that a transfer moves in a single copy. */
struct TransferChunk
{
  /** Each copy costs the device 2.7 us in addition to its bytes, and the driver about 10 us. */
  static constexpr size_t SmallestSize = size_t{ 1 } << 19;
  static constexpr size_t LargestSize = PinnedBuffer::ChunkSize;
  static constexpr size_t PageSize = 4096; // sizes are rounded to multiples of it

  size_t Batch;
  size_t Begin; // bytes from the start of the transfer
  size_t End;
};

/** A buffer of page-locked memory that holds one chunk at a time on its way between host and device. */
struct StagingSlot
{
  PinnedBuffer                 Memory;
  std::optional<Event>         Copied;
  std::optional<TransferChunk> Pending;         // the chunk whose copy must be waited for
  std::atomic<size_t>          SlicesLeft{ 0 }; // slices that are not filled yet
  std::atomic<size_t>          Turns{ 0 };      // number of chunks that the slot has been used for
};

class HelperThreads;

/** \class StagingMemory
 * \brief The page-locked memory through which the transfers on a stream go, and how they use it.
 *
 * An upload leaves its chunks here and can return while its last copies run. A download on the same stream reuses them.
 * They return to the pool when the stream's work is done, through Synchronize(), Drain() or the destructor, which waits
 * for the stream if there are chunks. The stream must outlive the object.
 */
class CudaFilters_EXPORT StagingMemory
{
public:
  explicit StagingMemory(const Context & context);
  ~StagingMemory();

  StagingMemory(const StagingMemory &) = delete;
  StagingMemory &
  operator=(const StagingMemory &) = delete;

  /** Returns the context of the work that may use the chunks. */
  const Context &
  GetContext() const
  {
    return m_Context;
  }

  /** Says that a transfer in the other direction runs at the same time. The bandwidth of host memory is then the limit,
   * so each transfer takes a share of the threads and writes past the caches, except into slots that are kept. */
  void
  SetIsBidirectional(bool shares)
  {
    m_IsBidirectional = shares;
  }
  bool
  IsBidirectional() const
  {
    return m_IsBidirectional;
  }

  /** Sets a function that a download calls before it requests helper threads. A download to page-locked memory calls it
   * after its copies are queued. The function returns when the previous downloads are done, and may throw to end this
   * one. */
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

  /** Sets threads that serve one transfer after the other. Without them each transfer reserves its own threads. */
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

  /** Sets whether uploads leave their slots, with the last copies still running, to the next upload. The threads then
   * continue in memory that is in their caches. */
  void
  SetKeepsSlots(bool keeps)
  {
    m_KeepsSlots = keeps;
  }
  bool
  ReusesSlots() const
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

  /** Returns a chunk for work that comes after all work queued on the stream. It is a kept chunk, or a new one if there
   * is none.
   * \exception CudaError */
  PinnedBuffer
  Take();

  /** Returns the chunks to the pool. The caller must know that the work that uses them is done. */
  void
  Forget() noexcept
  {
    m_Chunks.clear();
    m_Slots.clear();
  }

  /** Waits for all work on the stream and returns the chunks.
   * \exception CudaError if any of the work failed */
  void
  Synchronize();

  /** Waits until all work on the stream is done or has failed, and returns the chunks. */
  void
  Drain() noexcept;

private:
  const Context             m_Context;
  std::vector<PinnedBuffer> m_Chunks;
  bool                      m_KeepsSlots{ false };
  std::deque<StagingSlot>   m_Slots;
  bool                      m_IsBidirectional{ false };
  std::function<void()>     m_AwaitTurn;
  HelperThreads *           m_Helpers{ nullptr };
};

/** \class UploadStaging
 * \brief Page-locked memory that the last copies of an upload read. Release() returns it to the pool when these copies
 * are done, even if other work was queued behind them. Without Release() it is returned when all work on the stream is
 * done or has failed.
 */
class UploadStaging
{
public:
  explicit UploadStaging(const Context & context)
    : m_Memory(context)
  {}

  UploadStaging(const UploadStaging &) = delete;
  UploadStaging &
  operator=(const UploadStaging &) = delete;

  /** Returns the memory for the upload itself. */
  StagingMemory &
  GetMemory()
  {
    return m_Memory;
  }

  /** Marks the end of the upload. It must be called when the last copy has been queued. */
  void
  MarkSent()
  {
    m_Sent.Record(m_Memory.GetContext());
  }

  /** Waits for the copies before the mark and returns the memory to the pool.
   * \exception CudaError */
  void
  Release()
  {
    m_Sent.Synchronize();
    m_Memory.Forget();
  }

private:
  StagingMemory m_Memory;
  Event         m_Sent;
};
} // namespace itk::cuda

#endif
