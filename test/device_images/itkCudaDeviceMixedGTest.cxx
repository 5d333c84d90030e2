// SPDX-License-Identifier: Apache-2.0

// Filters with one image on the host and one on the device, as far as that goes without a GPU: types, settings, and
// refusals in words.

#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFakeDeviceMemory.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using HostType = itk::Image<float, 3>;
using DeviceType = itk::CudaDeviceImage<float, 3>;
using UpType = itk::CudaSmoothingRecursiveGaussianImageFilter<HostType, DeviceType>;
using DownType = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceType, HostType>;

HostType::Pointer
MakeHostImage()
{
  const auto image = HostType::New();
  image->SetRegions(HostType::SizeType{ { 8, 8, 8 } });
  image->Allocate(true);
  return image;
}

/** On device 4711. */
DeviceType::Pointer
MakeDeviceImage()
{
  const auto image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { 8, 8, 8 } });
  image->SetDeviceView(itk::cuda::test::MakeFakeView(image.GetPointer(), 8));
  return image;
}

template <typename TFilter>
void
ExpectNotUsable(TFilter & filter, const std::string & reason)
{
  // A second Update() says it again.
  for (unsigned int turn = 0; turn < 2; ++turn)
  {
    try
    {
      filter.Update();
      ADD_FAILURE() << "no exception";
    }
    catch (const itk::CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), itk::CudaError::Kind::NotUsable) << error;
      ExpectContains(error.GetDescription(), reason);
    }
    filter.ResetPipeline();
  }
}
} // namespace

TEST(CudaDeviceMixed, Default_output_of_a_host_image_is_a_host_image)
{
  using Filter = itk::CudaSmoothingRecursiveGaussianImageFilter<HostType>;
  EXPECT_TRUE((std::is_same_v<Filter::OutputImageType, HostType>));
  EXPECT_TRUE((std::is_base_of_v<itk::SmoothingRecursiveGaussianImageFilter<HostType, HostType>, Filter>));
}

TEST(CudaDeviceMixed, Whole_image_is_requested_on_both_sides)
{
  const auto image = MakeHostImage();
  const auto filter = UpType::New();
  filter->SetInput(image);
  filter->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion({ { { 1, 2, 3 } }, { { 2, 2, 2 } } });
  filter->GetOutput()->PropagateRequestedRegion();
  EXPECT_EQ(filter->GetOutput()->GetRequestedRegion(), image->GetLargestPossibleRegion());
  EXPECT_EQ(image->GetRequestedRegion(), image->GetLargestPossibleRegion());
}

TEST(CudaDeviceMixed, It_never_runs_in_place)
{
  EXPECT_FALSE(UpType::New()->CanRunInPlace());
  EXPECT_FALSE(DownType::New()->CanRunInPlace());
}

TEST(CudaDeviceMixed, Host_backend_is_refused_in_words)
{
  const auto up = UpType::New();
  up->SetInput(MakeHostImage());
  up->SetBackend("host");
  ExpectNotUsable(*up, "its output is a device image");
  ExpectContains(up->GetBackendReason(), "its output is a device image");
  const auto down = DownType::New();
  down->SetInput(MakeDeviceImage());
  down->SetBackend("host");
  ExpectNotUsable(*down, "its input is a device image");
}

TEST(CudaDeviceMixed, Device_that_cannot_be_used_is_an_exception_with_the_reason)
{
  const auto  up = UpType::New();
  std::string reason;
  EXPECT_FALSE(itk::CudaFiltersConfiguration::IsDeviceUsable(1000000, reason));
  up->SetInput(MakeHostImage());
  up->SetDeviceIndex(1000000);
  ExpectNotUsable(*up, reason);
  EXPECT_EQ(up->GetBackendReason(), reason);
  EXPECT_EQ(up->GetBackendUsed(), itk::CudaFiltersEnums::Backend::Automatic);
  EXPECT_FALSE(up->GetOutput()->IsAllocated());

  const auto down = DownType::New();
  down->SetInput(MakeDeviceImage());
  down->SetDeviceIndex(1);
  ExpectNotUsable(*down, "the input lies on device 4711");
  down->SetDeviceIndex(-1);
  ExpectNotUsable(*down, "");
}

TEST(CudaDeviceMixed, Inputs_without_pixels_are_refused_in_words)
{
  const auto up = UpType::New();
  const auto host = HostType::New();
  host->SetRegions(HostType::SizeType{ { 8, 8, 8 } });
  up->SetInput(host);
  ExpectContains(GetException([&up] { up->Update(); }), "The input has memory for 0 of the 512 elements");
  const auto down = DownType::New();
  const auto device = DeviceType::New();
  device->SetRegions(DeviceType::SizeType{ { 8, 8, 8 } });
  down->SetInput(device);
  ExpectContains(GetException([&down] { down->Update(); }), "The input has no device memory");
}

TEST(CudaDeviceMixed, Parameters_out_of_range_are_refused_before_the_device_is_asked)
{
  const auto up = UpType::New();
  up->SetInput(MakeHostImage());
  up->SetSigma(-1.0);
  ExpectContains(GetException([&up] { up->Update(); }), "igma");
}

TEST(CudaDeviceMixed, Exceptions_before_a_filter_that_downloads_come_again_with_the_next_update)
{
  const auto up = UpType::New();
  up->SetInput(MakeHostImage());
  up->SetDeviceIndex(1000000);
  const auto down = DownType::New();
  down->SetInput(up->GetOutput());
  for (unsigned int turn = 0; turn < 3; ++turn)
  {
    EXPECT_THROW(down->Update(), itk::CudaError) << turn;
  }
}

TEST(CudaDeviceMixed, Gradient_takes_images_of_both_sides)
{
  using Vectors = itk::CudaDeviceImage<itk::CovariantVector<float, 3>, 3>;
  const auto gradient = itk::CudaGradientRecursiveGaussianImageFilter<HostType, Vectors>::New();
  gradient->SetInput(MakeHostImage());
  gradient->SetDeviceIndex(1000000);
  EXPECT_THROW(gradient->Update(), itk::CudaError);
}
