// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/Parts.h"

#include "runtime/image/Math.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

// Chooses the size of the parts of an image, and runs them, one after the other or dealt to several workers.

namespace itk::cuda
{
size_t
GetPlanesOfPart(const PartRun & run, size_t bytes)
{
  const size_t units = DivideUp(run.Length, run.Unit);
  const auto   fits = [&](size_t number) { return run.GetBytes(std::min(number * run.Unit, run.Length)) <= bytes; };
  if (units <= 1 || fits(units))
  {
    return run.Length;
  }
  size_t most = 1;
  for (size_t tooMany = units; tooMany - most > 1;)
  {
    const size_t number = most + (tooMany - most) / 2;
    (fits(number) ? most : tooMany) = number;
  }
  return DivideUp(units, DivideUp(units, most)) * run.Unit;
}

size_t
GetPlanesOfDealtPart(const PartRun & run, size_t bytes, size_t workers)
{
  const size_t planes = GetPlanesOfPart(run, bytes);
  if (planes >= run.Length)
  {
    return planes;
  }
  const size_t units = DivideUp(run.Length, run.Unit);
  const size_t parts = DivideUp(DivideUp(run.Length, planes), workers) * workers;
  return DivideUp(units, std::min(units, parts)) * run.Unit;
}

void
RunParts(const PartRun & run, size_t planes, const CudaProgressFunction & progress)
{
  for (size_t first = 0; first < run.Length; first += planes)
  {
    const size_t count = std::min(planes, run.Length - first);
    run.Run(first, count, [&](float done) {
      if (progress)
      {
        progress((static_cast<float>(first) + done * static_cast<float>(count)) / static_cast<float>(run.Length));
      }
    });
  }
}

namespace
{
/** The parts that workers in threads take, and their progress. */
class DealtParts
{
public:
  DealtParts(const std::vector<PartRun> & workers, size_t planes)
    : m_Planes(planes)
    , m_Length(workers.front().Length)
    , m_Done(workers.size(), 0.0f)
  {
    try
    {
      for (size_t worker = 0; worker < workers.size(); ++worker)
      {
        m_Threads.emplace_back([this, worker, &run = workers[worker]] { this->Work(worker, run); });
        ++m_Running;
      }
    }
    catch (...)
    {
      this->Stop(std::current_exception());
      this->Join();
      throw;
    }
  }

  /** Calls `progress` until all workers have ended. */
  void
  Finish(const CudaProgressFunction & progress)
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    float                        reported = 0.0f;
    while (m_Ended < m_Running)
    {
      float done = m_PlanesOfEndedParts;
      for (const float ofWorker : m_Done)
      {
        done += ofWorker;
      }
      if (progress && !m_Error && done > reported)
      {
        reported = done;
        lock.unlock();
        try
        {
          progress(std::min(1.0f, done / static_cast<float>(m_Length)));
        }
        catch (...)
        {
          this->Stop(std::current_exception());
        }
        lock.lock();
        continue;
      }
      m_Changed.wait(lock);
    }
    lock.unlock();
    this->Join();
    if (m_Error)
    {
      std::rethrow_exception(m_Error);
    }
    if (progress)
    {
      progress(1.0f);
    }
  }

private:
  struct Stopped
  {};

  void
  Stop(std::exception_ptr error)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Error = m_Error ? m_Error : error;
    m_Changed.notify_all();
  }

  void
  Join()
  {
    for (std::thread & thread : m_Threads)
    {
      thread.join();
    }
  }

  void
  Work(size_t worker, const PartRun & run) noexcept
  {
    try
    {
      for (;;)
      {
        size_t first = 0;
        {
          const std::lock_guard<std::mutex> lock(m_Mutex);
          first = m_Next;
          if (m_Error || first >= m_Length)
          {
            break;
          }
          m_Next += m_Planes;
        }
        const auto count = std::min(m_Planes, m_Length - first);
        run.Run(first, count, [this, worker, count](float done) {
          const std::lock_guard<std::mutex> lock(m_Mutex);
          if (m_Error)
          {
            throw Stopped();
          }
          m_Done[worker] = done * static_cast<float>(count);
          m_Changed.notify_all();
        });
        const std::lock_guard<std::mutex> lock(m_Mutex);
        m_Done[worker] = 0.0f;
        m_PlanesOfEndedParts += static_cast<float>(count);
        m_Changed.notify_all();
      }
    }
    catch (const Stopped &)
    {
      // Another thread has reported the reason.
    }
    catch (...)
    {
      this->Stop(std::current_exception());
    }
    const std::lock_guard<std::mutex> lock(m_Mutex);
    ++m_Ended;
    m_Changed.notify_all();
  }

  const size_t             m_Planes, m_Length;
  std::vector<std::thread> m_Threads;
  size_t                   m_Running{ 0 };
  std::mutex               m_Mutex; // protects all members below
  std::condition_variable  m_Changed;
  size_t                   m_Next{ 0 };
  size_t                   m_Ended{ 0 };
  float                    m_PlanesOfEndedParts{ 0 };
  std::vector<float>       m_Done; // planes of the part that each worker runs
  std::exception_ptr       m_Error;
};
} // namespace

void
DealParts(const std::vector<PartRun> & workers, size_t planes, const CudaProgressFunction & progress)
{
  if (workers.size() == 1 || planes >= workers.front().Length)
  {
    RunParts(workers.front(), planes, progress);
    return;
  }
  DealtParts(workers, planes).Finish(progress);
}
} // namespace itk::cuda
