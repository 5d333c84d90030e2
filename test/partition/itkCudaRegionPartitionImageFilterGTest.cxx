// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionPartitionImageFilter.h"
#include "partition/itkCudaPartitionTestCase.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaTestPartition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <sstream>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::region;
using namespace itk::cuda::test;

template <typename TPixel>
using ImageOf = Image<TPixel, 2>;
using LabelImage = ImageOf<unsigned int>;
using MaskType = ImageOf<unsigned char>;
template <typename TPixel>
using FilterOf = CudaRegionPartitionImageFilter<ImageOf<TPixel>, LabelImage>;

constexpr int          Width = 96;
constexpr int          Height = 80;
constexpr unsigned int Seed = 20261123;
const Index<2>         FirstIndex{ { -7, 11 } };

/** Four fields: two above, one below, and a square in the first. */
unsigned int
GetField(int x, int y)
{
  const bool square = x >= 12 && x < 32 && y >= 12 && y < 32;
  return square ? 4 : y >= 48 ? 3 : x >= 48 ? 2 : 1;
}

double
GetMeanOfField(unsigned int field)
{
  const double means[] = { 0.0, 40.0, 90.0, 140.0, 190.0 };
  return means[field];
}

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

/** The fields with Gaussian noise, on an index that is not zero. */
template <typename TPixel>
typename ImageOf<TPixel>::Pointer
MakeFields(double deviation = 8.0)
{
  std::mt19937                     generator(Seed);
  std::normal_distribution<double> noise(0.0, deviation);
  const auto                       image = MakeEmptyImage<TPixel>();
  for (int i = 0; i < Width * Height; ++i)
  {
    const double value = GetMeanOfField(GetField(i % Width, i / Width)) + noise(generator);
    image->GetBufferPointer()[i] = static_cast<TPixel>(std::min(255.0, std::max(0.0, std::round(value))));
  }
  return image;
}

template <typename TPixel>
typename FilterOf<TPixel>::Pointer
MakeFilter(ImageOf<TPixel> * image)
{
  const auto filter = FilterOf<TPixel>::New();
  filter->SetInput(image);
  filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gaussian);
  return filter;
}

/** A filter that divides a case, whose pixels are multiplied by a factor. */
template <typename TPixel>
typename FilterOf<TPixel>::Pointer
MakeFilterOf(const PartitionCase & image, float factor = 1.0f)
{
  const auto pixels = MakeEmptyImage<TPixel>(image.Width, image.Height);
  std::transform(image.Pixels.begin(), image.Pixels.end(), pixels->GetBufferPointer(), [factor](uint16_t pixel) {
    return static_cast<TPixel>(factor * static_cast<float>(pixel));
  });
  const auto filter = MakeFilter<TPixel>(pixels.GetPointer());
  filter->SetNoiseLaw(image.Law);
  return filter;
}

template <typename TImage>
TestLabels
GetLabels(const TImage * image)
{
  const auto   size = image->GetBufferedRegion().GetSize();
  const auto * pixels = image->GetBufferPointer();
  return { static_cast<int>(size[0]), static_cast<int>(size[1]), { pixels, pixels + size[0] * size[1] } };
}

/** The label image is the raster of the polygons, and their areas add up to the image. */
void
ExpectRasterOfPolygons(const CudaRegionPartition & partition, const TestLabels & labels)
{
  std::vector<int>    windings(labels.Pixels.size(), 0);
  std::vector<double> numbers(labels.Pixels.size(), 0.0);
  double              area = 0.0;
  for (uint32_t number = 1; number <= partition.GetNumberOfRegions(); ++number)
  {
    double areaOfRegion = 0.0;
    for (const auto & ring : partition.GetRings(number))
    {
      areaOfRegion += GetArea(ring);
      for (size_t i = 0; i < windings.size(); ++i)
      {
        const int turns = GetWindings(ring, static_cast<int>(i) % labels.Width, static_cast<int>(i) / labels.Width);
        windings[i] += turns;
        numbers[i] += turns * static_cast<double>(number);
      }
    }
    EXPECT_EQ(areaOfRegion, partition.GetRegion(number).Area) << "region " << number;
    area += areaOfRegion;
  }
  EXPECT_EQ(area, static_cast<double>(labels.Pixels.size()));
  for (size_t i = 0; i < windings.size(); ++i)
  {
    ASSERT_EQ(windings[i], 1) << "pixel " << i;
    ASSERT_EQ(numbers[i], labels.Pixels[i]) << "pixel " << i;
  }
}

