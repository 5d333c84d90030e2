// SPDX-License-Identifier: Apache-2.0

// Device images on a device: memory that they take, share and give back, and memory of others.

#include "itkCudaDeviceImage.h"
#include "runtime/device/Device.h"
#include "itkCudaError.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "runtime/device/Stream.h"
#include "itkImage.h"
#include "itkVector.h"

#include <memory>

namespace
{
using itk::cuda::DeviceGuard;
using itk::cuda::FaultHook;
using itk::cuda::GetThreadContext;
using itk::cuda::test::Configuration;
using itk::cuda::test::device;
using itk::cuda::test::DeviceTest;

using ImageType = itk::CudaDeviceImage<float, 3>;
using VectorsType = itk::CudaDeviceImage<itk::Vector<short, 2>, 2>;

using Bytes = std::vector<unsigned char>;

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

/** Fills what the next image gets with bits that are NaN in any floating-point type. */
void
Poison()
{
  const auto image = MakeImage();
  ITK_CUDA_CALL(
    cudaMemsetAsync(image->GetDeviceView().GetPointer(), 0xff, imageBytes, GetThreadContext(device).GetStream()));
}

class CudaDeviceImageGpu : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    DeviceTest::SetUp();
    if (!this->IsSkipped())
    {
      m_Guard = std::make_unique<DeviceGuard>(device);
      Poison();
    }
  }

private:
  std::unique_ptr<DeviceGuard> m_Guard;
};
} // namespace

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
