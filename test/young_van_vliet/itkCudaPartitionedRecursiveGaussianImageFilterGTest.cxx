// SPDX-License-Identifier: Apache-2.0

// The whole filter, on the host and on the GPU, against the published recursion in double applied axis by axis.

#include "itkCastImageFilter.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaPartitionedGaussianReference.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using namespace itk;

using BackendEnum = CudaFiltersEnums::Backend;
using Partition = CudaFiltersEnums::Partition;
using LineBorders = CudaFiltersEnums::LineBorders;
using IntermediateStorage = CudaFiltersEnums::IntermediateStorage;
using LineFunction = std::function<std::vector<double>(const std::vector<double> &)>;

constexpr unsigned int Seed = 20140630;
constexpr double       FloatBound = 1e-5; // of max|x|

template <typename TImage>
using FilterOf = CudaPartitionedRecursiveGaussianImageFilter<TImage, TImage>;

/** Uniform between `lowest` and `highest`, on a region that does not begin at zero. */
template <typename TImage>
typename TImage::Pointer
MakeRandomImage(const typename TImage::SizeType & size, double lowest, double highest)
{
  typename TImage::RegionType region(size);
  typename TImage::IndexType  index;
  index.Fill(-7);
  region.SetIndex(index);
  const auto image = TImage::New();
  image->SetRegions(region);
  image->Allocate();
  std::mt19937                           generator(Seed);
  std::uniform_real_distribution<double> uniform(lowest, highest);
  auto * const                           pixels = image->GetBufferPointer();
  for (SizeValueType i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    pixels[i] = static_cast<typename TImage::PixelType>(uniform(generator));
  }
  return image;
}

template <typename TImage>
std::vector<double>
GetPixels(const TImage * image)
{
  const auto * const pixels = image->GetBufferPointer();
  return std::vector<double>(pixels, pixels + image->GetBufferedRegion().GetNumberOfPixels());
}

/** Every line along every axis in turn, in double. */
template <typename TImage>
std::vector<double>
FilterLines(const TImage * image, const std::vector<LineFunction> & functions)
{
  std::vector<double> pixels = GetPixels(image);
  const auto          size = image->GetBufferedRegion().GetSize();
  size_t              step = 1;
  for (unsigned int axis = 0; axis < TImage::ImageDimension; ++axis)
  {
    const size_t        length = size[axis];
    std::vector<double> line(length);
    for (size_t start = 0; start < pixels.size(); ++start)
    {
      if (start / step % length != 0)
      {
        continue;
      }
      for (size_t n = 0; n < length; ++n)
      {
        line[n] = pixels[start + n * step];
      }
      const std::vector<double> filtered = functions[axis](line);
      for (size_t n = 0; n < length; ++n)
      {
        pixels[start + n * step] = filtered[n];
      }
    }
    step *= length;
  }
  return pixels;
}

LineFunction
MakeReference(Partition partition, LineBorders borders, double sigma)
{
  if (partition == Partition::TwoWay)
  {
    return [sigma](const std::vector<double> & x) {
      return cuda::test::TwoWay(x, sigma, std::max<size_t>(1, static_cast<size_t>(sigma)));
    };
  }
  return [borders, sigma](const std::vector<double> & x) {
    return borders == LineBorders::Exact ? cuda::test::OneWayExactBorders(x, sigma)
                                         : cuda::test::OneWayAsPublished(x, sigma);
  };
}

/** A line's first pixel is subtracted from all others: they share its fate. */
LineFunction
MakeReferenceOfSpoiledLines(Partition partition, LineBorders borders, double sigma)
{
  return [reference = MakeReference(partition, borders, sigma)](const std::vector<double> & x) {
    return std::isfinite(x.front()) ? reference(x) : std::vector<double>(x.size(), x.front() - x.front());
  };
}

