// SPDX-License-Identifier: Apache-2.0
// All setters of all filters. A value out of its range ends the call of the setter, or the update, in an
// ExceptionObject that names the parameter and says what would be right. Values at the ends of the range are taken.
// test_itk_setters.py compares the rows of each class with the setters that its header and ITK's declare, so a new
// setter needs a row.
#include "itkCudaDeviceImage.h"
#include "itkCudaConstantFalseAlarmRateImageFilter.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaPixelMappingImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaStructureTensorImageFilter.h"
#include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "itkCudaVesselnessImageFilter.h"
#include "itkSymmetricSecondRankTensor.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <limits>
#include <set>
#include <sstream>
#include <string>

namespace itk::cuda::test
{
namespace
{
constexpr double Nan = std::numeric_limits<double>::quiet_NaN();
constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr double Huge = std::numeric_limits<double>::max();
constexpr double LargestUnsigned = 4294967295.0;

using ImageType = Image<float, 2>;
using LabelType = Image<unsigned char, 2>;
using TensorImage = Image<SymmetricSecondRankTensor<double, 2>, 2>;

/** A bright square on a dark ground, with some texture. */
ImageType::Pointer
MakeImage()
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 24, 20 } });
  image->Allocate();
  for (int i = 0; i < 24 * 20; ++i)
  {
    const int  x = i % 24;
    const int  y = i / 24;
    const bool isInside = x >= 8 && x < 18 && y >= 5 && y < 15;
    image->GetBufferPointer()[i] = static_cast<float>((isInside ? 60 : 10) + 7 * x % 5 + 5 * y % 3);
  }
  return image;
}

/** The rows of one class. Each value gets a filter of its own. */
template <typename TFilter>
class Rows
{
public:
  using MakeFunction = std::function<typename TFilter::Pointer()>;
  using Setter = std::function<void(TFilter &, double)>;

  /** The setters of ITK's classes may modify the filter anyway, and not all that they set is printed. */
  bool SettersOfItk{ false };

  explicit Rows(MakeFunction make)
    : m_Make(std::move(make))
  {}

  void
  Refuse(const std::string &           parameter,
         const std::string &           words,
         const Setter &                set,
         std::initializer_list<double> values)
  {
    for (const double value : values)
    {
      SCOPED_TRACE(parameter + " " + std::to_string(value));
      const std::string error = this->GetError([&](TFilter & filter) { set(filter, value); });
      ExpectContains(error, parameter);
      ExpectContains(error, words);
    }
  }

  void
  Accept(const std::string & parameter, const Setter & set, std::initializer_list<double> values)
  {
    const auto            filter = m_Make();
    std::set<std::string> printed;
    for (const double value : values)
    {
      SCOPED_TRACE(parameter + " " + std::to_string(value));
      EXPECT_EQ(this->GetError([&](TFilter & changed) { set(changed, value); }), "");
      const auto before = filter->GetMTime();
      set(*filter, value);
      const auto after = filter->GetMTime();
      EXPECT_TRUE(after > before || printed.empty()) << "another value has not modified the filter";
      set(*filter, value);
      EXPECT_TRUE(filter->GetMTime() == after || SettersOfItk) << "the same value has modified the filter";
      printed.insert(GetPrinted(*filter, parameter));
    }
    EXPECT_TRUE(printed.size() == values.size() || SettersOfItk) << parameter << " is not printed as it was set";
  }

  /** What an exception says that ends the change or the update after it; nothing if there is none. */
  std::string
  GetError(const std::function<void(TFilter &)> & change)
  {
    const auto filter = m_Make();
    return WithoutAddresses(GetException([&] {
      change(*filter);
      filter->Update();
    }));
  }

private:
  MakeFunction m_Make;

  /** Returns the line that a filter prints of a parameter, or nothing. */
  static std::string
  GetPrinted(const TFilter & filter, const std::string & parameter)
  {
    std::stringstream text;
    filter.Print(text);
    std::string line;
    while (std::getline(text, line) && line.find(" " + parameter + ": ") == std::string::npos)
    {}
    return line;
  }
};

