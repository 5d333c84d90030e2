// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailHostMemoryPool.h"
#include "runtime/device/Device.h"
#include "runtime/device/Launch.h"
#include "runtime/device/Stream.h"
#include "itkCudaError.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/memory/MemoryUsage.h"
#include "runtime/memory/MemoryQuery.h"
#include "support/itkCudaHeldStream.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "runtime/transfer/StagingMemory.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace
{
using namespace itk;
using namespace itk::cuda;
using namespace itk::cuda::test;

class CudaRuntime : public DeviceTest
{};
} // namespace

TEST(CudaCall, Failure_names_call_error_and_text)
{
  try
  {
    ITK_CUDA_CALL(cudaErrorInvalidValue);
    FAIL() << "no exception";
  }
  catch (const CudaError & error)
  {
    const std::string text = error.GetDescription();
    EXPECT_EQ(error.GetKind(), CudaError::Kind::CallFailed);
    EXPECT_EQ(text.find("cudaErrorInvalidValue failed: cudaErrorInvalidValue ("), 0u) << text;
    EXPECT_NE(std::string(error.GetFile()).find("itkCudaRuntimeGTest"), std::string::npos);
    EXPECT_GT(error.GetLine(), 0u);
  }
}

TEST(CudaCall, Kind_follows_from_the_error)
{
  const auto getKind = [](cudaError_t error) {
    try
    {
      ITK_CUDA_CALL(error);
    }
    catch (const CudaError & exception)
    {
      return exception.GetKind();
    }
    throw std::logic_error("no exception");
  };
  EXPECT_EQ(getKind(cudaErrorMemoryAllocation), CudaError::Kind::OutOfMemory);
  EXPECT_EQ(getKind(cudaErrorNoDevice), CudaError::Kind::NotUsable);
  EXPECT_EQ(getKind(cudaErrorInsufficientDriver), CudaError::Kind::NotUsable);
  EXPECT_EQ(getKind(cudaErrorNoKernelImageForDevice), CudaError::Kind::NotUsable);
  EXPECT_EQ(getKind(cudaErrorUnknown), CudaError::Kind::CallFailed);
}

TEST(CudaCall, Hook_makes_one_call_fail_without_executing_it)
{
  unsigned int executed = 0;
  const auto   call = [&executed] {
    ++executed;
    return cudaSuccess;
  };
  FaultHook::FailCall(2, cudaErrorUnknown);
  EXPECT_NO_THROW(ITK_CUDA_CALL(call()));
  EXPECT_FALSE(FaultHook::GetFired());
  EXPECT_THROW(ITK_CUDA_CALL(call()), CudaError);
  EXPECT_EQ(executed, 1u);
  EXPECT_TRUE(FaultHook::GetFired());
  EXPECT_EQ(FaultHook::GetCall(), "call()");
  EXPECT_EQ(ITK_CUDA_TRY(call()), cudaSuccess);
  EXPECT_EQ(ITK_CUDA_CALL_NOTHROW(call()), cudaSuccess);
  EXPECT_EQ(FaultHook::GetNumberOfCalls(), 3u) << "calls that must not throw are not counted";
  FaultHook::Clear();
  EXPECT_NO_THROW(ITK_CUDA_CALL(call()));
  EXPECT_EQ(FaultHook::GetNumberOfCalls(), 3u);
  FaultHook::FailCall(1, cudaErrorMemoryAllocation);
  EXPECT_EQ(ITK_CUDA_TRY(cudaSuccess), cudaErrorMemoryAllocation) << "calls that have an alternative can fail, too";
  FaultHook::Clear();
}

TEST_F(CudaRuntime, Device_that_does_not_exist_throws)
{
  EXPECT_THROW(GetDeviceProperties(1000), CudaError);
  EXPECT_THROW(RequireUsableDevice(-1), CudaError);
  EXPECT_THROW(StreamLease(1000), CudaError);
  EXPECT_THROW(DeviceGuard(1000), CudaError);
}

TEST_F(CudaRuntime, Streams_are_exclusive_and_used_again)
{
  cudaStream_t first = nullptr;
  {
    const StreamLease one(device);
    const StreamLease two(device);
    first = one.GetStream();
    EXPECT_NE(one.GetStream(), nullptr);
    EXPECT_NE(one.GetStream(), two.GetStream());
    EXPECT_EQ(one.GetDevice(), device);
  }
  const StreamLease again(device);
  const StreamLease other(device);
  EXPECT_TRUE(again.GetStream() == first || other.GetStream() == first);
}