/** The table has the means of the pixels of each region. \param squares whether the law needs their squares */
template <typename TPixel>
void
ExpectTableOfPixels(const CudaRegionPartition & partition,
                    const TestLabels &          labels,
                    const ImageOf<TPixel> *     image,
                    bool                        squares = true)
{
  ASSERT_EQ(labels.GetNumberOfRegions(), partition.GetNumberOfRegions());
  std::vector<double>   sums(labels.GetNumberOfRegions() + 1, 0.0);
  std::vector<double>   sumsOfSquares(sums);
  std::vector<uint64_t> counts(sums.size(), 0);
  for (size_t i = 0; i < labels.Pixels.size(); ++i)
  {
    const auto value = static_cast<double>(image->GetBufferPointer()[i]);
    sums[labels.Pixels[i]] += value;
    sumsOfSquares[labels.Pixels[i]] += value * value;
    ++counts[labels.Pixels[i]];
  }
  for (uint32_t number = 1; number <= partition.GetNumberOfRegions(); ++number)
  {
    const auto & region = partition.GetRegion(number);
    const double mean = sums[number] / static_cast<double>(counts[number]);
    const double meanSquare = sumsOfSquares[number] / static_cast<double>(counts[number]);
    EXPECT_EQ(region.NumberOfPixels, counts[number]);
    EXPECT_NEAR(region.Mean, mean, 1e-6 * mean);
    if (squares)
    {
      EXPECT_NEAR(region.MeanSquare, meanSquare, 1e-6 * mean * mean);
      EXPECT_NEAR(region.Variance, meanSquare - mean * mean, 1e-5 * mean * mean);
    }
    else
    {
      EXPECT_TRUE(std::isnan(region.MeanSquare) && std::isnan(region.Variance));
    }
  }
}

/** Pixels whose region is not the one that most pixels of their field have. */
int
CountStrayPixels(const TestLabels & labels)
{
  std::vector<std::map<uint32_t, int>> counts(5);
  for (int i = 0; i < Width * Height; ++i)
  {
    ++counts[GetField(i % Width, i / Width)][labels.Pixels[i]];
  }
  int stray = Width * Height;
  for (const auto & field : counts)
  {
    int most = 0;
    for (const auto & entry : field)
    {
      most = std::max(most, entry.second);
    }
    stray -= most;
  }
  return stray;
}

template <typename TFilter>
auto
Count(TFilter * filter, const EventObject & event, int & number)
{
  return filter->AddObserver(event, [&number](const EventObject &) { ++number; });
}
} // namespace

template <typename TPixel>
class CudaRegionPartitionImageFilterTypes : public ::testing::Test
{};
using PixelTypes = ::testing::Types<unsigned char, unsigned short, short, float>;
TYPED_TEST_SUITE(CudaRegionPartitionImageFilterTypes, PixelTypes);

TYPED_TEST(CudaRegionPartitionImageFilterTypes, FindsTheFields)
{
  std::cout << "seed " << Seed << std::endl;
  const auto image = MakeFields<TypeParam>();
  const auto filter = MakeFilter<TypeParam>(image);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfRegions(), 4u);
  EXPECT_TRUE(filter->GetConverged());
  EXPECT_LT(filter->GetDescription(), filter->GetDescriptionOfOneRegion());
  EXPECT_EQ(filter->GetNumberOfLooksUsed(), 1.0);
  EXPECT_EQ(filter->GetOutput()->GetBufferedRegion(), image->GetLargestPossibleRegion());
  const TestLabels labels = GetLabels(filter->GetOutput());
  EXPECT_LE(CountStrayPixels(labels), 20);
  ExpectRasterOfPolygons(*filter->GetPartition(), labels);
  ExpectTableOfPixels<TypeParam>(*filter->GetPartition(), labels, image);
  EXPECT_EQ(filter->GetPartition()->GetMerges().size(), 3u);
  EXPECT_EQ(filter->GetPartition()->GetGeometry()->GetLargestPossibleRegion(), image->GetLargestPossibleRegion());
}

