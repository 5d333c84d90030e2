// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRegionSnakeBatchFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSnakeScene.h"
#include "snake/host/Host.h"
#include "snake/itkCudaSnakeTestCase.h"
#include "support/itkCudaExpectException.h"
#include "itkCommand.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkRegionOfInterestImageFilter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <tuple>

// Many searches in one image: each result is that of one search in the window, and the label image is that of the
// polygons.
namespace
{
using itk::CudaFiltersEnums;
using itk::CudaRegionSnakeRegion;
using itk::CudaRegionSnakeStop;

template <typename TPixel>
using ImageOf = itk::Image<TPixel, 2>;
using RegionType = itk::ImageRegion<2>;
using LabelImage = ImageOf<unsigned int>;
template <typename TPixel>
using BatchOf = itk::CudaRegionSnakeBatchFilter<ImageOf<TPixel>, LabelImage>;

constexpr int FirstIndex[] = { -7, 11 };

/** Disks on a grid of cells, with noise that a law describes. */
struct Targets
{
  CudaFiltersEnums::NoiseLaw Law{ CudaFiltersEnums::NoiseLaw::Gamma };
  int                        PerRow{ 10 };
  int                        PerColumn{ 10 };
  int                        Cell{ 48 }; // pixels a side
  double                     Ratio{ 2.0 };
  unsigned int               Seed{ 1 };

  std::array<double, 2>
  GetCentre(int i) const
  {
    std::mt19937                           random(Seed + 1000u * static_cast<unsigned int>(i));
    std::uniform_real_distribution<double> shift(-3.0, 3.0);
    const double                           x = (i % PerRow + 0.5) * Cell + shift(random);
    return { { x, (i / PerRow + 0.5) * Cell + shift(random) } };
  }

  bool
  IsInside(int i, int x, int y) const
  {
    constexpr double radius = 8.0; // 201 pixels
    const auto       centre = this->GetCentre(i);
    return std::hypot(x + 0.5 - centre[0], y + 0.5 - centre[1]) < radius;
  }

  template <typename TPixel>
  TPixel
  MakePixel(std::mt19937 & random, double ratio) const
  {
    using Law = CudaFiltersEnums::NoiseLaw;
    switch (this->Law)
    {
      case Law::Gaussian:
      case Law::GaussianCommonVariance:
        return static_cast<TPixel>(std::normal_distribution<double>(100.0 * ratio, 50.0)(random) + 400.0);
      case Law::Gamma:
        return static_cast<TPixel>(std::gamma_distribution<double>(4.0, 25.0 * ratio)(random) + 1.0);
      case Law::Rayleigh:
        return static_cast<TPixel>(std::sqrt(std::gamma_distribution<double>(4.0, 2500.0 * ratio)(random)) + 1.0);
      case Law::Poisson:
        return static_cast<TPixel>(std::poisson_distribution<int>(10.0 * ratio)(random));
      case Law::Bernoulli:
        return static_cast<TPixel>(std::bernoulli_distribution(0.6 * ratio - 0.5)(random) ? 1 : 0);
      default:
        return static_cast<TPixel>(std::lognormal_distribution<double>(4.0 + ratio, 0.5)(random) + 1.0);
    }
  }

  template <typename TPixel>
  typename ImageOf<TPixel>::Pointer
  MakeImage() const
  {
    auto image = ImageOf<TPixel>::New();
    image->SetRegions(RegionType(
      { { FirstIndex[0], FirstIndex[1] } },
      { { static_cast<itk::SizeValueType>(PerRow * Cell), static_cast<itk::SizeValueType>(PerColumn * Cell) } }));
    image->Allocate();
    std::mt19937 random(Seed);
    for (int y = 0; y < PerColumn * Cell; ++y)
    {
      for (int x = 0; x < PerRow * Cell; ++x)
      {
        const int i = y / Cell * PerRow + x / Cell;
        image->GetBufferPointer()[y * PerRow * Cell + x] =
          this->MakePixel<TPixel>(random, this->IsInside(i, x, y) ? Ratio : 1.0);
      }
    }
    return image;
  }

