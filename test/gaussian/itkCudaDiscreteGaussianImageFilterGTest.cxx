// SPDX-License-Identifier: Apache-2.0

// Against itk::DiscreteGaussianImageFilter, over its parameters: the plan with the arithmetic of the device, run on the
// host's lines; the plan on the host, as the functions of arrays run it; the filter, on the GPU where there is one.

#include "itkConstantBoundaryCondition.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaFirReference.h"
#include "support/itkCudaGaussianLineReference.h"
#include "itkDiscreteGaussianImageFilter.h"
#include "itkImage.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionIterator.h"
#include "itkPeriodicBoundaryCondition.h"
#include "itkVector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;

using BackendEnum = CudaFiltersEnums::Backend;

constexpr double FloatBound = 1e-6; // of max|x|

template <typename TInput, typename TOutput>
using CudaFilterOf = CudaDiscreteGaussianImageFilter<TInput, TOutput>;
template <typename TInput, typename TOutput>
using ItkFilterOf = DiscreteGaussianImageFilter<TInput, TOutput>;

/** The class under test, but for the device's place taken by the room's reference lines. */
template <typename TInput, typename TOutput>
class PlanOnHost : public CudaDiscreteGaussianImageFilter<TInput, TOutput>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(PlanOnHost);
  using Self = PlanOnHost;
  using Superclass = CudaDiscreteGaussianImageFilter<TInput, TOutput>;
  using Pointer = SmartPointer<Self>;
  itkNewMacro(Self);

protected:
  PlanOnHost() = default;

  void
  GenerateData() override
  {
    typename TInput::RegionType inputRegion;
    const char *                unsupported = nullptr;
    const CudaGaussianFirPlan   plan = this->MakePlan(inputRegion, unsupported);
    ASSERT_EQ(unsupported, nullptr);
    const bool inFloat =
      !plan.TruncatePasses && sizeof(typename TInput::PixelType) <= 4 &&
      (sizeof(typename TInput::PixelType) < 4 || std::is_same<typename TInput::PixelType, float>::value) &&
      std::is_same<typename TOutput::PixelType, float>::value;
    inFloat ? this->template Run<float>(plan, inputRegion) : this->template Run<double>(plan, inputRegion);
  }

private:
  template <typename T>
  void
  Run(const CudaGaussianFirPlan & plan, const typename TInput::RegionType & inputRegion)
  {
    std::vector<T>                   pixels;
    ImageRegionConstIterator<TInput> in(this->GetInput(), inputRegion);
    for (; !in.IsAtEnd(); ++in)
    {
      pixels.push_back(static_cast<T>(in.Get()));
    }
    for (const CudaGaussianFirPass & pass : plan.Passes)
    {
      size_t step = 1;
      for (unsigned int d = 0; d < TInput::ImageDimension; ++d)
      {
        step *= d < pass.Axis ? inputRegion.GetSize(d) : 1;
      }
      ConvolveLines(pass, plan.TruncatePasses, step, inputRegion.GetSize(pass.Axis), pixels);
    }
    this->AllocateOutputs();
    ImageRegionIterator<TOutput> out(this->GetOutput(), this->GetOutput()->GetRequestedRegion());
    for (; !out.IsAtEnd(); ++out)
    {
      size_t offset = 0;
      size_t stride = 1;
      for (unsigned int d = 0; d < TInput::ImageDimension; ++d)
      {
        offset += static_cast<size_t>(out.GetIndex()[d] - inputRegion.GetIndex(d)) * stride;
        stride *= inputRegion.GetSize(d);
      }
      out.Set(static_cast<typename TOutput::PixelType>(pixels[offset]));
    }
  }
};

/** The class under test, with the host's run of the plan, which only the functions of arrays use, as the filter leaves
 * the host to ITK's class. */
template <typename TInput, typename TOutput>
class PlanOfArrays : public CudaDiscreteGaussianImageFilter<TInput, TOutput>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(PlanOfArrays);
  using Self = PlanOfArrays;
  using Superclass = CudaDiscreteGaussianImageFilter<TInput, TOutput>;
  using Pointer = SmartPointer<Self>;
  itkNewMacro(Self);

