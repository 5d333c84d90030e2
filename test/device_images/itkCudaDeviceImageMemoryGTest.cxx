// SPDX-License-Identifier: Apache-2.0

// Shared device memory: who waits for whom, when it goes back, and that a chain of one thread costs no event. Images in
// it: memory that they take, share and give back, and memory of others.

#include "itkCudaDeviceImage.h"
#include "runtime/device/Device.h"
#include "itkCudaError.h"
#include "support/itkCudaHeldStream.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "runtime/device/Stream.h"
#include "itkImage.h"
#include "itkVector.h"

#include <atomic>
#include <memory>
#include <thread>

namespace
{
using itk::CudaDeviceImageMemory;
using itk::CudaError;
using itk::cuda::Context;
using itk::cuda::DeviceGuard;
using itk::cuda::FaultHook;
using itk::cuda::GetThreadContext;
using itk::cuda::StreamLease;
using namespace itk::cuda::test;

using StreamType = CudaDeviceImageMemory::StreamType;
using Bytes = std::vector<unsigned char>;

constexpr size_t size = 4 * mebibyte;

StreamType
GetHandle(const Context & context)
{
  return reinterpret_cast<StreamType>(context.GetStream());
}

void
Fill(const CudaDeviceImageMemory & memory, int value, const Context & context)
{
  ITK_CUDA_CALL(cudaMemsetAsync(memory.GetPointer(), value, memory.GetSize(), context.GetStream()));
}

void
Write(CudaDeviceImageMemory & memory, int value, const Context & context)
{
  memory.WaitToWrite(GetHandle(context));
  Fill(memory, value, context);
  memory.MarkWritten(GetHandle(context));
}

/** A copy of memory, in memory of its own that nobody else sees. It is made before a stream is held, because CUDA may
 * wait for the device where it allocates. */
class Copy
{
public:
  Copy() { ITK_CUDA_CALL(cudaMalloc(&m_Data, size)); }
  ~Copy() { cudaFree(m_Data); }

  Copy(const Copy &) = delete;
  Copy &
  operator=(const Copy &) = delete;

  /** Queues the copy. */
  void
  Take(const CudaDeviceImageMemory & memory, const Context & context)
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(m_Data, memory.GetPointer(), size, cudaMemcpyDeviceToDevice, context.GetStream()));
  }

  /** Queues the copy in the order that the memory keeps. */
  void
  Read(const CudaDeviceImageMemory & memory, const Context & context)
  {
    memory.Wait(GetHandle(context));
    this->Take(memory, context);
    memory.MarkRead(GetHandle(context));
  }

  /** Waits for the device. */
  Bytes
  Get() const
  {
    Bytes bytes(size);
    ITK_CUDA_CALL(cudaDeviceSynchronize());
    ITK_CUDA_CALL(cudaMemcpy(bytes.data(), m_Data, size, cudaMemcpyDeviceToHost));
    return bytes;
  }

private:
  void * m_Data{ nullptr };
};

void
ExpectAll(const Bytes & bytes, unsigned char value)
{
  EXPECT_EQ(bytes, Bytes(bytes.size(), value));
}

class CudaDeviceImageMemoryGpu : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    DeviceTest::SetUp();
    if (!this->IsSkipped())
    {
      m_Guard = std::make_unique<DeviceGuard>(device);
      Fill(*CudaDeviceImageMemory::Allocate(size, device), 0, GetThreadContext(device)); // what the pool hands out next
      ITK_CUDA_CALL(cudaDeviceSynchronize());
    }
  }

private:
  std::unique_ptr<DeviceGuard> m_Guard;
};

using ImageType = itk::CudaDeviceImage<float, 3>;
using VectorsType = itk::CudaDeviceImage<itk::Vector<short, 2>, 2>;

template <typename TImage>
Bytes
GetBytes(const TImage * image)
{
  image->Synchronize();
  const auto & memory = *image->GetDeviceView().Memory;
  Bytes        bytes(memory.GetSize());
  ITK_CUDA_CALL(cudaMemcpy(bytes.data(), memory.GetPointer(), bytes.size(), cudaMemcpyDeviceToHost));
  return bytes;
}

ImageType::Pointer
MakeImage(bool initialize = false)
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 13, 7, 5 } });
  image->SetDeviceIndex(device);
  image->Allocate(initialize);
  return image;
}

constexpr size_t imageBytes = size_t{ 16 } * 4 * 7 * 5; // rows of 13 floats take 64 bytes

