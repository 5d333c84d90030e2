// SPDX-License-Identifier: Apache-2.0

// Imitates the CUDA runtime in tests without a GPU: streams, events and memory. A stream is a thread that executes a
// queue slowly and in random timing, and memory that is not written is NaN, so an event that is not waited for is
// detected. The module's own code for devices, streams and memory runs on top of it, and its calls can be made to fail
// (FaultHook). There are several devices, each with streams, events and memory of its own. Work on a stream whose
// device is not the thread's current one fails, as do copies within one device of memory that is on another one, and
// events that are recorded on a stream of another device.

#include "runtime/device/Call.h"
#include "support/itkCudaFakeCuda.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace
{
constexpr int    numberOfDevices = 4;
thread_local int currentDevice = 0;

/** Never destroyed, like the streams of the module. */
class FakeStream
{
public:
  explicit FakeStream(int device)
    : Device(device)
  {
    std::thread([this] { this->Work(); }).detach();
    const std::lock_guard<std::mutex> lock(s_Mutex);
    s_All.push_back(this);
  }

  const int Device;

  static std::vector<FakeStream *>
  GetAll()
  {
    const std::lock_guard<std::mutex> lock(s_Mutex);
    return s_All;
  }

  void
  Enqueue(std::function<void()> work)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Queue.push_back(std::move(work));
    ++m_Enqueued;
    m_Changed.notify_all();
  }

  /** Returns the amount of work queued so far. */
  size_t
  GetPosition()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_Enqueued;
  }

  bool
  IsDone()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_Done == m_Enqueued;
  }

  void
  WaitFor(size_t position)
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    m_Changed.wait(lock, [&] { return m_Done >= position; });
  }

private:
  void
  Work()
  {
    std::mt19937 generator(static_cast<unsigned int>(reinterpret_cast<uintptr_t>(this)));
    for (;;)
    {
      std::function<void()> work;
      {
        std::unique_lock<std::mutex> lock(m_Mutex);
        m_Changed.wait(lock, [&] { return !m_Queue.empty(); });
        work = std::move(m_Queue.front());
        m_Queue.pop_front();
      }
      if (generator() % 4 == 0 && !itk::cuda::FaultHook::IsActive()) // not in tests of faults, which make many runs
      {
        std::this_thread::sleep_for(std::chrono::microseconds(generator() % 300));
      }
      work();
      const std::lock_guard<std::mutex> lock(m_Mutex);
      ++m_Done;
      m_Changed.notify_all();
    }
  }

  static inline std::mutex                s_Mutex;
  static inline std::vector<FakeStream *> s_All;

  std::mutex                        m_Mutex;
  std::condition_variable           m_Changed;
  std::deque<std::function<void()>> m_Queue;
  size_t                            m_Enqueued{ 0 }, m_Done{ 0 };
};

/** Returns the fake of a stream; nullptr is the default stream. */
FakeStream &
GetFake(cudaStream_t stream)
{
  static FakeStream & byDefault = *new FakeStream(0);
  return stream ? *reinterpret_cast<FakeStream *>(stream) : byDefault;
}

/** Returns whether work may be queued on the stream by a thread with this current device. */
bool
IsCurrent(cudaStream_t stream)
{
  return !stream || GetFake(stream).Device == currentDevice;
}

/** A recorded event, which is a position in a stream's queue. */
struct FakeEvent
{
  void
  Wait() const
  {
    if (Stream)
    {
      Stream->WaitFor(Position);
    }
  }

  int          Device{ 0 };
  FakeStream * Stream{ nullptr };
  size_t       Position{ 0 };
};

FakeEvent &
GetFake(cudaEvent_t event)
{
  return *reinterpret_cast<FakeEvent *>(event);
}

/** Memory of the device, or page-locked memory. */
class FakeMemory
{
public:
  void *
  Allocate(size_t bytes)
  {
    auto * const memory = static_cast<unsigned char *>(::operator new(bytes, Alignment));
    std::memset(memory, 0xff, bytes);
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Blocks[memory] = bytes;
    m_InUse += bytes;
    m_Most = std::max(m_Most, m_InUse);
    return memory;
  }