/** Largest difference in units of the largest value; infinite where one is not a number. */
double
GetRelativeDifference(const std::vector<double> & a, const std::vector<double> & b, const std::vector<double> & input)
{
  double worst = a.size() == b.size() ? 0.0 : std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
  {
    const double difference = std::abs(a[i] - b[i]);
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
  }
  return worst / cuda::test::LargestMagnitude(input);
}

/** What the filter throws, "" if nothing. */
template <typename TFilter>
std::string
GetError(TFilter * filter)
{
  try
  {
    filter->UpdateLargestPossibleRegion();
  }
  catch (const ExceptionObject & error)
  {
    return error.GetDescription();
  }
  return {};
}

void
ExpectContains(const std::string & text, const std::vector<std::string> & parts)
{
  for (const std::string & part : parts)
  {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in \"" << text << '"';
  }
}

class PartitionedFilter : public testing::TestWithParam<BackendEnum>
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (GetParam() == BackendEnum::Cuda && !CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << reason;
    }
  }

  template <typename TImage>
  typename FilterOf<TImage>::Pointer
  MakeFilter(const TImage * image) const
  {
    const auto filter = FilterOf<TImage>::New();
    filter->SetInput(image);
    filter->SetBackend(GetParam());
    return filter;
  }

  template <typename TImage>
  void
  ExpectReference(const typename TImage::SizeType & size, double lowest, double highest, double bound) const
  {
    auto image = MakeRandomImage<TImage>(size, lowest, highest);
    for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
    {
      for (const LineBorders borders : { LineBorders::AsPublished, LineBorders::Exact })
      {
        for (const IntermediateStorage storage : { IntermediateStorage::Local, IntermediateStorage::Global })
        {
          const auto filter = MakeFilter(image.GetPointer());
          filter->SetSigma(3.5);
          filter->SetPartition(partition);
          filter->SetLineBorders(borders);
          filter->SetIntermediateStorage(storage);
          filter->Update();
          EXPECT_EQ(filter->GetBackendUsed(), GetParam()) << filter->GetBackendReason();
          const std::vector<LineFunction> references(TImage::ImageDimension, MakeReference(partition, borders, 3.5));
          EXPECT_LE(GetRelativeDifference(GetPixels(filter->GetOutput()),
                                          FilterLines(image.GetPointer(), references),
                                          GetPixels(image.GetPointer())),
                    bound)
            << partition << ", borders " << borders << ", " << storage << ", " << TImage::ImageDimension
            << " dimensions";
        }
      }
    }
  }

  /** Truncated toward zero; where the reference is within the bound of an integer, that integer's neighbour passes. */
  template <typename TPixel>
  void
  ExpectTruncatedReference(double lowest, double highest) const
  {
    using ImageType = Image<TPixel, 2>;
    const auto image = MakeRandomImage<ImageType>({ { 70, 45 } }, lowest, highest);
    const auto filter = MakeFilter(image.GetPointer());
    filter->SetSigma(2.0);
    filter->SetPartition(Partition::OneWay);
    filter->Update();
    const std::vector<LineFunction> references(2, MakeReference(Partition::OneWay, LineBorders::Exact, 2.0));
    const std::vector<double>       reference = FilterLines(image.GetPointer(), references);
    const std::vector<double>       output = GetPixels(filter->GetOutput());
    const double                    bound = FloatBound * std::max(std::abs(lowest), std::abs(highest));
    size_t                          atSteps = 0;
    for (size_t i = 0; i < output.size(); ++i)
    {
      if (output[i] != std::trunc(reference[i]))
      {
        ++atSteps;
        ASSERT_LE(std::abs(output[i] - std::trunc(reference[i])), 1.0) << "pixel " << i;
        ASSERT_LE(std::abs(reference[i] - std::round(reference[i])), bound) << "pixel " << i << ": " << reference[i];
      }
    }
    EXPECT_LE(atSteps, output.size() / 10) << sizeof(TPixel) << " bytes";
  }

  /** A random image up to `longest` pixels a side with up to three that are not finite: the same pixels of the result
   * are not finite as in the reference, and the others have the bits that they have without the bad pixels. */
  template <typename TImage>
  void
  ExpectWhatTheDefinitionSpoils(std::mt19937 & generator, SizeValueType longest) const
  {
    using PixelType = typename TImage::PixelType;
    typename TImage::SizeType size;
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      size[d] = 4 + generator() % (longest - 3);
    }
    const double sigmas[] = { 0.8, 3.0, 20.0 };
    const double sigma = sigmas[generator() % 3];
    const auto   partition = static_cast<Partition>(generator() % 3);
    const auto   borders = static_cast<LineBorders>(generator() % 2);
    const auto   clean = MakeRandomImage<TImage>(size, 0.0, 1.0);
    const auto   spoiled = MakeRandomImage<TImage>(size, 0.0, 1.0);
    const size_t pixels = spoiled->GetBufferedRegion().GetNumberOfPixels();
    const size_t count = 1 + generator() % 3;
    for (size_t k = 0; k < count; ++k)
    {
      constexpr PixelType infinity = std::numeric_limits<PixelType>::infinity();
      const PixelType     values[] = { std::numeric_limits<PixelType>::quiet_NaN(), infinity, -infinity };
      const size_t        places[] = { generator() % pixels, 0, pixels - 1, pixels / 2 };
      spoiled->GetBufferPointer()[places[generator() % 4]] = values[generator() % 3];
    }
    const auto run = [&](const TImage * image) {
      const auto filter = this->MakeFilter(image);
      filter->SetSigma(sigma);
      filter->SetPartition(partition);
      filter->SetLineBorders(borders);
      filter->Update();
      EXPECT_EQ(filter->GetBackendUsed(), GetParam()) << filter->GetBackendReason();
      return GetPixels(filter->GetOutput());
    };
    const std::vector<double>       found = run(spoiled);
    const std::vector<double>       good = run(clean);
    const std::vector<LineFunction> references(TImage::ImageDimension,
                                               MakeReferenceOfSpoiledLines(partition, borders, sigma));
    const std::vector<double>       expected = FilterLines(spoiled.GetPointer(), references);
    for (size_t n = 0; n < pixels; ++n)
    {
      const bool isFinite = std::isfinite(expected[n]);
      ASSERT_TRUE(isFinite ? found[n] == good[n] : !std::isfinite(found[n]))
        << "pixel " << n << " of " << size << " is " << found[n] << ", without bad pixels " << good[n] << "; sigma "
        << sigma << ", " << partition << ", " << borders;
    }
  }
};