class CudaDeviceImageGpu : public CudaDeviceImageMemoryGpu
{
protected:
  /** Fills what the next image gets with bits that are NaN in any floating-point type. */
  void
  SetUp() override
  {
    CudaDeviceImageMemoryGpu::SetUp();
    if (!this->IsSkipped())
    {
      Fill(*MakeImage()->GetDeviceView().Memory, 0xff, GetThreadContext(device));
    }
  }
};
} // namespace

TEST_F(CudaDeviceImageMemoryGpu, Thread_keeps_its_stream_and_hands_it_on)
{
  const cudaStream_t stream = GetThreadContext(device).GetStream();
  EXPECT_EQ(GetThreadContext(device).GetStream(), stream);
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  std::thread([&first] { first = GetThreadContext(device).GetStream(); }).join();
  std::thread([&second] { second = GetThreadContext(device).GetStream(); }).join();
  EXPECT_NE(first, stream);
  EXPECT_EQ(first, second) << "streams of ended threads are used again";
}

TEST_F(CudaDeviceImageMemoryGpu, Chain_of_one_thread_makes_no_call)
{
  const StreamType home = GetHandle(GetThreadContext(device));
  const auto       memory = CudaDeviceImageMemory::Allocate(size, device);
  FaultHook::FailCall(0, cudaSuccess);
  memory->WaitToWrite(home);
  memory->MarkWritten(home);
  memory->Wait(home);
  memory->MarkRead(home);
  EXPECT_EQ(FaultHook::GetNumberOfCalls(), 0u);
}

TEST_F(CudaDeviceImageMemoryGpu, Warm_allocation_makes_one_call_beside_the_guard)
{
  CudaDeviceImageMemory::Allocate(size, device);
  FaultHook::FailCall(0, cudaSuccess);
  const auto memory = CudaDeviceImageMemory::Allocate(size, device);
  EXPECT_LE(FaultHook::GetNumberOfCalls(), 2u) << "the current device and the allocation: no question about memory";
}

TEST_F(CudaDeviceImageMemoryGpu, Reader_on_another_stream_comes_after_the_write)
{
  Copy              early;
  Copy              right;
  const Context     home = GetThreadContext(device);
  const StreamLease other(device);
  const auto        memory = CudaDeviceImageMemory::Allocate(size, device);
  Fill(*memory, 0x11, home);
  ITK_CUDA_CALL(cudaDeviceSynchronize());

  HeldStream held(home);
  Write(*memory, 0x22, home);
  early.Take(*memory, other); // the control: without order the reader is too early
  ITK_CUDA_CALL(cudaStreamSynchronize(other.GetStream()));
  right.Read(*memory, other);
  held.LetGo();
  ExpectAll(early.Get(), 0x11);
  ExpectAll(right.Get(), 0x22);
}

TEST_F(CudaDeviceImageMemoryGpu, Writer_on_another_stream_is_waited_for)
{
  Copy              atHome;
  Copy              elsewhere;
  const Context     home = GetThreadContext(device);
  const StreamLease other(device);
  const StreamLease third(device);
  const auto        memory = CudaDeviceImageMemory::Allocate(size, device);
  HeldStream        held(other);
  Write(*memory, 0x33, other);
  memory->Wait(GetHandle(home));
  atHome.Take(*memory, home);
  elsewhere.Read(*memory, third);
  held.LetGo();
  memory->Synchronize();
  ExpectAll(atHome.Get(), 0x33);
  ExpectAll(elsewhere.Get(), 0x33);
}

TEST_F(CudaDeviceImageMemoryGpu, Writer_comes_after_readers_on_other_streams)
{
  Copy              after;
  Copy              copy;
  const Context     home = GetThreadContext(device);
  const StreamLease other(device);
  const StreamLease third(device);
  const auto        memory = CudaDeviceImageMemory::Allocate(size, device);
  Write(*memory, 0x44, home);
  memory->Wait(GetHandle(other));
  HeldStream held(other);
  copy.Take(*memory, other);
  memory->MarkRead(GetHandle(other));
  Write(*memory, 0x55, third);
  held.LetGo();
  memory->Synchronize();
  ExpectAll(copy.Get(), 0x44);
  memory->Wait(GetHandle(home));
  after.Take(*memory, home);
  ExpectAll(after.Get(), 0x55);
}

