// SPDX-License-Identifier: Apache-2.0
#include "itkCommand.h"
#include "itkCudaConstantFalseAlarmRateImageFilter.h"
#include "support/itkCudaExpectException.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <sstream>

// The filter as a program uses it: geometry, masks, outputs, and what it refuses.
namespace
{
using namespace itk;
using namespace itk::cuda::test;

template <typename TPixel>
using ImageOf = Image<TPixel, 2>;
using ImageType = ImageOf<float>;
template <typename TPixel, typename TLabel = unsigned int>
using FilterOf = CudaConstantFalseAlarmRateImageFilter<ImageOf<TPixel>, ImageOf<TLabel>>;
using FilterType = FilterOf<float>;

constexpr int  Width = 120;
constexpr int  Height = 90;
const Index<2> FirstIndex{ { -7, 11 } };

template <typename TPixel>
typename ImageOf<TPixel>::Pointer
MakeEmptyImage(int width = Width, int height = Height)
{
  const auto image = ImageOf<TPixel>::New();
  image->SetRegions(
    ImageRegion<2>{ FirstIndex, { { static_cast<SizeValueType>(width), static_cast<SizeValueType>(height) } } });
  image->Allocate(true);
  return image;
}

/** Speckle of 4 looks with three targets of 6 x 4 pixels, 20 times as bright. */
template <typename TPixel>
typename ImageOf<TPixel>::Pointer
MakeScene()
{
  std::mt19937                    generator(20261130);
  std::gamma_distribution<double> noise(4.0, 25.0);
  const auto                      image = MakeEmptyImage<TPixel>();
  for (int i = 0; i < Width * Height; ++i)
  {
    const int  x = i % Width;
    const int  y = i / Width;
    const auto isTarget = [x, y](int left, int top) { return x >= left && x < left + 6 && y >= top && y < top + 4; };
    const bool isBright = isTarget(20, 15) || isTarget(80, 40) || isTarget(0, 86);
    image->GetBufferPointer()[i] = static_cast<TPixel>(noise(generator) * (isBright ? 20.0 : 1.0));
  }
  return image;
}

template <typename TFilter>
typename TFilter::Pointer
MakeFilter(typename TFilter::InputImageType * image)
{
  const auto filter = TFilter::New();
  filter->SetInput(image);
  filter->SetNoiseLaw("Gamma");
  filter->SetNumberOfLooks(4.0);
  filter->SetBackend(CudaFiltersEnums::Backend::Host);
  return filter;
}

template <typename TPixel, typename TLabel>
void
ExpectThreeTargets()
{
  const auto filter = MakeFilter<FilterOf<TPixel, TLabel>>(MakeScene<TPixel>());
  filter->Update();
  ASSERT_EQ(filter->GetNumberOfDetections(), 3u);
  EXPECT_EQ(filter->GetNumberOfTestedPixels(), static_cast<SizeValueType>(Width * Height));
  const double centers[][2] = { { 22.5, 16.5 }, { 82.5, 41.5 }, { 2.5, 87.5 } };
  for (size_t i = 0; i < 3; ++i)
  {
    const CudaDetection & detection = filter->GetDetections()[i];
    EXPECT_NEAR(detection.Centroid[0], centers[i][0], 1.0);
    EXPECT_NEAR(detection.Centroid[1], centers[i][1], 1.0);
    EXPECT_GT(detection.Significance, 6.0);
    EXPECT_GT(detection.Statistic, 10.0);
    EXPECT_GT(detection.Target.Mean, 10.0 * detection.Background.Mean);
    const Index<2> peak{ { FirstIndex[0] + detection.Peak[0], FirstIndex[1] + detection.Peak[1] } };
    EXPECT_EQ(filter->GetOutput()->GetPixel(peak), i + 1);
  }
}

TEST(CudaConstantFalseAlarmRateImageFilter, FindsTargetsInAllTypesOfPixels)
{
  ExpectThreeTargets<unsigned short, unsigned int>();
  ExpectThreeTargets<short, unsigned short>();
  ExpectThreeTargets<float, unsigned short>();
}

TEST(CudaConstantFalseAlarmRateImageFilter, TheMaskHidesATarget)
{
  const auto mask = MakeEmptyImage<unsigned char>();
  for (int i = 0; i < Width * Height; ++i)
  {
    mask->GetBufferPointer()[i] = i % Width < 60 ? 1 : 0;
  }
  const auto filter = MakeFilter<FilterType>(MakeScene<float>());
  filter->SetValidMask(mask);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfDetections(), 2u);
  EXPECT_EQ(filter->GetNumberOfTestedPixels(), 60u * Height);
}

TEST(CudaConstantFalseAlarmRateImageFilter, LimitsOfSizesChooseTargets)
{
  const auto filter = MakeFilter<FilterType>(MakeScene<float>());
  filter->Update();
  const auto all = filter->GetDetections();
  uint64_t   largest = 0;
  for (const CudaDetection & detection : all)
  {
    largest = std::max(largest, detection.NumberOfPixels);
  }
  filter->SetMinimumNumberOfPixels(largest);
  filter->Update();
  for (const CudaDetection & detection : filter->GetDetections())
  {
    EXPECT_EQ(detection.NumberOfPixels, largest);
  }
  EXPECT_GE(filter->GetNumberOfDetections(), 1u);
  filter->SetMinimumNumberOfPixels(1);
  filter->SetMaximumNumberOfPixels(largest - 1);
  filter->Update();
  EXPECT_LT(filter->GetNumberOfDetections(), all.size());
}

