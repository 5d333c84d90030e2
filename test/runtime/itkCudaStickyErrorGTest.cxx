// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaStickyError.h"

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;
using Configuration = itk::CudaFiltersConfiguration;
using itk::cuda::StreamLease;
using itk::cuda::test::MakeStickyError;

constexpr int device = 0;

/** Smooths a small image and returns the backend that was used and the reason. */
Backend
Smooth(std::string & reason)
{
  using ImageType = itk::Image<float, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 64, 64 } });
  image->Allocate();
  image->FillBuffer(3.0f);
  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(image);
  filter->Update();
  reason = filter->GetBackendReason();
  return filter->GetBackendUsed();
}

void
Require(bool condition, const std::string & what)
{
  if (!condition)
  {
    std::cerr << "not so: " << what << std::endl;
    std::exit(1);
  }
}

[[noreturn]] void
BreakDeviceAndAskForIt()
{
  std::string reason;
  Require(Smooth(reason) == Backend::Cuda, "filters run on the device: " + reason);
  Require(MakeStickyError(StreamLease(device)) != cudaSuccess, "the kernel traps");

  Require(!Configuration::IsDeviceUsable(device, reason), "the device is not usable");
  Require(reason.find("cudaError") != std::string::npos, "the reason names the error: " + reason);
  const itk::CudaDeviceInformation information = Configuration::GetDevices().at(device);
  Require(!information.Usable && information.Reason == reason, "the list of devices agrees: " + information.Reason);
  Require(Smooth(reason) == Backend::Host, "filters run on the host");
  Require(reason.find("cudaError") != std::string::npos, "their reason names the error: " + reason);
  std::cerr << Configuration::GetStatus() << std::endl;
  std::exit(0);
}
} // namespace

TEST(CudaStickyErrorDeathTest, Status_says_that_the_device_cannot_be_used_and_why)
{
  std::string reason;
  if (!Configuration::IsDeviceUsable(device, reason))
  {
    GTEST_SKIP() << reason;
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(BreakDeviceAndAskForIt(), testing::ExitedWithCode(0), "run on the host: device 0 .*cudaError");
}