TEST_F(CudaDeviceImageMemoryGpu, Writer_elsewhere_comes_after_reads_at_home)
{
  Copy              copy;
  const Context     home = GetThreadContext(device);
  const StreamLease other(device);
  const StreamLease third(device);
  const auto        memory = CudaDeviceImageMemory::Allocate(size, device);
  Write(*memory, 0x66, other);
  memory->Wait(GetHandle(home));
  HeldStream held(home);
  copy.Take(*memory, home);
  memory->MarkRead(GetHandle(home));
  Write(*memory, 0x77, third);
  held.LetGo();
  ExpectAll(copy.Get(), 0x66);
}

TEST_F(CudaDeviceImageMemoryGpu, Memory_is_freed_after_readers_on_other_streams)
{
  Copy              copy;
  const Context     home = GetThreadContext(device);
  const StreamLease other(device);
  auto              memory = CudaDeviceImageMemory::Allocate(size, device);
  Write(*memory, 0x12, home);
  memory->Wait(GetHandle(other));
  HeldStream held(other);
  copy.Take(*memory, other);
  memory->MarkRead(GetHandle(other));
  memory.reset();
  const auto next = CudaDeviceImageMemory::Allocate(size, device); // the same block, from the same stream
  Fill(*next, 0xff, home);
  held.LetGo();
  ExpectAll(copy.Get(), 0x12);
}

TEST_F(CudaDeviceImageMemoryGpu, Memory_may_be_dropped_by_another_thread)
{
  Copy          copy;
  const Context home = GetThreadContext(device);
  auto          memory = CudaDeviceImageMemory::Allocate(size, device);
  HeldStream    held(home);
  Fill(*memory, 0x13, home);
  copy.Take(*memory, home);
  std::thread([&memory] { memory.reset(); }).join();
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  held.LetGo();
  ExpectAll(copy.Get(), 0x13);
}

TEST_F(CudaDeviceImageMemoryGpu, Adopted_memory_is_released_once_after_the_work_on_it)
{
  Copy              copy;
  const StreamLease other(device);
  void *            data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, size));
  std::atomic<int> releases{ 0 };
  auto             memory = CudaDeviceImageMemory::Adopt(data, size, device, [&releases] { ++releases; });
  EXPECT_FALSE(memory->IsPrivate());
  EXPECT_EQ(memory->GetPointer(), data);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u) << "it is not the module's";
  HeldStream held(other);
  Write(*memory, 0x14, other);
  copy.Take(*memory, other);
  memory->MarkRead(GetHandle(other));
  auto second = memory;
  memory.reset();
  EXPECT_EQ(releases, 0) << "somebody still holds it";
  held.LetGo();
  ExpectAll(copy.Get(), 0x14);
  second.reset();
  EXPECT_EQ(releases, 1);
  ITK_CUDA_CALL(cudaFree(data));
}

TEST_F(CudaDeviceImageMemoryGpu, Release_of_adopted_memory_waits_for_readers)
{
  Copy              copy;
  const StreamLease other(device);
  void *            data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, size));
  std::atomic<int> releases{ 0 };
  auto             memory = CudaDeviceImageMemory::Adopt(data, size, device, [&releases] { ++releases; });
  HeldStream       held(other);
  copy.Take(*memory, other);
  memory->MarkRead(GetHandle(other));
  std::thread last([&memory] { memory.reset(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(releases, 0) << "the reader is held back";
  held.LetGo();
  last.join();
  EXPECT_EQ(releases, 1);
  ITK_CUDA_CALL(cudaDeviceSynchronize());
  ITK_CUDA_CALL(cudaFree(data));
}

TEST_F(CudaDeviceImageMemoryGpu, Adopted_memory_is_read_after_the_work_of_the_default_stream)
{
  const StreamLease other(device);
  void *            data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, size));
  ITK_CUDA_CALL(cudaMemset(data, 0, size));
  auto       memory = CudaDeviceImageMemory::Adopt(data, size, device, {});
  HeldStream held(Context(device, cudaStreamLegacy));
  Fill(*memory, 0x15, Context(device, cudaStreamLegacy));
  memory->Wait(GetHandle(other));
  Bytes  bytes(size);
  void * pinned = nullptr;
  held.LetGo();
  ITK_CUDA_CALL(cudaMallocHost(&pinned, size));
  ITK_CUDA_CALL(cudaMemcpyAsync(pinned, data, size, cudaMemcpyDeviceToHost, other.GetStream()));
  other.Synchronize();
  std::memcpy(bytes.data(), pinned, size);
  memory.reset();
  ITK_CUDA_CALL(cudaFreeHost(pinned));
  ITK_CUDA_CALL(cudaFree(data));
  ExpectAll(bytes, 0x15);
}

