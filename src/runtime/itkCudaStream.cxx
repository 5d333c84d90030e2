// SPDX-License-Identifier: Apache-2.0
#include "itkCudaStream.h"

#include "itkCudaCall.h"
#include "itkCudaDeviceGuard.h"
#include "itkCudaDeviceProperties.h"
#include "itkCudaProcess.h"

#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace itk::cuda
{
namespace
{
/** The unused streams of a device. */
struct StreamList
{
  std::vector<cudaStream_t> Free;
  size_t                    NumberOfStreams{ 0 };
};

struct StreamLists
{
  std::mutex                Mutex;
  std::map<int, StreamList> Lists; // by device
};

StreamLists &
GetStreamLists()
{
  static StreamLists * const lists = new StreamLists; // streams outlive every static object that uses one
  return *lists;
}
} // namespace

StreamLease::StreamLease(int device)
  : Context(device, nullptr)
{
  RequireUsableDevice(device);
  {
    StreamLists &                     lists = GetStreamLists();
    const std::lock_guard<std::mutex> lock(lists.Mutex);
    StreamList &                      list = lists.Lists[device];
    if (!list.Free.empty())
    {
      m_Stream = list.Free.back();
      list.Free.pop_back();
      return;
    }
    list.Free.reserve(++list.NumberOfStreams); // so that the destructor never allocates
  }
  const DeviceGuard guard(device);
  ITK_CUDA_CALL(cudaStreamCreateWithFlags(&m_Stream, cudaStreamNonBlocking));
}

StreamLease::~StreamLease()
{
  if (IsForkedProcess() || !DrainStream(*this))
  {
    return; // a stream with failed work or a lost context cannot be used again
  }
  StreamLists &                     lists = GetStreamLists();
  const std::lock_guard<std::mutex> lock(lists.Mutex);
  lists.Lists.find(m_Device)->second.Free.push_back(m_Stream);
}

void
StreamLease::Synchronize() const
{
  ITK_CUDA_CALL(cudaStreamSynchronize(m_Stream));
}

bool
DrainStream(const Context & context) noexcept
{
  // Any call creates a context on the thread's current device, also a call about another device's stream.
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
  ITK_CUDA_CALL(cudaEventCreateWithFlags(&m_Event, cudaEventDisableTiming));
}

Event::~Event()
{
  if (m_Event)
  {
    ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(m_Event));
  }
}

Event::Event(Event && other) noexcept
  : m_Event(std::exchange(other.m_Event, nullptr))
{}

Event &
Event::operator=(Event && other) noexcept
{
  std::swap(m_Event, other.m_Event);
  return *this;
}

void
Event::Record(const Context & context)
{
  ITK_CUDA_CALL(cudaEventRecord(m_Event, context.GetStream()));
}

void
Event::MakeWait(const Context & context) const
{
  ITK_CUDA_CALL(cudaStreamWaitEvent(context.GetStream(), m_Event, 0));
}

void
Event::Synchronize() const
{
  ITK_CUDA_CALL(cudaEventSynchronize(m_Event));
}
} // namespace itk::cuda