TEST(CudaRegionPartitionImageFilter, LabelsOfUnsignedShortAreTheSameWhereTheySuffice)
{
  const auto image = MakeFields<float>(30.0);
  const auto expected = MakeFilter<float>(image);
  expected->Update();
  using ShortLabels = ImageOf<unsigned short>;
  const auto filter = CudaRegionPartitionImageFilter<ImageOf<float>, ShortLabels>::New();
  filter->SetInput(image);
  filter->SetNoiseLaw("gaussian");
  filter->Update();
  EXPECT_EQ(GetLabels(filter->GetOutput()).Pixels, GetLabels(expected->GetOutput()).Pixels);

  // A checkerboard of 300 x 300 regions.
  const auto large = MakeEmptyImage<float>(300, 300);
  const auto squares = MakeEmptyImage<unsigned int>(300, 300);
  for (int i = 0; i < 300 * 300; ++i)
  {
    squares->GetBufferPointer()[i] = (i % 300 + i / 300) % 2;
  }
  filter->SetInput(large);
  filter->SetInitialLabels(squares);
  filter->AllowMergingOff();
  filter->SetMaximumNumberOfIterations(1);
  ExpectContains(GetException([&] { filter->Update(); }),
                 "The partition has 90000 regions; labels of 16 bits tell 65535 apart");
  filter->SetInput(image);
  filter->SetInitialLabels(nullptr);
  filter->AllowMergingOn();
  filter->SetMaximumNumberOfIterations(12);
  filter->Update();
  EXPECT_EQ(GetLabels(filter->GetOutput()).Pixels, GetLabels(expected->GetOutput()).Pixels);
}

TEST(CudaRegionPartitionImageFilter, PixelsThatAreNotValidHaveNoRegion)
{
  const auto image = MakeFields<float>();
  const auto mask = MakeEmptyImage<unsigned char>();
  mask->FillBuffer(1);
  for (int i = 0; i < 60; ++i)
  {
    image->GetBufferPointer()[i * 127] = std::numeric_limits<float>::quiet_NaN();
    mask->GetBufferPointer()[i * 127] = 0;
  }
  const auto filter = MakeFilter<float>(image);
  ExpectContains(GetException([&] { filter->Update(); }), "Pixel [-7, 11] is nan");
  filter->SetValidMask(mask);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfRegions(), 4u);
  uint64_t valid = 0;
  for (const auto & region : filter->GetPartition()->GetRegions())
  {
    valid += region.NumberOfPixels;
  }
  EXPECT_EQ(valid, static_cast<uint64_t>(Width) * Height - 60);
  for (int i = 0; i < Width * Height; ++i)
  {
    ASSERT_EQ(filter->GetOutput()->GetBufferPointer()[i] == 0, mask->GetBufferPointer()[i] == 0) << "pixel " << i;
  }
  const auto small = MakeEmptyImage<unsigned char>(Width, Height - 1);
  filter->SetValidMask(small);
  ExpectContains(GetException([&] { filter->Update(); }), "The mask of valid pixels has 96 x 79 pixels");
}

TEST(CudaRegionPartitionImageFilter, InitialLabelsBecomePolygons)
{
  const auto image = MakeFields<float>();
  const auto initial = MakeEmptyImage<unsigned int>();
  for (int i = 0; i < Width * Height; ++i)
  {
    // Blocks of 8 x 8 pixels of few values, some of them 0: parts are what counts, not values.
    const int block = (i / Width / 8) * (Width / 8) + i % Width / 8;
    initial->GetBufferPointer()[i] = std::mt19937(Seed + static_cast<unsigned int>(block))() % 3;
  }
  const auto filter = MakeFilter<float>(image);
  filter->SetInitialLabels(initial);
  filter->AllowMergingOff();
  filter->SetMaximumNumberOfIterations(1);
  filter->Update();
  TestLabels parts = GetLabels(initial.GetPointer());
  for (uint32_t & pixel : parts.Pixels)
  {
    ++pixel;
  }
  EXPECT_EQ(filter->GetNumberOfRegions(), FindComponents(parts).GetNumberOfRegions());
  ExpectRasterOfPolygons(*filter->GetPartition(), GetLabels(filter->GetOutput()));
  const double withoutMerges = filter->GetDescription();

  filter->AllowMergingOn();
  filter->SetMaximumNumberOfIterations(12);
  filter->Update();
  EXPECT_LT(filter->GetDescription(), withoutMerges);
  ExpectRasterOfPolygons(*filter->GetPartition(), GetLabels(filter->GetOutput()));

  filter->SetInitialLabels(MakeEmptyImage<unsigned int>(Width + 1, Height));
  ExpectContains(GetException([&] { filter->Update(); }), "The image of initial labels has 97 x 80 pixels");
}