  /** Counts the memory as released. It stays readable until Delete(). */
  void
  Release(const void * memory)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    const auto                        found = m_Blocks.find(static_cast<const unsigned char *>(memory));
    m_InUse -= found->second;
    m_Blocks.erase(found);
  }

  static void
  Delete(void * memory)
  {
    ::operator delete(memory, Alignment);
  }

  bool
  Contains(const void * address)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    const auto * const                byte = static_cast<const unsigned char *>(address);
    const auto                        next = m_Blocks.upper_bound(byte);
    return next != m_Blocks.begin() && byte < std::prev(next)->first + std::prev(next)->second;
  }

  size_t
  GetInUse()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_InUse;
  }

  /** Returns the largest number of bytes in use at the same time since the last call. */
  size_t
  TakeMost()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return std::exchange(m_Most, m_InUse);
  }

private:
  static constexpr std::align_val_t Alignment{ 256 };

  std::mutex                              m_Mutex;
  std::map<const unsigned char *, size_t> m_Blocks;
  size_t                                  m_InUse{ 0 }, m_Most{ 0 };
};

/** Never destroyed, because static objects may still hold memory. */
std::vector<FakeMemory> & deviceMemory = *new std::vector<FakeMemory>(numberOfDevices);
FakeMemory &              pageLockedMemory = *new FakeMemory;

std::atomic<bool> mixesPageLocked{ false };
std::atomic<bool> arePeersLinked{ true };

constexpr size_t                                 totalMemory = size_t{ 1 } << 40;
std::array<std::atomic<size_t>, numberOfDevices> memoryLimits{
  { { totalMemory }, { totalMemory }, { totalMemory }, { totalMemory } }
};

/** Returns the device that the address belongs to, or -1 for memory of the host. */
int
FindDevice(const void * address)
{
  for (int device = 0; device < numberOfDevices; ++device)
  {
    if (deviceMemory[device].Contains(address))
    {
      return device;
    }
  }
  return -1;
}

/** Returns whether the address belongs to the host or to the device of the stream. */
bool
IsWithinReach(const void * address, cudaStream_t stream)
{
  const int device = FindDevice(address);
  return device == -1 || !stream || device == GetFake(stream).Device;
}
} // namespace

namespace itk::cuda::test
{
void
EnqueueOnFakeStream(cudaStream_t stream, std::function<void()> work)
{
  if (!IsCurrent(stream))
  {
    ThrowCudaError(cudaErrorInvalidResourceHandle, "kernel on a stream of another device", __FILE__, __LINE__);
  }
  GetFake(stream).Enqueue(std::move(work));
}

size_t
GetMostFakeBytes()
{
  size_t most = 0;
  for (FakeMemory & memory : deviceMemory)
  {
    most = std::max(most, memory.TakeMost());
  }
  return most;
}

void
SetFakeMemory(int device, size_t bytes)
{
  memoryLimits[device] = bytes == 0 ? totalMemory : bytes;
}

void
SetArePeersLinked(bool linked)
{
  arePeersLinked = linked;
}

void
SetMixesPageLocked(bool mixes)
{
  mixesPageLocked = mixes;
}
} // namespace itk::cuda::test

