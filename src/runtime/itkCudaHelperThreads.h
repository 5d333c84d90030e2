// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHelperThreads_h
#define itkCudaHelperThreads_h

#include "itkThreadPool.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace itk::cuda
{
/** \class HelperThreads
 * \brief Threads of ITK's pool beside the calling one.
 *
 * The number of these threads in the process is bounded, however many filters transfer at once. A late transfer gets
 * fewer threads, at worst the calling thread alone. The caller never waits for a thread that has not begun: transfers
 * inside the pool's own tasks therefore never wait for each other.
 */
class HelperThreads
{
public:
  explicit HelperThreads(unsigned int wanted);

  /** Joins them. */
  ~HelperThreads();

  HelperThreads(const HelperThreads &) = delete;
  HelperThreads &
  operator=(const HelperThreads &) = delete;

  /** How many are asked, at most. */
  unsigned int
  GetNumber() const
  {
    return m_Number;
  }

  /** Asks for calls of `function(1)` to `function(number)`, which must not throw. Each is made if a thread is free
   * before Join(). */
  template <typename TFunction>
  void
  Start(const TFunction & function) noexcept
  {
    try
    {
      for (unsigned int index = 1; index <= m_Number; ++index)
      {
        ThreadPool::GetInstance()->AddWork([team = m_Team, function, index]() {
          if (team->Enter())
          {
            function(index);
            team->Leave();
          }
        });
      }
    }
    catch (...)
    {
      // The threads that were asked, and the calling one, do all the work.
    }
  }

  /** Lets no further thread begin, and waits for those that have begun. */
  void
  Join()
  {
    m_Team->Close();
  }

private:
  /** The threads at work. The object lives until the pool has dropped the last task. */
  class Team
  {
  public:
    bool
    Enter()
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_NumberAtWork += m_IsClosed ? 0 : 1;
      return !m_IsClosed;
    }

    void
    Leave()
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      --m_NumberAtWork;
      m_Left.notify_one();
    }

    /** Lets no further thread in, and waits until all have left. */
    void
    Close()
    {
      std::unique_lock<std::mutex> lock(m_Mutex);
      m_IsClosed = true;
      m_Left.wait(lock, [this] { return m_NumberAtWork == 0; });
    }

  private:
    std::mutex              m_Mutex;
    std::condition_variable m_Left;
    bool                    m_IsClosed{ false };
    unsigned int            m_NumberAtWork{ 0 };
  };

  static std::atomic<unsigned int> s_Active;

  unsigned int                m_Number{ 0 };
  const std::shared_ptr<Team> m_Team{ std::make_shared<Team>() };
};
} // namespace itk::cuda

#endif