/** Expects a message of a filter whose parameters are spoilt. */
void
ExpectRefusal(const std::function<void(FilterType *)> & spoil, const std::string & message)
{
  const auto filter = MakeFilter<FilterType>(MakeScene<float>());
  spoil(filter);
  ExpectContains(GetException([&] { filter->Update(); }), message);
}

TEST(CudaConstantFalseAlarmRateImageFilter, RefusesWrongParametersInWords)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double probability : { 0.0, -1e-6, 0.2, 1.0, nan })
  {
    ExpectRefusal([=](auto * filter) { filter->SetProbabilityOfFalseAlarm(probability); },
                  "; it must be above 0 and at most 0.1");
  }
  for (const double looks : { 0.0, -1.0, nan })
  {
    ExpectRefusal([=](auto * filter) { filter->SetNumberOfLooks(looks); }, "it must be a number above 0");
  }
  ExpectRefusal(
    [](auto * filter) {
      filter->SetTargetWindow({ { 4, 3 } });
    },
    "TargetWindow is 4 x 3; it must be of odd numbers of pixels from 1 to 16383");
  ExpectRefusal(
    [](auto * filter) {
      filter->SetGuardWindow({ { 1, 15 } });
    },
    "GuardWindow is 1 x 15; it must be at least as large as TargetWindow, which is 3 x 3");
  ExpectRefusal(
    [](auto * filter) {
      filter->SetBackgroundWindow({ { 31, 15 } });
    },
    "BackgroundWindow is 31 x 15; it must be larger than GuardWindow, which is 15 x 15");
  ExpectRefusal(
    [](auto * filter) {
      filter->SetBackgroundWindow({ { 31, 91 } });
    },
    "BackgroundWindow is 31 x 91; it must be at most as large as the image, which has 120 x 90 pixels");
  ExpectRefusal([](auto * filter) { filter->SetMinimumNumberOfPixels(0); }, "MinimumNumberOfPixels is 0");
  ExpectRefusal(
    [](auto * filter) {
      filter->SetMinimumNumberOfPixels(5);
      filter->SetMaximumNumberOfPixels(4);
    },
    "MaximumNumberOfPixels is 4; it must be 0 for no limit, or at least MinimumNumberOfPixels, which is 5");
  const auto filter = FilterType::New();
  filter->SetInput(MakeScene<float>());
  ExpectContains(GetException([&] { filter->Update(); }), "NoiseLaw is not set");
}

TEST(CudaConstantFalseAlarmRateImageFilter, RefusesPixelsThatTheLawDoesNotAllow)
{
  const auto scene = MakeScene<float>();
  const auto filter = MakeFilter<FilterType>(scene);
  scene->SetPixel({ { -2, 12 } }, std::numeric_limits<float>::quiet_NaN());
  ExpectContains(GetException([&] { filter->Update(); }), "[-2, 12]");
  const auto mask = MakeEmptyImage<unsigned char>();
  filter->SetValidMask(mask);
  ExpectContains(GetException([&] { filter->Update(); }), "0 valid pixels");
  mask->FillBuffer(1);
  mask->SetPixel({ { -2, 12 } }, 0);
  mask->Modified();
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfDetections(), 3u);
  EXPECT_EQ(filter->GetNumberOfTestedPixels(), static_cast<SizeValueType>(Width * Height - 1));
}

TEST(CudaConstantFalseAlarmRateImageFilter, TooManyTargetsForTheLabelsAreRefused)
{
  const auto image = MakeEmptyImage<unsigned short>(900, 900);
  for (int i = 0; i < 900 * 900; ++i)
  {
    image->GetBufferPointer()[i] = (i % 900) % 3 == 1 && (i / 900) % 3 == 1 ? 10000 : 0;
  }
  const auto filter = FilterOf<unsigned short, unsigned short>::New();
  filter->SetInput(image);
  filter->SetNoiseLaw("Poisson");
  filter->SetTargetWindow({ { 1, 1 } });
  filter->SetGuardWindow({ { 1, 1 } });
  filter->SetBackgroundWindow({ { 3, 3 } });
  filter->SetBackend("Host");
  ExpectContains(GetException([&] { filter->Update(); }),
                 "The detection has 90000 targets; labels of 16 bits tell 65535 apart");
}

TEST(CudaConstantFalseAlarmRateImageFilter, AnAbortedRunCanBeRepeated)
{
  const auto filter = MakeFilter<FilterType>(MakeScene<float>());
  filter->Update();
  const auto expected = filter->GetNumberOfDetections();
  const auto observer = CStyleCommand::New();
  observer->SetClientData(filter.GetPointer());
  observer->SetCallback(
    [](Object *, const EventObject &, void * data) { static_cast<FilterType *>(data)->AbortGenerateDataOn(); });
  const auto tag = filter->AddObserver(ProgressEvent(), observer);
  filter->Modified();
  EXPECT_THROW(filter->Update(), ProcessAborted);
  filter->RemoveObserver(tag);
  filter->SetAbortGenerateData(false);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfDetections(), expected);
}

TEST(CudaConstantFalseAlarmRateImageFilter, PrintsItsParametersAndResults)
{
  const auto filter = MakeFilter<FilterType>(MakeScene<float>());
  filter->Update();
  std::ostringstream text;
  filter->Print(text);
  for (const char * line : { "ProbabilityOfFalseAlarm: 1e-06",
                             "TargetWindow: [3, 3]",
                             "GuardWindow: [15, 15]",
                             "BackgroundWindow: [31, 31]",
                             "MaximumNumberOfPixels: 0",
                             "NumberOfDetections: 3" })
  {
    ExpectContains(text.str(), line);
  }
}
} // namespace