std::string
GetBackendName(const testing::TestParamInfo<BackendEnum> & info)
{
  return info.param == BackendEnum::Cuda ? "Cuda" : "Host";
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         PartitionedFilter,
                         testing::Values(BackendEnum::Host, BackendEnum::Cuda),
                         GetBackendName);
} // namespace

TEST_P(PartitionedFilter, MatchesTheReference)
{
  this->ExpectReference<Image<float, 2>>({ { 130, 77 } }, 0.0, 1.0, FloatBound);
  this->ExpectReference<Image<float, 2>>({ { 33, 513 } }, 950.0, 1050.0, FloatBound);
  this->ExpectReference<Image<float, 3>>({ { 31, 17, 40 } }, 0.0, 1.0, FloatBound);
  this->ExpectReference<Image<double, 2>>({ { 65, 40 } }, 0.0, 1.0, 1e-11);
  this->ExpectReference<Image<double, 3>>({ { 18, 35, 20 } }, 950.0, 1050.0, 1e-11);
}

TEST_P(PartitionedFilter, IntegersAreTruncated)
{
  this->ExpectTruncatedReference<unsigned char>(0.0, 255.0);
  this->ExpectTruncatedReference<signed char>(-128.0, 127.0);
  this->ExpectTruncatedReference<unsigned short>(0.0, 65535.0);
  this->ExpectTruncatedReference<short>(-32768.0, 32767.0);
  this->ExpectTruncatedReference<unsigned int>(0.0, 4e9);
  this->ExpectTruncatedReference<int>(-2e9, 2e9);
}

