// SPDX-License-Identifier: Apache-2.0

// What upload and download promise without a GPU: types, settings, information, and refusals in words.

#include "itkBinaryThresholdImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaError.h"
#include "itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaUploadImageFilter.h"
#include "itkImage.h"
#include "itkIntensityWindowingImageFilter.h"
#include "itkRGBPixel.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <type_traits>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using HostType = itk::Image<float, 3>;
using DeviceType = itk::CudaDeviceImage<float, 3>;
using UploadType = itk::CudaUploadImageFilter<HostType>;
using DownloadType = itk::CudaDownloadImageFilter<DeviceType>;

HostType::Pointer
MakeHostImage()
{
  const auto image = HostType::New();
  image->SetRegions(HostType::SizeType{ { 5, 6, 7 } });
  const double spacing[] = { 0.5, 2.0, 3.0 };
  image->SetSpacing(spacing);
  image->Allocate(true);
  return image;
}

/** Why device 0 cannot be used; empty if it can. */
std::string
GetReason()
{
  std::string reason;
  return itk::CudaFiltersConfiguration::IsDeviceUsable(0, reason) ? std::string() : reason;
}
} // namespace

TEST(CudaUploadDownload, Default_types_keep_the_pixels)
{
  EXPECT_TRUE((std::is_same_v<UploadType::OutputImageType, DeviceType>));
  EXPECT_TRUE((std::is_same_v<DownloadType::OutputImageType, HostType>));
  using Vectors = itk::VectorImage<short, 2>;
  using DeviceVectors = itk::CudaDeviceImage<itk::VariableLengthVector<short>, 2>;
  EXPECT_TRUE((std::is_same_v<itk::CudaUploadImageFilter<Vectors>::OutputImageType, DeviceVectors>));
  EXPECT_TRUE((std::is_same_v<itk::CudaDownloadImageFilter<DeviceVectors>::OutputImageType, Vectors>));
  using Colours = itk::Image<itk::RGBPixel<unsigned char>, 2>;
  using DeviceColours = itk::CudaDeviceImage<itk::RGBPixel<unsigned char>, 2>;
  EXPECT_TRUE((std::is_same_v<itk::CudaUploadImageFilter<Colours>::OutputImageType, DeviceColours>));
  EXPECT_TRUE((std::is_same_v<itk::CudaDownloadImageFilter<DeviceColours>::OutputImageType, Colours>));
}

TEST(CudaUploadDownload, Settings_have_their_defaults_and_modify_the_filter)
{
  const auto upload = UploadType::New();
  EXPECT_EQ(upload->GetDeviceIndex(), -1);
  auto time = upload->GetMTime();
  upload->SetDeviceIndex(1);
  EXPECT_GT(upload->GetMTime(), time);
  ExpectContains(GetException([&upload] { upload->SetDeviceIndex(-2); }), "DeviceIndex is -2");

  const auto download = DownloadType::New();
  EXPECT_EQ(download->GetShift(), 0.0);
  EXPECT_EQ(download->GetScale(), 1.0);
  EXPECT_EQ(download->GetRounding(), itk::CudaRounding::Truncate);
  time = download->GetMTime();
  download->SetRounding("NEAREST");
  EXPECT_EQ(download->GetRounding(), itk::CudaRounding::Nearest);
  EXPECT_GT(download->GetMTime(), time);
  ExpectContains(GetException([&download] { download->SetRounding("up"); }), "it must be Truncate or Nearest");
}

TEST(CudaUploadDownload, Settings_are_printed)
{
  std::ostringstream text;
  UploadType::New()->Print(text);
  const auto download = DownloadType::New();
  download->SetRounding("nearest");
  download->Print(text);
  ExpectContains(text.str(), "DeviceIndex: -1");
  ExpectContains(text.str(), "Shift: 0");
  ExpectContains(text.str(), "Scale: 1");
  ExpectContains(text.str(), "Rounding: Nearest");
  ExpectContains(text.str(), "UseWindow: Off");
  ExpectContains(text.str(), "UseThreshold: Off");
  ExpectContains(text.str(), "OutsideValue: 0");
}

TEST(CudaUploadDownload, Window_and_threshold_have_the_defaults_of_ITK)
{
  using Bytes = itk::Image<unsigned char, 3>;
  const auto download = itk::CudaDownloadImageFilter<DeviceType, Bytes>::New();
  const auto window = itk::IntensityWindowingImageFilter<HostType, Bytes>::New();
  const auto threshold = itk::BinaryThresholdImageFilter<HostType, Bytes>::New();
  EXPECT_FALSE(download->GetUseWindow());
  EXPECT_EQ(download->GetWindowMinimum(), window->GetWindowMinimum());
  EXPECT_EQ(download->GetWindowMaximum(), window->GetWindowMaximum());
  EXPECT_EQ(download->GetOutputMinimum(), window->GetOutputMinimum());
  EXPECT_EQ(download->GetOutputMaximum(), window->GetOutputMaximum());
  EXPECT_FALSE(download->GetUseThreshold());
  EXPECT_EQ(download->GetLowerThreshold(), threshold->GetLowerThreshold());
  EXPECT_EQ(download->GetUpperThreshold(), threshold->GetUpperThreshold());
  EXPECT_EQ(download->GetInsideValue(), threshold->GetInsideValue());
  EXPECT_EQ(download->GetOutsideValue(), threshold->GetOutsideValue());
}

