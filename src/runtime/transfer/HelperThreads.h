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

namespace itk::cuda
{
/** \class HelperThreads
 * \brief Threads of ITK's pool beside the calling one, for one piece of work after the other.
 *
 * The number of these threads in the process is bounded, however many filters transfer at once. A late transfer gets
 * fewer threads, at worst the calling thread alone. The caller never waits for a thread that has not begun: transfers
 * inside the pool's own tasks therefore never wait for each other.
 *
 * Threads that are kept look for the next piece of work without sleeping: it takes tens of microseconds to wake a
 * thread on a virtual machine. A kept thread returns to the pool if there is no work for half a millisecond.
 */
class HelperThreads
{
public:
  explicit HelperThreads(bool areKept = false);

  /** Joins them, and lets them go. */
  ~HelperThreads();

  HelperThreads(const HelperThreads &) = delete;
  HelperThreads &
  operator=(const HelperThreads &) = delete;

  /** Takes threads until there are `wanted` or no more are to be had. \return how many there are, at most `wanted` */
  unsigned int
  Reserve(unsigned int wanted);

  /** Asks for calls of `function(1)` to `function(number)`, which must not throw, by threads that are reserved. Each is
   * made if a thread is free before Join(). */
  void
  Start(unsigned int number, std::function<void(unsigned int)> function) noexcept;

  /** Lets no further thread begin, and waits for those that have begun. */
  void
  Join();

private:
  /** What the threads share. The object lives until the pool has dropped the last of their tasks. */
  class Team
  {
  public:
    explicit Team(bool isKept)
      : m_IsKept(isKept)
    {}

    /** Begins a piece of work for threads 1 to `number`. \return those that have to be asked; they count as present
     * from then on */
    std::vector<unsigned int>
    Open(unsigned int number, std::function<void(unsigned int)> && function);

    /** Notes that threads were not asked after all. */
    void
    MarkAbsent(const std::vector<unsigned int> & threads) noexcept;

    /** Ends it: lets no further thread begin, and waits until all have left. */
    void
    Close();

    /** Sends the threads back to the pool. */
    void
    Dissolve();

    /** All that a thread does until it returns to the pool. */
    void
    Serve(unsigned int index);

  private:
    bool
    WaitForPiece(unsigned int index, size_t & lastPiece);

    const bool                        m_IsKept;
    std::mutex                        m_Mutex;
    std::condition_variable           m_Left;
    std::function<void(unsigned int)> m_Function;
    std::vector<bool>                 m_IsPresent; // by index: whether a thread was asked and has not returned
    unsigned int                      m_Number{ 0 };
    bool                              m_IsOpen{ false };
    bool                              m_IsDissolved{ false };
    std::atomic<size_t>               m_Piece{ 0 }; // of work; threads look for its change
    std::atomic<unsigned int>         m_NumberAtWork{ 0 };
  };

  static std::atomic<unsigned int> s_Active;

  unsigned int                m_Number{ 0 };
  const std::shared_ptr<Team> m_Team;
};
} // namespace itk::cuda

#endif
