// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/HelperThreads.h"

#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/Spin.h"
#include "itkThreadPool.h"

#include <algorithm>
#include <chrono>
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

std::atomic<unsigned int>                         HelperThreads::s_Active{ 0 };
std::mutex                                        HelperThreads::s_Mutex;
std::vector<std::shared_ptr<HelperThreads::Team>> HelperThreads::s_FreeTeams;

HelperThreads::HelperThreads()
  : m_Team(TakeTeam())
{}

HelperThreads::~HelperThreads()
{
  this->Join();
  s_Active -= m_Number;
  const std::lock_guard<std::mutex> lock(s_Mutex);
  s_FreeTeams.push_back(m_Team);
}

/** Returns the team that became free last, whose threads are most likely still there, or a new one. */
std::shared_ptr<HelperThreads::Team>
HelperThreads::TakeTeam()
{
  const std::lock_guard<std::mutex> lock(s_Mutex);
  if (s_FreeTeams.empty())
  {
    return std::make_shared<Team>();
  }
  std::shared_ptr<Team> team = std::move(s_FreeTeams.back());
  s_FreeTeams.pop_back();
  return team;
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
    unsigned int       active = s_Active;
    unsigned int       more = 0;
    do
    {
      more = std::min(wanted - m_Number, limit - std::min(limit, active));
    } while (!s_Active.compare_exchange_weak(active, active + more));
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

unsigned int
HelperThreads::Team::GetNumberOfPresent() const
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  return static_cast<unsigned int>(std::count(m_IsPresent.begin(), m_IsPresent.end(), true));
}

std::vector<unsigned int>
HelperThreads::Team::Open(unsigned int number, std::function<void(unsigned int)> && function)
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

void
HelperThreads::Team::MarkAbsent(const std::vector<unsigned int> & threads) noexcept
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  for (const unsigned int index : threads)
  {
    m_IsPresent[index] = false;
  }
}

void
HelperThreads::Team::Close()
{
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_IsOpen = false;
  }
  SpinUntil([this] { return m_NumberAtWork == 0; });
  std::unique_lock<std::mutex> lock(m_Mutex);
  m_Left.wait(lock, [this] { return m_NumberAtWork == 0; });
}

void
HelperThreads::Team::Serve(unsigned int index, const ThreadPool & pool)
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

/** Joins the open piece of work unless it is `lastPiece`, which the thread has already seen. Otherwise it waits for a
 * new piece for a while. Returns false and marks the thread absent if there is no new piece. */
bool
HelperThreads::Team::WaitForPiece(unsigned int index, size_t & lastPiece, const ThreadPool & pool)
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
} // namespace itk::cuda