TEST_F(CudaRuntime, Device_buffers_are_counted_and_moved)
{
  const StreamLease stream(device);
  DeviceBuffer      buffer(1000, stream);
  EXPECT_NE(buffer.GetPointer(), nullptr);
  EXPECT_EQ(buffer.GetSize(), 1000u);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 1000u);

  DeviceBuffer moved(std::move(buffer));
  EXPECT_EQ(buffer.GetPointer(), nullptr);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 1000u);

  DeviceBuffer other(500, stream);
  other = std::move(moved);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 1000u);
  other = DeviceBuffer();
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);

  const DeviceBuffer empty(0, stream);
  EXPECT_EQ(empty.GetPointer(), nullptr);
}

TEST_F(CudaRuntime, Memory_limit_is_honoured_and_named)
{
  const StreamLease stream(device);
  Configuration::SetDeviceMemoryLimit(10000);
  const DeviceBuffer first(6000, stream);
  EXPECT_LE(GetAvailableDeviceMemory(device), 4000u);
  try
  {
    const DeviceBuffer second(4001, stream);
    ADD_FAILURE() << "no exception above the limit";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
    EXPECT_NE(std::string(error.GetDescription()).find("asked: 4001 bytes, free: 4000 bytes, limit: 10000 bytes"),
              std::string::npos)
      << error.GetDescription();
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 6000u);
  EXPECT_NO_THROW(DeviceBuffer(4000, stream));
}

TEST_F(CudaRuntime, More_than_the_device_has_is_out_of_memory)
{
  const StreamLease stream(device);
  try
  {
    const DeviceBuffer buffer(2 * GetDeviceProperties(device).TotalMemory, stream);
    ADD_FAILURE() << "no exception";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
    EXPECT_NE(std::string(error.GetDescription()).find("limit: none"), std::string::npos) << error.GetDescription();
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  EXPECT_NO_THROW(DeviceBuffer(mebibyte, stream));
}

TEST_F(CudaRuntime, Released_device_memory_stays_available)
{
  const size_t before = GetAvailableDeviceMemory(device);
  {
    const StreamLease  stream(device);
    const DeviceBuffer buffer(64 * mebibyte, stream);
    EXPECT_LE(GetAvailableDeviceMemory(device), before - 64 * mebibyte + 2 * mebibyte);
  }
  // A quarter of the buffer is tolerance for other processes that use the device.
  EXPECT_GE(GetAvailableDeviceMemory(device) + 16 * mebibyte, before);
}

TEST_F(CudaRuntime, Pinned_chunks_are_counted_and_used_again)
{
  const DeviceGuard guard(device);
  void *            first = nullptr;
  {
    PinnedBuffer buffer = PinnedBuffer::Take();
    first = buffer.GetPointer();
    EXPECT_EQ(buffer.GetSize(), PinnedBuffer::ChunkSize);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), PinnedBuffer::ChunkSize);
    const PinnedBuffer moved(std::move(buffer));
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), PinnedBuffer::ChunkSize);
  }
  EXPECT_EQ(PinnedBuffer::Take().GetPointer(), first);
  EXPECT_GE(itk::cuda::GetMemoryUsage().PinnedCached, PinnedBuffer::ChunkSize);
  Configuration::ReleaseMemory();
  EXPECT_EQ(itk::cuda::GetMemoryUsage().PinnedCached, 0u);
}

TEST_F(CudaRuntime, Blocks_of_host_memory_make_room_for_pinned_chunks)
{
  using Pool = CudaDetail::CudaHostMemoryPool;
  const DeviceGuard guard(device);
  const size_t      limit = Configuration::GetHostCacheLimit();
  Configuration::ReleaseMemory();
  Configuration::SetHostCacheLimit(8 * mebibyte);
  void * const large = Pool::Allocate(6 * mebibyte);
  void * const small = Pool::Allocate(2 * mebibyte);
  EXPECT_TRUE(Pool::Release(large));
  EXPECT_TRUE(Pool::Release(small));
  EXPECT_EQ(Pool::GetBytesCached(), 8 * mebibyte);
  PinnedBuffer::Take();
  EXPECT_EQ(itk::cuda::GetMemoryUsage().PinnedCached, PinnedBuffer::ChunkSize);
  EXPECT_EQ(Pool::GetBytesCached(), 2 * mebibyte) << "the block that was released first goes";
  Configuration::SetHostCacheLimit(limit);
  Configuration::ReleaseMemory();
}