  /** A square of 10 pixels a side near the centre. */
  RegionType
  GetStart(int i) const
  {
    const auto centre = this->GetCentre(i);
    return { { { static_cast<itk::IndexValueType>(centre[0]) - 5 + FirstIndex[0],
                 static_cast<itk::IndexValueType>(centre[1]) - 5 + FirstIndex[1] } },
             { { 10, 10 } } };
  }

  int
  GetNumber() const
  {
    return PerRow * PerColumn;
  }
};

template <typename TPixel>
typename BatchOf<TPixel>::Pointer
MakeBatch(ImageOf<TPixel> * image, const Targets & targets, CudaFiltersEnums::Backend backend)
{
  auto filter = BatchOf<TPixel>::New();
  filter->SetInput(image);
  filter->SetNoiseLaw(targets.Law);
  filter->SetNumberOfLooks(4.0);
  filter->SetBackend(backend);
  return filter;
}

template <typename TPixel>
typename BatchOf<TPixel>::Pointer
Segment(ImageOf<TPixel> * image, const Targets & targets, CudaFiltersEnums::Backend backend)
{
  auto filter = MakeBatch(image, targets, backend);
  for (int i = 0; i < targets.GetNumber(); ++i)
  {
    filter->AddInitialRegion(targets.GetStart(i));
  }
  filter->Update();
  return filter;
}

RegionType
WindowOf(const CudaRegionSnakeRegion & region)
{
  return { { { region.WindowCorner.X + FirstIndex[0], region.WindowCorner.Y + FirstIndex[1] } },
           { { static_cast<itk::SizeValueType>(region.WindowSize.X),
               static_cast<itk::SizeValueType>(region.WindowSize.Y) } } };
}

itk::CudaRegionSnakeResult
MoveToImage(itk::CudaRegionSnakeResult result, const CudaRegionSnakeRegion & region)
{
  for (itk::CudaSnakePoint & corner : result.Polygon)
  {
    corner = { corner.X + region.WindowCorner.X, corner.Y + region.WindowCorner.Y };
  }
  return result;
}

/** What CudaRegionSnakeImageFilter finds in the image cropped to the window, with the parameters of the batch. */
template <typename TPixel>
itk::CudaRegionSnakeResult
SegmentCropped(ImageOf<TPixel> * image, const BatchOf<TPixel> & batch, int i, const RegionType & start)
{
  auto crop = itk::RegionOfInterestImageFilter<ImageOf<TPixel>, ImageOf<TPixel>>::New();
  crop->SetInput(image);
  const RegionType window = WindowOf(batch.GetRegion(i));
  crop->SetRegionOfInterest(window);
  auto single = itk::CudaRegionSnakeImageFilter<ImageOf<TPixel>>::New();
  single->SetInput(crop->GetOutput());
  single->SetBackend(CudaFiltersEnums::Backend::Host);
  single->SetNoiseLaw(batch.GetNoiseLaw());
  single->SetNumberOfLooks(batch.GetNumberOfLooks());
  single->SetMinimumEdgeLength(3.0);
  single->SetMaximumStep(4);
  RegionType inWindow = start; // the cropped image begins at index 0
  inWindow.SetIndex({ { start.GetIndex(0) - window.GetIndex(0), start.GetIndex(1) - window.GetIndex(1) } });
  single->SetInitialRegion(inWindow);
  single->Update();
  return single->GetResult();
}

class CudaRegionSnakeBatch : public ::testing::TestWithParam<CudaFiltersEnums::Backend>
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (GetParam() == CudaFiltersEnums::Backend::Cuda && !itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << reason;
    }
  }
};
} // namespace

