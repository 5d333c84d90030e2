// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStagingChunks_h
#define itkCudaStagingChunks_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"
#include "itkCudaStagingSlot.h"

#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace itk::cuda
{
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
} // namespace itk::cuda

#endif