TEST_F(CudaRuntime, Staging_memory_stays_until_the_work_of_the_stream_is_done)
{
  const DeviceGuard guard(device);
  std::atomic<bool> used{ false };
  const auto        use = [](void * flag) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    *static_cast<std::atomic<bool> *>(flag) = true;
  };
  const StreamLease stream(device);
  {
    StagingMemory staging(stream);
    ASSERT_EQ(cudaLaunchHostFunc(stream.GetStream(), use, &used), cudaSuccess);
    staging.GetSlots().emplace_back().Memory = PinnedBuffer::Take();
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), PinnedBuffer::ChunkSize);
    staging.Synchronize();
    EXPECT_TRUE(used);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);

    used = false;
    ASSERT_EQ(cudaLaunchHostFunc(stream.GetStream(), use, &used), cudaSuccess);
    staging.GetSlots().emplace_back().Memory = PinnedBuffer::Take();
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), PinnedBuffer::ChunkSize);
  }
  EXPECT_TRUE(used);
  EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);
}

TEST_F(CudaRuntime, Rows_of_a_device_image_are_aligned_and_padding_is_zero)
{
  StreamLease       stream(device);
  const DeviceImage image({ { 5, 4, 3, 2, 2 } }, CudaComponentType::Float, stream);
  const DeviceView  view = image.GetView();
  EXPECT_EQ(view.Stride, (DeviceView::SizeType{ { 1, 8, 32, 96, 192 } }));
  EXPECT_EQ(DeviceImage::GetNumberOfBytes(view.Size, CudaComponentType::Float), 384u * sizeof(float));
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 384u * sizeof(float));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.Data) % 256, 0u);

  // Download a view that includes the padding as pixels
  HostImage<float> input({ 5, 4, 3, 2 }, 2);
  FillRandomly(input.Pixels);
  UploadQuietly(input.View, view, stream);
  DeviceView padded = view;
  padded.Size = { { 8, 4, 3, 2, 1 } };
  HostImage<float> output({ 8, 4, 3, 2 }, 1);
  for (size_t component = 0; component < 2; ++component)
  {
    std::fill(output.Pixels.begin(), output.Pixels.end(), -1.0f);
    padded.Data = static_cast<float *>(view.Data) + component * view.Stride[4];
    DownloadQuietly(padded, output.View, stream);
    for (size_t t = 0; t < 2; ++t)
      for (size_t z = 0; z < 3; ++z)
        for (size_t y = 0; y < 4; ++y)
          for (size_t x = 0; x < 8; ++x)
          {
            const float expected = x < 5 ? input.At(x, y, z, t, component) : 0.0f;
            ASSERT_EQ(output.At(x, y, z, t, 0), expected)
              << "at " << x << ' ' << y << ' ' << z << ' ' << t << ", component " << component;
          }
  }
}

namespace
{
struct EverythingKept
{
  StreamLease  Stream{ device };
  DeviceGuard  Guard{ device };
  DeviceBuffer Buffer{ 1000, Stream };
  PinnedBuffer Chunk{ PinnedBuffer::Take() };
  Event        Point;
};
} // namespace

TEST(CudaRuntimeDeathTest, Process_exits_with_device_memory_in_static_storage)
{
  std::string reason;
  if (!Configuration::IsDeviceUsable(device, reason))
  {
    GTEST_SKIP() << reason;
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
    {
      static EverythingKept kept;
      kept.Point.Record(kept.Stream);
      std::exit(0);
    },
    testing::ExitedWithCode(0),
    "");
}

TEST(CudaKernelTimeout, Tests_can_pretend_it_without_a_device)
{
  for (const int value : { 0, 1 })
  {
    SetKernelTimeoutForTests(value);
    EXPECT_EQ(HasKernelTimeout(device), value == 1);
    EXPECT_EQ(HasKernelTimeout(1000), value == 1);
  }
  SetKernelTimeoutForTests(-1);
  EXPECT_THROW(HasKernelTimeout(1000), CudaError);
}