TEST(CudaUploadDownload, Mappings_that_exclude_each_other_are_refused_in_words)
{
  const auto download = DownloadType::New();
  const auto expect = [&download](const std::string & part) {
    ExpectContains(GetException([&download] { download->Update(); }), part);
  };
  download->SetInput(DeviceType::New());
  download->UseWindowOn();
  download->UseThresholdOn();
  expect("UseWindow and UseThreshold are both on");
  download->UseThresholdOff();
  download->SetScale(2.0);
  expect("Shift is 0 and Scale is 2; with UseWindow on they must be 0 and 1");
  download->SetScale(1.0);
  download->SetWindowMinimum(3.0f);
  download->SetWindowMaximum(3.0f);
  expect("WindowMinimum is 3; it must be less than WindowMaximum, which is 3");
  download->UseWindowOff();
  download->UseThresholdOn();
  download->SetShift(1.0);
  expect("with UseThreshold on they must be 0 and 1");
  download->SetShift(0.0);
  download->SetLowerThreshold(2.0f);
  download->SetUpperThreshold(1.0f);
  expect("LowerThreshold is 2; it must not be greater than UpperThreshold, which is 1");
}

TEST(CudaUploadDownload, Information_passes_through_both)
{
  const auto upload = UploadType::New();
  const auto download = DownloadType::New();
  const auto image = MakeHostImage();
  upload->SetInput(image);
  download->SetInput(upload->GetOutput());
  download->UpdateOutputInformation();
  EXPECT_EQ(download->GetOutput()->GetSpacing(), image->GetSpacing());
  EXPECT_EQ(download->GetOutput()->GetLargestPossibleRegion(), image->GetLargestPossibleRegion());

  using Vectors = itk::VectorImage<short, 2>;
  const auto vectors = Vectors::New();
  vectors->SetRegions(Vectors::SizeType{ { 3, 3 } });
  vectors->SetNumberOfComponentsPerPixel(5);
  vectors->Allocate(true);
  const auto up = itk::CudaUploadImageFilter<Vectors>::New();
  up->SetInput(vectors);
  const auto down = itk::CudaDownloadImageFilter<itk::CudaUploadImageFilter<Vectors>::OutputImageType>::New();
  down->SetInput(up->GetOutput());
  down->UpdateOutputInformation();
  EXPECT_EQ(up->GetOutput()->GetNumberOfComponentsPerPixel(), 5u);
  EXPECT_EQ(down->GetOutput()->GetNumberOfComponentsPerPixel(), 5u);
}

TEST(CudaUploadDownload, Components_that_differ_are_refused)
{
  const auto image = itk::VectorImage<float, 3>::New();
  image->SetRegions(HostType::SizeType{ { 5, 6, 7 } });
  image->SetNumberOfComponentsPerPixel(2);
  image->Allocate(true);
  const auto upload = itk::CudaUploadImageFilter<itk::VectorImage<float, 3>, DeviceType>::New();
  upload->SetInput(image);
  ExpectContains(GetException([&upload] { upload->Update(); }), "it must have 2");
}

TEST(CudaUploadDownload, Inputs_without_pixels_are_refused)
{
  const auto upload = UploadType::New();
  const auto empty = HostType::New();
  empty->SetRegions(HostType::SizeType{ { 5, 6, 7 } });
  upload->SetInput(empty);
  ExpectContains(GetException([&upload] { upload->Update(); }), "it must be allocated");

  const auto download = DownloadType::New();
  const auto device = DeviceType::New();
  device->SetRegions(HostType::SizeType{ { 5, 6, 7 } });
  download->SetInput(device);
  ExpectContains(GetException([&download] { download->Update(); }), "The input has no device memory");
  device->ReleaseData();
  ExpectContains(GetException([&download] { download->Update(); }), "was it allocated, or released?");
  EXPECT_FALSE(GetException([] { DownloadType::New()->Update(); }).empty());
}

TEST(CudaUploadDownload, Exceptions_before_the_download_come_again_with_the_next_update)
{
  const auto upload = UploadType::New();
  const auto download = DownloadType::New();
  upload->SetInput(MakeHostImage());
  upload->SetDeviceIndex(1000000);
  download->SetInput(upload->GetOutput());
  for (unsigned int i = 0; i < 3; ++i)
  {
    EXPECT_THROW(download->Update(), itk::CudaError) << i;
  }
}

TEST(CudaUploadDownload, Upload_without_a_GPU_is_refused_with_the_reason_again_and_again)
{
  const std::string reason = GetReason();
  if (reason.empty())
  {
    GTEST_SKIP() << "there is a GPU";
  }
  const auto upload = UploadType::New();
  upload->SetInput(MakeHostImage());
  upload->SetDeviceIndex(0);
  for (unsigned int turn = 0; turn < 2; ++turn)
  {
    try
    {
      upload->Update();
      ADD_FAILURE() << "no exception";
    }
    catch (const itk::CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), itk::CudaError::Kind::NotUsable);
      ExpectContains(error.GetDescription(), reason);
    }
    EXPECT_FALSE(upload->GetOutput()->IsAllocated());
  }
  EXPECT_THROW(itk::CudaUpload(MakeHostImage(), 0), itk::CudaError);
}
