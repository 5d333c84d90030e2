// SPDX-License-Identifier: Apache-2.0

// The whole filter, on the host and on the GPU, against the published recursion in double applied axis by axis.

#include "itkCastImageFilter.h"
#include "itkCudaDeviceImage.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianLineReference.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "support/itkCudaPartitionedGaussianReference.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"

#include <iostream>
#include <random>

namespace itk::cuda::test
{
namespace
{
using Partition = CudaFiltersEnums::Partition;
using LineBorders = CudaFiltersEnums::LineBorders;
using IntermediateStorage = CudaFiltersEnums::IntermediateStorage;
using LineFunction = std::function<std::vector<double>(const std::vector<double> &)>;

constexpr Partition   AllPartitions[] = { Partition::OneWay, Partition::TwoWay, Partition::Exact };
constexpr LineBorders AllBorders[] = { LineBorders::AsPublished, LineBorders::Exact };
constexpr double      FloatBound = 1e-5; // of max|x|

template <typename TInput, typename TOutput = TInput>
using FilterOf = CudaPartitionedRecursiveGaussianImageFilter<TInput, TOutput>;

/** Uniform between `lowest` and `highest`, on a region that does not begin at zero. */
template <typename TImage>
typename TImage::Pointer
MakeRandomImage(const typename TImage::SizeType & size, double lowest, double highest)
{
  typename TImage::RegionType region(size);
  typename TImage::IndexType  index;
  index.Fill(-7);
  region.SetIndex(index);
  return MakeDataImage<TImage>(region, DataKind::Uniform, highest - lowest, lowest);
}

template <typename TImage>
Volume
ToVolume(const TImage * image)
{
  const auto         region = image->GetBufferedRegion();
  const auto * const pixels = image->GetBufferPointer();
  Volume             volume;
  std::copy_n(region.GetSize().begin(), TImage::ImageDimension, volume.Size.begin());
  volume.Pixels.assign(pixels, pixels + region.GetNumberOfPixels());
  return volume;
}

/** Every line along every axis in turn, in double. */
template <typename TImage>
std::vector<double>
FilterLines(const TImage * image, const std::vector<LineFunction> & functions)
{
  Volume volume = ToVolume(image);
  for (unsigned int axis = 0; axis < TImage::ImageDimension; ++axis)
  {
    volume.ForEachLine(axis, functions[axis]);
  }
  return volume.Pixels;
}

LineFunction
MakeReference(Partition partition, LineBorders borders, double sigma)
{
  if (partition == Partition::TwoWay)
  {
    return [sigma](const std::vector<double> & x) {
      return TwoWay(x, sigma, std::max<size_t>(1, static_cast<size_t>(sigma)));
    };
  }
  return [borders, sigma](const std::vector<double> & x) {
    return borders == LineBorders::Exact ? OneWayExactBorders(x, sigma) : OneWayAsPublished(x, sigma);
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

class PartitionedFilter : public BackendTest
{
protected:
  template <typename TImage>
  typename FilterOf<TImage>::Pointer
  MakeFilter(const TImage * image) const
  {
    const auto filter = FilterOf<TImage>::New();
    filter->SetInput(image);
    filter->SetBackend(GetParam());
    return filter;
  }

  /** Updates the filter, and expects what the functions make of the lines along each axis, relative to max|x|. */
  template <typename TFilter>
  void
  ExpectLines(TFilter * filter, const std::vector<LineFunction> & functions, double bound = FloatBound) const
  {
    UpdateOn(filter, GetParam());
    const auto output = ToVolume<typename TFilter::OutputImageType>(filter->GetOutput());
    EXPECT_LE(LargestDifference(output.Pixels, FilterLines(filter->GetInput(), functions)),
              bound * LargestOf(ToVolume(filter->GetInput()).Pixels));
  }

  template <typename TImage>
  void
  ExpectReference(const typename TImage::SizeType & size, double lowest, double highest, double bound) const
  {
    const auto image = MakeRandomImage<TImage>(size, lowest, highest);
    for (const Partition partition : AllPartitions)
    {
      for (const LineBorders borders : AllBorders)
      {
        for (const IntermediateStorage storage : { IntermediateStorage::Local, IntermediateStorage::Global })
        {
          SCOPED_TRACE(testing::Message() << partition << ", borders " << borders << ", " << storage << ", "
                                          << TImage::ImageDimension << " dimensions");
          const auto filter = MakeFilter(image.GetPointer());
          filter->SetSigma(3.5);
          filter->SetPartition(partition);
          filter->SetLineBorders(borders);
          filter->SetIntermediateStorage(storage);
          this->ExpectLines(filter.GetPointer(),
                            std::vector<LineFunction>(TImage::ImageDimension, MakeReference(partition, borders, 3.5)),
                            bound);
        }
      }
    }
  }

  /** Truncated toward zero; where the reference is within the bound of an integer, that integer's neighbour passes. */
  template <typename TPixel>
  void
  ExpectTruncatedReference(double lowest, double highest) const
  {
    const auto image = MakeRandomImage<Image<TPixel, 2>>({ { 70, 45 } }, lowest, highest);
    const auto filter = MakeFilter(image.GetPointer());
    filter->SetSigma(2.0);
    filter->SetPartition(Partition::OneWay);
    UpdateOn(filter.GetPointer(), GetParam());
    const std::vector<LineFunction> references(2, MakeReference(Partition::OneWay, LineBorders::Exact, 2.0));
    const std::vector<double>       reference = FilterLines(image.GetPointer(), references);
    const std::vector<double>       output = ToVolume<Image<TPixel, 2>>(filter->GetOutput()).Pixels;
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
    for (SizeValueType & side : size)
    {
      side = 4 + generator() % (longest - 3);
    }
    const double sigmas[] = { 0.8, 3.0, 20.0 };
    const double sigma = sigmas[generator() % 3];
    const auto   partition = AllPartitions[generator() % 3];
    const auto   borders = AllBorders[generator() % 2];
    const auto   image = MakeRandomImage<TImage>(size, 0.0, 1.0);
    const auto   run = [&] {
      const auto filter = this->MakeFilter(image.GetPointer());
      filter->SetSigma(sigma);
      filter->SetPartition(partition);
      filter->SetLineBorders(borders);
      UpdateOn(filter.GetPointer(), GetParam());
      return ToVolume<TImage>(filter->GetOutput()).Pixels;
    };
    const std::vector<double> good = run();
    const size_t              pixels = good.size();
    for (size_t k = 1 + generator() % 3; k > 0; --k)
    {
      constexpr PixelType infinity = std::numeric_limits<PixelType>::infinity();
      const PixelType     values[] = { std::numeric_limits<PixelType>::quiet_NaN(), infinity, -infinity };
      const size_t        places[] = { generator() % pixels, 0, pixels - 1, pixels / 2 };
      image->GetBufferPointer()[places[generator() % 4]] = values[generator() % 3];
    }
    const std::vector<double>       found = run();
    const std::vector<LineFunction> references(TImage::ImageDimension,
                                               MakeReferenceOfSpoiledLines(partition, borders, sigma));
    const std::vector<double>       expected = FilterLines(image.GetPointer(), references);
    for (size_t n = 0; n < pixels; ++n)
    {
      ASSERT_TRUE(std::isfinite(expected[n]) ? found[n] == good[n] : !std::isfinite(found[n]))
        << "pixel " << n << " of " << size << " is " << found[n] << ", without bad pixels " << good[n] << "; sigma "
        << sigma << ", " << partition << ", " << borders;
    }
  }
};

ITK_CUDA_INSTANTIATE_BACKEND_TESTS(PartitionedFilter);

TEST_P(PartitionedFilter, MatchesTheReference)
{
  this->ExpectReference<Image<float, 2>>({ { 130, 77 } }, 0.0, 1.0, FloatBound);
  this->ExpectReference<Image<float, 2>>({ { 33, 513 } }, 950.0, 1050.0, FloatBound);
  this->ExpectReference<Image<float, 3>>({ { 31, 17, 40 } }, 0.0, 1.0, FloatBound);
  this->ExpectReference<Image<double, 2>>({ { 65, 40 } }, 0.0, 1.0, 1e-11);
  this->ExpectReference<Image<double, 3>>({ { 18, 35, 20 } }, 950.0, 1050.0, 1e-11);
}

// Integers of one and two bytes are computed in float, those of four in double.
TEST_P(PartitionedFilter, IntegersAreTruncated)
{
  this->ExpectTruncatedReference<unsigned char>(0.0, 255.0);
  this->ExpectTruncatedReference<short>(-32768.0, 32767.0);
  this->ExpectTruncatedReference<unsigned int>(0.0, 4e9);
  this->ExpectTruncatedReference<int>(-2e9, 2e9);
}

TEST_P(PartitionedFilter, OutputTypeMayDiffer)
{
  const auto filter = FilterOf<Image<unsigned short, 2>, Image<float, 2>>::New();
  filter->SetInput(MakeRandomImage<Image<unsigned short, 2>>({ { 50, 60 } }, 0.0, 4095.0));
  filter->SetSigma(2.0);
  const LineFunction reference = MakeReference(Partition::Exact, LineBorders::Exact, 2.0);
  this->ExpectLines(filter.GetPointer(), { reference, reference });
}

/** A whole line of NaN in an output of integers is 0. */
TEST_P(PartitionedFilter, IntegersAreZeroWhereNotANumber)
{
  const auto image = MakeConstantImage<Image<float, 2>>({ { 300, 9 } }, 100.0f);
  std::fill_n(image->GetBufferPointer() + 4 * 300, 300, std::numeric_limits<float>::quiet_NaN());
  const auto filter = FilterOf<Image<float, 2>, Image<short, 2>>::New();
  filter->SetInput(image);
  UpdateOn(filter.GetPointer(), GetParam());
  const short * const line = filter->GetOutput()->GetBufferPointer() + 4 * 300;
  EXPECT_EQ(std::count(line, line + 300, 0), 300);
}

TEST_P(PartitionedFilter, SigmaIsInPhysicalUnits)
{
  const auto image = MakeRandomImage<Image<float, 2>>({ { 60, 90 } }, 0.0, 1.0);
  SetSpacing(image.GetPointer(), { { 0.5, 2.0 } });
  const auto filter = MakeFilter(image.GetPointer());
  filter->SetSigma(4.0);
  this->ExpectLines(filter.GetPointer(),
                    { MakeReference(Partition::OneWay, LineBorders::Exact, 8.0),
                      MakeReference(Partition::OneWay, LineBorders::Exact, 2.0) });
}

TEST_P(PartitionedFilter, FilterWindowIsInPixels)
{
  const auto image = MakeRandomImage<Image<float, 2>>({ { 60, 90 } }, 0.0, 1.0);
  SetSpacing(image.GetPointer(), { { 0.25, 0.25 } });
  const auto filter = MakeFilter(image.GetPointer());
  filter->SetPartition(Partition::TwoWay);
  filter->SetSigma(100.0);
  filter->SetFilterWindow(7.0); // sigma 3.5, radius 3
  EXPECT_TRUE(filter->GetUseFilterWindow());
  const auto expect = [&](double sigma, size_t radius) {
    SCOPED_TRACE(testing::Message() << "sigma " << sigma << ", radius " << radius);
    const LineFunction reference = [=](const std::vector<double> & x) { return TwoWay(x, sigma, radius); };
    this->ExpectLines(filter.GetPointer(), { reference, reference });
  };
  expect(3.5, 3);
  filter->SetWindowToSigmaRatio(6.0);
  filter->SetFilterWindow(30.0);
  expect(5.0, 15);
  filter->SetSigma(1.0); // 4 pixels, and a window of 24
  EXPECT_FALSE(filter->GetUseFilterWindow());
  expect(4.0, 12);
  filter->SetFilterWindow(30.0); // the same as before the sigma
  EXPECT_TRUE(filter->GetUseFilterWindow());
  expect(5.0, 15);
}

TEST_P(PartitionedFilter, LinesPerBlockDoNotChangeTheBits)
{
  const auto image = MakeRandomImage<Image<float, 3>>({ { 40, 33, 37 } }, 0.0, 1.0);
  for (const Partition partition : AllPartitions)
  {
    std::vector<double> first;
    for (const unsigned int lines : { 4, 8, 16, 32, 64 })
    {
      const auto filter = MakeFilter(image.GetPointer());
      filter->SetPartition(partition);
      filter->SetLinesPerBlock(lines);
      filter->Update();
      const auto pixels = ToVolume<Image<float, 3>>(filter->GetOutput()).Pixels;
      first = first.empty() ? pixels : first;
      EXPECT_EQ(pixels, first) << partition << ", " << lines << " lines";
    }
  }
}

TEST_P(PartitionedFilter, RefusesWhatDoesNotSuitTheImageBeforeItsSourceRuns)
{
  using ImageType = Image<float, 2>;
  const auto source = CastImageFilter<ImageType, ImageType>::New();
  source->InPlaceOff();
  source->SetInput(MakeRandomImage<ImageType>({ { 100, 40 } }, 0.0, 1.0));
  unsigned int runs = 0;
  source->AddObserver(StartEvent(), [&runs](const EventObject &) { ++runs; });
  const auto filter = MakeFilter(source->GetOutput());
  filter->SetNumberOfBlocks(3); // 40 pixels: 2 blocks
  const std::string error = GetException([&filter] { filter->Update(); });
  ExpectContains(error, "NumberOfBlocks is 3");
  ExpectContains(error, "40 pixels (dimension 1)");
  ExpectContains(error, "at most 2 blocks");
  EXPECT_EQ(runs, 0u);
  filter->SetPartition(Partition::OneWay); // which has no blocks
  EXPECT_NO_THROW(filter->Update());
  filter->SetPartition(Partition::Exact);
  filter->SetNumberOfBlocks(2);
  EXPECT_NO_THROW(filter->Update());
  EXPECT_EQ(runs, 1u);
}

TEST_P(PartitionedFilter, SpoilsWhatItsDefinitionSpoils)
{
  std::mt19937 generator(GetSeed());
  for (unsigned int i = 0; i < 60; ++i)
  {
    SCOPED_TRACE("case " + std::to_string(i));
    this->ExpectWhatTheDefinitionSpoils<Image<float, 1>>(generator, 3000);
    this->ExpectWhatTheDefinitionSpoils<Image<double, 2>>(generator, 150);
    this->ExpectWhatTheDefinitionSpoils<Image<double, 3>>(generator, 25);
  }
}

/** What a line becomes where sigma is so great that nothing but its ends counts: as published the first pass begins
 * with the first pixel and stays there. Else both ends count alike. */
std::vector<double>
FilterEnds(const std::vector<double> & line, Partition partition, LineBorders borders)
{
  const bool onlyFirst = partition != Partition::TwoWay && borders == LineBorders::AsPublished;
  return std::vector<double>(line.size(), onlyFirst ? line.front() : 0.5 * (line.front() + line.back()));
}

// Sigma far beyond the lines, as of an image in metres with the default sigma of 1: time and memory go with the image.
TEST_P(PartitionedFilter, OnlyTheEndsOfLinesCountAtLargeSigma)
{
  const auto image = MakeRandomImage<Image<float, 2>>({ { 16, 16 } }, 0.0, 100.0);
  for (const double spacing : { 1e-9, 1e-11, 1e-25 })
  {
    SetSpacing(image.GetPointer(), { { spacing, spacing } });
    for (const Partition partition : AllPartitions)
    {
      for (const LineBorders borders : AllBorders)
      {
        SCOPED_TRACE(testing::Message() << "spacing " << spacing << ", " << partition << ", borders " << borders);
        const auto filter = MakeFilter(image.GetPointer());
        filter->SetPartition(partition);
        filter->SetLineBorders(borders);
        const LineFunction ends = [=](const std::vector<double> & line) {
          return FilterEnds(line, partition, borders);
        };
        this->ExpectLines(filter.GetPointer(), { ends, ends }, FloatAccuracy(1.0));
      }
    }
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
  const LineFunction reference = MakeReference(Partition::Exact, LineBorders::Exact, 2.0);
  EXPECT_LE(LargestDifference(ToVolume<ImageType>(filter->GetOutput()).Pixels,
                              FilterLines(image.GetPointer(), { reference, reference })),
            1.0 + 1e-2);
  EXPECT_EQ(filter->GetOutput()->GetBufferedRegion(), image->GetLargestPossibleRegion());
  filter->SetBackend(BackendEnum::Cuda);
  EXPECT_THROW(filter->Update(), CudaError);
}

} // namespace
} // namespace itk::cuda::test