// 1,000 targets in one image of integers.
TEST_P(CudaRegionSnakeBatch, PolygonsAreThoseOfTheCroppedImages)
{
  Targets targets;
  targets.PerRow = 40;
  targets.Ratio = 4.0;
  targets.PerColumn = 25;
  const auto image = targets.MakeImage<unsigned short>();
  const auto batch = Segment<unsigned short>(image, targets, GetParam());
  ASSERT_EQ(batch->GetNumberOfRegions(), 1000u);
  for (int i = 0; i < targets.GetNumber(); ++i)
  {
    const auto expected = SegmentCropped<unsigned short>(image, *batch, i, targets.GetStart(i));
    itk::cuda::ExpectSameResults(
      MoveToImage(expected, batch->GetRegion(i)), batch->GetRegion(i), "target " + std::to_string(i));
    if (HasFailure())
    {
      return;
    }
  }
}

// Targets of contrast 2 are found with an overlap (intersection over union) of 0.85 on the average, for every law.
// Their mean is twice that of their surroundings, or for the laws Gaussian, log-normal (of the logarithm) and Bernoulli
// larger by two standard deviations.
TEST_P(CudaRegionSnakeBatch, RegionsAreTheTargetsForEveryLaw)
{
  for (const auto & law : itk::CudaNoiseLaws())
  {
    Targets targets;
    targets.Law = law.Law;
    targets.PerRow = 6;
    targets.PerColumn = 6;
    targets.Seed = 77;
    const auto image = targets.MakeImage<unsigned short>();
    const auto batch = Segment<unsigned short>(image, targets, GetParam());
    double     sum = 0.0;
    for (int i = 0; i < targets.GetNumber(); ++i)
    {
      double both = 0.0;
      double any = 0.0;
      for (int y = i / targets.PerRow * targets.Cell; y < (i / targets.PerRow + 1) * targets.Cell; ++y)
      {
        for (int x = i % targets.PerRow * targets.Cell; x < (i % targets.PerRow + 1) * targets.Cell; ++x)
        {
          const bool label = batch->GetOutput()->GetPixel({ { x + FirstIndex[0], y + FirstIndex[1] } }) ==
                             static_cast<unsigned int>(i + 1);
          const bool truth = targets.IsInside(i, x, y);
          both += label && truth ? 1.0 : 0.0;
          any += label || truth ? 1.0 : 0.0;
        }
      }
      sum += both / any;
    }
    std::cout << law.Name << ": mean overlap " << sum / targets.GetNumber() << std::endl;
    EXPECT_GE(sum / targets.GetNumber(), 0.85) << law.Name;
  }
}

// The samples of floats are on the grid of the whole image.
TEST_P(CudaRegionSnakeBatch, FloatsAreOnTheGridOfTheImage)
{
  for (const auto & law : itk::CudaNoiseLaws())
  {
    Targets targets;
    targets.Law = law.Law;
    targets.PerRow = 5;
    targets.PerColumn = 4;
    targets.Seed = 5;
    const auto image = targets.MakeImage<float>();
    const auto batch = Segment<float>(image, targets, GetParam());

    itk::CudaDetail::CudaRegionSnakeParameters parameters;
    parameters.NoiseLaw = law.Law;
    parameters.NumberOfLooks = 4.0;
    parameters.MinimumEdgeLength = 3.0;
    parameters.MaximumStep = 4;
    const auto                            size = image->GetLargestPossibleRegion().GetSize();
    itk::CudaDetail::CudaRegionSnakeInput input;
    input.Image = itk::cuda::MakeImageView(image->GetBufferPointer(), itk::CudaComponentType::Float, size[0], size[1]);
    const itk::cuda::region::Threads       threads(1);
    const itk::cuda::snake::HostSnakeImage prepared(input, parameters, threads);
    for (int i = 0; i < targets.GetNumber(); ++i)
    {
      const CudaRegionSnakeRegion & region = batch->GetRegion(i);
      const auto                    start = targets.GetStart(i);
      const auto                    x = static_cast<int32_t>(start.GetIndex(0) - FirstIndex[0]) - region.WindowCorner.X;
      const auto                    y = static_cast<int32_t>(start.GetIndex(1) - FirstIndex[1]) - region.WindowCorner.Y;
      const itk::CudaSnakePolygon   polygon{ { x, y }, { x + 10, y }, { x + 10, y + 10 }, { x, y + 10 } };
      itk::cuda::snake::SnakeRun    run;
      run.Parameters = parameters;
      run.Rectangle = { region.WindowCorner.X, region.WindowCorner.Y, region.WindowSize.X, region.WindowSize.Y };
      run.StartPolygon = &polygon;
      itk::cuda::ExpectSameResults(
        MoveToImage(RunOnHost(prepared, run, threads), region), region, law.Name + ", target " + std::to_string(i));
    }
  }
}

