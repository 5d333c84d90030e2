// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/MemoryGate.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>

// Implements MemoryGate, where runs wait in the order of their arrival for memory that other runs hold.

namespace itk::cuda
{
namespace
{
constexpr std::chrono::milliseconds pollInterval{ 20 };
// Up to 1,024 reservations of this size can be added without overflow.
constexpr size_t largestReservation = std::numeric_limits<size_t>::max() >> 10;

thread_local unsigned int runsOfThread = 0; // reservations that are not paused

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

MemoryReservation::MemoryReservation(const std::vector<Place> &       places,
                                     size_t                           bytes,
                                     const MemoryGate::WaitFunction & whileWaiting)
  : m_Bytes(std::min(bytes, largestReservation))
{
  m_Gates.reserve(places.size());
  try
  {
    for (const Place & place : places)
    {
      place.Gate->Enter(m_Bytes, place.GetAvailable, whileWaiting);
      m_Gates.push_back(place.Gate);
    }
  }
  catch (...)
  {
    this->Leave();
    throw;
  }
  ++runsOfThread;
}

MemoryReservation::~MemoryReservation()
{
  if (m_IsPaused)
  {
    this->Resume();
  }
  --runsOfThread;
  this->Leave();
}

void
MemoryReservation::Leave()
{
  for (MemoryGate * const gate : m_Gates)
  {
    gate->Leave(m_Bytes);
  }
}

void
MemoryReservation::Pause()
{
  for (MemoryGate * const gate : m_Gates)
  {
    gate->SetPaused(m_Bytes, true);
  }
  --runsOfThread;
  m_IsPaused = true;
}

void
MemoryReservation::Resume()
{
  for (MemoryGate * const gate : m_Gates)
  {
    gate->SetPaused(m_Bytes, false);
  }
  ++runsOfThread;
  m_IsPaused = false;
}

unsigned int
MemoryGate::GetNumberOfEnclosingRuns()
{
  return runsOfThread;
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
