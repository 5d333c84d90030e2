// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailSlabRequests.h"

#include "runtime/memory/MemoryGate.h"
#include "itkMacro.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#ifndef _WIN32
#  include <unistd.h>
#endif

// Implements CudaSlabSession with a thread for the engine. Engine and caller take turns, so they never run at the
// same time.

namespace itk::CudaDetail
{
namespace
{
/** Exception that ends the engine of a session that is no longer needed. */
struct SessionEnded
{};

long
GetProcessId()
{
#ifdef _WIN32
  return 0; // Windows has no fork
#else
  return getpid();
#endif
}
} // namespace

/** Lets the engine's thread and the user's thread, which requests planes, take turns. All members except the turn
 * itself are accessed only by the thread whose turn it is. */
class CudaSlabSession::Implementation
{
public:
  Implementation(EngineFunction engine, size_t firstPlane, size_t endPlane, size_t bytesOfPlane)
    : m_Engine(std::move(engine))
    , m_FirstPlane(firstPlane)
    , m_EndPlane(endPlane)
    , m_BytesOfPlane(bytesOfPlane)
    , m_NextPlane(firstPlane)
  {}

  ~Implementation()
  {
    if (m_Thread && m_Process != GetProcessId())
    {
      (void)m_Thread.release(); // a forked process has the object but not the thread
      return;
    }
    if (m_Thread)
    {
      m_IsCancelled = true;
      this->PassTurn(Turn::Engine);
      m_Thread->join();
    }
  }

  void
  Produce(size_t planes, void * pixels, const CudaSlabSource & source, const ProgressFunction & progress)
  {
    m_Source = &source;
    m_Progress = &progress;
    m_Pixels = static_cast<unsigned char *>(pixels);
    m_Begin = m_NextPlane;
    m_Wanted = planes;
    if (!m_Thread && !m_HasEnded)
    {
      m_Process = GetProcessId();
      m_Thread = std::make_unique<std::thread>([this] { this->RunEngine(); });
    }
    while (m_Thread && (m_Wanted > 0 || m_NextPlane == m_EndPlane))
    {
      this->PassTurn(Turn::Engine);
      this->Await(Turn::User);
      if (m_HasEnded)
      {
        m_Thread->join();
        m_Thread.reset();
      }
      else if (m_Task)
      {
        this->RunTask();
      }
    }
    if (m_Error)
    {
      std::rethrow_exception(std::exchange(m_Error, nullptr));
    }
    if (m_Wanted > 0)
    {
      itkGenericExceptionMacro("A run in slabs ended before plane " << m_NextPlane << " of " << m_EndPlane);
    }
  }

  size_t
  GetNextPlane() const
  {
    return m_NextPlane;
  }

  bool
  IsDone() const
  {
    return m_HasEnded && m_NextPlane == m_EndPlane;
  }

  const CudaSlabReport &
  GetReport() const
  {
    return m_Report;
  }

private:
  enum class Turn
  {
    User,
    Engine
  };

  void
  PassTurn(Turn turn)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Turn = turn;
    m_Changed.notify_all();
  }

