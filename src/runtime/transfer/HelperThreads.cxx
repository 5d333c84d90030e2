// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/HelperThreads.h"

#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/Spin.h"
#include "itkThreadPool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

// Implements HelperThreads as a team of threads of ITK's pool, which waits for its next piece of work.

namespace itk::cuda
{
namespace
{
/** Returns whether tasks wait for a thread of the pool. The pool's number of idle threads is the number of its threads
 * less the number of tasks that no thread has begun. */
bool
HasWaitingTasks(const ThreadPool & pool)
{
  return pool.GetNumberOfCurrentlyIdleThreads() < static_cast<int>(pool.GetMaximumNumberOfThreads());
}
} // namespace

/** The state that the threads share. The object lives until the pool has dropped the last of their tasks. */
class HelperTeam
{
public:
  unsigned int
  GetNumberOfPresent() const
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return static_cast<unsigned int>(std::count(m_IsPresent.begin(), m_IsPresent.end(), true));
  }

  /** Begins a piece of work for threads 1 to `number`.
   * \return the threads that must be requested from the pool; they count as present from here on */
  std::vector<unsigned int>
  Open(unsigned int number, std::function<void(unsigned int)> && function)
  {
    std::vector<unsigned int>         absent;
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_IsPresent.resize(std::max<size_t>(m_IsPresent.size(), number + size_t{ 1 }));
    // In descending order, because Start() requests threads from the back.
    for (unsigned int index = number; index > 0; --index)
    {
      if (!m_IsPresent[index])
      {
        absent.push_back(index);
      }
    }
    for (const unsigned int index : absent)
    {
      m_IsPresent[index] = true;
    }
    m_Function = std::move(function);
    m_Number = number;
    ++m_Piece;
    m_IsOpen = true;
    return absent;
  }

  /** Records that threads were not requested after all. */
  void
  MarkAbsent(const std::vector<unsigned int> & threads) noexcept
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    for (const unsigned int index : threads)
    {
      m_IsPresent[index] = false;
    }
  }

  /** Ends the piece of work: prevents further threads from beginning and waits until all have left. */
  void
  Close()
  {
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_IsOpen = false;
    }
    SpinUntil([this] { return m_NumberAtWork == 0; });
    std::unique_lock<std::mutex> lock(m_Mutex);
    m_Left.wait(lock, [this] { return m_NumberAtWork == 0; });
  }

  /** Runs pieces of work in a thread of the pool until the thread returns to the pool. */
  void
  Serve(unsigned int index, const ThreadPool & pool)
  {
    size_t lastPiece = 0;
    while (this->WaitForPiece(index, lastPiece, pool))
    {
      m_Function(index);
      const std::lock_guard<std::mutex> lock(m_Mutex);
      --m_NumberAtWork;
      m_Left.notify_one();
    }
  }

private:
  /** Joins the open piece of work unless it is `lastPiece`, which the thread has already seen. Otherwise it waits for a
   * new piece for a while. Returns false and marks the thread absent if there is no new piece. */
  bool
  WaitForPiece(unsigned int index, size_t & lastPiece, const ThreadPool & pool)
  {
    constexpr std::chrono::microseconds turn{ 20 };
    constexpr unsigned int              turns = 25;
    std::unique_lock<std::mutex>        lock(m_Mutex);
    for (unsigned int i = 0;; ++i)
    {
      const bool isNew = std::exchange(lastPiece, m_Piece) != m_Piece;
      if (isNew && m_IsOpen && index <= m_Number)
      {
        ++m_NumberAtWork;
        return true;
      }
      i = isNew ? 0 : i;
      if (i == turns || (i > 0 && HasWaitingTasks(pool)))
      {
        break;
      }
      lock.unlock();
      SpinUntil([this, lastPiece] { return m_Piece != lastPiece; }, turn);
      lock.lock();
    }
    m_IsPresent[index] = false;
    return false;
  }

  mutable std::mutex                m_Mutex;
  std::condition_variable           m_Left;
  std::function<void(unsigned int)> m_Function;
  std::vector<bool>         m_IsPresent; // by index: whether a thread was requested and has not returned to the pool
  unsigned int              m_Number{ 0 };
  bool                      m_IsOpen{ false };
  std::atomic<size_t>       m_Piece{ 0 }; // number of the piece of work; threads watch it for changes
  std::atomic<unsigned int> m_NumberAtWork{ 0 };
};

namespace
{
std::atomic<unsigned int>                numberReserved{ 0 }; // by all objects
std::mutex                               freeTeamsMutex;
std::vector<std::shared_ptr<HelperTeam>> freeTeams;

/** Returns the team that became free last, whose threads are most likely still there, or a new one. */
std::shared_ptr<HelperTeam>
TakeTeam()
{
  const std::lock_guard<std::mutex> lock(freeTeamsMutex);
  if (freeTeams.empty())
  {
    return std::make_shared<HelperTeam>();
  }
  std::shared_ptr<HelperTeam> team = std::move(freeTeams.back());
  freeTeams.pop_back();
  return team;
}
} // namespace

HelperThreads::HelperThreads()
  : m_Team(TakeTeam())
{}

HelperThreads::~HelperThreads()
{
  this->Join();
  numberReserved -= m_Number;
  const std::lock_guard<std::mutex> lock(freeTeamsMutex);
  freeTeams.push_back(m_Team);
}

unsigned int
HelperThreads::GetNumberOfWaiting() const
{
  return m_Team->GetNumberOfPresent();
}

unsigned int
HelperThreads::Reserve(unsigned int wanted)
{
  if (wanted > m_Number)
  {
    const unsigned int limit = CudaFiltersConfiguration::GetNumberOfTransferThreads();
    unsigned int       active = numberReserved;
    unsigned int       more = 0;
    do
    {
      more = std::min(wanted - m_Number, limit - std::min(limit, active));
    } while (!numberReserved.compare_exchange_weak(active, active + more));
    m_Number += more;
  }
  return std::min(wanted, m_Number);
}

void
HelperThreads::Start(unsigned int number, std::function<void(unsigned int)> function) noexcept
{
  std::vector<unsigned int> absent;
  try
  {
    absent = m_Team->Open(number, std::move(function));
    ThreadPool & pool = *ThreadPool::GetInstance();
    for (; !absent.empty(); absent.pop_back())
    {
      pool.AddWork([team = m_Team, index = absent.back(), &pool]() { team->Serve(index, pool); });
    }
  }
  catch (...)
  {
    // The threads that were already requested and the calling one do all the work.
    m_Team->MarkAbsent(absent);
  }
}

void
HelperThreads::Join()
{
  m_Team->Close();
}
} // namespace itk::cuda