TEST_P(PartitionedFilter, OutputTypeMayDiffer)
{
  using InputType = Image<unsigned short, 2>;
  using OutputType = Image<float, 2>;
  const auto image = MakeRandomImage<InputType>({ { 50, 60 } }, 0.0, 4095.0);
  const auto filter = CudaPartitionedRecursiveGaussianImageFilter<InputType, OutputType>::New();
  filter->SetInput(image);
  filter->SetBackend(GetParam());
  filter->SetSigma(2.0);
  filter->Update();
  const std::vector<LineFunction> references(2, MakeReference(Partition::Exact, LineBorders::Exact, 2.0));
  EXPECT_LE(GetRelativeDifference(GetPixels(filter->GetOutput()),
                                  FilterLines(image.GetPointer(), references),
                                  GetPixels(image.GetPointer())),
            FloatBound);
}

TEST_P(PartitionedFilter, ExactEqualsOneWayForManyBlocks)
{
  using ImageType = Image<float, 1>;
  for (const double lowest : { 0.0, 950.0 })
  {
    const auto image = MakeRandomImage<ImageType>({ { 16001 } }, lowest, lowest == 0.0 ? 1.0 : 1050.0);
    const auto filter = MakeFilter(image.GetPointer());
    for (const double sigma : { 1.5, 45.0, 100.0 })
    {
      filter->SetSigma(sigma);
      filter->SetPartition(Partition::OneWay);
      filter->Update();
      const std::vector<double> whole = GetPixels(filter->GetOutput());
      filter->SetPartition(Partition::Exact);
      for (const SizeValueType blocks : { 2, 3, 8, 64, 1000 })
      {
        filter->SetNumberOfBlocks(blocks);
        filter->Update();
        EXPECT_LE(GetRelativeDifference(GetPixels(filter->GetOutput()), whole, GetPixels(image.GetPointer())), 2e-6)
          << blocks << " blocks, sigma " << sigma;
      }
    }
  }
}

TEST_P(PartitionedFilter, PsnrIsThatOfTheTwoWayPaper)
{
  // As large as the paper's SD images, with fine and coarse detail as photographs have: squares of random grey of 8 and
  // of 96 pixels. Windows of 3, 30 and 90 pixels and sigma N / 2. The paper has 26.2 to 39.7 dB for FIR against
  // one-way, and 24.7 to 33.0 dB for one-way against two-way, where the reconstruction is better.
  using ImageType = Image<float, 2>;
  const auto                            image = MakeRandomImage<ImageType>({ { 720, 480 } }, 0.0, 0.0);
  std::mt19937                          generator(Seed);
  std::uniform_real_distribution<float> uniform(32.0f, 96.0f);
  std::vector<float>                    greys(60 * 90);
  std::generate(greys.begin(), greys.end(), [&] { return std::round(uniform(generator)); });
  for (size_t i = 0; i < 720 * 480; ++i)
  {
    const size_t x = i % 720;
    const size_t y = i / 720;
    image->GetBufferPointer()[i] = greys[y / 8 * 90 + x / 8] + greys[y / 96 * 90 + x / 96];
  }
  const auto getPsnr = [](const std::vector<double> & a, const std::vector<double> & b) {
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); ++i)
    {
      sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return 10.0 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / sum);
  };
  for (const double window : { 3.0, 30.0, 90.0 })
  {
    const auto filter = MakeFilter(image.GetPointer());
    filter->SetFilterWindow(window);
    const auto run = [&](Partition partition) {
      filter->SetPartition(partition);
      filter->Update();
      return GetPixels(filter->GetOutput());
    };
    const std::vector<double> oneWay = run(Partition::OneWay);
    const std::vector<double> twoWay = run(Partition::TwoWay);
    const std::vector<double> exact = run(Partition::Exact);
    const LineFunction        convolve = [window](const std::vector<double> & x) {
      std::vector<double> y(x.size());
      for (size_t n = 0; n < x.size(); ++n)
      {
        y[n] = cuda::test::GaussianSum(x, n, 0.5 * window, static_cast<size_t>(0.5 * window));
      }
      return y;
    };
    const std::vector<double> fir = FilterLines(image.GetPointer(), { convolve, convolve });
    std::cout << "N " << window << ": one-way/two-way " << getPsnr(oneWay, twoWay) << ", FIR/one-way "
              << getPsnr(fir, oneWay) << ", FIR/two-way " << getPsnr(fir, twoWay) << ", one-way/exact "
              << getPsnr(oneWay, exact) << " dB" << std::endl;
    EXPECT_GE(getPsnr(oneWay, twoWay), 24.0) << "window " << window;
    EXPECT_GE(getPsnr(oneWay, exact), 110.0) << "window " << window;
    EXPECT_GE(getPsnr(fir, oneWay), 26.0) << "window " << window;
    EXPECT_LE(getPsnr(fir, oneWay), 40.0) << "window " << window;
  }
}