TEST(CudaRegionPartitionImageFilter, LabelsOnlyLeavesPolygonsOut)
{
  const auto filter = MakeFilter<float>(MakeFields<float>());
  filter->LabelsOnlyOn();
  filter->Update();
  EXPECT_EQ(filter->GetStop(), CudaRegionPartitionStop::LabelsOnly);
  EXPECT_EQ(filter->GetPartition()->GetNumberOfEdges(), 0u);
  EXPECT_GE(filter->GetNumberOfRegions(), 4u);
  const TestLabels labels = GetLabels(filter->GetOutput());
  EXPECT_LE(CountStrayPixels(labels), 300);
  EXPECT_EQ(FindComponents(labels).Pixels, labels.Pixels) << "regions count from 1 in the order of their first pixels";
  // The labels of a run lead to themselves.
  const auto initial = MakeEmptyImage<unsigned int>();
  std::copy(labels.Pixels.begin(), labels.Pixels.end(), initial->GetBufferPointer());
  filter->SetInitialLabels(initial);
  filter->Update();
  EXPECT_EQ(GetLabels(filter->GetOutput()).Pixels, labels.Pixels);
}

TEST(CudaRegionPartitionImageFilter, TableAndTreeDescribeTheLabelsOfEachLaw)
{
  std::mt19937_64 engine(PrintSeed(501));
  for (const NoiseLaw law : AllLaws)
  {
    SCOPED_TRACE(NameOf(law));
    const PartitionCase image = MakeRandomCase(law, 130, 100, 6, engine);
    const auto          filter = MakeFilterOf<unsigned short>(image);
    filter->LabelsOnlyOn();
    filter->Update();
    const auto &     partition = *filter->GetPartition();
    const TestLabels labels = GetLabels(filter->GetOutput());
    EXPECT_GT(partition.GetNumberOfRegions(), 1u);
    if (law != NoiseLaw::LogNormal) // whose table is that of logarithms
    {
      ExpectTableOfPixels<unsigned short>(partition, labels, filter->GetInput(), UsesSquares(law));
    }
    const auto shapes = MeasureRegions(labels);
    for (uint32_t number = 1; number <= partition.GetNumberOfRegions(); ++number)
    {
      const auto & region = partition.GetRegion(number);
      EXPECT_EQ(region.Area, static_cast<double>(shapes[number].Pixels));
      EXPECT_EQ(region.Perimeter, shapes[number].Perimeter);
      EXPECT_EQ(region.BoundingBox, shapes[number].Box);
      EXPECT_EQ(region.Neighbors, GetNeighbors(shapes[number]));
    }
    // All merges together lead to one region; what they change adds up.
    const auto & merges = partition.GetMerges();
    ASSERT_EQ(merges.size(), partition.GetNumberOfRegions() - 1);
    EXPECT_GE(merges.front().Change, 0.0) << "the labels could have merged further";
    double description = filter->GetDescription();
    for (const auto & merge : merges)
    {
      description += merge.Change;
    }
    EXPECT_NEAR(description, filter->GetDescriptionOfOneRegion(), 1e-9 * std::abs(description));
    EXPECT_LT(filter->GetDescription(), filter->GetDescriptionOfOneRegion());
    EXPECT_EQ(partition.GetMergedTo(1)->GetNumberOfRegions(), 1u);
  }
}

