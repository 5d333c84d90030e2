// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailPixelContainer.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSnakeScene.h"
#include "snake/itkCudaSnakeTestCase.h"
#include "support/itkCudaExpectException.h"
#include "itkImageRegionIterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>

namespace
{
using itk::CudaFiltersEnums;
using itk::cuda::SnakeScene;

template <typename TPixel>
using ImageOf = itk::Image<TPixel, 2>;
template <typename TPixel>
using FilterOf = itk::CudaRegionSnakeImageFilter<ImageOf<TPixel>, ImageOf<unsigned char>>;
using MaskType = ImageOf<unsigned char>;
using FilterOfDeviceImages = itk::CudaRegionSnakeImageFilter<itk::CudaDeviceImage<float, 2>>;
static_assert(std::is_same_v<FilterOfDeviceImages::OutputImageType, MaskType>,
              "labels are on the host unless asked for");

SnakeScene
TestScene()
{
  SnakeScene scene;
  scene.Width = 120;
  scene.Height = 90;
  scene.Contrast = 3.0;
  return scene;
}

/** The scene as an image whose first index is not zero. */
template <typename TPixel>
typename ImageOf<TPixel>::Pointer
MakeImage(const SnakeScene & scene, double scale = 1.0, double offset = 0.0)
{
  auto image = ImageOf<TPixel>::New();
  image->SetRegions(typename ImageOf<TPixel>::RegionType{
    { { -7, 11 } },
    { { static_cast<itk::SizeValueType>(scene.Width), static_cast<itk::SizeValueType>(scene.Height) } } });
  image->Allocate();
  const std::vector<uint16_t> pixels = scene.MakePixels(1);
  for (size_t i = 0; i < pixels.size(); ++i)
  {
    image->GetBufferPointer()[i] = static_cast<TPixel>(scale * pixels[i] + offset);
  }
  return image;
}

template <typename TPixel>
typename FilterOf<TPixel>::Pointer
MakeFilter(ImageOf<TPixel> * image)
{
  auto filter = FilterOf<TPixel>::New();
  filter->SetInput(image);
  filter->SetBackend(CudaFiltersEnums::Backend::Host);
  filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gaussian);
  // The target's details are smaller than the default of 32.
  filter->SetMinimumEdgeLength(8.0);
  return filter;
}

/** Pixels that both label images mark, over pixels that any of the image and the scene's truth marks. */
double
OverlapWithTruth(const MaskType * labels, const SnakeScene & scene, unsigned char inside)
{
  const auto   spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(scene.GetTruth().front(), scene.Height);
  const auto * pixels = labels->GetBufferPointer();
  double       both = 0;
  double       any = 0;
  for (int y = 0; y < scene.Height; ++y)
  {
    for (int x = 0; x < scene.Width; ++x)
    {
      bool truth = false;
      for (size_t i = spans.First[y]; i < spans.First[y + 1]; ++i)
      {
        truth ^= spans.Columns[i] <= x;
      }
      const bool label = pixels[y * scene.Width + x] == inside;
      both += truth && label ? 1 : 0;
      any += truth || label ? 1 : 0;
    }
  }
  return both / any;
}

void
ExpectMessage(const std::function<void()> & function, const std::string & text)
{
  itk::cuda::test::ExpectContains(itk::cuda::test::GetException(function), text);
}

MaskType::Pointer
MakeMask(const itk::ImageRegion<2> & region, unsigned char value)
{
  auto mask = MaskType::New();
  mask->SetRegions(region);
  mask->Allocate();
  mask->FillBuffer(value);
  return mask;
}

std::vector<unsigned char>
PixelsOf(const MaskType * labels)
{
  return { labels->GetBufferPointer(), labels->GetBufferPointer() + labels->GetBufferedRegion().GetNumberOfPixels() };
}

template <typename TFilter>
void
ExpectSameContours(const TFilter & a, const TFilter & b)
{
  ASSERT_EQ(a.GetNumberOfContourPoints(), b.GetNumberOfContourPoints());
  for (itk::SizeValueType i = 0; i < a.GetNumberOfContourPoints(); ++i)
  {
    EXPECT_EQ(a.GetContourPoint(i), b.GetContourPoint(i));
  }
}

class CudaRegionSnakeOutputs : public ::testing::TestWithParam<CudaFiltersEnums::Backend>
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (this->GetParam() == CudaFiltersEnums::Backend::Cuda &&
        !itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << reason;
    }
  }

  FilterOf<unsigned short>::Pointer
  MakeFilterOf(const SnakeScene & scene) const
  {
    auto filter = MakeFilter<unsigned short>(MakeImage<unsigned short>(scene));
    filter->SetBackend(this->GetParam());
    return filter;
  }
};

