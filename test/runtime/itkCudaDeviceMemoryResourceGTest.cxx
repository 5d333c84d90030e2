// SPDX-License-Identifier: Apache-2.0
// Device memory from functions of the program: all of it, back to where it came from, and what happens if there is
// none.
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/MemoryQuery.h"
#include "runtime/device/Device.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaRunInThreads.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace
{
using namespace itk;
using namespace itk::cuda;
using namespace itk::cuda::test;

using ImageType = Image<float, 3>;
using FilterType = CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;

/** Allocates memory from CUDA and verifies that every pointer is released exactly once, with the arguments of its
 * allocation. */
class CountingResource
{
public:
  enum class Failure
  {
    None,
    Null,
    Exception,
    Misaligned
  };

  void
  Install()
  {
    Configuration::SetDeviceMemoryResource(Allocate, Release, this);
  }

  // Larger allocations fail in the way that is set.
  std::atomic<size_t>  LargestSize{ std::numeric_limits<size_t>::max() };
  std::atomic<Failure> How{ Failure::Null };

  size_t
  GetNumberOfAllocations()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_NumberOfAllocations;
  }

  size_t
  GetBytesInUse()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    size_t                            bytes = 0;
    for (const auto & [pointer, block] : m_Blocks)
    {
      bytes += block.Bytes;
    }
    return bytes;
  }

  /** Returns the first error, or an empty string. */
  std::string
  GetError()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_Error;
  }

private:
  struct Block
  {
    size_t Bytes;
    int    Device;
    void * Stream;
    size_t Offset; // of the pointer that was returned
  };

  static void *
  Allocate(size_t bytes, int deviceIndex, void * stream, void * context)
  {
    auto &     self = *static_cast<CountingResource *>(context);
    const bool fails = bytes > self.LargestSize;
    if (fails && self.How == Failure::Null)
    {
      return nullptr;
    }
    if (fails && self.How == Failure::Exception)
    {
      throw std::runtime_error("the program's memory has run out");
    }
    const size_t offset = fails && self.How == Failure::Misaligned ? 128 : 0;
    int          current = -1;
    void *       pointer = nullptr;
    bool         isRight = cudaGetDevice(&current) == cudaSuccess && current == deviceIndex;
    isRight = cudaMallocAsync(&pointer, bytes + offset, static_cast<cudaStream_t>(stream)) == cudaSuccess && isRight;

    const std::lock_guard<std::mutex> lock(self.m_Mutex);
    self.Note(isRight, "allocation");
    ++self.m_NumberOfAllocations;
    pointer = static_cast<char *>(pointer) + offset;
    self.m_Blocks[pointer] = { bytes, deviceIndex, stream, offset };
    return pointer;
  }

  static void
  Release(void * pointer, size_t bytes, int deviceIndex, void * stream, void * context)
  {
    auto &                            self = *static_cast<CountingResource *>(context);
    const std::lock_guard<std::mutex> lock(self.m_Mutex);
    const auto                        found = self.m_Blocks.find(pointer);
    const bool                        isOwn = found != self.m_Blocks.end() && found->second.Bytes == bytes &&
                       found->second.Device == deviceIndex && found->second.Stream == stream;
    self.Note(isOwn, "release of what was not given");
    if (isOwn)
    {
      char * const start = static_cast<char *>(pointer) - found->second.Offset;
      self.Note(cudaFreeAsync(start, static_cast<cudaStream_t>(stream)) == cudaSuccess, "release");
      self.m_Blocks.erase(found);
    }
  }

  void
  Note(bool isRight, const char * what)
  {
    m_Error = isRight || !m_Error.empty() ? m_Error : what;
  }

  std::mutex              m_Mutex;
  std::map<void *, Block> m_Blocks;
  size_t                  m_NumberOfAllocations{ 0 };
  std::string             m_Error;
};

