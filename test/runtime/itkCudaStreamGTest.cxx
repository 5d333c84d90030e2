// SPDX-License-Identifier: Apache-2.0
// Points in the work of streams. The handles of CUDA serve one Event after another, also while work still waits for
// what was recorded first.
#include "runtime/device/Device.h"
#include "support/itkCudaRuntimeTestHelpers.h"

#include <condition_variable>
#include <mutex>

namespace
{
using itk::cuda::DeviceGuard;
using itk::cuda::Event;
using itk::cuda::FaultHook;
using itk::cuda::StreamLease;
using itk::cuda::test::device;
using itk::cuda::test::DeviceTest;

/** Work that blocks a stream until GoOn() is called or the object is destroyed. */
class HeldWork
{
public:
  explicit HeldWork(const StreamLease & stream)
    : m_Stream(stream)
  {
    ITK_CUDA_CALL(cudaLaunchHostFunc(stream.GetStream(), Hold, this));
  }

  ~HeldWork()
  {
    this->GoOn();
    m_Stream.Synchronize();
  }

  void
  GoOn()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_MayGoOn = true;
    m_Changed.notify_all();
  }

private:
  static void
  Hold(void * self)
  {
    auto &                       held = *static_cast<HeldWork *>(self);
    std::unique_lock<std::mutex> lock(held.m_Mutex);
    held.m_Changed.wait(lock, [&] { return held.m_MayGoOn; });
  }

  const StreamLease &     m_Stream;
  std::mutex              m_Mutex;
  std::condition_variable m_Changed;
  bool                    m_MayGoOn{ false };
};

bool
IsDone(const StreamLease & stream)
{
  return ITK_CUDA_TRY(cudaStreamQuery(stream.GetStream())) == cudaSuccess;
}

class CudaEventGpu : public DeviceTest
{};

TEST_F(CudaEventGpu, What_waits_for_a_point_does_not_follow_the_handle_to_its_next_use)
{
  const DeviceGuard guard(device);
  const StreamLease first(device), waiting(device), other(device);
  HeldWork          held(first);
  {
    Event point;
    point.Record(first);
    point.MakeWait(waiting);
  }
  Event next; // reuses the handle of the previous event
  next.Record(other);
  next.Synchronize(); // nothing blocks this stream
  EXPECT_FALSE(IsDone(waiting));
  held.GoOn();
  waiting.Synchronize();
  EXPECT_TRUE(IsDone(first));
}

TEST_F(CudaEventGpu, An_event_that_was_not_recorded_is_not_waited_for)
{
  const DeviceGuard guard(device);
  const StreamLease first(device), other(device);
  HeldWork          held(first);
  {
    Event point;
    point.Record(first);
  }
  Event next; // the event that used its handle has not happened yet
  next.Synchronize();
  next.MakeWait(other);
  EXPECT_TRUE(IsDone(other));
  EXPECT_FALSE(IsDone(first));
}

TEST_F(CudaEventGpu, Handles_are_made_once)
{
  const DeviceGuard guard(device);
  {
    const Event a, b;
  }
  FaultHook::FailCall(0, cudaSuccess);
  {
    const Event a, b;
    Event       c(Event{});
    c = Event();
  }
  FaultHook::Clear();
  // cudaGetDevice() of each of the four, and at most two new handles: four events exist at a time.
  EXPECT_LE(FaultHook::GetNumberOfCalls(), 6u);
}
} // namespace
