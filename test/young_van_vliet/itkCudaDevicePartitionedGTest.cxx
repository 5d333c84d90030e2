// SPDX-License-Identifier: Apache-2.0

// Tests the partitioned filter of device images as far as possible without a GPU: defaults, parameters, regions and
// error messages.

#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFakeDeviceMemory.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using HostType = itk::Image<float, 3>;
using DeviceType = itk::CudaDeviceImage<float, 3>;
using FilterType = itk::CudaPartitionedRecursiveGaussianImageFilter<DeviceType>;

/** Returns an image on the fake device 4711. */
DeviceType::Pointer
MakeImage(itk::SizeValueType size = 8)
{
  const auto image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { size, 8, 8 } });
  image->SetDeviceView(itk::cuda::test::MakeFakeView(image.GetPointer(), 8));
  return image;
}
} // namespace

TEST(CudaDevicePartitioned, Settings_are_those_of_host_images)
{
  EXPECT_TRUE((std::is_same_v<FilterType::OutputImageType, DeviceType>));
  std::ostringstream host;
  std::ostringstream device;
  itk::CudaPartitionedRecursiveGaussianImageFilter<HostType>::New()->Print(host);
  FilterType::New()->Print(device);
  const auto settings = [](const std::string & text) { return text.substr(text.find("Sigma:")); };
  EXPECT_EQ(settings(device.str()), settings(host.str()));
}

TEST(CudaDevicePartitioned, Whole_image_is_requested)
{
  const auto filter = FilterType::New();
  const auto image = MakeImage();
  filter->SetInput(image);
  filter->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion({ { { 1, 2, 3 } }, { { 2, 2, 2 } } });
  filter->GetOutput()->PropagateRequestedRegion();
  EXPECT_EQ(filter->GetOutput()->GetRequestedRegion(), image->GetLargestPossibleRegion());
  EXPECT_EQ(image->GetRequestedRegion(), image->GetLargestPossibleRegion());
}

TEST(CudaDevicePartitioned, Parameters_out_of_range_are_refused_as_for_host_images)
{
  const auto filter = FilterType::New();
  filter->SetInput(MakeImage(3));
  EXPECT_FALSE(GetException([&filter] { filter->Update(); }).empty());
  filter->SetInput(MakeImage());
  filter->SetSigma(-1.0);
  ExpectContains(GetException([&filter] { filter->Update(); }), "Sigma");
  filter->SetSigma(1.0);
  filter->SetLinesPerBlock(5);
  ExpectContains(GetException([&filter] { filter->Update(); }), "LinesPerBlock");
}

TEST(CudaDevicePartitioned, Other_places_are_refused_in_words)
{
  const auto filter = FilterType::New();
  filter->SetInput(MakeImage());
  filter->SetBackend("host");
  ExpectContains(GetException([&filter] { filter->Update(); }), "its input is a device image");
  filter->SetBackend("automatic");
  filter->SetDeviceIndex(1);
  ExpectContains(GetException([&filter] { filter->Update(); }), "DeviceIndex is 1, but the input lies on device 4711");
  filter->SetDeviceIndex(-1);
  EXPECT_THROW(filter->Update(), itk::CudaError) << "no machine has device 4711";
  EXPECT_FALSE(filter->GetOutput()->IsAllocated());
}

TEST(CudaDevicePartitioned, Input_without_memory_and_other_components_are_refused)
{
  const auto filter = FilterType::New();
  const auto image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { 8, 8, 8 } });
  filter->SetInput(image);
  ExpectContains(GetException([&filter] { filter->Update(); }), "The input has no device memory");
  using OutputType = itk::CudaDeviceImage<itk::Vector<float, 2>, 3>;
  const auto other = itk::CudaPartitionedRecursiveGaussianImageFilter<DeviceType, OutputType>::New();
  other->SetInput(MakeImage());
  ExpectContains(GetException([&other] { other->Update(); }), "it must have 1");
}

TEST(CudaDevicePartitioned, Either_image_may_be_one_of_the_host)
{
  const auto host = HostType::New();
  host->SetRegions(HostType::SizeType{ { 8, 8, 8 } });
  host->Allocate(true);
  const auto up = itk::CudaPartitionedRecursiveGaussianImageFilter<HostType, DeviceType>::New();
  up->SetInput(host);
  up->SetDeviceIndex(1000000);
  EXPECT_THROW(up->Update(), itk::CudaError);
  const auto down = itk::CudaPartitionedRecursiveGaussianImageFilter<DeviceType, HostType>::New();
  down->SetInput(MakeImage());
  EXPECT_THROW(down->Update(), itk::CudaError);
}