protected:
  PlanOfArrays() = default;

  void
  GenerateData() override
  {
    typename TInput::RegionType inputRegion;
    const char *                unsupported = nullptr;
    const CudaGaussianFirPlan   plan = this->MakePlan(inputRegion, unsupported);
    ASSERT_EQ(unsupported, nullptr);
    this->AllocateOutputs();
    const TOutput * const output = this->GetOutput();
    float                 last = 0.0f;
    CudaRunOnHost(plan,
                  MakeCudaImageView(this->GetInput(), inputRegion),
                  MakeCudaImageView(output, output->GetRequestedRegion()),
                  this->GetMultiThreader(),
                  [&last](float share) {
                    EXPECT_TRUE(share >= last && share <= 1.0f);
                    last = share;
                  });
  }
};

template <typename TImage>
typename TImage::Pointer
MakeRandomImage(const typename TImage::SizeType & size, double lowest, double highest)
{
  typename TImage::RegionType region(size);
  typename TImage::IndexType  index;
  index.Fill(5);
  region.SetIndex(index);
  typename TImage::SpacingType spacing;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    spacing[d] = 0.75 + 0.5 * d;
  }
  const auto image = TImage::New();
  image->SetRegions(region);
  image->SetSpacing(spacing);
  image->Allocate();
  std::mt19937                           generator(20140630);
  std::uniform_real_distribution<double> uniform(lowest, highest);
  for (SizeValueType i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] = static_cast<typename TImage::PixelType>(uniform(generator));
  }
  return image;
}

template <typename TImage>
std::vector<double>
GetPixels(const TImage * image, const typename TImage::RegionType & region)
{
  std::vector<double>              pixels;
  ImageRegionConstIterator<TImage> it(image, region);
  for (; !it.IsAtEnd(); ++it)
  {
    pixels.push_back(static_cast<double>(it.Get()));
  }
  return pixels;
}

template <unsigned int VDimension>
struct Parameters
{
  std::array<double, VDimension> Variance;
  double                         MaximumError{ 0.01 };
  int                            MaximumKernelWidth{ 32 };
  bool                           UseImageSpacing{ true };
  unsigned int                   FilterDimensionality{ VDimension };
};

template <typename TFilter, unsigned int VDimension>
void
SetParameters(TFilter * filter, const Parameters<VDimension> & parameters)
{
  filter->SetVariance(parameters.Variance.data());
  filter->SetMaximumError(parameters.MaximumError);
  filter->SetMaximumKernelWidth(parameters.MaximumKernelWidth);
  filter->SetUseImageSpacing(parameters.UseImageSpacing);
  filter->SetFilterDimensionality(parameters.FilterDimensionality);
}

/** Sets no further parameters. */
struct NoFurther
{
  template <typename TFilter>
  void
  operator()(TFilter *) const
  {}
};

enum class Where
{
  Plan,
  Arrays,
  Host,
  Cuda
};

