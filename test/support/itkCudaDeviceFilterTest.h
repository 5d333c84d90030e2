// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceFilterTest_h
#define itkCudaDeviceFilterTest_h

#include "runtime/device/Device.h"
#include "itkCudaDownloadImageFilter.h"
#include "support/itkCudaRunInThreads.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "itkCudaUploadImageFilter.h"
#include "itkImage.h"
#include "itkVectorImage.h"

#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

// Helpers for the tests of filters of device images.

namespace itk::cuda::test
{
template <typename TImage>
using DeviceOf = typename CudaUploadImageFilter<TImage>::OutputImageType;

template <typename TImage>
size_t
GetNumberOfBytes(const TImage * image)
{
  return image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel() *
         sizeof(typename CudaDetail::CudaImageTraits<TImage>::ComponentType);
}

/** Returns whether two host images with the same buffered region have the same bits. */
template <typename TImage>
bool
AreSame(const TImage * a, const TImage * b)
{
  return a->GetBufferedRegion() == b->GetBufferedRegion() &&
         std::memcmp(a->GetBufferPointer(), b->GetBufferPointer(), GetNumberOfBytes(a)) == 0;
}

/** Returns an image of random pixels from 0 to 200 whose spacing and direction are not 1. */
template <typename TImage>
typename TImage::Pointer
MakeRandomImage(const typename TImage::SizeType & size, unsigned int number = 0, unsigned int components = 1)
{
  using ComponentType = typename CudaDetail::CudaImageTraits<TImage>::ComponentType;
  const auto image = TImage::New();
  image->SetRegions(size);
  if (CudaDetail::CudaImageTraits<TImage>::IsVectorImage)
  {
    image->SetNumberOfComponentsPerPixel(components);
  }
  auto spacing = image->GetSpacing();
  spacing[0] = 0.75;
  image->SetSpacing(spacing);
  image->Allocate();
  std::mt19937 random(seed + number);
  auto * const first = reinterpret_cast<ComponentType *>(image->GetBufferPointer());
  for (size_t i = 0; i < GetNumberOfBytes(image.GetPointer()) / sizeof(ComponentType); ++i)
  {
    first[i] = static_cast<ComponentType>(std::uniform_real_distribution<double>(0.0, 200.0)(random));
  }
  return image;
}

/** Provides device memory whose bits are NaN in any floating-point type, and records the largest number of bytes in use
 * at the same time. */
class PoisonedMemory
{
public:
  PoisonedMemory() { Configuration::SetDeviceMemoryResource(Allocate, Release, this); }
  ~PoisonedMemory() { Configuration::SetDeviceMemoryResource(nullptr, nullptr); }

  PoisonedMemory(const PoisonedMemory &) = delete;
  PoisonedMemory &
  operator=(const PoisonedMemory &) = delete;

  void
  ResetPeak()
  {
    m_Peak = m_InUse.load();
  }

  size_t
  GetPeak() const
  {
    return m_Peak;
  }

  /** Makes an allocation fail, counted from 1 from now on. */
  void
  FailAllocation(unsigned int number)
  {
    m_Left = number;
    m_HasFailed = false;
  }

  bool
  HasFailed() const
  {
    return m_HasFailed;
  }

private:
  static void *
  Allocate(size_t bytes, int, void * stream, void * context)
  {
    auto & self = *static_cast<PoisonedMemory *>(context);
    if (self.m_Left > 0 && --self.m_Left == 0)
    {
      self.m_HasFailed = true;
      return nullptr;
    }
    void *     pointer = nullptr;
    const auto order = static_cast<cudaStream_t>(stream);
    const bool isRight = cudaMallocAsync(&pointer, bytes, order) == cudaSuccess &&
                         cudaMemsetAsync(pointer, 0xff, bytes, order) == cudaSuccess;
    const size_t inUse = self.m_InUse += bytes;
    self.m_Peak = std::max(self.m_Peak.load(), inUse);
    return isRight ? pointer : nullptr;
  }

  static void
  Release(void * pointer, size_t bytes, int, void * stream, void * context)
  {
    static_cast<PoisonedMemory *>(context)->m_InUse -= bytes;
    cudaFreeAsync(pointer, static_cast<cudaStream_t>(stream));
  }

  std::atomic<size_t> m_InUse{ 0 };
  std::atomic<size_t> m_Peak{ 0 };
  unsigned int        m_Left{ 0 };
  bool                m_HasFailed{ false };
};

/** Verifies that a filter computes the same bits wherever its images are stored. `set` sets the filter's parameters. */
template <template <typename, typename> class TFilter, typename TInput, typename TOutput, typename TSet>
void
ExpectSameBits(TInput * image, const TSet & set, const std::string & what)
{
  const auto run = [&set](auto & filter, auto * input) {
    filter.SetInput(input);
    filter.SetBackend("cuda");
    filter.SetDeviceIndex(device);
    set(filter);
    filter.Update();
    EXPECT_EQ(filter.GetBackendUsed(), CudaFiltersEnums::Backend::Cuda);
  };
  const auto original = CudaDownload(CudaUpload(static_cast<const TInput *>(image), device));
  const auto uploaded = CudaUpload(static_cast<const TInput *>(image), device);
  const auto host = TFilter<TInput, TOutput>::New();
  const auto resident = TFilter<DeviceOf<TInput>, DeviceOf<TOutput>>::New();
  const auto up = TFilter<TInput, DeviceOf<TOutput>>::New();
  const auto down = TFilter<DeviceOf<TInput>, TOutput>::New();
  run(*host, image);
  run(*resident, uploaded.GetPointer());
  run(*up, image);
  run(*down, uploaded.GetPointer());
  EXPECT_TRUE(AreSame<TOutput>(CudaDownload<TOutput>(resident->GetOutput()), host->GetOutput()))
    << what << ", resident";
  EXPECT_TRUE(AreSame<TOutput>(CudaDownload<TOutput>(up->GetOutput()), host->GetOutput()))
    << what << ", host to device";
  EXPECT_TRUE(AreSame<TOutput>(down->GetOutput(), host->GetOutput())) << what << ", device to host";
  EXPECT_TRUE(AreSame<TInput>(CudaDownload<TInput>(uploaded), original)) << what << ": the input is kept";
  EXPECT_TRUE(AreSame<TInput>(image, original)) << what << ": the host's input is kept";
}

/** Fixture for tests of filters of device images, in which all device memory is poisoned. */
class DeviceFilterTest : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    DeviceTest::SetUp();
    if (!this->IsSkipped())
    {
      std::cout << "seed " << seed << std::endl;
      m_Guard = std::make_unique<DeviceGuard>(device);
      m_Memory = std::make_unique<PoisonedMemory>();
    }
  }

  void
  TearDown() override
  {
    m_Memory.reset();
    DeviceTest::TearDown();
  }

  PoisonedMemory &
  GetMemory()
  {
    return *m_Memory;
  }

  size_t
  Random(size_t lower, size_t upper)
  {
    return std::uniform_int_distribution<size_t>(lower, upper)(m_Generator);
  }

  template <unsigned int VDimension>
  Size<VDimension>
  RandomSize(size_t limit)
  {
    Size<VDimension> size;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      size[d] = this->Random(4, limit);
    }
    return size;
  }

  std::mt19937 m_Generator{ seed };

private:
  std::unique_ptr<DeviceGuard>    m_Guard;
  std::unique_ptr<PoisonedMemory> m_Memory;
};
} // namespace itk::cuda::test

#endif
