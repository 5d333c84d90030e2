// SPDX-License-Identifier: Apache-2.0
#include "itkCudaThreadStream.h"

#include "itkCudaCall.h"
#include "itkCudaDeviceGuard.h"
#include "itkCudaDeviceProperties.h"
#include "itkCudaProcess.h"

#include <map>
#include <mutex>
#include <vector>

namespace itk::cuda
{
namespace
{
/** Streams of threads that have ended, by device. */
struct EndedThreads
{
  std::mutex                               Mutex;
  std::map<int, std::vector<cudaStream_t>> Streams;
};

EndedThreads &
GetEndedThreads()
{
  static EndedThreads * const threads = new EndedThreads; // the last thread ends after static objects are gone
  return *threads;
}

cudaStream_t
TakeStream(int device)
{
  {
    EndedThreads &                    ended = GetEndedThreads();
    const std::lock_guard<std::mutex> lock(ended.Mutex);
    std::vector<cudaStream_t> &       streams = ended.Streams[device];
    if (!streams.empty())
    {
      const cudaStream_t stream = streams.back();
      streams.pop_back();
      return stream;
    }
  }
  const DeviceGuard guard(device);
  cudaStream_t      stream = nullptr;
  ITK_CUDA_CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

/** A thread's streams. */
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
      return; // the lock may be held for ever
    }
    EndedThreads &                    ended = GetEndedThreads();
    const std::lock_guard<std::mutex> lock(ended.Mutex);
    for (const auto & [device, stream] : m_Streams)
    {
      ended.Streams[device].push_back(stream);
    }
  }

  cudaStream_t
  Get(int device)
  {
    const auto found = m_Streams.find(device);
    return found != m_Streams.end() ? found->second : m_Streams.emplace(device, TakeStream(device)).first->second;
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
