// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_MemoryGate_h
#define CudaFilters_runtime_memory_MemoryGate_h

#include "CudaFiltersExport.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

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

  /** Returns the number of runs that the calling thread works for, which are its reservations. */
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

  friend class MemoryReservation;

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

/** \class MemoryReservation
 * \brief The memory that a run holds at one or several gates until this object is destroyed. It belongs to the thread
 * that made it or that has resumed it, and to no thread while it is paused.
 */
class CudaFilters_EXPORT MemoryReservation
{
public:
  /** A gate, and the function that returns the bytes that can be allocated there. */
  struct Place
  {
    MemoryGate *                  Gate;
    MemoryGate::AvailableFunction GetAvailable;
  };

  /** Waits for its turn.
   * \exception anything that `whileWaiting` throws, in which case nothing is reserved */
  MemoryReservation(MemoryGate &                          gate,
                    size_t                                bytes,
                    const MemoryGate::AvailableFunction & getAvailable,
                    const MemoryGate::WaitFunction &      whileWaiting)
    : MemoryReservation(std::vector<Place>{ { &gate, getAvailable } }, bytes, whileWaiting)
  {}

  /** Waits for its turn at each gate, one after the other, and reserves `bytes` there. All runs must name gates in the
   * same order, so that no two wait for each other. */
  MemoryReservation(const std::vector<Place> & places, size_t bytes, const MemoryGate::WaitFunction & whileWaiting);
  ~MemoryReservation();

  MemoryReservation(const MemoryReservation &) = delete;
  MemoryReservation &
  operator=(const MemoryReservation &) = delete;

  /** Counts the run as paused until Resume() is called, which may come from another thread. */
  void
  Pause();
  void
  Resume();

private:
  void
  Leave();

  const size_t              m_Bytes; // at each gate
  std::vector<MemoryGate *> m_Gates; // that it has entered
  bool                      m_IsPaused{ false };
};

/** Returns the gate of a device, which is never deleted. */
MemoryGate &
GetMemoryGate(int device);
} // namespace itk::cuda

#endif