TEST_P(CudaRegionSnakeBatch, WindowsEndAtTheImage)
{
  Targets targets;
  targets.PerRow = 3;
  targets.PerColumn = 3;
  const auto image = targets.MakeImage<unsigned short>();
  for (const unsigned int margin : { 0u, 5u, 16u, 1000u, std::numeric_limits<unsigned int>::max() })
  {
    const auto batch = MakeBatch<unsigned short>(image, targets, GetParam());
    batch->SetMargin(margin);
    for (int i = 0; i < targets.GetNumber(); ++i)
    {
      batch->AddInitialRegion(targets.GetStart(i));
    }
    batch->Update();
    for (int i = 0; i < targets.GetNumber(); ++i)
    {
      RegionType expected = targets.GetStart(i);
      expected.PadByRadius(margin == 0 ? 16 : std::min(margin, 10000u));
      expected.Crop(image->GetLargestPossibleRegion());
      EXPECT_EQ(WindowOf(batch->GetRegion(i)), expected) << "margin " << margin << ", start " << i;
    }
  }
}

// A rectangle, its path and its label are the same start. Labels are in ascending order.
TEST_P(CudaRegionSnakeBatch, AllKindsOfStartsBeginAtTheSamePolygon)
{
  Targets targets;
  targets.PerRow = 6;
  targets.PerColumn = 2;
  const auto image = targets.MakeImage<unsigned short>();
  const auto regions = Segment<unsigned short>(image, targets, GetParam());
  const auto paths = MakeBatch<unsigned short>(image, targets, GetParam());
  const auto labels = LabelImage::New();
  labels->SetRegions(image->GetLargestPossibleRegion());
  labels->Allocate(true);
  for (int i = 0; i < targets.GetNumber(); ++i)
  {
    const RegionType start = targets.GetStart(i);
    const auto       path = itk::PolyLineParametricPath<2>::New();
    for (const auto & [x, y] : { std::pair(0, 0), std::pair(0, 10), std::pair(10, 10), std::pair(10, 0) })
    {
      itk::ContinuousIndex<double, 2> index;
      index[0] = static_cast<double>(start.GetIndex(0) + x) - 0.7; // rounded to the corner at - 0.5
      index[1] = static_cast<double>(start.GetIndex(1) + y) - 0.3;
      path->AddVertex(index);
    }
    paths->AddInitialPath(path);
    for (itk::ImageRegionIterator<LabelImage> pixel(labels, start); !pixel.IsAtEnd(); ++pixel)
    {
      pixel.Set(static_cast<unsigned int>(4000000000u - 10u * static_cast<unsigned int>(i)));
    }
  }
  paths->Update();
  const auto ofLabels = MakeBatch<unsigned short>(image, targets, GetParam());
  ofLabels->SetInitialLabels(labels);
  ofLabels->Update();
  const int number = targets.GetNumber();
  ASSERT_EQ(paths->GetNumberOfRegions(), static_cast<size_t>(number));
  ASSERT_EQ(ofLabels->GetNumberOfRegions(), static_cast<size_t>(number));
  for (int i = 0; i < number; ++i)
  {
    itk::cuda::ExpectSameResults(regions->GetRegion(i), paths->GetRegion(i), "path " + std::to_string(i));
    const CudaRegionSnakeRegion & ofLabel = ofLabels->GetRegion(number - 1 - i);
    itk::cuda::ExpectSameResults(regions->GetRegion(i), ofLabel, "label of " + std::to_string(i));
    EXPECT_EQ(ofLabel.StartLabel, 4000000000u - 10u * static_cast<unsigned int>(i));
    EXPECT_EQ(regions->GetRegion(i).StartLabel, 0u);
  }
}