TEST_P(PartitionedFilter, SigmaIsInPhysicalUnits)
{
  using ImageType = Image<float, 2>;
  const auto                 image = MakeRandomImage<ImageType>({ { 60, 90 } }, 0.0, 1.0);
  ImageType::SpacingType     spacing;
  ImageType::DirectionType   direction;
  const ImageType::PointType origin(3.5);
  spacing[0] = 0.5;
  spacing[1] = 2.0;
  direction.Fill(0.0);
  direction[0][1] = -1.0;
  direction[1][0] = 1.0;
  image->SetSpacing(spacing);
  image->SetDirection(direction);
  image->SetOrigin(origin);
  const auto filter = MakeFilter(image.GetPointer());
  filter->SetSigma(4.0);
  filter->Update();
  const std::vector<double> expected = FilterLines(image.GetPointer(),
                                                   { MakeReference(Partition::OneWay, LineBorders::Exact, 8.0),
                                                     MakeReference(Partition::OneWay, LineBorders::Exact, 2.0) });
  EXPECT_LE(GetRelativeDifference(GetPixels(filter->GetOutput()), expected, GetPixels(image.GetPointer())), FloatBound);
  EXPECT_EQ(filter->GetOutput()->GetSpacing(), spacing);
  EXPECT_EQ(filter->GetOutput()->GetDirection(), direction);
  EXPECT_EQ(filter->GetOutput()->GetOrigin(), origin);
  EXPECT_EQ(filter->GetOutput()->GetBufferedRegion(), image->GetLargestPossibleRegion());
}

TEST_P(PartitionedFilter, FilterWindowIsInPixels)
{
  using ImageType = Image<float, 2>;
  const auto             image = MakeRandomImage<ImageType>({ { 60, 90 } }, 0.0, 1.0);
  ImageType::SpacingType spacing;
  spacing.Fill(0.25);
  image->SetSpacing(spacing);
  const auto filter = MakeFilter(image.GetPointer());
  filter->SetPartition(Partition::TwoWay);
  filter->SetSigma(100.0);
  filter->SetFilterWindow(7.0); // sigma 3.5, radius 3
  EXPECT_TRUE(filter->GetUseFilterWindow());
  const auto expect = [&](double sigma, size_t radius) {
    filter->Update();
    const LineFunction reference = [=](const std::vector<double> & x) { return cuda::test::TwoWay(x, sigma, radius); };
    EXPECT_LE(GetRelativeDifference(GetPixels(filter->GetOutput()),
                                    FilterLines(image.GetPointer(), { reference, reference }),
                                    GetPixels(image.GetPointer())),
              FloatBound)
      << "sigma " << sigma << ", radius " << radius;
  };
  expect(3.5, 3);
  filter->SetWindowToSigmaRatio(6.0);
  filter->SetFilterWindow(30.0);
  expect(5.0, 15);
  filter->SetSigma(1.0); // 4 pixels, and a window of 24
  EXPECT_FALSE(filter->GetUseFilterWindow());
  expect(4.0, 12);
}

