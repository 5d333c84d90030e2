// SPDX-License-Identifier: Apache-2.0

// The region snake of device images, as far as that goes without a GPU: types, parameters and their defaults, refusals
// in words.

#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFakeDeviceMemory.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using BackendEnum = itk::CudaFiltersEnums::Backend;

template <typename TPixel>
using HostOf = itk::Image<TPixel, 2>;
template <typename TPixel>
using DeviceOf = itk::CudaDeviceImage<TPixel, 2>;
using HostLabels = HostOf<unsigned char>;
using DeviceLabels = DeviceOf<unsigned char>;
using HostFilter = itk::CudaRegionSnakeImageFilter<HostOf<float>>;
using InputFilter = itk::CudaRegionSnakeImageFilter<DeviceOf<float>>;
using ChainFilter = itk::CudaRegionSnakeImageFilter<DeviceOf<float>, DeviceLabels>;
using OutputFilter = itk::CudaRegionSnakeImageFilter<HostOf<float>, DeviceLabels>;

/** On device 4711. */
DeviceOf<float>::Pointer
MakeDeviceImage()
{
  const auto image = DeviceOf<float>::New();
  image->SetRegions(DeviceOf<float>::SizeType{ { 40, 30 } });
  image->SetDeviceView(itk::cuda::test::MakeFakeView(image.GetPointer(), 40));
  return image;
}

HostOf<float>::Pointer
MakeHostImage()
{
  const auto image = HostOf<float>::New();
  image->SetRegions(HostOf<float>::SizeType{ { 40, 30 } });
  image->Allocate(true);
  return image;
}

/** What a new filter prints from its first parameter on. */
template <typename TFilter>
std::string
GetPrintedParameters()
{
  std::ostringstream text;
  TFilter::New()->Print(text);
  return text.str().substr(text.str().find("Backend: "));
}

template <typename TFilter>
typename TFilter::Pointer
MakeFilter(const typename TFilter::InputImageType * image)
{
  const auto filter = TFilter::New();
  filter->SetInput(image);
  filter->SetNoiseLaw("gaussian");
  return filter;
}

/** Expects that an update throws CudaError of kind NotUsable, and returns its words. */
template <typename TFilter>
std::string
GetReason(TFilter * filter)
{
  try
  {
    filter->Update();
  }
  catch (const itk::CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), itk::CudaError::Kind::NotUsable) << error;
    return error.GetDescription();
  }
  ADD_FAILURE() << "no CudaError";
  return {};
}
} // namespace

TEST(CudaDeviceRegionSnake, Labels_are_on_the_host_unless_their_type_says_otherwise)
{
  EXPECT_TRUE((std::is_same_v<InputFilter::OutputImageType, HostLabels>));
  EXPECT_TRUE((std::is_same_v<ChainFilter::OutputImageType, DeviceLabels>));
  using ShortLabels = itk::CudaRegionSnakeImageFilter<DeviceOf<unsigned short>, DeviceOf<unsigned short>>;
  EXPECT_EQ(ShortLabels::New()->GetInsideValue(), 1);
  EXPECT_STREQ(ChainFilter::New()->GetNameOfClass(), HostFilter::New()->GetNameOfClass());
}

TEST(CudaDeviceRegionSnake, Defaults_are_those_of_host_images)
{
  const std::string expected = GetPrintedParameters<HostFilter>();
  ExpectContains(expected, "MinimumEdgeLength: 32");
  ExpectContains(expected, "OutsideValue: 0");
  EXPECT_EQ(GetPrintedParameters<InputFilter>(), expected);
  EXPECT_EQ(GetPrintedParameters<ChainFilter>(), expected);
  EXPECT_EQ(GetPrintedParameters<OutputFilter>(), expected);
}