// The lower label wins. Overlaps are counted here pixel by pixel from the regions' own label images.
TEST_P(CudaRegionSnakeBatch, OverlapsHaveTheLowerLabelAndAreListed)
{
  Targets targets;
  targets.PerRow = 4;
  targets.PerColumn = 2;
  const auto                         image = targets.MakeImage<unsigned short>();
  const auto                         batch = MakeBatch<unsigned short>(image, targets, GetParam());
  std::mt19937                       random(9);
  std::uniform_int_distribution<int> shift(-4, 4);
  std::cout << "seed 9" << std::endl;
  for (int i = 0; i < 3 * targets.GetNumber(); ++i) // three starts a target
  {
    RegionType start = targets.GetStart(i % targets.GetNumber());
    start.SetIndex({ { start.GetIndex(0) + shift(random), start.GetIndex(1) + shift(random) } });
    batch->AddInitialRegion(start);
  }
  batch->Update();
  const auto                                  size = image->GetLargestPossibleRegion().GetSize();
  std::map<std::pair<size_t, size_t>, size_t> overlaps;
  std::vector<unsigned int>                   labels(size[0] * size[1], 0);
  std::vector<uint64_t>                       hidden(batch->GetNumberOfRegions(), 0);
  std::vector<std::vector<unsigned char>>     ofRegions(batch->GetNumberOfRegions());
  size_t                                      pairsUnderAThird = 0;
  for (size_t i = batch->GetNumberOfRegions(); i-- > 0;)
  {
    const CudaRegionSnakeRegion & region = batch->GetRegion(i);
    const auto                    spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(
      region.SignificantBoundary ? region.Polygon : itk::CudaSnakePolygon{}, static_cast<int32_t>(size[1]));
    std::vector<unsigned char>                            own(labels.size());
    const itk::CudaDetail::CudaSnakeLabels<unsigned char> writer{ spans, size[0], 1, 0 };
    writer.WriteRows(own.data(), 0, size[1]);
    for (size_t p = 0; p < own.size(); ++p)
    {
      if (own[p] != 0)
      {
        for (size_t other = i + 1; other < ofRegions.size(); ++other)
        {
          if (ofRegions[other][p] != 0)
          {
            ++overlaps[{ i, other }];
            pairsUnderAThird += labels[p] != other + 1 ? 1 : 0;
          }
        }
        if (labels[p] != 0)
        {
          ++hidden[labels[p] - 1];
        }
        labels[p] = static_cast<unsigned int>(i + 1);
      }
    }
    ofRegions[i] = std::move(own);
  }
  EXPECT_GT(pairsUnderAThird, 100u);
  const unsigned int * const output = batch->GetOutput()->GetBufferPointer();
  EXPECT_EQ(labels, std::vector<unsigned int>(output, output + labels.size()));
  EXPECT_GT(overlaps.size(), 8u);
  std::map<std::pair<size_t, size_t>, size_t> listed;
  for (const itk::CudaRegionSnakeOverlap & overlap : batch->GetOverlaps())
  {
    listed[{ overlap.First, overlap.Second }] = overlap.NumberOfPixels;
  }
  EXPECT_EQ(listed, overlaps);
  EXPECT_EQ(listed.size(), batch->GetOverlaps().size());
  for (size_t i = 0; i < hidden.size(); ++i)
  {
    EXPECT_EQ(batch->GetRegion(i).NumberOfHiddenPixels, hidden[i]) << i;
  }
}