TEST_F(CudaDeviceImageMemoryGpu, Null_cannot_be_adopted)
{
  EXPECT_THROW(CudaDeviceImageMemory::Adopt(nullptr, 1, device, {}), itk::ExceptionObject);
  EXPECT_NO_THROW(CudaDeviceImageMemory::Adopt(nullptr, 0, device, {}));
}

TEST_F(CudaDeviceImageMemoryGpu, Published_memory_is_freed_after_streams_that_nobody_knows)
{
  cudaStream_t foreign = nullptr;
  ITK_CUDA_CALL(cudaStreamCreateWithFlags(&foreign, cudaStreamNonBlocking));
  const Context context(device, foreign);
  const Context home = GetThreadContext(device);
  auto          memory = CudaDeviceImageMemory::Allocate(size, device);
  Write(*memory, 0x16, home);
  memory->Publish(GetHandle(context));
  EXPECT_FALSE(memory->IsPrivate());
  Copy copy;
  {
    HeldStream held(context);
    copy.Take(*memory, context);
    std::thread last([&memory] { memory.reset(); }); // waits for the device
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held.LetGo();
    last.join();
  }
  Fill(*CudaDeviceImageMemory::Allocate(size, device), 0xff, home);
  ExpectAll(copy.Get(), 0x16);
  ITK_CUDA_CALL(cudaStreamDestroy(foreign));
}

TEST_F(CudaDeviceImageMemoryGpu, Failure_of_an_event_leaves_the_order_right)
{
  Copy              copy;
  const Context     home = GetThreadContext(device);
  const StreamLease other(device);
  auto              memory = CudaDeviceImageMemory::Allocate(size, device);
  Write(*memory, 0x17, home);
  memory->Wait(GetHandle(other));
  copy.Take(*memory, other);
  FaultHook::FailCall(1, cudaErrorUnknown); // that makes the event
  memory->MarkRead(GetHandle(other));
  FaultHook::Clear();
  EXPECT_TRUE(FaultHook::GetFired());
  memory.reset();
  Fill(*CudaDeviceImageMemory::Allocate(size, device), 0xff, home);
  ExpectAll(copy.Get(), 0x17);
}

TEST_F(CudaDeviceImageMemoryGpu, Threads_hand_memory_to_each_other)
{
  constexpr unsigned int   numberOfThreads = 8;
  constexpr unsigned int   turns = 200;
  std::atomic<bool>        failed{ false };
  std::vector<std::thread> threads;
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    threads.emplace_back([index, &failed] {
      const DeviceGuard guard(device);
      for (unsigned int turn = 0; turn < turns; ++turn)
      {
        const auto value = static_cast<unsigned char>(1 + index + turn);
        auto       memory = CudaDeviceImageMemory::Allocate(mebibyte / 4, device);
        const auto home = GetThreadContext(device);
        Fill(*memory, value, home);
        memory->MarkWritten(GetHandle(home));
        std::thread([&memory, &failed, value] {
          const Context reader = GetThreadContext(device);
          memory->Wait(GetHandle(reader));
          Bytes bytes(memory->GetSize());
          ITK_CUDA_CALL(cudaMemcpyAsync(
            bytes.data(), memory->GetPointer(), bytes.size(), cudaMemcpyDeviceToHost, reader.GetStream()));
          memory->MarkRead(GetHandle(reader));
          memory.reset();
          ITK_CUDA_CALL(cudaStreamSynchronize(reader.GetStream()));
          if (bytes != Bytes(bytes.size(), value))
          {
            failed = true;
          }
        }).join();
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_FALSE(failed);
}

TEST_F(CudaDeviceImageGpu, Rows_begin_at_multiples_of_sixteen_bytes_and_padding_is_zero)
{
  const auto   image = MakeImage();
  const auto & view = image->GetDeviceView();
  EXPECT_EQ(view.Stride[1], 16u);
  EXPECT_EQ(view.Memory->GetSize(), imageBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.GetPointer()) % 256, 0u);
  EXPECT_EQ(image->GetDeviceIndex(), device);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), imageBytes);
  // Nobody may read elements before they are written.
  ITK_CUDA_CALL(
    cudaMemset2DAsync(view.GetPointer(), 64, 0xff, 52, size_t{ 7 } * 5, GetThreadContext(device).GetStream()));
  const Bytes bytes = GetBytes(image.GetPointer());
  size_t      wrong = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
  {
    wrong += i % 64 >= 52 && bytes[i] != 0 ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CudaDeviceImageGpu, Initialised_pixels_are_zero)
{
  EXPECT_EQ(GetBytes(MakeImage(true).GetPointer()), Bytes(imageBytes, 0));
}

TEST_F(CudaDeviceImageGpu, Vectors_are_planar)
{
  const auto image = VectorsType::New();
  image->SetRegions(VectorsType::SizeType{ { 5, 3 } });
  image->SetDeviceIndex(device);
  image->Allocate();
  EXPECT_EQ(image->GetDeviceView().Size, (std::array<size_t, 5>{ { 5, 3, 1, 1, 2 } }));
  EXPECT_EQ(image->GetDeviceView().Stride, (std::array<size_t, 5>{ { 1, 8, 24, 24, 24 } }));
}

TEST_F(CudaDeviceImageGpu, Image_without_pixels_takes_no_memory)
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 0, 7, 5 } });
  image->SetDeviceIndex(device);
  image->Allocate(true);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  image->Synchronize();
}