TEST(CudaRegionPartitionImageFilter, LooksAreThoseGivenOrEstimated)
{
  std::mt19937_64 engine(PrintSeed(502));
  PartitionCase   image = MakeRandomCase(NoiseLaw::Gamma, 160, 160, 3, engine);
  const auto      filter = MakeFilterOf<unsigned short>(image);
  filter->LabelsOnlyOn();
  filter->Update();
  const double estimated = filter->GetNumberOfLooksUsed();
  const auto   labels = GetLabels(filter->GetOutput());
  const auto   regions = filter->GetNumberOfRegions();
  EXPECT_GT(estimated, 0.7);
  EXPECT_LT(estimated, 1.1);
  filter->SetNumberOfLooks(estimated);
  filter->Update();
  EXPECT_EQ(GetLabels(filter->GetOutput()).Pixels, labels.Pixels);
  filter->SetNumberOfLooks(1e-6);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfRegions(), 1u) << "no fluctuation means anything";
  filter->SetNumberOfLooks(50.0);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfLooksUsed(), 50.0);
  EXPECT_GT(filter->GetNumberOfRegions(), 2 * regions);
  filter->SetNumberOfLooks(0.0);
  filter->SetNoiseLaw(NoiseLaw::Poisson);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfLooksUsed(), 1.0) << "a law without looks";
}

TEST(CudaRegionPartitionImageFilter, ScaledFloatsHaveTheLabelsOfIntegers)
{
  std::mt19937_64     engine(PrintSeed(503));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Rayleigh, 90, 80, 5, engine);
  const auto          expected = MakeFilterOf<unsigned short>(image);
  const auto          scaled = MakeFilterOf<float>(image, 4.0f);
  expected->Update();
  scaled->Update();
  EXPECT_EQ(GetLabels(scaled->GetOutput()).Pixels, GetLabels(expected->GetOutput()).Pixels);
  // -log likelihood of an amplitude that is four times as large: L n log 16 more.
  const double shift = scaled->GetNumberOfLooksUsed() * 90.0 * 80.0 * std::log(16.0);
  const double rounding = 1e-9 * scaled->GetDescription();
  EXPECT_NEAR(scaled->GetDescription(), expected->GetDescription() + shift, rounding);
  EXPECT_NEAR(scaled->GetDescriptionOfOneRegion(), expected->GetDescriptionOfOneRegion() + shift, rounding);
  const double mean = 4.0 * expected->GetPartition()->GetRegion(1).Mean;
  EXPECT_NEAR(scaled->GetPartition()->GetRegion(1).Mean, mean, 1e-9 * mean);
}

/** Two fields of 0 and `other` by the law Bernoulli: the means of the table are those of the pixels, summed here in
 * double. The description is that of the same image with 1 for `other`, because the law knows shares alone. */
template <typename TPixel>
void
ExpectMeansOfTwoValues(TPixel other)
{
  std::mt19937                           generator(Seed);
  std::uniform_real_distribution<double> uniform;
  const auto                             image = MakeEmptyImage<TPixel>();
  const auto                             ones = MakeEmptyImage<unsigned char>();
  for (int i = 0; i < Width * Height; ++i)
  {
    const bool one = uniform(generator) < (i / Width < Height / 2 ? 0.2 : 0.8);
    image->GetBufferPointer()[i] = one ? other : TPixel{ 0 };
    ones->GetBufferPointer()[i] = one ? 1 : 0;
  }
  const auto filter = MakeFilter<TPixel>(image);
  filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Bernoulli);
  filter->Update();
  const auto filterOfOnes = MakeFilter<unsigned char>(ones);
  filterOfOnes->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Bernoulli);
  filterOfOnes->Update();
  EXPECT_EQ(filter->GetDescription(), filterOfOnes->GetDescription());

  const CudaRegionPartition & partition = *filter->GetPartition();
  ASSERT_EQ(partition.GetNumberOfRegions(), 2u);
  const TestLabels labels = GetLabels(filter->GetOutput());
  for (uint32_t number = 1; number <= 2; ++number)
  {
    double sum = 0.0;
    double count = 0.0;
    for (size_t i = 0; i < labels.Pixels.size(); ++i)
    {
      sum += labels.Pixels[i] == number ? static_cast<double>(image->GetBufferPointer()[i]) : 0.0;
      count += labels.Pixels[i] == number ? 1.0 : 0.0;
    }
    // A product and a quotient are rounded.
    EXPECT_NEAR(partition.GetRegion(number).Mean, sum / count, 4e-16 * std::fabs(sum / count)) << "region " << number;
  }
}

