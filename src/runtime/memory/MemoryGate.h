// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_MemoryGate_h
#define CudaFilters_runtime_memory_MemoryGate_h

#include "CudaFiltersExport.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>

namespace itk::cuda
{
/** \class MemoryGate
 * \brief Lets a run wait for device memory that other runs of the process will release.
 *
 * A run reserves all of its memory at once before it allocates any, and holds this one reservation until it ends. It
 * waits only while another run is active and the memory would suffice after the active runs have ended. Otherwise it
 * starts immediately. Its allocations may still fail, as without the gate. Runs get their turns in order of arrival,
 * because otherwise small runs could keep a large one waiting forever.
 *
 * Two kinds of runs never wait, because other runs may be waiting for them: a run that starts inside another run of the
 * same thread, and any run while all others are paused. A paused run continues when its caller asks for the next part
 * of its result. Memory of images does not count as memory that will be released.
 *
 * The gate knows no device and allocates no device memory. It uses a lock, so a forked process must not call it.
 */
class CudaFilters_EXPORT MemoryGate
{
public:
  /** Returns the bytes that can be allocated. It is called with the gate locked. */
  using AvailableFunction = std::function<size_t()>;
  /** Called repeatedly while a run waits. It may throw. */
  using WaitFunction = std::function<void()>;

  /** \class Reservation
   * \brief The memory that a run holds until this object is destroyed. It belongs to the thread that made it.
   */
  class CudaFilters_EXPORT Reservation
  {
  public:
    /** Waits for its turn.
     * \exception anything that `whileWaiting` throws, in which case nothing is reserved */
    Reservation(MemoryGate &              gate,
                size_t                    bytes,
                const AvailableFunction & getAvailable,
                const WaitFunction &      whileWaiting);
    ~Reservation();

    Reservation(const Reservation &) = delete;
    Reservation &
    operator=(const Reservation &) = delete;

  private:
    MemoryGate & m_Gate;
    const size_t m_Bytes;
  };

  /** \class PauseScope
   * \brief A scope in which the calling thread's runs count as paused, because they wait until their caller requests
   * the next part of the result.
   */
  class CudaFilters_EXPORT PauseScope
  {
  public:
    PauseScope();
    ~PauseScope();

    PauseScope(const PauseScope &) = delete;
    PauseScope &
    operator=(const PauseScope &) = delete;
  };

  /** \class NestedScope
   * \brief A scope in which the calling thread works for `runs` runs of another thread. Its own reservations then do
   * not wait, because the other thread may be waiting for them. It has no effect if `runs` is 0.
   */
  class CudaFilters_EXPORT NestedScope
  {
  public:
    explicit NestedScope(unsigned int runs);
    ~NestedScope();

    NestedScope(const NestedScope &) = delete;
    NestedScope &
    operator=(const NestedScope &) = delete;

  private:
    const unsigned int m_Runs;
  };

  /** Returns the number of runs that the calling thread works for: its own reservations, and the runs of other threads
   * (NestedScope). */
  static unsigned int
  GetNumberOfEnclosingRuns();

  /** Returns the bytes that can be allocated after all active runs have ended. */
  size_t
  GetEventuallyAvailable(const AvailableFunction & getAvailable);

  /** Returns the number of waiting runs, for tests. */
  size_t
  GetNumberOfWaiting();

private:
  /** Whether a reservation fits into the memory. */
  struct Balance
  {
    bool Fits;
    bool WillFit; // once the active runs have ended
  };

  Balance
  GetBalance(size_t bytes, size_t available);

  void
  Enter(size_t bytes, const AvailableFunction & getAvailable, const WaitFunction & whileWaiting);
  void
  Leave(size_t bytes);
  void
  SetPaused(size_t bytes, bool isPaused);

  std::mutex              m_Mutex;
  std::condition_variable m_Changed;
  std::list<size_t>       m_Waiting;             // bytes of each run, in order of arrival
  size_t                  m_NumberOfActive{ 0 }; // active runs, which are neither waiting nor paused
  size_t                  m_Active{ 0 };         // bytes that the active runs hold at most
  size_t                  m_NumberOfPaused{ 0 };
  size_t                  m_Paused{ 0 };
  size_t                  m_Idle{ 0 }; // bytes that can be allocated when no run holds memory
};

/** Returns the gate of a device, which is never deleted. */
MemoryGate &
GetMemoryGate(int device);
} // namespace itk::cuda

#endif
