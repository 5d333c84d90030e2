// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_HelperThreads_h
#define CudaFilters_runtime_transfer_HelperThreads_h

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace itk
{
class ThreadPool;
}

namespace itk::cuda
{
/** \class HelperThreads
 * \brief Threads of ITK's pool that help the calling thread with one piece of work after the other.
 *
 * The number of these threads in the process is bounded, however many filters transfer at the same time. A later
 * transfer gets fewer threads, in the worst case only the calling one. The caller never waits for a thread that has not
 * begun, so transfers inside the pool's own tasks cannot wait for each other.
 *
 * The threads busy-wait for the next piece of work, also of a later object, because waking a thread takes tens of
 * microseconds on a virtual machine. A thread returns to the pool if there is no work for half a millisecond, or if the
 * pool has other work to do.
 */
class HelperThreads
{
public:
  /** Takes over the threads that an earlier object has left, if there are any. */
  HelperThreads();

  /** Joins the threads and leaves them to the next object. */
  ~HelperThreads();

  HelperThreads(const HelperThreads &) = delete;
  HelperThreads &
  operator=(const HelperThreads &) = delete;

  /** Returns the number of threads that are waiting for work, or are about to. */
  unsigned int
  GetNumberOfWaiting() const;

  /** Reserves threads until there are `wanted` or the limit of the process is reached.
   * \return the number of reserved threads, at most `wanted` */
  unsigned int
  Reserve(unsigned int wanted);

  /** Requests calls of `function(1)` to `function(number)`, which must not throw, by reserved threads. A call is made
   * only if a thread becomes free before Join(). */
  void
  Start(unsigned int number, std::function<void(unsigned int)> function) noexcept;

  /** Prevents further threads from beginning and waits for those that have begun. */
  void
  Join();

private:
  /** The state that the threads share. The object lives until the pool has dropped the last of their tasks. */
  class Team
  {
  public:
    unsigned int
    GetNumberOfPresent() const;

    /** Begins a piece of work for threads 1 to `number`.
     * \return the threads that must be requested from the pool; they count as present from here on */
    std::vector<unsigned int>
    Open(unsigned int number, std::function<void(unsigned int)> && function);

    /** Records that threads were not requested after all. */
    void
    MarkAbsent(const std::vector<unsigned int> & threads) noexcept;

    /** Ends the piece of work: prevents further threads from beginning and waits until all have left. */
    void
    Close();

    /** Runs pieces of work in a thread of the pool until the thread returns to the pool. */
    void
    Serve(unsigned int index, const ThreadPool & pool);

  private:
    bool
    WaitForPiece(unsigned int index, size_t & lastPiece, const ThreadPool & pool);

    mutable std::mutex                m_Mutex;
    std::condition_variable           m_Left;
    std::function<void(unsigned int)> m_Function;
    std::vector<bool>         m_IsPresent; // by index: whether a thread was requested and has not returned to the pool
    unsigned int              m_Number{ 0 };
    bool                      m_IsOpen{ false };
    std::atomic<size_t>       m_Piece{ 0 }; // number of the piece of work; threads watch it for changes
    std::atomic<unsigned int> m_NumberAtWork{ 0 };
  };

  static std::shared_ptr<Team>
  TakeTeam();

  static std::atomic<unsigned int>          s_Active;
  static std::mutex                         s_Mutex;
  static std::vector<std::shared_ptr<Team>> s_FreeTeams;

  unsigned int                m_Number{ 0 };
  const std::shared_ptr<Team> m_Team;
};
} // namespace itk::cuda

#endif