TEST_P(PartitionedFilter, ConstantsComeOutExactly)
{
  for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
  {
    for (const double sigma : { 0.5, 4.0, 250.0 })
    {
      const auto image = MakeRandomImage<Image<short, 2>>({ { 100, 64 } }, 99.0, 99.0);
      const auto filter = MakeFilter(image.GetPointer());
      filter->SetPartition(partition);
      filter->SetSigma(sigma);
      filter->Update();
      EXPECT_EQ(GetPixels(filter->GetOutput()), std::vector<double>(6400, 99.0)) << partition << ", sigma " << sigma;
    }
  }
}

TEST_P(PartitionedFilter, NumbersOfThreadsAndLinesDoNotChangeTheBits)
{
  using ImageType = Image<float, 3>;
  const auto image = MakeRandomImage<ImageType>({ { 40, 33, 37 } }, 0.0, 1.0);
  for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
  {
    std::vector<double> first;
    for (const unsigned int units : { 1, 2, 8 })
    {
      for (const unsigned int lines : { 4, 8, 16, 32, 64 })
      {
        const auto filter = MakeFilter(image.GetPointer());
        filter->SetPartition(partition);
        filter->SetNumberOfWorkUnits(units);
        filter->SetLinesPerBlock(lines);
        filter->Update();
        if (first.empty())
        {
          first = GetPixels(filter->GetOutput());
        }
        EXPECT_EQ(GetPixels(filter->GetOutput()), first)
          << partition << ", " << units << " work units, " << lines << " lines";
      }
    }
  }
}

TEST_P(PartitionedFilter, RefusesWhatDoesNotSuitTheImageBeforeItsSourceRuns)
{
  using ImageType = Image<float, 2>;
  using SourceType = CastImageFilter<ImageType, ImageType>;
  const auto image = MakeRandomImage<ImageType>({ { 100, 40 } }, 0.0, 1.0);
  const auto source = SourceType::New();
  source->InPlaceOff();
  source->SetInput(image);
  unsigned int runs = 0;
  source->AddObserver(StartEvent(), [&runs](const EventObject &) { ++runs; });
  const auto filter = MakeFilter(source->GetOutput());
  filter->SetNumberOfBlocks(3); // 40 pixels: 2 blocks
  ExpectContains(GetError(filter.GetPointer()), { "NumberOfBlocks is 3", "at most 2 blocks" });
  EXPECT_EQ(runs, 0u);
  filter->SetNumberOfBlocks(2);
  EXPECT_EQ(GetError(filter.GetPointer()), "");
  EXPECT_EQ(runs, 1u);
}

TEST_P(PartitionedFilter, RefusesNumbersOfBlocksThatDoNotSuitTheImageAndRunsAgain)
{
  using ImageType = Image<float, 2>;
  const auto image = MakeRandomImage<ImageType>({ { 100, 40 } }, 0.0, 1.0);
  const auto filter = MakeFilter(image.GetPointer());
  const auto expect = [&](const std::vector<std::string> & parts) {
    ExpectContains(GetError(filter.GetPointer()), parts);
  };
  filter->SetSigma(2.0);
  filter->SetNumberOfBlocks(0);
  expect({ "NumberOfBlocks is 0", "at least 1" });
  filter->SetNumberOfBlocks(3); // 40 pixels: 2 blocks
  expect({ "NumberOfBlocks is 3", "40 pixels (dimension 1)", "at most 2 blocks" });
  filter->SetPartition(Partition::OneWay); // which has no blocks
  EXPECT_EQ(GetError(filter.GetPointer()), "");
  filter->SetPartition(Partition::Exact);
  filter->SetNumberOfBlocks(2);
  EXPECT_EQ(GetError(filter.GetPointer()), "");

  const auto thin = MakeRandomImage<ImageType>({ { 100, 3 } }, 0.0, 1.0);
  filter->SetInput(thin);
  expect({ "dimension 1 is 3", "at least 4" });
  filter->SetInput(image);
  EXPECT_EQ(GetError(filter.GetPointer()), "");
  const std::vector<LineFunction> references(2, MakeReference(Partition::Exact, LineBorders::Exact, 2.0));
  EXPECT_LE(GetRelativeDifference(GetPixels(filter->GetOutput()),
                                  FilterLines(image.GetPointer(), references),
                                  GetPixels(image.GetPointer())),
            FloatBound);
}