template <typename TFilter, typename TInput>
std::function<typename TFilter::Pointer()>
Maker(TInput input)
{
  return [=] {
    const auto filter = TFilter::New();
    filter->SetInput(input);
    filter->SetBackend(CudaFiltersEnums::Backend::Host);
    return filter;
  };
}

// REFUSES(parameter, its type, what the exception says, values...)
#define REFUSES(parameter, type, words, ...)                                                        \
  rows.Refuse(#parameter,                                                                           \
              words,                                                                                \
              [](auto & filter, double value) { filter.Set##parameter(static_cast<type>(value)); }, \
              { __VA_ARGS__ })
#define ACCEPTS(parameter, type, ...) \
  rows.Accept(                        \
    #parameter, [](auto & filter, double value) { filter.Set##parameter(static_cast<type>(value)); }, { __VA_ARGS__ })
// Sets an unknown name of an enumeration, and expects an exception that lists the known names. `known` is one of them.
#define NAMES(parameter, known)                                                                      \
  do                                                                                                 \
  {                                                                                                  \
    const std::string error = rows.GetError([](auto & filter) { filter.Set##parameter("thing"); });  \
    ExpectContains(error, #parameter);                                                               \
    ExpectContains(error, "\"thing\"");                                                              \
    ExpectContains(error, known);                                                                    \
    EXPECT_EQ(rows.GetError([](auto & filter) { filter.Set##parameter(known); }), "") << #parameter; \
  } while (false)
// Parameters that must be above 0 and finite.
#define POSITIVE(parameter, words)                                        \
  REFUSES(parameter, double, words, Nan, Infinity, -Infinity, 0.0, -1.0); \
  ACCEPTS(parameter, double, 0.5, 3.0)
// Parameters that are true or false.
#define SWITCH(parameter) ACCEPTS(parameter, bool, 0.0, 1.0)
// Parameters that are images or other objects: tests of their own say which ones are refused. ITK's enumerations have
// no names.
#define OBJECT(parameter) static_assert(true, #parameter)

template <typename TRows>
void
CheckBackend(TRows & rows)
{
  NAMES(Backend, "host");
  REFUSES(DeviceIndex, int, "must be a device's index or -1", -2.0, -2147483648.0);
  ACCEPTS(DeviceIndex, int, -1.0, 0.0);
  ACCEPTS(DeviceMemoryLimit, size_t, 0.0, 1.0);
}

template <typename TFilter>
void
SetBoundaryValue(TFilter & filter, double value)
{
  filter.SetBoundaryMode("constant");
  filter.SetBoundaryValue(value);
}

/** What the recursive Gaussian filters have in common. */
template <typename TFilter>
void
CheckGaussian(Rows<TFilter> & rows)
{
  CheckBackend(rows);
  NAMES(Streaming, "automatic");
  NAMES(Approximation, "Accurate");
  NAMES(BoundaryMode, "Mirror");
  ACCEPTS(BoundaryValue, double, -1.0, 0.0, 1e30);
  rows.SettersOfItk = true;
  POSITIVE(Sigma, "greater than zero");
  SWITCH(NormalizeAcrossScale);
  rows.Refuse("BoundaryValue", "it must be finite", SetBoundaryValue<TFilter>, { Nan, Infinity, -Infinity });
}

/** SetSigmaArray() and its like: one of the values is wrong. */
template <typename TFilter>
void
CheckArray(Rows<TFilter> & rows, const std::string & words, void (*set)(TFilter &, double))
{
  rows.Refuse("Sigma", words, set, { Nan, Infinity, 0.0, -1.0 });
  rows.Accept("Sigma", set, { 0.5, 3.0 });
}

template <typename TFilter>
void
SetSigmaArray(TFilter & filter, double value)
{
  typename TFilter::SigmaArrayType sigmas;
  sigmas[0] = 2.0;
  sigmas[1] = value;
  filter.SetSigmaArray(sigmas);
}

TEST(CudaParameters, CudaRecursiveGaussianImageFilter)
{
  using FilterType = CudaRecursiveGaussianImageFilter<ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckGaussian(rows);
  REFUSES(Direction, unsigned int, "greater than ImageDimension", 2.0, LargestUnsigned);
  ACCEPTS(Direction, unsigned int, 0.0, 1.0);
  ACCEPTS(Order, GaussianOrderEnum, 0.0, 1.0, 2.0);
  REFUSES(Order, GaussianOrderEnum, "Order", 3.0, 77.0);
  SWITCH(InPlace);
}

TEST(CudaParameters, CudaSmoothingRecursiveGaussianImageFilter)
{
  using FilterType = CudaSmoothingRecursiveGaussianImageFilter<ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckGaussian(rows);
  CheckArray<FilterType>(rows, "greater than zero", SetSigmaArray<FilterType>); // SigmaArray
  ACCEPTS(FillValue, double, Nan, Infinity, 0.0, -1.0);
  OBJECT(ValidMask);
  SWITCH(InPlace);
}

TEST(CudaParameters, CudaGradientRecursiveGaussianImageFilter)
{
  using FilterType = CudaGradientRecursiveGaussianImageFilter<ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckGaussian(rows);
  CheckArray<FilterType>(rows, "greater than zero", SetSigmaArray<FilterType>); // SigmaArray
  SWITCH(UseImageDirection);
}

TEST(CudaParameters, CudaGradientMagnitudeRecursiveGaussianImageFilter)
{
  using FilterType = CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckGaussian(rows);
}

TEST(CudaParameters, CudaLaplacianRecursiveGaussianImageFilter)
{
  using FilterType = CudaLaplacianRecursiveGaussianImageFilter<ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckGaussian(rows);
}

TEST(CudaParameters, CudaHessianRecursiveGaussianImageFilter)
{
  using FilterType = CudaHessianRecursiveGaussianImageFilter<ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckGaussian(rows);
}

TEST(CudaParameters, CudaDiscreteGaussianImageFilter)
{
  using FilterType = CudaDiscreteGaussianImageFilter<ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckBackend(rows);
  rows.SettersOfItk = true;
  REFUSES(Variance, double, "must be finite and 0 or more", Nan, Infinity, -Infinity, -1.0, -1e-300);
  ACCEPTS(Variance, double, 0.0, 1e-300, 2.0, 100.0);
  REFUSES(MaximumError, double, "must be above 0 and below 1", Nan, Infinity, 0.0, -1.0, 1.0, Huge);
  ACCEPTS(MaximumError, double, 1e-3, 0.999);
  ACCEPTS(MaximumKernelWidth, unsigned int, 0.0, 1.0, 32.0, LargestUnsigned);
  ACCEPTS(FilterDimensionality, unsigned int, 0.0, 1.0, 2.0, LargestUnsigned);
  SWITCH(UseImageSpacing);
  OBJECT(InputBoundaryCondition);
  OBJECT(RealBoundaryCondition);
}

TEST(CudaParameters, CudaPartitionedRecursiveGaussianImageFilter)
{
  using FilterType = CudaPartitionedRecursiveGaussianImageFilter<ImageType, ImageType>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckBackend(rows);
  const std::string words = "must be greater than zero and finite";
  POSITIVE(Sigma, words);
  POSITIVE(FilterWindow, words);
  POSITIVE(WindowToSigmaRatio, words);
  NAMES(Partition, "Exact");
  ACCEPTS(Partition, CudaFiltersEnums::Partition, 0.0, 1.0, 2.0);
  NAMES(LineBorders, "Exact");
  ACCEPTS(LineBorders, CudaFiltersEnums::LineBorders, 0.0, 1.0);
  NAMES(IntermediateStorage, "Global");
  ACCEPTS(IntermediateStorage, CudaFiltersEnums::IntermediateStorage, 0.0, 1.0);
  rows.Refuse("NumberOfBlocks",
              "",
              [](FilterType & filter, double value) {
                filter.SetPartition("exact");
                filter.SetNumberOfBlocks(static_cast<SizeValueType>(value));
              },
              { 0.0, 100.0, 9e18 });
  ACCEPTS(NumberOfBlocks, SizeValueType, 1.0);
  SWITCH(AutomaticNumberOfBlocks);
  REFUSES(LinesPerBlock, unsigned int, "must be 4, 8, 16, 32 or 64", 0.0, 5.0, 128.0, LargestUnsigned);
  ACCEPTS(LinesPerBlock, unsigned int, 4.0, 64.0);
}

/** Its images are on a device. What is wrong with parameters is told before the image's pixels are looked for. */
TEST(CudaParameters, CudaPixelMappingImageFilter)
{
  using DeviceType = CudaDeviceImage<float, 2>;
  using FilterType = CudaPixelMappingImageFilter<DeviceType, DeviceType>;
  const auto image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { 4, 4 } });
  const auto make = [&image](void (FilterType::*turnOn)()) {
    return [&image, turnOn] {
      const auto filter = FilterType::New();
      filter->SetInput(image);
      if (turnOn != nullptr)
      {
        (filter.GetPointer()->*turnOn)();
      }
      return filter;
    };
  };
  const std::string noPixels = "The input has no device memory";
  {
    Rows<FilterType> rows(make(nullptr));
    ExpectContains(rows.GetError([](FilterType & filter) { filter.SetRounding("thing"); }), "\"thing\""); // Rounding
    REFUSES(Shift, double, "must be finite", Nan, Infinity, -Infinity);
    REFUSES(Scale, double, "must be finite", Nan, Infinity, -Infinity);
    for (const double value : { 0.0, -1.0, Huge })
    {
      ExpectContains(rows.GetError([=](FilterType & filter) {
        filter.SetShift(value);
        filter.SetScale(value);
      }),
                     noPixels);
    }
  }
  {
    Rows<FilterType> rows(make(&FilterType::UseSigmoidOn));
    const auto       addRange = [](FilterType & filter) {
      filter.SetOutputMinimum(0.0f);
      filter.SetOutputMaximum(1.0f);
    };
    rows.Refuse("Alpha",
                "must be finite and not 0",
                [&](FilterType & filter, double value) {
                  addRange(filter);
                  filter.SetAlpha(value);
                },
                { Nan, Infinity, -Infinity, 0.0 });
    rows.Refuse("Beta",
                "must be finite",
                [&](FilterType & filter, double value) {
                  addRange(filter);
                  filter.SetBeta(value);
                },
                { Nan, Infinity, -Infinity });
    REFUSES(OutputMinimum, float, "difference must be finite", Nan, Infinity, -Infinity);
    REFUSES(OutputMaximum, float, "difference must be finite", Nan, Infinity, -Infinity);
  }
  {
    Rows<FilterType> rows(make(&FilterType::UseWindowOn));
    REFUSES(WindowMinimum, float, "must be less than WindowMaximum", Nan, Infinity);
    REFUSES(WindowMaximum, float, "must be less than WindowMaximum", Nan, -Infinity);
  }
  Rows<FilterType> rows(make(&FilterType::UseThresholdOn));
  REFUSES(LowerThreshold, float, "must not be greater than UpperThreshold", Nan);
  REFUSES(UpperThreshold, float, "must not be greater than UpperThreshold", Nan);
  for (void (FilterType::*turnOn)() : { &FilterType::UseSigmoidOn, &FilterType::UseWindowOn })
  {
    ExpectContains(rows.GetError([=](FilterType & filter) { (filter.*turnOn)(); }), "are both on");
  }
  // UseSigmoid, UseWindow, UseThreshold are switches above. Any number is a value of an image.
  OBJECT(UseSigmoid);
  OBJECT(UseWindow);
  OBJECT(UseThreshold);
  OBJECT(InsideValue);
  OBJECT(OutsideValue);
}

TEST(CudaParameters, CudaRegionPartitionImageFilter)
{
  using FilterType = CudaRegionPartitionImageFilter<ImageType, Image<unsigned int, 2>>;
  Rows<FilterType> rows([] {
    const auto filter = Maker<FilterType>(MakeImage())();
    filter->SetNoiseLaw("gamma");
    return filter;
  });
  CheckBackend(rows);
  NAMES(NoiseLaw, "Rayleigh");
  ACCEPTS(NoiseLaw, CudaFiltersEnums::NoiseLaw, 0.0, 1.0, 2.0, 3.0, 6.0);
  REFUSES(
    NumberOfLooks, double, "must be a number above 0, or 0 for an estimate", Nan, Infinity, -Infinity, -1.0, 1e10);
  ACCEPTS(NumberOfLooks, double, 0.0, 0.3, 1000.0);
  REFUSES(ForegroundThreshold, double, "must be finite", Infinity, -Infinity);
  ACCEPTS(ForegroundThreshold, double, Nan, 0.0, -1.0, Huge);
  REFUSES(SegmentCost, double, "must be 0 or more nats", Nan, Infinity, -Infinity, -1.0, Huge);
  ACCEPTS(SegmentCost, double, 0.0, 9.0, 1e100);
  REFUSES(BlockSize, unsigned int, "must be 1, 2, 4, 8, 16, 32 or 64", 0.0, 3.0, 128.0, LargestUnsigned);
  ACCEPTS(BlockSize, unsigned int, 1.0, 64.0);
  REFUSES(MinimumNumberOfPixels, uint64_t, "must be 1 or more", 0.0);
  ACCEPTS(MinimumNumberOfPixels, uint64_t, 1.0, 1e19);
  REFUSES(MaximumNumberOfIterations, unsigned int, "must be from 1 to", 0.0, LargestUnsigned);
  ACCEPTS(MaximumNumberOfIterations, unsigned int, 1.0, 12.0);
  SWITCH(AllowMerging);
  SWITCH(LabelsOnly);
  OBJECT(ValidMask);
  OBJECT(InitialLabels);
}

TEST(CudaParameters, CudaConstantFalseAlarmRateImageFilter)
{
  using FilterType = CudaConstantFalseAlarmRateImageFilter<ImageType, Image<unsigned int, 2>>;
  Rows<FilterType> rows([] {
    const auto filter = Maker<FilterType>(MakeImage())();
    filter->SetNoiseLaw("gamma");
    filter->SetTargetWindow({ { 1, 1 } });
    filter->SetGuardWindow({ { 1, 1 } });
    filter->SetBackgroundWindow({ { 3, 3 } });
    return filter;
  });
  CheckBackend(rows);
  NAMES(NoiseLaw, "Rayleigh");
  ACCEPTS(NoiseLaw, CudaFiltersEnums::NoiseLaw, 0.0, 1.0, 2.0, 3.0, 6.0);
  REFUSES(NumberOfLooks, double, "must be a number above 0", Nan, Infinity, -Infinity, 0.0, -1.0, 1e10);
  ACCEPTS(NumberOfLooks, double, 0.5, 3.0, 1e9);
  REFUSES(ForegroundThreshold, double, "must be finite", Infinity, -Infinity);
  ACCEPTS(ForegroundThreshold, double, Nan, 0.0, -1.0, Huge);
  REFUSES(ProbabilityOfFalseAlarm, double, "must be above 0 and at most 0.1", Nan, Infinity, -1.0, 0.0, 0.11);
  ACCEPTS(ProbabilityOfFalseAlarm, double, 1e-300, 1e-6, 0.1);
  REFUSES(MinimumNumberOfPixels, uint64_t, "must be 1 or more", 0.0);
  ACCEPTS(MinimumNumberOfPixels, uint64_t, 1.0, 1e19);
  ACCEPTS(MaximumNumberOfPixels, uint64_t, 0.0, 1.0, 1e19);
  OBJECT(TargetWindow);
  OBJECT(GuardWindow);
  OBJECT(BackgroundWindow);
  OBJECT(ValidMask);
}

TEST(CudaParameters, CudaRegionSnakeImageFilter)
{
  using FilterType = CudaRegionSnakeImageFilter<ImageType, LabelType>;
  Rows<FilterType> rows([] {
    const auto filter = Maker<FilterType>(MakeImage())();
    filter->SetNoiseLaw("gamma");
    return filter;
  });
  CheckBackend(rows);
  NAMES(NoiseLaw, "Rayleigh");
  ACCEPTS(NoiseLaw, CudaFiltersEnums::NoiseLaw, 0.0, 1.0, 2.0, 3.0, 6.0);
  NAMES(Schedule, "AsPublished");
  ACCEPTS(Schedule, CudaFiltersEnums::Schedule, 0.0, 1.0);
  NAMES(Start, "MarginRectangle");
  ACCEPTS(Start, CudaFiltersEnums::Start, 0.0, 1.0);
  REFUSES(NumberOfLooks, double, "must be a number above 0", Nan, Infinity, -Infinity, 0.0, -1.0, 1e10);
  ACCEPTS(NumberOfLooks, double, 0.3, 1000.0);
  REFUSES(ForegroundThreshold, double, "must be finite", Infinity, -Infinity);
  ACCEPTS(ForegroundThreshold, double, Nan, 0.0, -1.0, Huge);
  REFUSES(MaximumStep, unsigned int, "must be from 1 to", 0.0, LargestUnsigned);
  ACCEPTS(MaximumStep, unsigned int, 1.0, 1048576.0);
  REFUSES(MinimumEdgeLength, double, "must be from 1 to 1e9", Nan, Infinity, -Infinity, 0.0, -1.0, 2e9);
  ACCEPTS(MinimumEdgeLength, double, 1.0, 1e9);
  REFUSES(MinimumGain, double, "must be 1e-6 or more", Nan, Infinity, -Infinity, 0.0, -1.0);
  ACCEPTS(MinimumGain, double, 1e-6, Huge);
  SWITCH(UseDescriptionLength);
  REFUSES(MaximumNumberOfNodes, unsigned int, "must be from 4 to", 0.0, 3.0, LargestUnsigned);
  ACCEPTS(MaximumNumberOfNodes, unsigned int, 4.0, 65536.0);
  REFUSES(MaximumNumberOfIterations, unsigned int, "must be from 1 to", 0.0, LargestUnsigned);
  ACCEPTS(MaximumNumberOfIterations, unsigned int, 1.0, 1000000.0);
  REFUSES(MinimumRegionSize, uint64_t, "must be 1 or more", 0.0);
  ACCEPTS(MinimumRegionSize, uint64_t, 1.0, 100.0);
  REFUSES(InsideValue, unsigned char, "must be another value than OutsideValue", 0.0);
  ACCEPTS(InsideValue, unsigned char, 1.0, 255.0);
  REFUSES(OutsideValue, unsigned char, "must be another value than OutsideValue", 1.0);
  ACCEPTS(OutsideValue, unsigned char, 0.0, 255.0);
  SWITCH(MakeLabelImage);
  OBJECT(InitialPath);
  OBJECT(InitialMask);
  OBJECT(ValidMask);
  const auto setRegion = [](FilterType & filter, double side) {
    const auto length = static_cast<SizeValueType>(side);
    filter.SetInitialRegion(ImageRegion<2>{ { { 2, 2 } }, { { length, length } } });
  };
  // The numbers of pixels of the last two are 0 modulo 2^64, or they end before their beginning.
  rows.Refuse(
    "InitialRegion", "must lie in the image", setRegion, { 25.0, 9e18, 4294967296.0, 18446744073709549568.0 });
  rows.SettersOfItk = true; // regions have no line of their own
  rows.Accept("InitialRegion", setRegion, { 0.0, 4.0, 18.0 });
}

TEST(CudaParameters, CudaStructureTensorImageFilter)
{
  using FilterType = CudaStructureTensorImageFilter<ImageType, VectorImage<float, 2>>;
  Rows<FilterType> rows(Maker<FilterType>(MakeImage()));
  CheckBackend(rows);
  POSITIVE(Sigma, "must be greater than zero and finite");
  POSITIVE(IntegrationSigma, "must be greater than zero and finite");
  NAMES(Approximation, "Accurate");
  ACCEPTS(Quantity, typename FilterType::QuantityEnum, 0.0, 1.0);
}

TensorImage::Pointer
MakeTensors()
{
  const auto image = TensorImage::New();
  image->SetRegions(TensorImage::SizeType{ { 5, 4 } });
  image->Allocate();
  TensorImage::PixelType tensor;
  tensor.Fill(1.0);
  image->FillBuffer(tensor);
  return image;
}

TEST(CudaParameters, CudaSymmetricEigenAnalysisImageFilter)
{
  using FilterType = CudaSymmetricEigenAnalysisImageFilter<TensorImage, Image<FixedArray<double, 2>, 2>>;
  Rows<FilterType> rows(Maker<FilterType>(MakeTensors()));
  CheckBackend(rows);
  ACCEPTS(Dimension, unsigned int, 2.0);
  REFUSES(Dimension, unsigned int, "Dimension", 0.0, 3.0, LargestUnsigned);
  OBJECT(OrderEigenValuesBy);
}

TEST(CudaParameters, CudaHessianToObjectnessMeasureImageFilter)
{
  using FilterType = CudaHessianToObjectnessMeasureImageFilter<TensorImage, Image<double, 2>>;
  Rows<FilterType> rows(Maker<FilterType>(MakeTensors()));
  CheckBackend(rows);
  rows.SettersOfItk = true; // they accept any number, and 0 leaves a factor out
  ACCEPTS(Alpha, double, Nan, Infinity, 0.0, -1.0);
  ACCEPTS(Beta, double, Nan, Infinity, 0.0, -1.0);
  ACCEPTS(Gamma, double, Nan, Infinity, 0.0, -1.0);
  REFUSES(ObjectDimension, unsigned int, "ObjectDimension", 2.0, LargestUnsigned);
  ACCEPTS(ObjectDimension, unsigned int, 0.0, 1.0);
  SWITCH(BrightObject);
  SWITCH(ScaleObjectnessMeasure);
}

TEST(CudaParameters, CudaMultiScaleHessianBasedMeasureImageFilter)
{
  using FilterType = CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, TensorImage, ImageType>;
  using MeasureType = HessianToObjectnessMeasureImageFilter<TensorImage, ImageType>;
  Rows<FilterType> rows([] {
    const auto filter = Maker<FilterType>(MakeImage())();
    filter->SetHessianToMeasureFilter(MeasureType::New());
    return filter;
  });
  CheckBackend(rows);
  POSITIVE(SigmaMinimum, "greater than zero and finite");
  POSITIVE(SigmaMaximum, "greater than zero and finite");
  ACCEPTS(NumberOfSigmaSteps, unsigned int, 1.0, 3.0);
  SWITCH(NonNegativeHessianBasedMeasure);
  SWITCH(GenerateScalesOutput);
  SWITCH(GenerateHessianOutput);
  OBJECT(SigmaStepMethod);
  OBJECT(HessianToMeasureFilter);
}

TEST(CudaParameters, CudaVesselnessImageFilter)
{
  using FilterType = CudaVesselnessImageFilter<ImageType, ImageType>;
  Rows<FilterType> rows([] {
    const auto filter = Maker<FilterType>(MakeImage())();
    filter->AddSigma(1.0);
    return filter;
  });
  CheckBackend(rows);
  NAMES(HessianMeasure, "Jerman");
  NAMES(Approximation, "Accurate");
  NAMES(BoundaryMode, "Mirror");
  const auto setSigmas = [](FilterType & filter, double value) { filter.SetSigmas({ 2.0, value }); };
  rows.Refuse("Sigmas", "must be finite and above 0", setSigmas, { Nan, Infinity, -Infinity, 0.0, -1.0 });
  rows.Accept("Sigmas", setSigmas, { 0.5, 2.0 });
  ExpectContains(rows.GetError([](FilterType & filter) { filter.SetSigmas({}); }), "Sigmas is empty");
  REFUSES(Alpha, double, "must be finite and above 0", Nan, Infinity, -Infinity, 0.0, -1.0);
  ACCEPTS(Alpha, double, 1e-300, 0.5, Huge);
  REFUSES(Beta, double, "must be finite and above 0", Nan, Infinity, -Infinity, 0.0, -1.0);
  ACCEPTS(Beta, double, 1e-300, 0.5, Huge);
  REFUSES(Gamma, double, "must be finite and above 0, or NaN", Infinity, -Infinity, 0.0, -1.0);
  rows.SettersOfItk = true; // NaN is another value each time
  ACCEPTS(Gamma, double, Nan, 1e-300, 5.0, Huge);
  rows.SettersOfItk = false;
  REFUSES(ObjectDimension, unsigned int, "must be below the image's dimension, 2", 2.0, LargestUnsigned);
  ACCEPTS(ObjectDimension, unsigned int, 0.0, 1.0);
  SWITCH(BrightObject);
  SWITCH(NormalizeAcrossScale);
  SWITCH(ScaleObjectnessMeasure);
  SWITCH(GenerateScaleOutput);
  SWITCH(GenerateHessianOutput);
  rows.Refuse("BoundaryValue", "must be finite", SetBoundaryValue<FilterType>, { Nan, Infinity, -Infinity });
}

/** The parameters of the other measures of CudaVesselnessImageFilter. */
TEST(CudaParameters, CudaVesselnessImageFilterOfOtherMeasures)
{
  using FilterType = CudaVesselnessImageFilter<ImageType, ImageType>;
  const auto make = [](const char * measure) {
    return [=] {
      const auto filter = Maker<FilterType>(MakeImage())();
      filter->AddSigma(1.0);
      filter->SetHessianMeasure(measure);
      return filter;
    };
  };
  {
    Rows<FilterType> rows(make("Jerman"));
    REFUSES(Tau, double, "must be from 0 to 1", Nan, Infinity, -Infinity, -1e-9, 1.1);
    ACCEPTS(Tau, double, 0.0, 0.5, 1.0);
  }
  Rows<FilterType> rows(make("sato"));
  REFUSES(SatoAlpha, double, "must be from 0 to 1", Nan, Infinity, -1.0, 1.1);
  ACCEPTS(SatoAlpha, double, 0.0, 0.25, 1.0);
  REFUSES(SatoGamma12, double, "must be 0, 0.5 or 1", Nan, Infinity, -1.0, 0.7);
  ACCEPTS(SatoGamma12, double, 0.0, 0.5, 1.0);
  REFUSES(SatoGamma23, double, "must be 0, 0.5 or 1", Nan, Infinity, -1.0, 0.7);
  ACCEPTS(SatoGamma23, double, 0.0, 0.5, 1.0);
}

/** An update needs a device. */
TEST(CudaParameters, CudaUploadImageFilter)
{
  const auto upload = CudaUploadImageFilter<ImageType>::New();
  for (const int index : { -2, std::numeric_limits<int>::min() })
  {
    ExpectContains(GetException([&] { upload->SetDeviceIndex(index); }), "must be a device's index or -1");
  }
  for (const int index : { -1, 0, std::numeric_limits<int>::max() })
  {
    upload->SetDeviceIndex(index);
    EXPECT_EQ(upload->GetDeviceIndex(), index);
  }
}

TEST(CudaParameters, CudaDeviceImage)
{
  const auto image = CudaDeviceImage<float, 2>::New();
  for (const int index : { -2, std::numeric_limits<int>::min() })
  {
    ExpectContains(GetException([&] { image->SetDeviceIndex(index); }), "must be a device's index or -1");
  }
  const auto vectors = CudaDeviceImage<VariableLengthVector<float>, 2>::New();
  vectors->SetRegions(ImageType::SizeType{ { 4, 4 } });
  vectors->SetNumberOfComponentsPerPixel(0);
  ExpectContains(GetException([&] { vectors->Allocate(); }), "components");
}

} // namespace
} // namespace itk::cuda::test