class DiscreteFilter : public testing::TestWithParam<Where>
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (GetParam() == Where::Cuda && !CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << reason;
    }
    Object::GlobalWarningDisplayOff(); // ITK tells of each kernel that MaximumKernelWidth cuts
  }

  void
  TearDown() override
  {
    Object::GlobalWarningDisplayOn();
  }

  template <typename TInput, typename TOutput>
  typename CudaFilterOf<TInput, TOutput>::Pointer
  MakeFilter(const TInput * image) const
  {
    typename CudaFilterOf<TInput, TOutput>::Pointer filter;
    if (GetParam() == Where::Plan)
    {
      filter = PlanOnHost<TInput, TOutput>::New();
    }
    else if (GetParam() == Where::Arrays)
    {
      filter = PlanOfArrays<TInput, TOutput>::New();
    }
    else
    {
      filter = CudaFilterOf<TInput, TOutput>::New();
      filter->SetBackend(GetParam() == Where::Cuda ? BackendEnum::Cuda : BackendEnum::Host);
    }
    filter->SetInput(image);
    return filter;
  }

  /** Returns the pixels of both filters, this module's first. */
  template <typename TInput, typename TOutput, typename TSet = NoFurther>
  std::pair<std::vector<double>, std::vector<double>>
  RunBoth(const TInput *                             image,
          const Parameters<TInput::ImageDimension> & parameters,
          const TSet &                               setFurther = TSet()) const
  {
    const auto filter = this->MakeFilter<TInput, TOutput>(image);
    const auto itks = ItkFilterOf<TInput, TOutput>::New();
    itks->SetInput(image);
    SetParameters(filter.GetPointer(), parameters);
    SetParameters(itks.GetPointer(), parameters);
    setFurther(filter.GetPointer());
    setFurther(itks.GetPointer());
    filter->Update();
    itks->Update();
    EXPECT_TRUE(GetParam() != Where::Cuda || filter->GetBackendUsed() == BackendEnum::Cuda)
      << filter->GetBackendReason();
    const auto region = image->GetLargestPossibleRegion();
    return { GetPixels(filter->GetOutput(), region), GetPixels(itks->GetOutput(), region) };
  }

  /** Equal bits for integers, else within the bound. */
  template <typename TInput, typename TOutput, typename TSet = NoFurther>
  void
  ExpectItks(const typename TInput::SizeType &          size,
             double                                     lowest,
             double                                     highest,
             const Parameters<TInput::ImageDimension> & parameters,
             const TSet &                               setFurther = TSet()) const
  {
    const auto image = MakeRandomImage<TInput>(size, lowest, highest);
    const auto [found, itks] = this->RunBoth<TInput, TOutput>(image.GetPointer(), parameters, setFurther);
    const double scale = std::is_integral<typename TOutput::PixelType>::value
                           ? std::numeric_limits<double>::min()
                           : FloatBound * std::max(std::abs(lowest), std::abs(highest));
    EXPECT_LE(cuda::test::LargestDifference(found, itks), scale)
      << "variance " << parameters.Variance[0] << ", maximum error " << parameters.MaximumError << ", maximum width "
      << parameters.MaximumKernelWidth << ", spacing " << parameters.UseImageSpacing << ", dimensions "
      << parameters.FilterDimensionality << " of " << TInput::ImageDimension;
  }

  template <typename TInput, typename TOutput>
  void
  ExpectItksForAllParameters(double lowest, double highest) const
  {
    for (const std::array<double, 2> variance : { std::array<double, 2>{ { 0.0, 0.0 } },
                                                  { { 0.3, 1.0 } },
                                                  { { 4.0, 4.0 } },
                                                  { { 25.0, 2.0 } },
                                                  { { 300.0, 150.0 } } })
    {
      for (const double maximumError : { 0.01, 1e-4 })
      {
        for (const int width : { 5, 32, 400 })
        {
          for (const bool spacing : { true, false })
          {
            this->ExpectItks<TInput, TOutput>(
              { { 83, 70 } }, lowest, highest, { variance, maximumError, width, spacing, 2 });
          }
        }
      }
    }
  }
};

std::string
GetWhere(const testing::TestParamInfo<Where> & info)
{
  static const char * const names[] = { "Plan", "Arrays", "Host", "Cuda" };
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         DiscreteFilter,
                         testing::Values(Where::Plan, Where::Arrays, Where::Host, Where::Cuda),
                         GetWhere);
} // namespace

// Each way to compute once: in float and in double, and with passes that are truncated, from integers of 32 bits, of
// fewer, and from floats.
TEST_P(DiscreteFilter, EqualsItksForAllParameters)
{
  this->ExpectItksForAllParameters<Image<float, 2>, Image<float, 2>>(0.0, 1.0);
  this->ExpectItksForAllParameters<Image<float, 2>, Image<float, 2>>(950.0, 1050.0);
  this->ExpectItksForAllParameters<Image<double, 2>, Image<double, 2>>(-1.0, 1.0);
  this->ExpectItksForAllParameters<Image<unsigned short, 2>, Image<float, 2>>(0.0, 65535.0);
  this->ExpectItksForAllParameters<Image<unsigned char, 2>, Image<unsigned char, 2>>(0.0, 255.0);
  this->ExpectItksForAllParameters<Image<int, 2>, Image<int, 2>>(-1e9, 1e9);
  this->ExpectItksForAllParameters<Image<float, 2>, Image<unsigned char, 2>>(0.0, 255.0);
}