INSTANTIATE_TEST_SUITE_P(Backends,
                         CudaRegionSnakeOutputs,
                         ::testing::Values(CudaFiltersEnums::Backend::Host, CudaFiltersEnums::Backend::Cuda),
                         [](const auto & info) {
                           return info.param == CudaFiltersEnums::Backend::Host ? "Host" : "Cuda";
                         });

template <typename TPoints>
double
SignedArea(const TPoints & points)
{
  double twice = 0;
  for (size_t i = 0; i < points.size(); ++i)
  {
    const auto & p = points[i];
    const auto & q = points[(i + 1) % points.size()];
    twice += p[0] * q[1] - q[0] * p[1];
  }
  return twice / 2;
}
} // namespace

template <typename TPixel>
class CudaRegionSnakeImageFilterTypes : public ::testing::Test
{};
using PixelTypes = ::testing::Types<unsigned char, unsigned short, short, float>;
TYPED_TEST_SUITE(CudaRegionSnakeImageFilterTypes, PixelTypes);

TYPED_TEST(CudaRegionSnakeImageFilterTypes, LabelsTheTarget)
{
  const SnakeScene scene = TestScene();
  const bool       narrow = sizeof(TypeParam) == 1;
  auto filter = MakeFilter<TypeParam>(MakeImage<TypeParam>(scene, narrow ? 1.0 / 200 : 1.0, narrow ? 0.0 : -10000.0));
  filter->SetInsideValue(200);
  filter->SetOutsideValue(3);
  filter->Update();
  EXPECT_TRUE(filter->GetSignificantBoundary());
  EXPECT_TRUE(filter->GetConverged());
  EXPECT_GT(OverlapWithTruth(filter->GetOutput(), scene, 200), 0.95);
  const auto * pixels = filter->GetOutput()->GetBufferPointer();
  uint64_t     inside = 0;
  double       sum = 0.0;
  for (int i = 0; i < scene.Width * scene.Height; ++i)
  {
    ASSERT_TRUE(pixels[i] == 200 || pixels[i] == 3);
    inside += pixels[i] == 200 ? 1 : 0;
    sum += pixels[i] == 200 ? static_cast<double>(filter->GetInput()->GetBufferPointer()[i]) : 0.0;
  }
  EXPECT_EQ(inside, filter->GetInsideNumberOfPixels());
  EXPECT_EQ(filter->GetOutsideNumberOfPixels(), static_cast<uint64_t>(scene.Width) * scene.Height - inside);
  EXPECT_NEAR(filter->GetInsideMean(), sum / static_cast<double>(inside), 1e-6 * std::abs(sum) / inside);
  EXPECT_GT(filter->GetInsideMean(), filter->GetOutsideMean());
  EXPECT_GT(filter->GetCriterionOfOneRegion(), filter->GetDescriptionLength());
  EXPECT_EQ(filter->GetBackendUsed(), CudaFiltersEnums::Backend::Host);
}

TEST(CudaRegionSnakeImageFilter, ContourIsOrderedAndInIndexAndPhysicalSpace)
{
  auto                          image = MakeImage<unsigned short>(TestScene());
  ImageOf<float>::DirectionType mirrored;
  mirrored.SetIdentity();
  mirrored[1][1] = -1.0;
  ImageOf<float>::DirectionType turned;
  turned[0][0] = turned[1][1] = 0.6;
  turned[0][1] = -0.8;
  turned[1][0] = 0.8;
  const double spacing[] = { 0.5, 2.0 };
  const double origin[] = { 500000.0, 4.5e6 };
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  for (const auto & direction : { mirrored, turned })
  {
    image->SetDirection(direction);
    auto filter = MakeFilter<unsigned short>(image);
    filter->Update();
    const auto * contour = filter->GetContour();
    const auto   number = filter->GetNumberOfContourPoints();
    ASSERT_EQ(contour->GetVertexList()->Size(), number);
    ASSERT_GE(number, 3u);
    std::vector<itk::Point<double, 2>> points;
    for (itk::SizeValueType i = 0; i < number; ++i)
    {
      const auto vertex = contour->GetVertexList()->ElementAt(i);
      // On corners of pixels.
      EXPECT_EQ(vertex[0] + 0.5, std::floor(vertex[0] + 0.5));
      itk::Point<double, 2> expected;
      image->TransformContinuousIndexToPhysicalPoint(vertex, expected);
      points.push_back(filter->GetContourPoint(i));
      EXPECT_NEAR(points.back()[0], expected[0], 1e-6);
      EXPECT_NEAR(points.back()[1], expected[1], 1e-6);
      const auto first = contour->GetVertexList()->ElementAt(0);
      EXPECT_TRUE(i == 0 || first[1] < vertex[1] || (first[1] == vertex[1] && first[0] < vertex[0]));
    }
    // The pixels have an area of 1.
    EXPECT_NEAR(SignedArea(points), static_cast<double>(filter->GetInsideNumberOfPixels()), 60.0);
    ExpectMessage([&] { filter->GetContourPoint(number); },
                  "Contour point " + std::to_string(number) + " was asked for");
  }
}