TEST(CudaRegionPartitionImageFilter, MeansOfTwoValuesAreInTheirUnit)
{
  ExpectMeansOfTwoValues<unsigned char>(255);
  ExpectMeansOfTwoValues<unsigned short>(40000);
  ExpectMeansOfTwoValues<short>(-300);
  ExpectMeansOfTwoValues<float>(-0.37f);
}

/** Of many regions, whose tree has a thread of its own if there is more than one. */
TEST(CudaRegionPartitionImageFilter, ThreadsAndObserversChangeNothing)
{
  std::mt19937_64     engine(PrintSeed(509));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 160, 140, 4, engine);
  const auto          initial = MakeEmptyImage<unsigned int>(160, 140);
  for (int i = 0; i < 160 * 140; ++i)
  {
    initial->GetBufferPointer()[i] = static_cast<unsigned int>(i / 160 / 4 * 160 + i % 160 / 4);
  }
  const auto makeFilter = [&](unsigned int threads) {
    const auto filter = MakeFilterOf<unsigned short>(image);
    filter->SetInitialLabels(initial);
    filter->AllowMergingOff();
    filter->SetMaximumNumberOfIterations(2);
    filter->SetNumberOfWorkUnits(threads);
    return filter;
  };
  const auto expected = makeFilter(1);
  expected->Update();
  EXPECT_EQ(expected->GetPartition()->GetMerges().size(), 1399u);
  for (const unsigned int threads : { 2u, 3u, 8u })
  {
    const auto          filter = makeFilter(threads);
    std::vector<double> descriptions;
    filter->AddObserver(IterationEvent(), [&](const EventObject &) {
      descriptions.push_back(filter->GetCurrentDescription());
      EXPECT_EQ(filter->GetCurrentIteration(), descriptions.size());
      EXPECT_GE(filter->GetCurrentNumberOfRegions(), 1u);
    });
    filter->Update();
    EXPECT_EQ(descriptions.size(), filter->GetNumberOfIterations());
    EXPECT_EQ(filter->GetDescription(), expected->GetDescription());
    EXPECT_EQ(GetLabels(filter->GetOutput()).Pixels, GetLabels(expected->GetOutput()).Pixels);
    const auto & merges = expected->GetPartition()->GetMerges();
    EXPECT_TRUE(std::equal(
      merges.begin(), merges.end(), filter->GetPartition()->GetMerges().begin(), [](const auto & m, const auto & n) {
        return m.First == n.First && m.Second == n.Second && m.Change == n.Change;
      }));
    filter->RemoveAllObservers();
  }
}

