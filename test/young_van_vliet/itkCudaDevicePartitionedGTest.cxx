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

TEST(CudaDevicePartitioned, Other_components_are_refused)
{
  using OutputType = itk::CudaDeviceImage<itk::Vector<float, 2>, 3>;
  const auto other = itk::CudaPartitionedRecursiveGaussianImageFilter<DeviceType, OutputType>::New();
  other->SetInput(MakeImage());
  ExpectContains(GetException([&other] { other->Update(); }), "it must have 1");
}