TEST_P(CudaRegionSnakeBatch, ResultsDoNotDependOnThreadsOrTheLabelImage)
{
  Targets targets;
  targets.PerRow = 7;
  targets.PerColumn = 3;
  const auto image = targets.MakeImage<unsigned char>();
  const auto expected = Segment<unsigned char>(image, targets, CudaFiltersEnums::Backend::Host);
  for (const unsigned int threads : { 1u, 2u, 5u, 40u })
  {
    const auto batch = MakeBatch<unsigned char>(image, targets, GetParam());
    batch->SetNumberOfWorkUnits(threads);
    batch->MakeLabelImageOff();
    for (int i = 0; i < targets.GetNumber(); ++i)
    {
      batch->AddInitialRegion(targets.GetStart(i));
    }
    batch->Update();
    EXPECT_EQ(batch->GetOutput()->GetBufferedRegion().GetNumberOfPixels(), 0u);
    for (int i = 0; i < targets.GetNumber(); ++i)
    {
      itk::cuda::ExpectSameResults(
        expected->GetRegion(i), batch->GetRegion(i), std::to_string(threads) + " threads, " + std::to_string(i));
      EXPECT_EQ(expected->GetContourPoints(i), batch->GetContourPoints(i));
    }
  }
}

TEST_P(CudaRegionSnakeBatch, ResultsOutliveTheInput)
{
  Targets targets;
  targets.PerRow = 2;
  targets.PerColumn = 1;
  auto       image = targets.MakeImage<unsigned short>();
  const auto batch = Segment<unsigned short>(image, targets, GetParam());
  const auto points = batch->GetContourPoints(1);
  batch->SetInput(nullptr);
  image = nullptr;
  ASSERT_EQ(points.size(), batch->GetRegion(1).Polygon.size());
  EXPECT_EQ(points, batch->GetContourPoints(1));
  const itk::CudaSnakePoint corner = batch->GetRegion(1).Polygon.front();
  EXPECT_EQ(points.front()[0], FirstIndex[0] + corner.X - 0.5); // spacing 1, origin 0
  EXPECT_EQ(points.front()[1], FirstIndex[1] + corner.Y - 0.5);
}

TEST_P(CudaRegionSnakeBatch, StartsWithTooFewPixelsHaveNoPolygon)
{
  Targets targets;
  targets.PerRow = 3;
  targets.PerColumn = 1;
  const auto image = targets.MakeImage<unsigned short>();
  const auto mask = ImageOf<unsigned char>::New();
  mask->SetRegions(image->GetLargestPossibleRegion());
  mask->Allocate();
  mask->FillBuffer(1);
  for (itk::ImageRegionIterator<ImageOf<unsigned char>> pixel(mask, targets.GetStart(1)); !pixel.IsAtEnd(); ++pixel)
  {
    pixel.Set(0); // the second start has no valid pixel inside
  }
  const auto batch = MakeBatch<unsigned short>(image, targets, GetParam());
  batch->SetValidMask(mask);
  for (int i = 0; i < 3; ++i)
  {
    batch->AddInitialRegion(targets.GetStart(i));
  }
  batch->AddInitialRegion({ { { FirstIndex[0], FirstIndex[1] } }, { { 3, 5 } } }); // 15 pixels; 16 are the minimum
  batch->Update();
  EXPECT_EQ(batch->GetRegion(0).Stop, CudaRegionSnakeStop::Converged);
  EXPECT_EQ(batch->GetRegion(2).Stop, CudaRegionSnakeStop::Converged);
  for (const int i : { 1, 3 })
  {
    EXPECT_EQ(batch->GetRegion(i).Stop, CudaRegionSnakeStop::RegionTooSmall);
    EXPECT_TRUE(batch->GetRegion(i).Polygon.empty());
    EXPECT_TRUE(batch->GetContourPoints(i).empty());
    EXPECT_FALSE(batch->GetRegion(i).SignificantBoundary);
  }
}

