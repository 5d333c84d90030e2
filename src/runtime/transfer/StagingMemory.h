// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_StagingMemory_h
#define CudaFilters_runtime_transfer_StagingMemory_h

#include "runtime/memory/PinnedMemory.h"
#include "runtime/device/Stream.h"
#include "CudaFiltersExport.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

namespace itk::cuda
{
/** A buffer of page-locked memory that holds a part of a transfer on its way between host and device. */
struct StagingSlot
{
  PinnedBuffer         Memory;
  std::optional<Event> Copied; // recorded behind the last copy
};

/** \class StagingMemory
 * \brief The page-locked memory through which the transfers on a stream go, and how they use it.
 *
 * An upload can return while its last copies read the slots. Later transfers on the stream reuse the slots. The memory
 * returns to the pool when the stream's work is done, through Synchronize(), Drain() or the destructor, which waits for
 * the stream if there are slots. The stream must outlive the object.
 */
class CudaFilters_EXPORT StagingMemory
{
public:
  explicit StagingMemory(const Context & context);
  ~StagingMemory();

  StagingMemory(const StagingMemory &) = delete;
  StagingMemory &
  operator=(const StagingMemory &) = delete;

  /** Returns the context of the work that may use the memory. */
  const Context &
  GetContext() const
  {
    return m_Context;
  }

  /** Says that a transfer in the other direction runs at the same time. The bandwidth of host memory is then the limit,
   * so each transfer takes a share of the threads. Downloads, and single uploads of up to 64 MiB, then bypass the
   * caches. */
  void
  SetIsBidirectional(bool isBidirectional)
  {
    m_IsBidirectional = isBidirectional;
  }
  bool
  IsBidirectional() const
  {
    return m_IsBidirectional;
  }

  /** Sets how many transfers of the same direction, of this memory and of others, run at the same time. Each takes its
   * share of the threads. */
  void
  SetNumberOfSharers(unsigned int number)
  {
    m_NumberOfSharers = number;
  }
  unsigned int
  GetNumberOfSharers() const
  {
    return m_NumberOfSharers;
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

  std::deque<StagingSlot> &
  GetSlots()
  {
    return m_Slots;
  }

  /** Returns the memory to the pool. The caller must know that the work that uses it is done. */
  void
  Forget() noexcept
  {
    m_Slots.clear();
  }

  /** Waits for all work on the stream and returns the memory.
   * \exception CudaError if any of the work failed */
  void
  Synchronize();

  /** Waits until all work on the stream is done or has failed, and returns the memory. */
  void
  Drain() noexcept;

private:
  const Context           m_Context;
  std::deque<StagingSlot> m_Slots;
  bool                    m_IsBidirectional{ false };
  unsigned int            m_NumberOfSharers{ 1 };
  std::function<void()>   m_AwaitTurn;
};
} // namespace itk::cuda

#endif