TEST_F(CudaRuntime, Kernel_timeout_is_that_of_the_device)
{
  int expected = 0;
  ITK_CUDA_CALL(cudaDeviceGetAttribute(&expected, cudaDevAttrKernelExecTimeout, device));
  EXPECT_EQ(HasKernelTimeout(device), expected != 0);
  EXPECT_EQ(GetDeviceProperties(device).KernelExecTimeout, expected != 0);
}

namespace
{
/** Searches for devices in a new process and makes the query of the first device's properties fail. Ends the process,
 * successfully if this device is listed with the reason and the others are not affected. */
[[noreturn]] void
ExitAfterFailureToReadTheFirstDevice()
{
  FaultHook::FailCall(3, cudaErrorUnknown); // the calls before query the driver's version and the number of devices
  const std::vector<CudaDeviceInformation> devices = Configuration::GetDevices();
  FaultHook::Clear();
  bool isRight = devices.empty() != FaultHook::GetFired();
  for (const CudaDeviceInformation & found : devices)
  {
    std::string reason;
    const bool  isUsable = Configuration::IsDeviceUsable(found.Index, reason);
    const bool  isUnread = reason.find("the properties of device 0 cannot be read: cudaErrorUnknown") == 0;
    const bool  isConsistent = !isUnread || (!isUsable && !found.Usable && found.Reason == reason);
    isRight = isRight && isConsistent && isUnread == (found.Index == 0);
    std::cerr << found.Index << ", " << found.Name << ": " << (isUsable ? "usable" : reason) << std::endl;
  }
  std::cerr << devices.size() << " devices; the call that failed: " << FaultHook::GetCall() << std::endl;
  std::exit(isRight ? 0 : 1);
}
} // namespace

TEST(CudaRuntimeDeathTest, Device_that_cannot_be_read_leaves_the_others_usable)
{
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(ExitAfterFailureToReadTheFirstDevice(), testing::ExitedWithCode(0), "devices; the call that failed");
  if (Configuration::GetDevices().empty())
  {
    GTEST_SKIP() << "no device";
  }
}

// Points in the work of streams. The handles of CUDA serve one Event after another, also while work still waits for
// what was recorded first.
namespace
{
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
  HeldStream        held(first);
  {
    Event point;
    point.Record(first);
    point.MakeWait(waiting);
  }
  Event next; // reuses the handle of the previous event
  next.Record(other);
  next.Synchronize(); // nothing blocks this stream
  EXPECT_FALSE(IsDone(waiting));
  held.LetGo();
  waiting.Synchronize();
  EXPECT_TRUE(IsDone(first));
}

TEST_F(CudaEventGpu, An_event_that_was_not_recorded_is_not_waited_for)
{
  const DeviceGuard guard(device);
  const StreamLease first(device), other(device);
  HeldStream        held(first);
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

namespace
{
class CudaLaunchGpu : public DeviceTest
{};

/** A call that is made to fail is not executed, so the test needs no kernel. */
constexpr void (*noKernel)(int) = nullptr;
} // namespace

TEST_F(CudaLaunchGpu, Shared_memory_that_was_not_granted_is_asked_for_again)
{
  SharedMemoryOptIn grant;
  for (unsigned int attempt = 0; attempt < 3; ++attempt)
  {
    FaultHook::FailCall(1, cudaErrorUnknown);
    EXPECT_THROW(grant.Raise(noKernel, device), CudaError);
    FaultHook::Clear();
    EXPECT_TRUE(FaultHook::GetFired()) << "attempt " << attempt;
  }
}

TEST(CudaLaunch, Grids_have_as_many_blocks_as_launches_may_have)
{
  EXPECT_EQ(MakeGrid(1).x, 1u);
  EXPECT_EQ(MakeGrid(MaximumGridSize).x, 2147483647u);
  EXPECT_EQ(MakeGrid(5).y * MakeGrid(5).z, 1u);
  for (const size_t blocks : { MaximumGridSize + 1, size_t{ 1 } << 32, (size_t{ 1 } << 32) + 5 })
  {
    try
    {
      MakeGrid(blocks);
      ADD_FAILURE() << blocks;
    }
    catch (const CudaError & error)
    {
      const std::string text = error.GetDescription();
      EXPECT_NE(text.find(std::to_string(blocks)), std::string::npos) << text;
      EXPECT_NE(text.find("2147483647"), std::string::npos) << text;
    }
  }
}
