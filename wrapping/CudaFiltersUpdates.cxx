// SPDX-License-Identifier: Apache-2.0
#include "CudaFiltersUpdates.h"

#include "core/Interpreter.h"
#include "itkMacro.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace cudafilters
{
namespace
{
/** Runs calls of Update() in threads. A thread is created when a call finds no idle one, and lives until End(). */
class Updates
{
public:
  explicit Updates(size_t atOnce)
    : m_AtOnce(atOnce)
  {}
  ~Updates() { this->End(); }

  Updates(const Updates &) = delete;
  Updates &
  operator=(const Updates &) = delete;

  void
  Start(itk::ProcessObject * filter)
  {
    Call                              call([held = itk::ProcessObject::Pointer(filter)] { held->Update(); });
    std::future<void>                 end = call.get_future();
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (m_Calls.size() >= m_NumberOfIdleThreads && m_Threads.size() < m_AtOnce)
    {
      m_Threads.emplace_back([this] { this->Serve(); });
    }
    m_Calls.push_back(std::move(call));
    m_Ends.push_back(std::move(end));
    m_HasChanged.notify_one();
  }

  void
  FinishNext()
  {
    if (m_Ends.empty())
    {
      itkGenericExceptionMacro("No update is left to wait for: start one before");
    }
    std::future<void> end = std::move(m_Ends.front());
    m_Ends.pop_front();
    end.get();
  }

  void
  End()
  {
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_Calls.clear();
      m_HasEnded = true;
    }
    m_HasChanged.notify_all();
    for (std::thread & thread : m_Threads)
    {
      thread.join();
    }
    m_Threads.clear();
  }

private:
  using Call = std::packaged_task<void()>;

  /** The function that each thread runs. */
  void
  Serve()
  {
    while (this->RunNext())
    {}
  }
  /** Waits for a call and runs it. \return false after End() */
  bool
  RunNext()
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    ++m_NumberOfIdleThreads;
    m_HasChanged.wait(lock, [this] { return m_HasEnded || !m_Calls.empty(); });
    --m_NumberOfIdleThreads;
    if (m_Calls.empty())
    {
      return false;
    }
    Call call = std::move(m_Calls.front());
    m_Calls.pop_front();
    lock.unlock();
    call();
    return true;
  }

  const size_t                  m_AtOnce;
  std::deque<std::future<void>> m_Ends; // one for each update that FinishNext() has not waited for
  std::vector<std::thread>      m_Threads;
  std::mutex                    m_Mutex; // guards the members below
  std::condition_variable       m_HasChanged;
  std::deque<Call>              m_Calls; // calls that no thread has begun
  size_t                        m_NumberOfIdleThreads{ 0 };
  bool                          m_HasEnded{ false };
};

constexpr const char * UpdatesName = "itk_cudafilters_updates";

Updates &
GetUpdates(PyObject * capsule)
{
  auto * const updates = static_cast<Updates *>(PyCapsule_GetPointer(capsule, UpdatesName));
  if (!updates)
  {
    PyErr_Clear();
    itkGenericExceptionMacro("The handle is none that cudafilters_new_updates() made");
  }
  return *updates;
}
} // namespace

void
StartUpdate(PyObject * updates, itk::ProcessObject * filter)
{
  GetUpdates(updates).Start(filter);
}
} // namespace cudafilters

PyObject *
cudafilters_new_updates(unsigned int at_once)
{
  auto             updates = std::make_unique<cudafilters::Updates>(at_once);
  PyObject * const capsule = PyCapsule_New(updates.get(), cudafilters::UpdatesName, [](PyObject * self) {
    auto * const held = static_cast<cudafilters::Updates *>(PyCapsule_GetPointer(self, cudafilters::UpdatesName));
    const cudafilters::WithoutLock without;
    delete held;
  });
  if (capsule)
  {
    updates.release();
  }
  return capsule;
}

void
cudafilters_finish_update(PyObject * updates)
{
  cudafilters::Updates &         held = cudafilters::GetUpdates(updates);
  const cudafilters::WithoutLock without;
  held.FinishNext();
}

void
cudafilters_end_updates(PyObject * updates)
{
  cudafilters::Updates &         held = cudafilters::GetUpdates(updates);
  const cudafilters::WithoutLock without;
  held.End();
}