TEST_P(DiscreteFilter, EqualsItksInThreeDimensions)
{
  for (const unsigned int dimensionality : { 1, 2, 3 })
  {
    const Parameters<3> parameters{ { { 2.0, 9.0, 1.0 } }, 0.01, 32, true, dimensionality };
    this->ExpectItks<Image<float, 3>, Image<float, 3>>({ { 40, 21, 30 } }, 0.0, 1.0, parameters);
    this->ExpectItks<Image<short, 3>, Image<short, 3>>({ { 40, 21, 30 } }, -32768.0, 32767.0, parameters);
  }
}

TEST_P(DiscreteFilter, EqualsItksForImagesSmallerThanTheKernel)
{
  const Parameters<2> parameters{ { { 400.0, 400.0 } }, 0.01, 300, false, 2 };
  this->ExpectItks<Image<float, 2>, Image<float, 2>>({ { 3, 1 } }, 0.0, 1.0, parameters);
  this->ExpectItks<Image<float, 2>, Image<float, 2>>({ { 1, 40 } }, 0.0, 1.0, parameters);
  this->ExpectItks<Image<unsigned char, 2>, Image<unsigned char, 2>>({ { 7, 5 } }, 0.0, 255.0, parameters);
}

TEST_P(DiscreteFilter, EqualsItksForOtherBoundaryConditions)
{
  using FloatImage = Image<float, 2>;
  using ByteImage = Image<unsigned char, 2>;
  const Parameters<2> parameters{ { { 4.0, 9.0 } }, 0.01, 32, false, 2 };
  const auto          setConditions = [](auto & input, auto & real) {
    return [&](auto * filter) {
      filter->SetInputBoundaryCondition(&input);
      filter->SetRealBoundaryCondition(&real);
    };
  };
  ConstantBoundaryCondition<FloatImage> inputConstant;
  ConstantBoundaryCondition<FloatImage> realConstant;
  inputConstant.SetConstant(0.25f);
  realConstant.SetConstant(-0.5f);
  this->ExpectItks<FloatImage, FloatImage>(
    { { 60, 50 } }, 0.0, 1.0, parameters, setConditions(inputConstant, realConstant));
  PeriodicBoundaryCondition<FloatImage> periodic;
  this->ExpectItks<FloatImage, FloatImage>({ { 60, 50 } }, 0.0, 1.0, parameters, setConditions(periodic, periodic));
  ConstantBoundaryCondition<ByteImage> byteConstant;
  byteConstant.SetConstant(200);
  this->ExpectItks<ByteImage, ByteImage>(
    { { 60, 50 } }, 0.0, 255.0, parameters, setConditions(byteConstant, byteConstant));
}

TEST_P(DiscreteFilter, ConstantsComeOutExactlyAsFloats)
{
  const auto image = MakeRandomImage<Image<float, 2>>({ { 80, 90 } }, 99.7, 99.7);
  const auto pixels = this->RunBoth<Image<float, 2>, Image<float, 2>>(image.GetPointer(), { { { 36.0, 36.0 } } }).first;
  EXPECT_EQ(pixels, GetPixels(image.GetPointer(), image->GetLargestPossibleRegion()));
}

/** The variance counts in square pixels: 400 square units are 711 of them along x, where pixels are 0.75 apart, and 256
 * along y. From 710 on ITK's kernel is exp(-variance) times an overflow, and its class gives NaN. */