extern "C"
{
  // The device

  cudaError_t
  cudaDriverGetVersion(int * version)
  {
    *version = CUDART_VERSION;
    return cudaSuccess;
  }

  cudaError_t
  cudaGetDeviceCount(int * count)
  {
    *count = numberOfDevices;
    return cudaSuccess;
  }

  cudaError_t
  cudaGetDeviceProperties(cudaDeviceProp * properties, int)
  {
    *properties = {};
    std::strcpy(properties->name, "threads of the host");
    properties->major = 9;
    properties->multiProcessorCount = 1;
    properties->sharedMemPerBlockOptin = 227 << 10;
    properties->l2CacheSize = 1 << 20;
    properties->totalGlobalMem = totalMemory;
    properties->memoryPoolsSupported = 1;
    return cudaSuccess;
  }

  cudaError_t
  cudaDeviceGetAttribute(int * value, cudaDeviceAttr, int)
  {
    *value = 0;
    return cudaSuccess;
  }

  cudaError_t
  cudaGetDevice(int * device)
  {
    *device = currentDevice;
    return cudaSuccess;
  }

  cudaError_t
  cudaSetDevice(int device)
  {
    if (device < 0 || device >= numberOfDevices)
    {
      return cudaErrorInvalidDevice;
    }
    currentDevice = device;
    return cudaSuccess;
  }

  cudaError_t
  cudaGetDriverEntryPointByVersion(const char *,
                                   void ** function,
                                   unsigned int,
                                   unsigned long long,
                                   cudaDriverEntryPointQueryResult * result)
  {
    *function = nullptr;
    *result = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
  }

  const char *
  cudaGetErrorName(cudaError_t error)
  {
    return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : error == cudaErrorInvalidValue   ? "cudaErrorInvalidValue"
                                              : "cudaErrorUnknown";
  }

  const char *
  cudaGetErrorString(cudaError_t error)
  {
    return cudaGetErrorName(error);
  }

  cudaError_t
  cudaGetLastError()
  {
    return cudaSuccess;
  }

  cudaError_t
  cudaFuncGetAttributes(cudaFuncAttributes * attributes, const void *)
  {
    *attributes = {};
    return cudaSuccess;
  }

  cudaError_t
  cudaFuncSetAttribute(const void *, cudaFuncAttribute, int)
  {
    return cudaSuccess;
  }

  // Streams and events

  cudaError_t
  cudaStreamCreateWithFlags(cudaStream_t * stream, unsigned int)
  {
    *stream = reinterpret_cast<cudaStream_t>(new FakeStream(currentDevice));
    return cudaSuccess;
  }

  cudaError_t
  cudaStreamCreate(cudaStream_t * stream)
  {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
  }

  cudaError_t
  cudaStreamSynchronize(cudaStream_t stream)
  {
    GetFake(stream).WaitFor(GetFake(stream).GetPosition());
    return cudaSuccess;
  }

  cudaError_t
  cudaStreamDestroy(cudaStream_t stream)
  {
    return cudaStreamSynchronize(stream);
  }

  cudaError_t
  cudaStreamQuery(cudaStream_t stream)
  {
    return GetFake(stream).IsDone() ? cudaSuccess : cudaErrorNotReady;
  }

  cudaError_t
  cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void * data)
  {
    GetFake(stream).Enqueue([function, data] { function(data); });
    return cudaSuccess;
  }

  /** Waits for all streams. */
  cudaError_t
  cudaDeviceSynchronize()
  {
    for (FakeStream * const stream : FakeStream::GetAll())
    {
      stream->WaitFor(stream->GetPosition());
    }
    return cudaSuccess;
  }

  cudaError_t
  cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus * status)
  {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  }

  cudaError_t
  cudaEventCreateWithFlags(cudaEvent_t * event, unsigned int)
  {
    *event = reinterpret_cast<cudaEvent_t>(new FakeEvent{ currentDevice, nullptr, 0 });
    return cudaSuccess;
  }

  cudaError_t
  cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
  {
    const int device = GetFake(event).Device;
    if (stream && device != GetFake(stream).Device)
    {
      return cudaErrorInvalidResourceHandle;
    }
    GetFake(event) = { device, &GetFake(stream), GetFake(stream).GetPosition() };
    return cudaSuccess;
  }

  cudaError_t
  cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
  {
    const FakeEvent recorded = GetFake(event);
    if (recorded.Stream != &GetFake(stream))
    {
      GetFake(stream).Enqueue([recorded] { recorded.Wait(); });
    }
    return cudaSuccess;
  }

  cudaError_t
  cudaEventSynchronize(cudaEvent_t event)
  {
    const FakeEvent recorded = GetFake(event);
    recorded.Wait();
    return cudaSuccess;
  }

  // Memory

  cudaError_t
  cudaMemGetInfo(size_t * available, size_t * total)
  {
    *total = memoryLimits[currentDevice];
    *available = *total - std::min(*total, deviceMemory[currentDevice].GetInUse());
    return cudaSuccess;
  }

  cudaError_t
  cudaMemPoolCreate(cudaMemPool_t * pool, const cudaMemPoolProps * properties)
  {
    *pool = reinterpret_cast<cudaMemPool_t>(&deviceMemory[properties->location.id]);
    return cudaSuccess;
  }

  cudaError_t
  cudaDeviceCanAccessPeer(int * canAccess, int device, int peer)
  {
    *canAccess = arePeersLinked && device != peer ? 1 : 0;
    return cudaSuccess;
  }

  cudaError_t
  cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *, size_t)
  {
    return cudaSuccess;
  }

  cudaError_t
  cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
  {
    return cudaSuccess;
  }

  cudaError_t
  cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void * value)
  {
    *static_cast<uint64_t *>(value) = 0;
    return cudaSuccess;
  }

  cudaError_t
  cudaMemPoolTrimTo(cudaMemPool_t, size_t)
  {
    return cudaSuccess;
  }

  cudaError_t
  cudaMallocFromPoolAsync(void ** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
  {
    FakeMemory & from = *reinterpret_cast<FakeMemory *>(pool);
    if (stream && &from != &deviceMemory[GetFake(stream).Device])
    {
      return cudaErrorInvalidDevice;
    }
    if (bytes > memoryLimits[&from - deviceMemory.data()] - from.GetInUse())
    {
      return cudaErrorMemoryAllocation;
    }
    *memory = from.Allocate(bytes);
    return cudaSuccess;
  }

  cudaError_t
  cudaMalloc(void ** memory, size_t bytes)
  {
    const auto pool = reinterpret_cast<cudaMemPool_t>(&deviceMemory[currentDevice]);
    return cudaMallocFromPoolAsync(memory, bytes, pool, nullptr);
  }

  cudaError_t
  cudaFreeAsync(void * memory, cudaStream_t stream)
  {
    deviceMemory[FindDevice(memory)].Release(memory);
    GetFake(stream).Enqueue([memory] { FakeMemory::Delete(memory); });
    return cudaSuccess;
  }

  cudaError_t
  cudaFree(void * memory)
  {
    return cudaFreeAsync(memory, nullptr);
  }

  cudaError_t
  cudaHostAlloc(void ** memory, size_t bytes, unsigned int)
  {
    *memory = pageLockedMemory.Allocate(bytes);
    return cudaSuccess;
  }

  cudaError_t
  cudaFreeHost(void * memory)
  {
    pageLockedMemory.Release(memory);
    FakeMemory::Delete(memory);
    return cudaSuccess;
  }

  cudaError_t
  cudaHostRegister(void *, size_t, unsigned int)
  {
    return cudaSuccess;
  }

  cudaError_t
  cudaHostUnregister(void *)
  {
    return cudaSuccess;
  }

  cudaError_t
  cudaHostGetDevicePointer(void ** onDevice, void * onHost, unsigned int)
  {
    *onDevice = onHost;
    return cudaSuccess;
  }

  /** If the tests mix page-locked and ordinary memory, every second pair of queries reports page-locked memory. */
  cudaError_t
  cudaPointerGetAttributes(cudaPointerAttributes * attributes, const void * address)
  {
    static std::atomic<unsigned int> queries{ 0 };
    const bool                       isTakenForLocked = mixesPageLocked && queries++ / 2 % 2 == 0;
    const bool                       isLocked = isTakenForLocked || pageLockedMemory.Contains(address);
    attributes->type = isLocked ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    return cudaSuccess;
  }

  cudaError_t
  cudaMemcpyAsync(void * to, const void * from, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
  {
    if (!IsCurrent(stream) || !IsWithinReach(to, stream) || !IsWithinReach(from, stream))
    {
      return cudaErrorInvalidValue;
    }
    GetFake(stream).Enqueue([=] { std::memcpy(to, from, bytes); });
    return cudaSuccess;
  }

  cudaError_t
  cudaMemcpyPeerAsync(void * to, int toDevice, const void * from, int fromDevice, size_t bytes, cudaStream_t stream)
  {
    if (FindDevice(to) != toDevice || FindDevice(from) != fromDevice)
    {
      return cudaErrorInvalidValue;
    }
    GetFake(stream).Enqueue([=] { std::memcpy(to, from, bytes); });
    return cudaSuccess;
  }

  cudaError_t
  cudaMemcpy2DAsync(void *       to,
                    size_t       toPitch,
                    const void * from,
                    size_t       fromPitch,
                    size_t       width,
                    size_t       height,
                    cudaMemcpyKind,
                    cudaStream_t stream)
  {
    if (width > toPitch || width > fromPitch)
    {
      return cudaErrorInvalidPitchValue;
    }
    if (!IsCurrent(stream) || !IsWithinReach(to, stream) || !IsWithinReach(from, stream))
    {
      return cudaErrorInvalidValue;
    }
    GetFake(stream).Enqueue([=] {
      for (size_t row = 0; row < height; ++row)
      {
        std::memcpy(static_cast<char *>(to) + row * toPitch, static_cast<const char *>(from) + row * fromPitch, width);
      }
    });
    return cudaSuccess;
  }

  cudaError_t
  cudaMemset2DAsync(void * to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
  {
    if (!IsCurrent(stream) || !IsWithinReach(to, stream))
    {
      return cudaErrorInvalidValue;
    }
    GetFake(stream).Enqueue([=] {
      for (size_t row = 0; row < height; ++row)
      {
        std::memset(static_cast<char *>(to) + row * pitch, value, width);
      }
    });
    return cudaSuccess;
  }

  cudaError_t
  cudaMemsetAsync(void * to, int value, size_t bytes, cudaStream_t stream)
  {
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
  }
} // extern "C"
