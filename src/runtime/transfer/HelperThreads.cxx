// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/HelperThreads.h"

#include "runtime/Settings.h"
#include "runtime/device/Spin.h"
#include "itkThreadPool.h"

#include <algorithm>
#include <utility>
#include <vector>

// Implements HelperThreads as a team of threads of ITK's pool, which waits for its next piece of work.

namespace itk::cuda
{
std::atomic<unsigned int> HelperThreads::s_Active{ 0 };

HelperThreads::HelperThreads(bool areKept)
  : m_Team(std::make_shared<Team>(areKept))
{}

HelperThreads::~HelperThreads()
{
  this->Join();
  m_Team->Dissolve();
  s_Active -= m_Number;
}

unsigned int
HelperThreads::Reserve(unsigned int wanted)
{
  if (wanted > m_Number)
  {
    const unsigned int limit = GetNumberOfTransferThreads();
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
    for (; !absent.empty(); absent.pop_back())
    {
      ThreadPool::GetInstance()->AddWork([team = m_Team, index = absent.back()]() { team->Serve(index); });
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
HelperThreads::Team::Dissolve()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_IsDissolved = true;
  ++m_Piece;
}

void
HelperThreads::Team::Serve(unsigned int index)
{
  size_t lastPiece = 0;
  while (this->WaitForPiece(index, lastPiece))
  {
    m_Function(index);
    const std::lock_guard<std::mutex> lock(m_Mutex);
    --m_NumberAtWork;
    m_Left.notify_one();
  }
}

/** Joins the open piece of work unless it is `lastPiece`, which the thread has already seen. Otherwise it waits for a
 * new piece for a while if threads are kept. Returns false and marks the thread absent if there is no new piece. */
bool
HelperThreads::Team::WaitForPiece(unsigned int index, size_t & lastPiece)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  while (!m_IsDissolved)
  {
    const bool isNew = std::exchange(lastPiece, m_Piece) != m_Piece;
    if (isNew && m_IsOpen && index <= m_Number)
    {
      ++m_NumberAtWork;
      return true;
    }
    lock.unlock();
    const bool goesOn = m_IsKept && SpinUntil([this, lastPiece] { return m_Piece != lastPiece; });
    lock.lock();
    if (!goesOn && m_Piece == lastPiece)
    {
      break;
    }
  }
  m_IsPresent[index] = false;
  return false;
}
} // namespace itk::cuda