class CudaDeviceMemoryResourceGpu : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    DeviceTest::SetUp();
    if (!IsSkipped() && !GetDeviceProperties(device).MemoryPoolsSupported)
    {
      GTEST_SKIP() << "the resource of these tests uses cudaMallocAsync";
    }
  }

  void
  TearDown() override
  {
    Configuration::SetDeviceMemoryResource(nullptr, nullptr);
    DeviceTest::TearDown();
    EXPECT_EQ(Resource.GetBytesInUse(), 0u);
    EXPECT_EQ(Resource.GetError(), "");
  }

  CountingResource Resource;
};

ImageType::Pointer
MakeImage()
{
  auto                image = ImageType::New();
  ImageType::SizeType size = { { 61, 47, 33 } };
  image->SetRegions(size);
  image->Allocate();
  std::vector<float> values(image->GetPixelContainer()->Size());
  FillRandomly(values);
  std::copy(values.begin(), values.end(), image->GetBufferPointer());
  return image;
}

FilterType::Pointer
MakeFilter(CudaFiltersEnums::Backend backend)
{
  auto filter = FilterType::New();
  filter->SetInput(MakeImage());
  filter->SetSigma(2.5);
  filter->SetBackend(backend);
  return filter;
}

std::vector<float>
GetPixels(FilterType * filter)
{
  const float * const begin = filter->GetOutput()->GetBufferPointer();
  return std::vector<float>(begin, begin + filter->GetOutput()->GetPixelContainer()->Size());
}
} // namespace

TEST_F(CudaDeviceMemoryResourceGpu, Buffers_come_from_it_and_go_back)
{
  Resource.Install();
  const StreamLease stream(device);
  {
    const DeviceBuffer first(1000, stream);
    DeviceBuffer       second(1, stream);
    EXPECT_EQ(Resource.GetNumberOfAllocations(), 2u);
    EXPECT_EQ(Resource.GetBytesInUse(), 1001u);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 1001u);
    const DeviceBuffer moved(std::move(second));
    EXPECT_EQ(Resource.GetBytesInUse(), 1001u);
    const DeviceBuffer empty(0, stream);
    EXPECT_EQ(Resource.GetNumberOfAllocations(), 2u);
  }
  EXPECT_EQ(Resource.GetBytesInUse(), 0u);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceMemoryResourceGpu, Runs_of_a_filter_take_all_from_it_and_give_the_same_bits)
{
  const auto pooled = MakeFilter(CudaFiltersEnums::Backend::Cuda);
  pooled->Update();
  Resource.Install();
  const auto filter = MakeFilter(CudaFiltersEnums::Backend::Cuda);
  size_t     inUse = 0;
  size_t     counted = 0;
  filter->AddObserver(ProgressEvent(), [&](const EventObject &) {
    inUse = std::max(inUse, Resource.GetBytesInUse());
    counted = std::max(counted, Configuration::GetDeviceBytesInUse());
  });
  filter->Update();
  EXPECT_GT(Resource.GetNumberOfAllocations(), 0u);
  EXPECT_EQ(Resource.GetBytesInUse(), 0u);
  EXPECT_GT(inUse, 0u);
  EXPECT_EQ(inUse, counted) << "bytes that came from elsewhere";
  ExpectSamePixels(GetPixels(filter), GetPixels(pooled), "with memory of the program");
}

TEST_F(CudaDeviceMemoryResourceGpu, Where_it_has_no_memory_Automatic_runs_on_the_host_and_Cuda_throws_and_can_run_again)
{
  const auto host = MakeFilter(CudaFiltersEnums::Backend::Host);
  host->Update();
  const auto filter = MakeFilter(CudaFiltersEnums::Backend::Cuda);
  Resource.Install();
  for (const auto how : { CountingResource::Failure::Null, CountingResource::Failure::Exception })
  {
    Resource.How = how;
    Resource.LargestSize = 1000;
    const auto automatic = MakeFilter(CudaFiltersEnums::Backend::Automatic);
    automatic->Update();
    EXPECT_EQ(automatic->GetBackendUsed(), CudaFiltersEnums::Backend::Host);
    ExpectContains(automatic->GetBackendReason(), "SetDeviceMemoryResource");
    ExpectSamePixels(GetPixels(automatic), GetPixels(host), "on the host");
    try
    {
      filter->Update();
      ADD_FAILURE() << "no exception";
    }
    catch (const CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
      ExpectContains(error.GetDescription(), " bytes on device 0");
      ExpectContains(error.GetDescription(),
                     how == CountingResource::Failure::Null ? "returned nullptr" : "the program's memory has run out");
    }
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
    EXPECT_EQ(Resource.GetBytesInUse(), 0u);
    Resource.LargestSize = std::numeric_limits<size_t>::max();
    EXPECT_NO_THROW(filter->Update());
    filter->Modified();
  }
}