TEST_F(CudaDeviceImageGpu, Memory_goes_back_with_the_last_image)
{
  auto first = MakeImage();
  auto second = ImageType::New();
  second->Graft(first);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), imageBytes);
  first = nullptr;
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), imageBytes);
  second->ReleaseData();
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceImageGpu, Second_allocation_drops_the_first_one_before)
{
  const auto image = MakeImage();
  Configuration::SetDeviceMemoryLimit(imageBytes);
  EXPECT_NO_THROW(image->Allocate());
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), imageBytes);
}

TEST_F(CudaDeviceImageGpu, Allocation_that_fails_leaves_no_memory_and_can_be_repeated)
{
  const auto image = MakeImage();
  for (unsigned long call = 1;; ++call)
  {
    FaultHook::FailCall(call, cudaErrorUnknown);
    bool failed = false;
    try
    {
      image->Allocate(true);
    }
    catch (const itk::CudaError &)
    {
      failed = true;
    }
    FaultHook::Clear();
    EXPECT_EQ(failed, FaultHook::GetFired());
    EXPECT_EQ(image->IsAllocated(), !failed);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), failed ? 0u : imageBytes);
    if (!failed)
    {
      EXPECT_GT(call, 2u) << "an allocation and a fill";
      break;
    }
  }
}

TEST_F(CudaDeviceImageGpu, Limit_of_memory_is_an_exception)
{
  Configuration::SetDeviceMemoryLimit(imageBytes - 1);
  try
  {
    MakeImage();
    ADD_FAILURE() << "no exception";
  }
  catch (const itk::CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), itk::CudaError::Kind::OutOfMemory);
  }
}

TEST_F(CudaDeviceImageGpu, Pointer_of_somebody_else_is_shared_and_its_owner_kept)
{
  constexpr size_t number = 4 * 3 * 2;
  float *          data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, number * sizeof(float)));
  std::vector<float> pixels(number);
  for (size_t i = 0; i < number; ++i)
  {
    pixels[i] = static_cast<float>(i);
  }
  ITK_CUDA_CALL(cudaMemcpy(data, pixels.data(), number * sizeof(float), cudaMemcpyHostToDevice));
  ITK_CUDA_CALL(cudaDeviceSynchronize()); // the copy may be under way when it returns

  const auto geometry = itk::Image<short, 3>::New();
  geometry->SetRegions(ImageType::SizeType{ { 10, 10, 10 } });
  const double spacing[] = { 0.5, 2.0, 3.0 };
  geometry->SetSpacing(spacing);
  const ImageType::RegionType region({ { 1, 2, 3 } }, { { 4, 3, 2 } });
  auto                        owner = std::make_shared<int>(0);
  auto image = itk::CudaDeviceImageFromPointer<ImageType>(data, region, geometry.GetPointer(), owner, device);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(image->GetBufferedRegion(), region);
  EXPECT_EQ(image->GetLargestPossibleRegion(), geometry->GetLargestPossibleRegion());
  EXPECT_EQ(image->GetSpacing(), geometry->GetSpacing());
  EXPECT_EQ(image->GetDeviceView().GetPointer(), data);
  EXPECT_FALSE(image->GetDeviceView().Memory->IsPrivate());
  EXPECT_EQ(image->GetDeviceView(ImageType::RegionType({ { 2, 3, 4 } }, { { 1, 1, 1 } })).GetPointer(), data + 17);
  const Bytes bytes = GetBytes(image.GetPointer());
  EXPECT_EQ(std::memcmp(bytes.data(), pixels.data(), bytes.size()), 0);
  image = nullptr;
  EXPECT_EQ(owner.use_count(), 1);
  ITK_CUDA_CALL(cudaFree(data));
}
