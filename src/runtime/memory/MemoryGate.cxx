// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/MemoryGate.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

// Implements MemoryGate, where runs wait in the order of their arrival for memory that other runs hold.

namespace itk::cuda
{
namespace
{
constexpr std::chrono::milliseconds pollInterval{ 20 };
// Up to 1,024 reservations of this size can be added without overflow.
constexpr size_t largestReservation = std::numeric_limits<size_t>::max() >> 10;

/** A reservation that the thread holds, recorded for PauseScope. */
using HeldReservation = std::pair<MemoryGate *, size_t>;

thread_local std::vector<HeldReservation> heldByThread;
thread_local unsigned int                 runsOfOtherThreads = 0;

/** Returns the sum, or the largest number on overflow, which stands for memory without a limit. */
size_t
AddSaturated(size_t a, size_t b)
{
  return a > std::numeric_limits<size_t>::max() - b ? std::numeric_limits<size_t>::max() : a + b;
}

/** Unlocks a lock for the lifetime of the object. */
class Unlocked
{
public:
  explicit Unlocked(std::unique_lock<std::mutex> & lock)
    : m_Lock(lock)
  {
    m_Lock.unlock();
  }
  ~Unlocked() { m_Lock.lock(); }

private:
  std::unique_lock<std::mutex> & m_Lock;
};
} // namespace

MemoryGate::Reservation::Reservation(MemoryGate &              gate,
                                     size_t                    bytes,
                                     const AvailableFunction & getAvailable,
                                     const WaitFunction &      whileWaiting)
  : m_Gate(gate)
  , m_Bytes(std::min(bytes, largestReservation))
{
  heldByThread.reserve(heldByThread.size() + 1); // so that nothing throws after the wait
  m_Gate.Enter(m_Bytes, getAvailable, whileWaiting);
  heldByThread.emplace_back(&m_Gate, m_Bytes);
}

MemoryGate::Reservation::~Reservation()
{
  const auto held = std::find(heldByThread.rbegin(), heldByThread.rend(), HeldReservation(&m_Gate, m_Bytes));
  heldByThread.erase(std::next(held).base());
  m_Gate.Leave(m_Bytes);
}

MemoryGate::PauseScope::PauseScope()
{
  for (const auto & [gate, bytes] : heldByThread)
  {
    gate->SetPaused(bytes, true);
  }
}

MemoryGate::PauseScope::~PauseScope()
{
  for (const auto & [gate, bytes] : heldByThread)
  {
    gate->SetPaused(bytes, false);
  }
}

MemoryGate::NestedScope::NestedScope(unsigned int runs)
  : m_Runs(runs)
{
  runsOfOtherThreads += m_Runs;
}

MemoryGate::NestedScope::~NestedScope()
{
  runsOfOtherThreads -= m_Runs;
}

unsigned int
MemoryGate::GetNumberOfEnclosingRuns()
{
  return static_cast<unsigned int>(heldByThread.size()) + runsOfOtherThreads;
}

/** Compares a reservation with the memory that is available and with what active runs hold. The caller holds the lock.
 */
MemoryGate::Balance
MemoryGate::GetBalance(size_t bytes, size_t available)
{
  const bool isIdle = m_NumberOfActive + m_NumberOfPaused == 0;
  m_Idle = isIdle ? available : std::max(m_Idle, available);
  // Active runs may not have allocated all of their reservations yet, so the available memory alone does not decide.
  const bool fits = bytes <= available && bytes + m_Active + m_Paused <= m_Idle;
  const bool willFit = m_NumberOfActive > 0 && bytes <= AddSaturated(available, m_Active) && bytes + m_Paused <= m_Idle;
  return { fits, willFit };
}

void
MemoryGate::Enter(size_t bytes, const AvailableFunction & getAvailable, const WaitFunction & whileWaiting)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  const auto                   place = m_Waiting.insert(m_Waiting.end(), bytes);
  try
  {
    while (GetNumberOfEnclosingRuns() == 0)
    {
      const Balance balance = this->GetBalance(bytes, getAvailable());
      const bool    isFirst = place == m_Waiting.begin(); // when no run is active, the first one starts
      if ((balance.Fits && isFirst) || !(balance.Fits || balance.WillFit))
      {
        break;
      }
      m_Changed.wait_for(lock, pollInterval);
      if (whileWaiting)
      {
        const Unlocked unlocked(lock);
        whileWaiting();
      }
    }
  }
  catch (...)
  {
    m_Waiting.erase(place);
    m_Changed.notify_all();
    throw;
  }
  m_Waiting.erase(place);
  ++m_NumberOfActive;
  m_Active += bytes;
  m_Changed.notify_all();
}

void
MemoryGate::Leave(size_t bytes)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  --m_NumberOfActive;
  m_Active -= bytes;
  m_Changed.notify_all();
}

/** Moves a reservation from the active runs to the paused ones, or back. */
void
MemoryGate::SetPaused(size_t bytes, bool isPaused)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_NumberOfActive += isPaused ? -1 : 1;
  m_NumberOfPaused += isPaused ? 1 : -1;
  m_Active += isPaused ? -bytes : bytes;
  m_Paused += isPaused ? bytes : -bytes;
  m_Changed.notify_all();
}

size_t
MemoryGate::GetEventuallyAvailable(const AvailableFunction & getAvailable)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  const size_t                      available = getAvailable();
  if (m_NumberOfActive + m_NumberOfPaused == 0 || GetNumberOfEnclosingRuns() > 0)
  {
    return available; // a run inside another one does not wait
  }
  const size_t idle = std::max(m_Idle, available);
  return std::max(available, std::min(AddSaturated(available, m_Active), idle - std::min(idle, m_Paused)));
}

size_t
MemoryGate::GetNumberOfWaiting()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  return m_Waiting.size();
}

MemoryGate &
GetMemoryGate(int device)
{
  static std::mutex                 mutex;
  static auto * const               gates = new std::map<int, std::unique_ptr<MemoryGate>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<MemoryGate> &     gate = (*gates)[device];
  if (!gate)
  {
    gate = std::make_unique<MemoryGate>();
  }
  return *gate;
}
} // namespace itk::cuda