TEST(CudaRegionSnakeImageFilter, StartsOfTheUser)
{
  const SnakeScene scene = TestScene();
  auto             image = MakeImage<unsigned short>(scene);
  auto             filter = MakeFilter<unsigned short>(image);
  filter->SetInitialRegion({ { { 13, 31 } }, { { 80, 50 } } });
  filter->Update();
  EXPECT_EQ(filter->GetRecord().front().NumberOfPixels, 4000);
  EXPECT_GT(OverlapWithTruth(filter->GetOutput(), scene, 1), 0.95);

  filter->SetInitialRegion({ { { 13, 31 } }, { { 80, 500 } } });
  ExpectMessage([&] { filter->Update(); }, "InitialRegion has index [13, 31]");

  auto path = itk::PolyLineParametricPath<2>::New();
  for (const auto & corner :
       { std::array<double, 2>{ { 12.5, 30.4 } }, { { 12.6, 80.4 } }, { { 92.4, 80.5 } }, { { 92.4, 30.3 } } })
  {
    itk::ContinuousIndex<double, 2> index;
    index[0] = corner[0];
    index[1] = corner[1];
    path->AddVertex(index);
  }
  filter->SetInitialPath(path);
  ExpectMessage([&] { filter->Update(); }, "More than one of InitialPath");
  filter->SetInitialRegion({});
  filter->Update();
  EXPECT_EQ(filter->GetRecord().front().NumberOfPixels, 4000);

  itk::ContinuousIndex<double, 2> outside;
  outside[0] = std::numeric_limits<double>::quiet_NaN();
  outside[1] = 40.0;
  path->AddVertex(outside);
  path->Modified();
  ExpectMessage([&] { filter->Update(); }, "Vertex 4 of InitialPath");

  filter->SetInitialPath(nullptr);
  auto                               mask = MakeMask(image->GetLargestPossibleRegion(), 0);
  itk::ImageRegionIterator<MaskType> it(mask, { { { 13, 31 } }, { { 80, 50 } } });
  for (; !it.IsAtEnd(); ++it)
  {
    it.Set(1);
  }
  filter->SetInitialMask(mask);
  filter->Update();
  EXPECT_EQ(filter->GetRecord().front().NumberOfPixels, 4000);
  mask->ReleaseData();
  filter->Modified();
  ExpectMessage([&] { filter->Update(); }, "InitialMask");
}

TEST(CudaRegionSnakeImageFilter, ValidMaskLeavesPixelsOut)
{
  const SnakeScene scene = TestScene();
  auto             image = MakeImage<float>(scene);
  auto             mask = MaskType::New();
  mask->SetRegions(image->GetLargestPossibleRegion());
  mask->Allocate();
  mask->FillBuffer(1);
  for (int i = 0; i < 40; ++i)
  {
    image->GetBufferPointer()[i * 31] = std::numeric_limits<float>::quiet_NaN();
    mask->GetBufferPointer()[i * 31] = 0;
  }
  auto filter = MakeFilter<float>(image);
  ExpectMessage([&] { filter->Update(); }, "Pixel [-7, 11] is nan");
  filter->SetValidMask(mask);
  filter->Update();
  EXPECT_EQ(filter->GetInsideNumberOfPixels() + filter->GetOutsideNumberOfPixels(), 120u * 90u - 40u);
  EXPECT_GT(OverlapWithTruth(filter->GetOutput(), scene, 1), 0.95);
}