TEST_P(DiscreteFilter, RefusesAVarianceOfWhichITKsKernelIsNotANumber)
{
  using ImageType = Image<float, 2>;
  const auto image = MakeRandomImage<ImageType>({ { 40, 50 } }, 0.0, 1.0);
  const auto itks = ItkFilterOf<ImageType, ImageType>::New();
  const auto filter = this->MakeFilter<ImageType, ImageType>(image);
  itks->SetInput(image);
  const Parameters<2> tooLarge{ { { 400.0, 400.0 } }, 0.01, 200, true, 2 };
  SetParameters(itks.GetPointer(), tooLarge);
  SetParameters(filter.GetPointer(), tooLarge);
  itks->Update();
  EXPECT_TRUE(std::isnan(itks->GetOutput()->GetBufferPointer()[0]));
  const std::string text = cuda::test::GetException([&filter] { filter->Update(); });
  cuda::test::ExpectContains(text, "Variance is 711.111 square pixels along axis 0");
  cuda::test::ExpectContains(text, "at most 709");

  // 707.6 square pixels along x, and 400
  this->ExpectItks<ImageType, ImageType>({ { 40, 50 } }, 0.0, 1.0, { { { 398.0, 398.0 } }, 0.01, 200, true, 2 });
  this->ExpectItks<ImageType, ImageType>({ { 40, 50 } }, 0.0, 1.0, { { { 400.0, 400.0 } }, 0.01, 200, false, 2 });
}

TEST_P(DiscreteFilter, TreatsComponentsByThemselves)
{
  if (GetParam() == Where::Plan)
  {
    GTEST_SKIP() << "the reference lines of this test are made for scalars";
  }
  using ImageType = Image<Vector<float, 3>, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 40, 30 } });
  image->Allocate();
  for (unsigned int i = 0; i < 40 * 30; ++i)
  {
    for (unsigned int c = 0; c < 3; ++c)
    {
      image->GetBufferPointer()[i][c] = static_cast<float>((i * 31 + c * 77 + i * i) % 256);
    }
  }
  CudaFilterOf<ImageType, ImageType>::Pointer filter = PlanOfArrays<ImageType, ImageType>::New();
  const auto                                  reference = ItkFilterOf<ImageType, ImageType>::New();
  if (GetParam() != Where::Arrays)
  {
    filter = CudaFilterOf<ImageType, ImageType>::New();
    filter->SetBackend(GetParam() == Where::Cuda ? BackendEnum::Cuda : BackendEnum::Host);
  }
  filter->SetInput(image);
  filter->SetVariance(3.0);
  filter->Update();
  reference->SetInput(image);
  reference->SetVariance(3.0);
  reference->Update();
  for (unsigned int i = 0; i < 40 * 30; ++i)
  {
    const auto difference = filter->GetOutput()->GetBufferPointer()[i] - reference->GetOutput()->GetBufferPointer()[i];
    ASSERT_LE(difference.GetNorm(), FloatBound * 256.0) << "pixel " << i;
  }
}

TEST(DiscreteFilterSettings, WhatTheDeviceCannotDoRunsOnTheHostAndSaysWhy)
{
  using ImageType = Image<float, 2>;
  class OtherCondition : public ZeroFluxNeumannBoundaryCondition<ImageType>
  {};
  const auto image = MakeRandomImage<ImageType>({ { 30, 20 } }, 0.0, 1.0);
  const auto filter = CudaFilterOf<ImageType, ImageType>::New();
  filter->SetInput(image);
  filter->SetVariance(2.0);
  const auto expect = [&](const std::string & reason) {
    filter->SetBackend(BackendEnum::Automatic);
    filter->Update();
    EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
    EXPECT_NE(filter->GetBackendReason().find(reason), std::string::npos) << filter->GetBackendReason();
    filter->SetBackend(BackendEnum::Cuda);
    EXPECT_THROW(filter->Update(), CudaError);
  };
  OtherCondition other;
  filter->SetInputBoundaryCondition(&other);
  Object::GlobalWarningDisplayOff();
  expect("boundary condition is not supported");
  PeriodicBoundaryCondition<ImageType> periodic;
  filter->SetInputBoundaryCondition(&periodic);
  filter->SetVariance(100.0);
  expect("wider than the kernel");
  ZeroFluxNeumannBoundaryCondition<ImageType> standard;
  filter->SetInputBoundaryCondition(&standard);
  filter->SetFilterDimensionality(0);
  expect("FilterDimensionality is 0");
  Object::GlobalWarningDisplayOn();
  std::ostringstream text;
  filter->Print(text);
  EXPECT_NE(text.str().find("CudaDiscreteGaussianImageFilter"), std::string::npos);
  EXPECT_NE(text.str().find("BackendReason: FilterDimensionality is 0"), std::string::npos);
}