TEST_P(CudaRegionSnakeBatch, WrongStartsAreRefusedByNumberAndTheNextRunIsRight)
{
  Targets targets;
  targets.PerRow = 4;
  targets.PerColumn = 2;
  const auto image = targets.MakeImage<unsigned short>();
  const auto expected = Segment<unsigned short>(image, targets, GetParam());
  const auto batch = MakeBatch<unsigned short>(image, targets, GetParam());
  const auto expectRefusal = [&](const std::string & text) {
    itk::cuda::test::ExpectContains(itk::cuda::test::GetException([&] { batch->Update(); }), text);
  };
  batch->AddInitialRegion(targets.GetStart(0));
  batch->AddInitialRegion({ { { 180, 11 } }, { { 10, 10 } } }); // the image ends at 184
  expectRefusal("start 1");
  batch->ClearStarts();
  const auto bow = itk::PolyLineParametricPath<2>::New();
  for (const auto & [x, y] : { std::pair(20, 20), std::pair(50, 50), std::pair(50, 20), std::pair(20, 50) })
  {
    itk::ContinuousIndex<double, 2> index;
    index[0] = x - 0.5;
    index[1] = y - 0.5;
    bow->AddVertex(index);
  }
  batch->AddInitialPath(bow);
  expectRefusal("Start 0 of 1");
  EXPECT_THROW(batch->AddInitialRegion({ { { 0, 20 } }, { { 0, 5 } } }), itk::ExceptionObject);
  EXPECT_THROW(batch->AddInitialPath(nullptr), itk::ExceptionObject);
  EXPECT_THROW(batch->GetRegion(0), itk::ExceptionObject);

  batch->ClearStarts();
  EXPECT_EQ(batch->GetNumberOfStarts(), 0u);
  batch->Update(); // without starts there are no regions
  EXPECT_EQ(batch->GetNumberOfRegions(), 0u);
  EXPECT_EQ(batch->GetOutput()->GetPixel({ { 0, 20 } }), 0u);

  const auto labels = LabelImage::New();
  labels->SetRegions(image->GetLargestPossibleRegion());
  labels->Allocate(true);
  batch->SetInitialLabels(labels);
  batch->Update();
  EXPECT_EQ(batch->GetNumberOfRegions(), 0u);
  batch->AddInitialRegion(targets.GetStart(0));
  expectRefusal("InitialLabels");

  batch->SetInitialLabels(nullptr);
  batch->ClearStarts();
  for (int i = 0; i < targets.GetNumber(); ++i)
  {
    batch->AddInitialRegion(targets.GetStart(i));
  }
  batch->AddObserver(itk::ProgressEvent(), [&](const itk::EventObject &) { batch->AbortGenerateDataOn(); });
  EXPECT_THROW(batch->Update(), itk::ProcessAborted);
  EXPECT_EQ(batch->GetNumberOfRegions(), 0u);
  batch->RemoveAllObservers();
  batch->AbortGenerateDataOff();
  batch->Update();
  for (int i = 0; i < targets.GetNumber(); ++i)
  {
    itk::cuda::ExpectSameResults(expected->GetRegion(i), batch->GetRegion(i), std::to_string(i));
  }
}

// 300 starts do not fit into labels of 8 bits.
TEST_P(CudaRegionSnakeBatch, LabelsThatDoNotFitAreRefused)
{
  Targets targets;
  targets.PerRow = 2;
  targets.PerColumn = 1;
  const auto image = targets.MakeImage<unsigned short>();
  auto       batch = itk::CudaRegionSnakeBatchFilter<ImageOf<unsigned short>, ImageOf<unsigned char>>::New();
  batch->SetInput(image);
  batch->SetNoiseLaw(targets.Law);
  batch->SetBackend(GetParam());
  for (int i = 0; i < 300; ++i)
  {
    batch->AddInitialRegion(targets.GetStart(i % 2));
  }
  itk::cuda::test::ExpectContains(itk::cuda::test::GetException([&] { batch->Update(); }), "300");
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         CudaRegionSnakeBatch,
                         ::testing::Values(CudaFiltersEnums::Backend::Host, CudaFiltersEnums::Backend::Cuda),
                         [](const auto & backend) {
                           return backend.param == CudaFiltersEnums::Backend::Cuda ? "Cuda" : "Host";
                         });
