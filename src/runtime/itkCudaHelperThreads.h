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
 * The number in the process is bounded, however many filters transfer at once: those that come late do with fewer, at
 * worst with the calling thread alone. Nor is one waited for that has not begun, so that transfers inside the pool's
 * own tasks never wait for each other.
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

  /** Has `function(1)` to `function(number)` called, which must not throw, as far as threads are free before Join(). */
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

  /** Lets no thread begin any more, and waits for those that have. */
  void
  Join()
  {
    m_Team->Close();
  }

private:
  /** Those at work; lives until the pool has forgotten the last task. */
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

    /** Lets nobody in any more, and waits until all have left. */
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
