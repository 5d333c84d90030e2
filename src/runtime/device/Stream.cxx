// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Stream.h"
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/Process.h"

#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

// Implements leases of streams and events, and the stream of each thread. Streams and events return to free lists
// and are never destroyed.

namespace itk::cuda
{
namespace
{
/** \class HandleFreeList
 * \brief A free list of streams or events for each device.
 */
template <typename THandle>
class HandleFreeList
{
public:
  /** Returns a handle for reuse, or nullptr if there is no free handle and the caller must create one. */
  THandle
  Take(int device)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    List &                            list = m_Lists[device];
    if (list.Free.empty())
    {
      list.Free.reserve(++list.NumberOfHandles); // so that GiveBack() never allocates
      return nullptr;
    }
    const THandle handle = list.Free.back();
    list.Free.pop_back();
    return handle;
  }

  void
  GiveBack(int device, THandle handle) noexcept
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Lists.find(device)->second.Free.push_back(handle);
  }

private:
  struct List
  {
    std::vector<THandle> Free;
    size_t               NumberOfHandles{ 0 };
  };

  std::mutex          m_Mutex;
  std::map<int, List> m_Lists; // by device
};

template <typename THandle>
HandleFreeList<THandle> &
GetFreeList()
{
  static auto * const unused =
    new HandleFreeList<THandle>; // never deleted, because static objects may still use a handle
  return *unused;
}

/** Returns the streams that ended threads have left, possibly with queued work. */
HandleFreeList<cudaStream_t> &
GetStreamsOfEndedThreads()
{
  static auto * const streams =
    new HandleFreeList<cudaStream_t>; // never deleted, because the last thread ends after static objects are destroyed
  return *streams;
}

/** Takes a stream from a list or creates one. */
cudaStream_t
TakeStream(HandleFreeList<cudaStream_t> & list, int device)
{
  cudaStream_t stream = list.Take(device);
  if (!stream)
  {
    const DeviceGuard guard(device);
    ITK_CUDA_CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  return stream;
}
} // namespace

StreamLease::StreamLease(int device)
  : Context(device, nullptr)
{
  RequireUsableDevice(device);
  m_Stream = TakeStream(GetFreeList<cudaStream_t>(), device);
}

StreamLease::~StreamLease()
{
  if (IsForkedProcess() || !DrainStream(*this))
  {
    return; // a stream with failed work or a lost context cannot be reused
  }
  GetFreeList<cudaStream_t>().GiveBack(m_Device, m_Stream);
}

void
StreamLease::Synchronize() const
{
  ITK_CUDA_CALL(cudaStreamSynchronize(m_Stream));
}

bool
DrainStream(const Context & context) noexcept
{
  // Every CUDA call creates a context on the thread's current device, even a call about another device's stream.
  const DeviceGuard guard(context.GetDevice(), std::nothrow);
  return ITK_CUDA_CALL_NOTHROW(cudaStreamSynchronize(context.GetStream())) == cudaSuccess;
}

void
RequireNoCapture(const Context & context)
{
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ITK_CUDA_CALL(cudaStreamIsCapturing(context.GetStream(), &status));
  if (status != cudaStreamCaptureStatusNone)
  {
    ThrowNotUsable("the stream of the array is recorded for a CUDA graph, in which the filters cannot run: filter "
                   "before or after it",
                   __FILE__,
                   __LINE__);
  }
}

Event::Event()
{
  ITK_CUDA_CALL(cudaGetDevice(&m_Device));
  m_Event = GetFreeList<cudaEvent_t>().Take(m_Device);
  if (!m_Event)
  {
    ITK_CUDA_CALL(cudaEventCreateWithFlags(&m_Event, cudaEventDisableTiming));
  }
}

Event::~Event()
{
  if (m_Event && !IsForkedProcess())
  {
    GetFreeList<cudaEvent_t>().GiveBack(m_Device, m_Event);
  }
}

Event::Event(Event && other) noexcept
  : m_Event(std::exchange(other.m_Event, nullptr))
  , m_Device(other.m_Device)
  , m_IsRecorded(other.m_IsRecorded)
{}

Event &
Event::operator=(Event && other) noexcept
{
  std::swap(m_Event, other.m_Event);
  std::swap(m_Device, other.m_Device);
  std::swap(m_IsRecorded, other.m_IsRecorded);
  return *this;
}

void
Event::Record(const Context & context)
{
  ITK_CUDA_CALL(cudaEventRecord(m_Event, context.GetStream()));
  m_IsRecorded = true;
}

void
Event::MakeWait(const Context & context) const
{
  if (m_IsRecorded)
  {
    ITK_CUDA_CALL(cudaStreamWaitEvent(context.GetStream(), m_Event, 0));
  }
}

void
Event::Synchronize() const
{
  if (m_IsRecorded)
  {
    ITK_CUDA_CALL(cudaEventSynchronize(m_Event));
  }
}

namespace
{
/** The streams of one thread. */
class ThreadStreams
{
public:
  ThreadStreams() = default;
  ThreadStreams(const ThreadStreams &) = delete;
  ThreadStreams &
  operator=(const ThreadStreams &) = delete;

  ~ThreadStreams()
  {
    if (IsForkedProcess())
    {
      return; // another thread may have held the lock at the fork
    }
    for (const auto & [device, stream] : m_Streams)
    {
      GetStreamsOfEndedThreads().GiveBack(device, stream);
    }
  }

  cudaStream_t
  Get(int device)
  {
    const auto found = m_Streams.find(device);
    return found != m_Streams.end()
             ? found->second
             : m_Streams.emplace(device, TakeStream(GetStreamsOfEndedThreads(), device)).first->second;
  }

private:
  std::map<int, cudaStream_t> m_Streams; // by device
};
} // namespace

Context
GetThreadContext(int device)
{
  RequireUsableDevice(device);
  static thread_local ThreadStreams streams;
  return Context(device, streams.Get(device));
}
} // namespace itk::cuda