TEST_P(PartitionedFilter, SpoilsWhatItsDefinitionSpoils)
{
  const unsigned int seed = 20261123;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 generator(seed);
  for (unsigned int i = 0; i < 60; ++i)
  {
    SCOPED_TRACE("case " + std::to_string(i));
    this->ExpectWhatTheDefinitionSpoils<Image<float, 1>>(generator, 3000);
    this->ExpectWhatTheDefinitionSpoils<Image<double, 1>>(generator, 3000);
    this->ExpectWhatTheDefinitionSpoils<Image<float, 2>>(generator, 150);
    this->ExpectWhatTheDefinitionSpoils<Image<double, 3>>(generator, 25);
  }
}

TEST_P(PartitionedFilter, NotANumberEndsWithTheFilterUsable)
{
  const auto image = MakeRandomImage<Image<float, 2>>({ { 64, 64 } }, 0.0, 1.0);
  const auto bad = MakeRandomImage<Image<float, 2>>({ { 64, 64 } }, 0.0, 1.0);
  bad->GetBufferPointer()[1000] = std::numeric_limits<float>::quiet_NaN();
  bad->GetBufferPointer()[3000] = std::numeric_limits<float>::infinity();
  for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
  {
    const auto filter = MakeFilter(image.GetPointer());
    filter->SetPartition(partition);
    filter->Update();
    const std::vector<double> good = GetPixels(filter->GetOutput());
    filter->SetInput(bad);
    filter->Update();
    EXPECT_FALSE(std::isfinite(GetPixels(filter->GetOutput())[1000])) << partition;
    EXPECT_FALSE(std::isfinite(GetPixels(filter->GetOutput())[3000])) << partition;
    filter->SetInput(image);
    filter->Update();
    EXPECT_EQ(GetPixels(filter->GetOutput()), good) << partition;
  }
}

TEST(PartitionedFilterSettings, UnsupportedTypesRunOnTheHost)
{
  using ImageType = Image<long, 2>;
  const auto image = MakeRandomImage<ImageType>({ { 40, 50 } }, 0.0, 1e9);
  const auto filter = FilterOf<ImageType>::New();
  filter->SetInput(image);
  filter->SetSigma(2.0);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  const std::vector<LineFunction> references(2, MakeReference(Partition::Exact, LineBorders::Exact, 2.0));
  const std::vector<double>       reference = FilterLines(image.GetPointer(), references);
  const std::vector<double>       output = GetPixels(filter->GetOutput());
  ASSERT_EQ(output.size(), reference.size());
  for (size_t i = 0; i < output.size(); ++i)
  {
    ASSERT_LE(std::abs(output[i] - reference[i]), 1.0 + 1e-2) << "pixel " << i;
  }
  EXPECT_EQ(filter->GetOutput()->GetBufferedRegion(), image->GetLargestPossibleRegion());
  filter->SetBackend(BackendEnum::Cuda);
  EXPECT_THROW(filter->Update(), CudaError);
}