  void
  Await(Turn turn)
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    m_Changed.wait(lock, [&] { return m_Turn == turn; });
  }

  // Functions of the user's thread

  void
  RunTask()
  {
    const cuda::MemoryGate::NestedScope nested(m_RunsOfEngine);
    try
    {
      (*m_Task)();
    }
    catch (...)
    {
      m_TaskError = std::current_exception();
    }
    m_Task = nullptr;
  }

  // Functions of the engine's thread

  void
  RunEngine()
  {
    this->Await(Turn::Engine);
    try
    {
      if (!m_IsCancelled)
      {
        m_Report =
          m_Engine([this](size_t first, size_t planes, void * pixels) { this->RequestPlanes(first, planes, pixels); },
                   [this](size_t, size_t planes, const void * pixels) { this->DeliverPlanes(planes, pixels); },
                   [this](float done) { this->ReportProgress(done); });
      }
    }
    catch (const SessionEnded &)
    {}
    catch (...)
    {
      m_Error = std::current_exception();
    }
    m_Engine = nullptr;
    m_HasEnded = true;
    this->PassTurn(Turn::User);
  }

  /** Makes the user's thread run a task while the engine's thread waits. */
  void
  RunOnUserThread(const std::function<void()> & task)
  {
    if (m_IsCancelled)
    {
      throw SessionEnded();
    }
    if (m_Wanted == 0 && m_NextPlane < m_EndPlane)
    {
      this->Pause(); // pausing here and not in the sink lets the engine first release what it no longer needs
    }
    m_Task = &task;
    m_RunsOfEngine = cuda::MemoryGate::GetNumberOfEnclosingRuns();
    this->PassTurn(Turn::User);
    this->Await(Turn::Engine);
    if (m_TaskError)
    {
      std::rethrow_exception(std::exchange(m_TaskError, nullptr));
    }
  }

  void
  RequestPlanes(size_t first, size_t planes, void * pixels)
  {
    this->RunOnUserThread([&] { (*m_Source)(first, planes, pixels); });
  }

  void
  ReportProgress(float done)
  {
    this->RunOnUserThread([&] {
      const size_t asked = m_NextPlane - m_Begin + m_Wanted;
      const bool   isAll = asked == m_EndPlane - m_FirstPlane;
      if (*m_Progress)
      {
        const size_t given = m_NextPlane - m_Begin;
        (*m_Progress)(isAll ? done : static_cast<float>(given) / static_cast<float>(std::max<size_t>(asked, 1)));
      }
    });
  }

  void
  DeliverPlanes(size_t planes, const void * pixels)
  {
    auto * from = static_cast<const unsigned char *>(pixels);
    while (planes > 0)
    {
      if (m_Wanted == 0)
      {
        this->Pause();
      }
      const size_t count = std::min(planes, m_Wanted);
      if (m_Pixels)
      {
        std::memcpy(m_Pixels, from, count * m_BytesOfPlane);
        m_Pixels += count * m_BytesOfPlane;
      }
      from += count * m_BytesOfPlane;
      planes -= count;
      m_Wanted -= count;
      m_NextPlane += count;
    }
  }

  /** Blocks the engine until more planes are wanted, and marks its runs as paused meanwhile. */
  void
  Pause()
  {
    const cuda::MemoryGate::PauseScope pause;
    this->PassTurn(Turn::User);
    this->Await(Turn::Engine);
    if (m_IsCancelled)
    {
      throw SessionEnded();
    }
  }

  EngineFunction m_Engine;
  const size_t   m_FirstPlane;
  const size_t   m_EndPlane;
  const size_t   m_BytesOfPlane;

  std::unique_ptr<std::thread> m_Thread;
  long                         m_Process{ 0 }; // the process that owns the thread
  std::mutex                   m_Mutex;
  std::condition_variable      m_Changed;
  Turn                         m_Turn{ Turn::User };

  size_t                        m_NextPlane;
  size_t                        m_Begin{ 0 };  // first of the requested planes
  size_t                        m_Wanted{ 0 }; // number of requested planes that are still missing
  unsigned char *               m_Pixels{ nullptr };
  const CudaSlabSource *        m_Source{ nullptr };
  const ProgressFunction *      m_Progress{ nullptr };
  const std::function<void()> * m_Task{ nullptr };
  std::exception_ptr            m_TaskError;
  unsigned int                  m_RunsOfEngine{ 0 };
  std::exception_ptr            m_Error;
  CudaSlabReport                m_Report;
  bool                          m_HasEnded{ false };
  bool                          m_IsCancelled{ false };
};

CudaSlabSession::CudaSlabSession(EngineFunction engine, size_t firstPlane, size_t endPlane, size_t bytesOfPlane)
  : m_Implementation(std::make_unique<Implementation>(std::move(engine), firstPlane, endPlane, bytesOfPlane))
{}

CudaSlabSession::~CudaSlabSession() = default;

size_t
CudaSlabSession::GetNextPlane() const
{
  return m_Implementation->GetNextPlane();
}

bool
CudaSlabSession::IsDone() const
{
  return m_Implementation->IsDone();
}

void
CudaSlabSession::Produce(size_t planes, void * pixels, const CudaSlabSource & source, const ProgressFunction & progress)
{
  m_Implementation->Produce(planes, pixels, source, progress);
}

const CudaSlabReport &
CudaSlabSession::GetReport() const
{
  return m_Implementation->GetReport();
}
} // end namespace itk::CudaDetail