TEST(CudaRegionSnakeImageFilter, NoiseAloneGivesAnEmptyLabelImageAndKeepsThePolygon)
{
  SnakeScene scene = TestScene();
  scene.Target = itk::cuda::SceneTarget::None;
  auto filter = MakeFilter<unsigned short>(MakeImage<unsigned short>(scene));
  filter->SetOutsideValue(9);
  filter->Update();
  EXPECT_FALSE(filter->GetSignificantBoundary());
  EXPECT_GE(filter->GetNumberOfContourPoints(), 3u);
  const auto * pixels = filter->GetOutput()->GetBufferPointer();
  EXPECT_TRUE(std::all_of(pixels, pixels + 120 * 90, [](unsigned char value) { return value == 9; }));
}

TEST(CudaRegionSnakeImageFilter, IterationEventsShowEveryStateAndChangeNothing)
{
  auto image = MakeImage<unsigned short>(TestScene());
  auto plain = MakeFilter<unsigned short>(image);
  plain->Update();
  auto   filter = MakeFilter<unsigned short>(image);
  size_t events = 0;
  filter->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    ++events;
    EXPECT_TRUE(itk::CudaDetail::CudaSnakePolygonIsSimple(filter->GetCurrentPolygon()));
    EXPECT_EQ(filter->GetCurrentStep().NumberOfNodes, filter->GetCurrentPolygon().size());
  });
  filter->Update();
  filter->RemoveAllObservers();
  EXPECT_EQ(events, filter->GetRecord().size());
  itk::cuda::ExpectSameResults(filter->GetResult(), plain->GetResult(), "observed");
  ExpectSameContours(*filter, *plain);
}

/** Of 0 and one other value by the law Bernoulli: a share of ones times that value. */
TEST(CudaRegionSnakeImageFilter, MeansOfTwoValuesAreInTheirUnit)
{
  SnakeScene scene = TestScene();
  scene.Noise = itk::cuda::SceneNoise::Bernoulli;
  scene.Ratio = 2.5;
  for (const double other : { 200.0, -3.0 })
  {
    const auto image = MakeImage<short>(scene, other);
    const auto filter = MakeFilter<short>(image);
    filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Bernoulli);
    filter->Update();
    const auto & inside = filter->GetResult().Inside;
    double       sum = 0.0;
    double       count = 0.0;
    for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
    {
      const bool isInside = filter->GetOutput()->GetBufferPointer()[i] == filter->GetInsideValue();
      sum += isInside ? static_cast<double>(image->GetBufferPointer()[i]) : 0.0;
      count += isInside ? 1.0 : 0.0;
    }
    ASSERT_TRUE(filter->GetResult().SignificantBoundary);
    EXPECT_EQ(static_cast<double>(inside.NumberOfPixels), count);
    EXPECT_NEAR(inside.Mean, sum / count, 4e-16 * std::fabs(sum / count)); // a product and a quotient are rounded
    EXPECT_TRUE(std::isfinite(filter->GetResult().Criterion));
  }
}

TEST(CudaRegionSnakeImageFilter, TheNoiseLawHasToBeSet)
{
  const SnakeScene scene = TestScene();
  auto             filter = FilterOf<float>::New();
  filter->SetInput(MakeImage<float>(scene));
  const std::string names = itk::CudaNoiseLawNames();
  ExpectMessage([&] { filter->Update(); },
                "NoiseLaw is not set; call SetNoiseLaw() with the distribution of the pixels: " + names);
  ExpectMessage([&] { filter->GetNoiseLaw(); }, "NoiseLaw is not set; SetNoiseLaw() takes " + names);
  filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gaussian);
  filter->SetBackend(CudaFiltersEnums::Backend::Host);
  filter->Update();
  EXPECT_TRUE(filter->GetSignificantBoundary());
}

TEST_P(CudaRegionSnakeOutputs, ARequestForAPartOfTheLabelsHoldsNotForTheContour)
{
  auto filter = this->MakeFilterOf(TestScene());
  filter->UpdateOutputInformation();
  filter->GetOutput()->SetRequestedRegion(MaskType::RegionType{ { { 0, 20 } }, { { 5, 5 } } });
  filter->GetContour()->Update();
  auto whole = this->MakeFilterOf(TestScene());
  whole->Update();
  ExpectSameContours(*filter, *whole);
  EXPECT_EQ(PixelsOf(filter->GetOutput()), PixelsOf(whole->GetOutput()));
}