TEST(PartitionedFilterSettings, EnumerationsTakeNames)
{
  const auto filter = FilterOf<Image<float, 2>>::New();
  filter->SetPartition("twoway");
  EXPECT_EQ(filter->GetPartition(), Partition::TwoWay);
  filter->SetLineBorders("ASPUBLISHED");
  EXPECT_EQ(filter->GetLineBorders(), LineBorders::AsPublished);
  filter->SetIntermediateStorage("Global");
  EXPECT_EQ(filter->GetIntermediateStorage(), IntermediateStorage::Global);
  filter->SetBackend("host");
  EXPECT_EQ(filter->GetBackend(), BackendEnum::Host);
  const auto getError = [](const std::function<void()> & set) {
    try
    {
      set();
    }
    catch (const ExceptionObject & error)
    {
      return std::string(error.GetDescription());
    }
    return std::string();
  };
  ExpectContains(getError([&] { filter->SetPartition("three"); }),
                 { "Partition is \"three\"", "OneWay, TwoWay or Exact" });
  ExpectContains(getError([&] { filter->SetLineBorders(""); }), { "LineBorders is \"\"", "AsPublished or Exact" });
  ExpectContains(getError([&] { filter->SetIntermediateStorage("shared"); }),
                 { "IntermediateStorage is \"shared\"", "Local or Global" });
}

TEST(PartitionedFilterSettings, AreModifiedOnChangeOnlyAndPrinted)
{
  const auto filter = FilterOf<Image<float, 2>>::New();
  const auto expectOneModification = [&](const std::function<void()> & set) {
    const ModifiedTimeType before = filter->GetMTime();
    set();
    const ModifiedTimeType after = filter->GetMTime();
    EXPECT_GT(after, before);
    set();
    EXPECT_EQ(filter->GetMTime(), after);
  };
  expectOneModification([&] { filter->SetSigma(2.5); });
  expectOneModification([&] { filter->SetFilterWindow(31.0); });
  expectOneModification([&] { filter->SetSigma(2.5); }); // back from the window
  expectOneModification([&] { filter->SetWindowToSigmaRatio(6.0); });
  expectOneModification([&] { filter->SetPartition(Partition::TwoWay); });
  expectOneModification([&] { filter->SetLineBorders(LineBorders::AsPublished); });
  expectOneModification([&] { filter->SetIntermediateStorage(IntermediateStorage::Global); });
  expectOneModification([&] { filter->SetNumberOfBlocks(1); }); // no longer automatic
  EXPECT_FALSE(filter->GetAutomaticNumberOfBlocks());
  expectOneModification([&] { filter->AutomaticNumberOfBlocksOn(); });
  expectOneModification([&] { filter->SetLinesPerBlock(64); });
  std::ostringstream text;
  filter->Print(text);
  ExpectContains(text.str(),
                 { "CudaPartitionedRecursiveGaussianImageFilter",
                   "Sigma: 2.5",
                   "FilterWindow: 31",
                   "UseFilterWindow: Off",
                   "WindowToSigmaRatio: 6",
                   "Partition: itk::CudaFiltersEnums::Partition::TwoWay",
                   "LineBorders: itk::CudaFiltersEnums::LineBorders::AsPublished",
                   "IntermediateStorage: itk::CudaFiltersEnums::IntermediateStorage::Global",
                   "NumberOfBlocks: 1",
                   "AutomaticNumberOfBlocks: On",
                   "LinesPerBlock: 64",
                   "BackendReason: not run yet" });
  std::ostringstream invalid;
  invalid << static_cast<Partition>(9);
  EXPECT_EQ(invalid.str(), "INVALID VALUE FOR itk::CudaFiltersEnums::Partition");
}

TEST(PartitionedFilterGpu, DeviceMemoryLimitDecidesTheBackend)
{
  std::string reason;
  if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    GTEST_SKIP() << reason;
  }
  const auto image = MakeRandomImage<Image<float, 2>>({ { 512, 512 } }, 0.0, 1.0);
  const auto filter = FilterOf<Image<float, 2>>::New();
  filter->SetInput(image);
  CudaFiltersConfiguration::SetDeviceMemoryLimit(1 << 20);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  ExpectContains(filter->GetBackendReason(), { "asked", "free", "limit" });
  filter->SetBackend(BackendEnum::Cuda);
  ExpectContains(GetError(filter.GetPointer()), { "asked", "free", "limit" });
  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  EXPECT_EQ(GetError(filter.GetPointer()), "");
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Cuda);
}
