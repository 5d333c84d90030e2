// SPDX-License-Identifier: Apache-2.0

// What upload and download promise without a GPU: types, settings, information, and refusals in words.

#include "itkBinaryThresholdImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaPixelMappingImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "itkImage.h"
#include "itkIntensityWindowingImageFilter.h"
#include "itkRGBPixel.h"
#include "itkSigmoidImageFilter.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

namespace
{
using namespace itk::cuda::test;
using HostType = itk::Image<float, 3>;
using DeviceType = itk::CudaDeviceImage<float, 3>;
using UploadType = itk::CudaUploadImageFilter<HostType>;
using DownloadType = itk::CudaDownloadImageFilter<DeviceType>;
using MappingType = itk::CudaPixelMappingImageFilter<DeviceType>;

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

DeviceType::Pointer
MakeDeviceImageWithoutPixels()
{
  const auto image = DeviceType::New();
  image->SetRegions(HostType::SizeType{ { 5, 6, 7 } });
  return image;
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
  EXPECT_TRUE((std::is_same_v<MappingType::OutputImageType, DeviceType>));
  EXPECT_TRUE((std::is_same_v<itk::CudaPixelMappingImageFilter<DeviceVectors>::OutputImageType, DeviceVectors>));
  EXPECT_STREQ(MappingType::New()->GetNameOfClass(), "CudaPixelMappingImageFilter");
  EXPECT_STREQ(DownloadType::New()->GetNameOfClass(), "CudaDownloadImageFilter");
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
  for (const char * const line : { "DeviceIndex: -1",
                                   "Shift: 0",
                                   "Scale: 1",
                                   "Rounding: Nearest",
                                   "UseWindow: Off",
                                   "UseThreshold: Off",
                                   "OutsideValue: 0",
                                   "UseSigmoid: Off",
                                   "Alpha: 1",
                                   "Beta: 0" })
  {
    ExpectContains(text.str(), line);
  }
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

TEST(CudaUploadDownload, Sigmoid_has_the_defaults_of_ITK)
{
  using Bytes = itk::Image<unsigned char, 3>;
  using Shorts = itk::Image<short, 3>;
  const auto check = [](const auto & mapping, const auto & sigmoid) {
    EXPECT_FALSE(mapping.GetUseSigmoid());
    EXPECT_EQ(mapping.GetAlpha(), sigmoid.GetAlpha());
    EXPECT_EQ(mapping.GetBeta(), sigmoid.GetBeta());
    EXPECT_EQ(mapping.GetOutputMinimum(), sigmoid.GetOutputMinimum());
    EXPECT_EQ(mapping.GetOutputMaximum(), sigmoid.GetOutputMaximum());
  };
  check(*itk::CudaDownloadImageFilter<DeviceType, Bytes>::New(), *itk::SigmoidImageFilter<HostType, Bytes>::New());
  check(*itk::CudaPixelMappingImageFilter<DeviceType, Shorts>::New(),
        *itk::SigmoidImageFilter<HostType, Shorts>::New());
  // Of reals, ITK's least value is the least positive one. Here it is the window's.
  EXPECT_EQ(MappingType::New()->GetOutputMinimum(), std::numeric_limits<float>::lowest());
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
  expect("UseWindow and UseThreshold are both on; a run does one of them");
  download->UseThresholdOff();
  download->UseSigmoidOn();
  expect("UseSigmoid and UseWindow are both on");
  download->UseWindowOff();
  download->UseThresholdOn();
  expect("UseThreshold and UseSigmoid are both on");
  download->UseThresholdOff();
  download->UseSigmoidOff();
  download->UseWindowOn();
  download->SetWindowMinimum(3.0f);
  download->SetWindowMaximum(3.0f);
  expect("WindowMinimum is 3; it must be less than WindowMaximum, which is 3");
  download->UseWindowOff();
  download->UseThresholdOn();
  download->SetLowerThreshold(2.0f);
  download->SetUpperThreshold(1.0f);
  expect("LowerThreshold is 2; it must not be greater than UpperThreshold, which is 1");
}

TEST(CudaUploadDownload, Shift_and_scale_go_with_each_mapping)
{
  const auto download = DownloadType::New();
  download->SetInput(MakeDeviceImageWithoutPixels());
  download->SetShift(1.0);
  download->SetScale(2.0);
  const auto expectNoComplaint = [&download](const char * mapping) {
    const std::string message = GetException([&download] { download->Update(); });
    EXPECT_EQ(message.find("Shift"), std::string::npos) << mapping << ": " << message;
    ExpectContains(message, "The input has no device memory");
  };
  download->UseWindowOn();
  expectNoComplaint("window");
  download->UseWindowOff();
  download->UseThresholdOn();
  expectNoComplaint("threshold");
  download->UseThresholdOff();
  download->UseSigmoidOn();
  download->SetOutputMinimum(0.0f);
  expectNoComplaint("sigmoid");
}

TEST(CudaUploadDownload, Sigmoids_without_a_ramp_are_refused_in_words)
{
  const double infinity = std::numeric_limits<double>::infinity();
  const auto   mapping = itk::CudaPixelMappingImageFilter<DeviceType, itk::CudaDeviceImage<double, 3>>::New();
  const auto   expect = [&mapping](const std::string & part) {
    ExpectContains(GetException([&mapping] { mapping->Update(); }), part);
  };
  mapping->SetInput(MakeDeviceImageWithoutPixels());
  mapping->UseSigmoidOn();
  expect("with UseSigmoid on their difference must be finite");
  mapping->SetOutputMinimum(0.0);
  mapping->SetAlpha(0.0);
  expect("Alpha is 0; it must be finite and not 0");
  mapping->SetAlpha(infinity);
  expect("Alpha is inf; it must be finite and not 0");
  mapping->SetAlpha(-1.0);
  mapping->SetBeta(std::numeric_limits<double>::quiet_NaN());
  expect("Beta is nan; it must be finite");
  mapping->SetBeta(-infinity);
  expect("Beta is -inf; it must be finite");
  mapping->UseSigmoidOff();
  expect("The input has no device memory");
}

TEST(CudaUploadDownload, Mapping_passes_information_on_and_asks_for_the_requested_region_alone)
{
  const auto upload = UploadType::New();
  const auto mapping = MappingType::New();
  const auto image = MakeHostImage();
  upload->SetInput(image);
  mapping->SetInput(upload->GetOutput());
  mapping->UpdateOutputInformation();
  EXPECT_EQ(mapping->GetOutput()->GetSpacing(), image->GetSpacing());
  EXPECT_EQ(mapping->GetOutput()->GetLargestPossibleRegion(), image->GetLargestPossibleRegion());
  const HostType::RegionType part({ { 1, 2, 3 } }, { { 2, 3, 1 } });
  mapping->GetOutput()->SetRequestedRegion(part);
  mapping->GetOutput()->PropagateRequestedRegion();
  EXPECT_EQ(upload->GetOutput()->GetRequestedRegion(), part);
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
  const auto check = [](auto filter) {
    EXPECT_FALSE(GetException([&filter] { filter->Update(); }).empty()) << "no input";
    const auto image = MakeDeviceImageWithoutPixels();
    filter->SetInput(image);
    ExpectContains(GetException([&filter] { filter->Update(); }), "The input has no device memory");
    image->ReleaseData();
    ExpectContains(GetException([&filter] { filter->Update(); }), "was it allocated, or released?");
  };
  check(DownloadType::New());
  check(MappingType::New());
}

TEST(CudaUploadDownload, Upload_without_a_GPU_is_refused_with_the_reason_again_and_again)
{
  std::string reason;
  if (itk::CudaFiltersConfiguration::IsDeviceUsable(0, reason))
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