TEST_F(CudaDeviceMemoryResourceGpu, Pointers_that_are_not_aligned_are_refused_and_given_back)
{
  Resource.Install();
  Resource.How = CountingResource::Failure::Misaligned;
  Resource.LargestSize = 0;
  const StreamLease stream(device);
  try
  {
    const DeviceBuffer buffer(1000, stream);
    ADD_FAILURE() << "no exception";
  }
  catch (const ExceptionObject & exception)
  {
    ExpectContains(exception.GetDescription(), "must be a multiple of 256");
  }
  EXPECT_EQ(Resource.GetNumberOfAllocations(), 1u);
  EXPECT_EQ(Resource.GetBytesInUse(), 0u);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceMemoryResourceGpu, Buffers_go_back_to_the_resource_that_they_came_from)
{
  CountingResource  other;
  const StreamLease stream(device);
  {
    const DeviceBuffer pooled(500, stream);
    Resource.Install();
    const DeviceBuffer first(1000, stream);
    other.Install();
    const DeviceBuffer second(2000, stream);
    Configuration::SetDeviceMemoryResource(nullptr, nullptr);
    const DeviceBuffer pooledAgain(500, stream);
    Resource.Install();
    const DeviceBuffer third(3000, stream);
    EXPECT_EQ(Resource.GetBytesInUse(), 4000u);
    EXPECT_EQ(other.GetBytesInUse(), 2000u);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 7000u);
  }
  EXPECT_EQ(other.GetBytesInUse(), 0u);
  EXPECT_EQ(other.GetError(), "");
}

TEST_F(CudaDeviceMemoryResourceGpu, Available_is_the_limit_without_what_is_in_use)
{
  Resource.Install();
  const StreamLease  stream(device);
  const DeviceBuffer buffer(1000, stream);
  EXPECT_EQ(GetAvailableDeviceMemory(device), std::numeric_limits<size_t>::max());
  Configuration::SetDeviceMemoryLimit(5000);
  EXPECT_EQ(GetAvailableDeviceMemory(device), 4000u);
  EXPECT_THROW(DeviceBuffer(4001, stream), CudaError);
  EXPECT_EQ(Resource.GetNumberOfAllocations(), 1u) << "the limit comes first";
  EXPECT_NO_THROW(DeviceBuffer(4000, stream));
}

TEST_F(CudaDeviceMemoryResourceGpu, Random_sizes_in_threads_while_resources_change)
{
  CountingResource  other;
  std::atomic<bool> done{ false };
  std::thread       changes([&] {
    while (!done)
    {
      Resource.Install();
      std::this_thread::yield();
      other.Install();
      std::this_thread::yield();
      Configuration::SetDeviceMemoryResource(nullptr, nullptr);
    }
  });
  RunInThreads(8, [](unsigned int index) -> std::string {
    std::mt19937              random(seed + index);
    const StreamLease         stream(device);
    std::vector<DeviceBuffer> buffers(16);
    for (unsigned int turn = 0; turn < 500; ++turn)
    {
      buffers[random() % buffers.size()] = DeviceBuffer(random() % mebibyte, stream);
    }
    return {};
  });
  done = true;
  changes.join();
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  EXPECT_EQ(other.GetBytesInUse(), 0u);
  EXPECT_EQ(other.GetError(), "");
}