TEST_P(CudaRegionSnakeOutputs, PixelsThatAreNotFiniteAreRefusedAndChangeNothingUnderAMask)
{
  constexpr float    infinity = std::numeric_limits<float>::infinity();
  const float        values[] = { std::numeric_limits<float>::quiet_NaN(), infinity, -infinity };
  const unsigned int seed = 20261124;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 generator(seed);
  for (unsigned int i = 0; i < 6; ++i)
  {
    const auto   finite = MakeImage<float>(TestScene());
    const auto   spoiled = MakeImage<float>(TestScene());
    const auto   mask = MakeMask(finite->GetBufferedRegion(), 1);
    const size_t pixels = finite->GetBufferedRegion().GetNumberOfPixels();
    size_t       first = pixels;
    for (unsigned int k = 0; k < 50; ++k)
    {
      const size_t place = k == 0 ? (i % 2) * (pixels - 1) : generator() % pixels;
      spoiled->GetBufferPointer()[place] = values[generator() % 3];
      mask->GetBufferPointer()[place] = 0;
      first = std::min(first, place);
    }
    const auto makeFilter = [&](ImageOf<float> * image) {
      auto filter = MakeFilter<float>(image);
      filter->SetBackend(this->GetParam());
      filter->SetValidMask(mask);
      return filter;
    };
    const auto expected = makeFilter(finite);
    const auto filter = makeFilter(spoiled);
    expected->Update();
    filter->Update();
    itk::cuda::ExpectSameResults(expected->GetResult(), filter->GetResult(), "case " + std::to_string(i));
    EXPECT_EQ(PixelsOf(expected->GetOutput()), PixelsOf(filter->GetOutput()));
    EXPECT_GT(OverlapWithTruth(filter->GetOutput(), TestScene(), 1), 0.95);
    const auto valid = PixelsOf(mask);
    EXPECT_EQ(filter->GetInsideNumberOfPixels() + filter->GetOutsideNumberOfPixels(),
              static_cast<uint64_t>(std::count(valid.begin(), valid.end(), 1)));

    std::ostringstream message;
    message << "Pixel " << spoiled->ComputeIndex(static_cast<itk::OffsetValueType>(first)) << " is ";
    filter->SetValidMask(nullptr);
    ExpectMessage([&] { filter->Update(); }, message.str());
    mask->ReleaseData();
    filter->SetValidMask(mask);
    ExpectMessage([&] { filter->Update(); }, "ValidMask");
  }
}

TEST_P(CudaRegionSnakeOutputs, WithoutALabelImageTheRestIsTheSame)
{
  auto expected = this->MakeFilterOf(TestScene());
  expected->Update();
  auto filter = this->MakeFilterOf(TestScene());
  int  runs = 0;
  filter->AddObserver(itk::StartEvent(), [&runs](const itk::EventObject &) { ++runs; });
  filter->Update();
  filter->MakeLabelImageOff();
  filter->Update();
  EXPECT_EQ(runs, 2);
  const MaskType * const labels = filter->GetOutput();
  EXPECT_EQ(labels->GetBufferedRegion().GetNumberOfPixels(), 0u);
  EXPECT_EQ(labels->GetPixelContainer()->Size(), 0u);
  EXPECT_EQ(labels->GetLargestPossibleRegion(), expected->GetOutput()->GetLargestPossibleRegion());
  EXPECT_EQ(labels->GetSpacing(), expected->GetOutput()->GetSpacing());
  itk::cuda::ExpectSameResults(expected->GetResult(), filter->GetResult(), "without labels");
  ExpectSameContours(*filter, *expected);
  // Nothing has changed, whichever output is asked for.
  filter->Update();
  filter->GetContour()->Update();
  EXPECT_EQ(runs, 2);
  filter->SetMaximumStep(16);
  filter->Update();
  filter->GetContour()->Update();
  EXPECT_EQ(runs, 3);
  filter->SetMaximumStep(expected->GetMaximumStep());
  filter->MakeLabelImageOn();
  filter->Update();
  EXPECT_EQ(PixelsOf(filter->GetOutput()), PixelsOf(expected->GetOutput()));
}

TEST(CudaRegionSnakeImageFilter, LabelsAreInPooledMemory)
{
  using LabelType = ImageOf<unsigned long>;
  auto image = ImageOf<unsigned char>::New();
  image->SetRegions(itk::Size<2>{ { 1100, 1000 } });
  image->Allocate();
  image->FillBuffer(0);
  auto filter = itk::CudaRegionSnakeImageFilter<ImageOf<unsigned char>, LabelType>::New();
  filter->SetInput(image);
  filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gaussian);
  filter->SetBackend(CudaFiltersEnums::Backend::Host);
  using PooledType = itk::CudaDetail::CudaPixelContainer<LabelType::PixelContainer::ElementIdentifier, unsigned long>;
  filter->Update();
  EXPECT_NE(dynamic_cast<const PooledType *>(filter->GetOutput()->GetPixelContainer()), nullptr);
}