namespace
{
/** What a test puts in the place of some pixels: their number and values. */
struct Spoiled
{
  const char *                           What;
  std::vector<std::pair<size_t, double>> Pixels;
};

/** Of an image of 9 x 9 pixels, in row-major order. */
std::vector<Spoiled>
MakeSpoiledPixels()
{
  constexpr double     infinity = std::numeric_limits<double>::infinity();
  constexpr double     nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double     large = 3e38;
  std::vector<Spoiled> all{ { "one infinity", { { 40, infinity } } },
                            { "one negative infinity at a corner", { { 0, -infinity } } },
                            { "opposite infinities in a row", { { 38, infinity }, { 42, -infinity } } },
                            { "opposite infinities in a column", { { 13, -infinity }, { 49, infinity } } },
                            { "opposite infinities apart", { { 0, infinity }, { 80, -infinity } } },
                            { "not a number", { { 40, nan } } },
                            { "not a number beside infinity", { { 39, nan }, { 41, infinity } } },
                            { "large neighbours of opposite sign", { { 40, large }, { 41, -large } } },
                            { "large pixels and infinity", { { 30, -large }, { 31, large }, { 50, infinity } } } };
  Spoiled              checkers{ "a board of large pixels of both signs", {} };
  for (size_t i = 0; i < 81; ++i)
  {
    checkers.Pixels.emplace_back(i, i % 2 == 0 ? large : -large);
  }
  all.push_back(checkers);
  constexpr unsigned int seed = 20251122;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 generator(seed);
  const double values[] = { infinity, -infinity, nan, large, -large, 0.0, 1.0 };
  for (unsigned int i = 0; i < 40; ++i)
  {
    Spoiled random{ "random", {} };
    for (unsigned int k = 0; k < 1 + i / 8; ++k)
    {
      random.Pixels.emplace_back(generator() % 81, values[generator() % 7]);
    }
    all.push_back(random);
  }
  return all;
}

/** Equal where `b` is not finite, and within the bound of the largest finite pixel where it is. */
void
ExpectAlike(const std::vector<double> & a, const std::vector<double> & b, double largest, const char * what)
{
  ASSERT_EQ(a.size(), b.size());
  size_t different = 0;
  for (size_t i = 0; i < a.size(); ++i)
  {
    const bool alike = std::isnan(b[i])   ? std::isnan(a[i])
                       : std::isinf(b[i]) ? a[i] == b[i]
                                          : std::abs(a[i] - b[i]) <= FloatBound * largest;
    different += !alike;
  }
  EXPECT_EQ(different, 0u) << what;
}
} // namespace

TEST_P(DiscreteFilter, EqualsItksForPixelsThatAreNotFiniteOrOverflow)
{
  using ImageType = Image<float, 2>;
  for (const Spoiled & spoiled : MakeSpoiledPixels())
  {
    for (const double background : { 0.0, 1.0 })
    {
      for (const double variance : { 0.2, 1.0, 4.0 })
      {
        const auto image = MakeRandomImage<ImageType>({ { 9, 9 } }, 0.0, background);
        double     largest = std::max(background, 1e-30);
        for (const auto & [pixel, value] : spoiled.Pixels)
        {
          image->GetBufferPointer()[pixel] = static_cast<float>(value);
          largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
        }
        const auto [found, itks] =
          this->RunBoth<ImageType, ImageType>(image.GetPointer(), { { { variance, variance } }, 0.01, 32, false, 2 });
        ExpectAlike(found, itks, largest, spoiled.What);
      }
    }
  }
}