TEST(CudaDeviceRegionSnake, Parameters_that_cannot_be_are_refused_in_the_words_for_host_images)
{
  const auto compare = [](const auto & set) {
    const auto host = MakeFilter<HostFilter>(MakeHostImage());
    set(*host);
    const std::string expected = GetException([&host] { host->Update(); });
    EXPECT_FALSE(expected.empty());
    const auto chain = MakeFilter<ChainFilter>(MakeDeviceImage());
    set(*chain);
    EXPECT_EQ(GetException([&chain] { chain->Update(); }), expected);
    const auto output = MakeFilter<OutputFilter>(MakeHostImage());
    set(*output);
    EXPECT_EQ(GetException([&output] { output->Update(); }), expected);
  };
  compare([](auto & filter) { filter.SetMinimumGain(0.0); });
  compare([](auto & filter) { filter.SetMaximumNumberOfNodes(3); });
  compare([](auto & filter) { filter.SetForegroundThreshold(std::numeric_limits<double>::infinity()); });
}

TEST(CudaDeviceRegionSnake, Host_backend_and_other_devices_are_refused_in_words)
{
  const auto filter = MakeFilter<ChainFilter>(MakeDeviceImage());
  filter->SetBackend(BackendEnum::Host);
  ExpectContains(GetReason(filter.GetPointer()), "its input is a device image; it must be Automatic or Cuda");
  filter->SetBackend(BackendEnum::Cuda);
  filter->SetDeviceIndex(1);
  ExpectContains(GetReason(filter.GetPointer()), "DeviceIndex is 1, but the input lies on device 4711");
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Automatic);
  EXPECT_FALSE(filter->GetOutput()->IsAllocated());

  const auto output = MakeFilter<OutputFilter>(MakeHostImage());
  output->SetBackend(BackendEnum::Host);
  const std::string words = GetReason(output.GetPointer());
  ExpectContains(words, "its output is a device image; it must be Automatic or Cuda");
  EXPECT_EQ(output->GetBackendReason(), words);
}

TEST(CudaDeviceRegionSnake, Device_that_cannot_be_used_is_an_exception_and_no_run_on_the_host)
{
  const auto input = MakeFilter<InputFilter>(MakeDeviceImage());
  EXPECT_NE(GetReason(input.GetPointer()), "");
  EXPECT_EQ(input->GetNumberOfContourPoints(), 0u);
  EXPECT_EQ(input->GetBackendUsed(), BackendEnum::Cuda) << "it was asked to run where its input lies";
  for (const auto backend : { BackendEnum::Automatic, BackendEnum::Cuda })
  {
    const auto filter = MakeFilter<OutputFilter>(MakeHostImage());
    filter->SetBackend(backend);
    filter->SetDeviceIndex(4711);
    const std::string words = GetReason(filter.GetPointer());
    EXPECT_NE(words, "");
    EXPECT_EQ(filter->GetBackendReason(), words);
    EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Automatic);
    EXPECT_FALSE(filter->GetOutput()->IsAllocated());
  }
}

TEST(CudaDeviceRegionSnake, Input_without_memory_is_refused_in_words)
{
  const auto image = DeviceOf<float>::New();
  image->SetRegions(DeviceOf<float>::SizeType{ { 40, 30 } });
  const auto filter = MakeFilter<ChainFilter>(image);
  ExpectContains(GetException([&filter] { filter->Update(); }), "The input has no device memory");
}

TEST(CudaDeviceRegionSnake, Whole_image_is_requested)
{
  const auto image = MakeDeviceImage();
  const auto filter = MakeFilter<ChainFilter>(image);
  filter->UpdateOutputInformation();
  EXPECT_EQ(filter->GetOutput()->GetLargestPossibleRegion(), image->GetLargestPossibleRegion());
  const DeviceLabels::RegionType part({ { 1, 2 } }, { { 3, 4 } });
  image->SetRequestedRegion(part);
  filter->GetOutput()->SetRequestedRegion(part);
  filter->GetOutput()->PropagateRequestedRegion();
  EXPECT_EQ(filter->GetOutput()->GetRequestedRegion(), image->GetLargestPossibleRegion());
  EXPECT_EQ(image->GetRequestedRegion(), image->GetLargestPossibleRegion());
}