TEST(CudaRegionPartitionImageFilter, AbortThrowsAndTheFilterRunsAgain)
{
  const auto filter = MakeFilter<float>(MakeFields<float>());
  // Progress is reported ten times a second: only the first report is sure to come before the end.
  const auto tag = filter->AddObserver(ProgressEvent(), [&](const EventObject &) {
    if (filter->GetProgress() < 1.0f)
    {
      filter->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(filter->Update(), ProcessAborted);
  EXPECT_EQ(filter->GetNumberOfRegions(), 0u);
  filter->RemoveObserver(tag);
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfRegions(), 4u);
}

TEST(CudaRegionPartitionImageFilter, DefaultsArePrinted)
{
  std::ostringstream text;
  FilterOf<float>::New()->Print(text);
  for (const char * line : { "NoiseLaw: (not set)",
                             "NumberOfLooks: 0",
                             "ForegroundThreshold: nan",
                             "SegmentCost: 9",
                             "BlockSize: 4",
                             "MinimumNumberOfPixels: 8",
                             "MaximumNumberOfIterations: 12",
                             "AllowMerging: On",
                             "LabelsOnly: Off",
                             "NumberOfRegions: 0" })
  {
    ExpectContains(text.str(), line);
  }
}

TEST(CudaRegionPartitionImageFilter, AnUpdateOfThePartitionMakesTheLabels)
{
  const auto filter = MakeFilter<float>(MakeFields<float>());
  filter->GetPartition()->Update();
  ExpectRasterOfPolygons(*filter->GetPartition(), GetLabels(filter->GetOutput()));
  int runs = 0;
  filter->AddObserver(StartEvent(), [&runs](const EventObject &) { ++runs; });
  filter->Update();
  EXPECT_EQ(runs, 0);
  filter->SetSegmentCost(12.0);
  filter->GetPartition()->Update();
  EXPECT_EQ(runs, 1);
}

TEST(CudaRegionPartitionImageFilter, TheNoiseLawHasToBeSet)
{
  const auto filter = FilterOf<float>::New();
  filter->SetInput(MakeFields<float>());
  const std::string names = CudaNoiseLawNames();
  ExpectContains(GetException([&] { filter->Update(); }), "NoiseLaw is not set; call SetNoiseLaw()");
  ExpectContains(GetException([&] { filter->Update(); }), names);
  ExpectContains(GetException([&] { filter->GetNoiseLaw(); }), "NoiseLaw is not set; SetNoiseLaw() takes " + names);
  ExpectContains(GetException([&] { filter->SetNoiseLaw("Cauchy"); }), "NoiseLaw is \"Cauchy\"");
  filter->SetNoiseLaw("gaussian");
  filter->Update();
  EXPECT_EQ(filter->GetNumberOfRegions(), 4u);
}

TEST(CudaRegionPartitionImageFilter, BadImagesAreRefused)
{
  std::mt19937_64               engine(PrintSeed(508));
  PartitionCase                 image = MakeRandomCase(NoiseLaw::Gamma, 20, 10, 2, engine);
  CudaRegionPartitionParameters parameters;
  parameters.NoiseLaw = NoiseLaw::Gamma;
  std::vector<uint32_t>    labels(200);
  const CudaImageView      good = MakeView(labels.data(), CudaComponentType::UInt, 20, 10);
  CudaRegionPartitionInput input;
  input.Image = image.GetImage();
  const auto expect =
    [&](const CudaRegionPartitionInput & bad, const CudaImageView & output, const std::string & message) {
      ExpectContains(GetException([&] { CudaRegionPartitionOnHost(bad, parameters, output, 2, {}); }), message);
    };
  expect({}, good, "The image is empty");
  CudaRegionPartitionInput tooLarge = input;
  tooLarge.Image = MakeView(image.Pixels.data(), CudaComponentType::UShort, size_t{ 1 } << 16, size_t{ 1 } << 15);
  expect(tooLarge, good, "The image has 2147483648 pixels; a partition takes at most 2147483647");
  expect(input,
         MakeView(labels.data(), CudaComponentType::UInt, 10, 20),
         "The label image has 10 x 20 pixels; it must have 20 x 10 of unsigned int or unsigned short, as the image");
  expect(input, MakeView(labels.data(), CudaComponentType::UChar, 20, 10), "The label image has 20 x 10 pixels");
  CudaRegionPartitionInput bad = input;
  const CudaImageView      wrong = MakeView(labels.data(), CudaComponentType::UInt, 20, 9);
  bad.InitialLabels = &wrong;
  expect(
    bad, good, "The image of initial labels has 20 x 9 pixels; it must have 20 x 10 of unsigned int, as the image");
  bad = input;
  const CudaImageView wrongMask = MakeView(labels.data(), CudaComponentType::UInt, 20, 10);
  bad.ValidMask = &wrongMask;
  expect(bad, good, "The mask of valid pixels has 20 x 10 pixels; it must have 20 x 10 of unsigned char, as the image");
  image.Valid.assign(200, 0);
  const CudaImageView nothing = image.GetMask();
  bad.ValidMask = &nothing;
  expect(bad, good, "The image has 0 valid pixels of 200; a region needs at least 1");
  std::vector<float> pixels(200, 1.0f);
  pixels[25] = -2.0f;
  bad = input;
  bad.Image = MakeView(pixels.data(), CudaComponentType::Float, 20, 10);
  bad.FirstIndex = { { 100, 50 } };
  expect(bad, good, "Pixel [105, 51] is -2; NoiseLaw Gamma needs values of 0 or more");
  pixels[25] = std::numeric_limits<float>::quiet_NaN();
  expect(bad, good, "Pixel [105, 51] is nan");
  pixels[25] = 1e12f;
  expect(bad, good, "Pixel [105, 51] is 1e+12, the first of 1 so far above the others");
  EXPECT_NO_THROW(CudaRegionPartitionOnHost(input, parameters, good, 2, {}));
}
