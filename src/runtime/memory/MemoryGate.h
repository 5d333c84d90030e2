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
 * \brief Lets a run wait for device memory that other runs of the process will give back.
 *
 * A run reserves all of its memory at once, before it allocates any, and holds one reservation until it ends. It waits
 * only while another run is under way and the memory would suffice if those that are under way had ended. Then, or if
 * it need not wait, it begins, whatever there is: an allocation may still fail, as it may without the gate. Runs get
 * their turns in the order in which they came. Otherwise small ones could keep a large one waiting for ever.
 *
 * Two kinds of runs never wait, because others may wait for them: a run that begins inside another one, in the same
 * thread, and any run while all others are paused. A paused run goes on when its user comes back. Memory of images does
 * not count as memory that will be given back.
 *
 * The gate knows no device and allocates nothing. It has a lock: a fork of the process must not come here.
 */
class CudaFilters_EXPORT MemoryGate
{
public:
  /** Bytes that can be allocated now. It is called with the gate locked. */
  using AvailableFunction = std::function<size_t()>;
  /** Called from time to time by a run that waits; it may throw. */
  using WaitFunction = std::function<void()>;

  /** \class Reservation
   * \brief What a run holds, until the object's end. It belongs to the thread that made it. */
  class CudaFilters_EXPORT Reservation
  {
  public:
    /** Waits for its turn. \exception what `whileWaiting` throws; then nothing is reserved */
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

  /** \class Pause
   * \brief As long as it lives, the calling thread's runs wait for their user. */
  class CudaFilters_EXPORT Pause
  {
  public:
    Pause();
    ~Pause();

    Pause(const Pause &) = delete;
    Pause &
    operator=(const Pause &) = delete;
  };

  /** \class Inside
   * \brief As long as it lives, the calling thread works for a run of another thread, if `runs` is not 0. */
  class CudaFilters_EXPORT Inside
  {
  public:
    explicit Inside(unsigned int runs);
    ~Inside();

    Inside(const Inside &) = delete;
    Inside &
    operator=(const Inside &) = delete;

  private:
    const unsigned int m_Runs;
  };

  /** The runs that the calling thread is inside of. */
  static unsigned int
  GetNumberOfRuns();

  /** Bytes that can be allocated when all runs have ended that are under way. */
  size_t
  GetPotential(const AvailableFunction & getAvailable);

  /** Runs that wait. For tests. */
  size_t
  GetNumberOfWaiting();

private:
  /** What is needed, and there or to come. */
  struct Balance
  {
    bool Fits;
    bool WillFit; // when the runs that are under way have ended
  };

  Balance
  GetBalance(size_t bytes, size_t available);

  void
  Enter(size_t bytes, const AvailableFunction & getAvailable, const WaitFunction & whileWaiting);
  void
  Remove(size_t bytes);
  void
  Move(size_t bytes, bool pauses);

  std::mutex              m_Mutex;
  std::condition_variable m_Changed;
  std::list<size_t>       m_Waiting;             // in the order of their turns
  size_t                  m_NumberOfActive{ 0 }; // runs that are under way
  size_t                  m_Active{ 0 };         // bytes that they hold, at most
  size_t                  m_NumberOfPaused{ 0 };
  size_t                  m_Paused{ 0 };
  size_t                  m_Idle{ 0 }; // bytes that can be allocated when no run holds any
};

/** The gate of a device. It stays until the end of the process. */
MemoryGate &
GetMemoryGate(int device);
} // namespace itk::cuda

#endif
