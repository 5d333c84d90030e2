// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaNoiseLaws.h"
#include "region/Laws.h"
#include "snake/Core.h"
#include "snake/Plan.h"
#include "itkCudaSnakeScene.h"
#include "snake/Start.h"
#include "snake/itkCudaSnakeTestCase.h"
#include "support/itkCudaExpectException.h"
#include "itkMacro.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#ifdef __linux__
#  include <sys/resource.h>
#  include <unistd.h>
#endif

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::region;
using namespace itk::cuda::snake;
using namespace itk::cuda::test;
using Kind = CudaRegionSnakeStep::Kind;

/** Sums over the pixels that belong to the cells inside a polygon of a level, added up one by one. */
Moments
SumPixels(const Case & image, const CudaSnakePolygon & polygon, uint32_t exponent)
{
  const int32_t           height = image.Height >> exponent;
  const CudaSnakeRowSpans spans = ComputeCudaSnakeRowSpans(polygon, height);
  Moments                 sums;
  for (int32_t y = 0; y < height << exponent; ++y)
  {
    const size_t row = static_cast<size_t>(y >> exponent);
    for (size_t i = spans.First[row]; i < spans.First[row + 1]; i += 2)
    {
      for (int32_t x = spans.Columns[i] << exponent; x < spans.Columns[i + 1] << exponent; ++x)
      {
        if (image.IsValid(x, y))
        {
          const uint64_t sample = image.Pixels[static_cast<size_t>(y) * image.Width + x];
          sums += { 1, sample, sample * sample };
        }
      }
    }
  }
  return sums;
}

int64_t
DoubledArea(const CudaSnakePolygon & polygon)
{
  int64_t area = 0;
  for (size_t i = 0; i < polygon.size(); ++i)
  {
    const auto & p = polygon[i];
    const auto & q = polygon[(i + 1) % polygon.size()];
    area += static_cast<int64_t>(p.X) * q.Y - static_cast<int64_t>(q.X) * p.Y;
  }
  return area;
}

/** Checks every state that the snake goes through. */
class InvariantChecker
{
public:
  explicit InvariantChecker(const Case & image)
    : m_Image(image)
    , m_NodeCost(std::log(static_cast<double>(
        image.Valid.empty() ? image.Pixels.size()
                            : image.Valid.size() - std::count(image.Valid.begin(), image.Valid.end(), 0))))
  {}

  void
  operator()(const CudaRegionSnakeState & state)
  {
    ++m_States;
    const CudaRegionSnakeStep & step = state.Step;
    ASSERT_TRUE(CudaSnakePolygonIsSimple(state.Polygon)) << this->Describe(step);
    if (m_Image.Parameters.NoiseLaw != NoiseLaw::LogNormal)
    {
      const Moments expected = SumPixels(m_Image, state.Polygon, step.LevelExponent);
      ASSERT_EQ(step.NumberOfPixels, expected.Count) << this->Describe(step);
      ASSERT_EQ(state.Sum, expected.Sum) << this->Describe(step);
      if (UsesSquares(*m_Image.Parameters.NoiseLaw))
      {
        ASSERT_EQ(state.SumOfSquares, expected.SumOfSquares) << this->Describe(step);
      }
    }
    if (step.What == Kind::Iteration)
    {
      ASSERT_LE(step.Change, 0.0) << this->Describe(step);
      ASSERT_TRUE(step.Change == 0.0 || step.Change <= -0.9e-6) << this->Describe(step);
    }
    if (step.What == Kind::Removal)
    {
      const double length = step.Criterion - step.Change + m_NodeCost * m_LastNodes;
      ASSERT_LT(step.Criterion + m_NodeCost * step.NumberOfNodes, length) << this->Describe(step);
    }
    m_LastNodes = step.NumberOfNodes;
  }

  int
  GetNumberOfStates() const
  {
    return m_States;
  }

private:
  const Case & m_Image;
  const double m_NodeCost;
  int          m_States{ 0 };
  double       m_LastNodes{ 0 };

  std::string
  Describe(const CudaRegionSnakeStep & step) const
  {
    return std::string(CudaRegionSnakeStepName(step.What)) + " " + std::to_string(m_States) + " level " +
           std::to_string(step.LevelExponent) + " step " + std::to_string(step.Step) + " nodes " +
           std::to_string(step.NumberOfNodes);
  }
};

void
RunChecked(const Case & image)
{
  InvariantChecker        checker(image);
  CudaRegionSnakeObserver observer;
  observer.Step = [&checker](const CudaRegionSnakeState & state) { checker(state); };
  const CudaRegionSnakeResult result = image.Run(1, observer);
  EXPECT_EQ(static_cast<size_t>(checker.GetNumberOfStates()), result.Record.size());
  EXPECT_TRUE(CudaSnakePolygonIsSimple(result.Polygon));
}

#define EXPECT_MESSAGE(statement, text) ExpectContains(GetException([&] { statement; }), text)

SnakeScene
SmallScene()
{
  SnakeScene scene;
  scene.Width = 96;
  scene.Height = 80;
  scene.Contrast = 3.0;
  return scene;
}

/** A snake that has converged on a random scene, with what its decisions rest on, from sums of single pixels. */
struct ConvergedSnake
{
  Case             Image;
  CudaSnakePolygon Polygon;
  Moments          Target;
  Moments          Total;
  LinearForm       Form;
  bool             Converged;

  ConvergedSnake(uint64_t number, bool removal)
    : Image(RandomCase(number, 96))
  {
    Image.Valid.clear();
    Image.Parameters.UseDescriptionLength = removal;
    const CudaRegionSnakeResult result = Image.Run();
    Converged = Image.Parameters.NoiseLaw != NoiseLaw::LogNormal && result.Stop == CudaRegionSnakeStop::Converged;
    Polygon = result.Polygon;
    Target = SumPixels(Image, Polygon, 0);
    for (const uint64_t sample : Image.Pixels)
    {
      Total += { 1, sample, sample * sample };
    }
    Form = Linearize(MakeLawDescription(Image.Parameters, Image.Pixels.size()), Target, Total);
  }

  /** What the decision about another polygon goes by, less than nothing if it pays; infinite if it is not possible. */
  double
  GetGain(const CudaSnakePolygon & other) const
  {
    if (!CudaSnakePolygonIsSimple(other) || (DoubledArea(other) > 0) != (DoubledArea(Polygon) > 0))
    {
      return std::numeric_limits<double>::infinity();
    }
    const Moments sums = SumPixels(Image, other, 0);
    const auto    size = static_cast<int64_t>(Image.Parameters.MinimumRegionSize);
    return IsCountAllowed(sums.Count, Target.Count, Total.Count, size) ? Form(sums - Target)
                                                                       : std::numeric_limits<double>::infinity();
  }
};
/** A square image of floats whose first pixel has the index (100, -7). */
struct FloatImage
{
  static constexpr size_t Side = 64;

  std::vector<float>   Pixels = std::vector<float>(Side * Side, 1.5f);
  std::vector<uint8_t> Mask = std::vector<uint8_t>(Side * Side, 1);
  CudaImageView        MaskView = MakeImageView(Mask.data(), CudaComponentType::UChar, Side, Side);
  CudaRegionSnakeInput Input;

  FloatImage()
  {
    Input.FirstIndex = { { 100, -7 } };
    Input.Image = MakeImageView(Pixels.data(), CudaComponentType::Float, Side, Side);
  }

  /** \param masked whether the mask counts */
  CudaRegionSnakeResult
  Run(NoiseLaw law, bool masked = false)
  {
    CudaRegionSnakeParameters parameters;
    parameters.NoiseLaw = law;
    Input.ValidMask = masked ? &MaskView : nullptr;
    return CudaRegionSnakeOnHost(Input, parameters, 2, {});
  }

  /** Fills the image with uniform noise from half the mean to one and a half. */
  void
  FillWithNoise(float mean, uint64_t seed)
  {
    for (size_t i = 0; i < Pixels.size(); ++i)
    {
      Pixels[i] = mean * (0.5f + static_cast<float>(SplitMix64(seed + i) % 1000) / 1000.0f);
    }
  }
};
} // namespace

TEST(CudaRegionSnakeEngine, EveryStateIsSimpleHasItsSumsAndImproves)
{
  for (uint64_t number = 1000; number < 1060; ++number)
  {
    SCOPED_TRACE("scene " + std::to_string(number));
    ASSERT_NO_FATAL_FAILURE(RunChecked(RandomCase(number, 128)));
  }
  for (const bool masked : { false, true })
  {
    SCOPED_TRACE(masked ? "two levels, masked" : "two levels");
    SnakeScene scene;
    scene.Width = 1003;
    scene.Height = 970;
    Case image = MakeCase(scene);
    image.Valid.assign(masked ? image.Pixels.size() : 0, 1);
    for (size_t i = 0; i < image.Valid.size(); i += 3)
    {
      image.Valid[i] = 0;
    }
    image.Parameters.Start = CudaFiltersEnums::Start::MarginRectangle;
    ASSERT_NO_FATAL_FAILURE(RunChecked(image));
  }
}

TEST(CudaRegionSnakeEngine, NoRunOfNodesIsLeftWhoseRemovalPays)
{
  int candidates = 0;
  for (uint64_t number = 3000; number < 3300; ++number)
  {
    const ConvergedSnake snake(number, true);
    const int            n = static_cast<int>(snake.Polygon.size());
    const double         nodeCost = std::log(static_cast<double>(snake.Image.Pixels.size()));
    for (int run = 1; snake.Converged && run <= std::min(MaximumRemovedRun, n - 3); ++run)
    {
      for (int i = 0; i < n; ++i)
      {
        CudaSnakePolygon shorter;
        for (int k = run; k < n; ++k)
        {
          shorter.push_back(snake.Polygon[(i + k) % n]);
        }
        const double gain = snake.GetGain(shorter);
        candidates += std::isfinite(gain) ? 1 : 0;
        ASSERT_GE(gain - run * nodeCost, -2.0 * snake.Image.Parameters.MinimumGain)
          << "scene " << number << ", " << run << " of " << n << " nodes from " << i << " on";
      }
    }
  }
  EXPECT_GT(candidates, 500);
}

// Steps may be left early, but not the last one, with removal or without.
TEST(CudaRegionSnakeEngine, NoMoveByAPixelIsLeftThatPays)
{
  int candidates = 0;
  for (uint64_t number = 3300; number < 3500; ++number)
  {
    const ConvergedSnake snake(number, number % 2 == 0);
    for (size_t i = 0; snake.Converged && i < snake.Polygon.size(); ++i)
    {
      for (int direction = 0; direction < Directions; ++direction)
      {
        CudaSnakePolygon moved = snake.Polygon;
        moved[i] = CandidatePosition(moved[i], direction, 1, snake.Image.Width, snake.Image.Height);
        const double gain = snake.GetGain(moved);
        candidates += std::isfinite(gain) ? 1 : 0;
        ASSERT_GE(gain, -2.0 * snake.Image.Parameters.MinimumGain)
          << "scene " << number << ", node " << i << " of " << snake.Polygon.size() << ", direction " << direction;
      }
    }
  }
  EXPECT_GT(candidates, 5000);
}

TEST(CudaRegionSnakeEngine, LimitsStopTheSnakeAndAreNamed)
{
  Case image = MakeCase(SmallScene());
  image.Parameters.MinimumEdgeLength = 2.0;
  image.Parameters.UseDescriptionLength = false;
  image.Parameters.MaximumNumberOfIterations = 5;
  const CudaRegionSnakeResult few = image.Run();
  EXPECT_EQ(few.Stop, CudaRegionSnakeStop::MaximumNumberOfIterations);
  EXPECT_EQ(few.NumberOfIterations, 5u);
  image.Parameters.MaximumNumberOfIterations = 1000;
  image.Parameters.MaximumNumberOfNodes = 10;
  const CudaRegionSnakeResult limited = image.Run();
  EXPECT_EQ(limited.Stop, CudaRegionSnakeStop::MaximumNumberOfNodes);
  EXPECT_LE(limited.Polygon.size(), 10u);
}

// The phases of 65,536 nodes take seconds, or longer. The first report tells of the level, the others come from within.
TEST(CudaRegionSnakeEngine, AbortIsHonouredInsideALongPhase)
{
  int                     reports = 0;
  CudaRegionSnakeObserver observer;
  observer.Progress = [&reports](float) { return ++reports < 3; };
  EXPECT_EQ(MakeCaseForComb(1 << 14).Run(1, observer).Stop, CudaRegionSnakeStop::Aborted);
  EXPECT_EQ(reports, 3);
}

TEST(CudaRegionSnakeEngine, SignificanceDoesNotDependOnUseDescriptionLength)
{
  Case image = MakeCase(SmallScene());
  image.Parameters.MinimumEdgeLength = 6.0;
  for (const double contrast : { 0.0, 3.0 })
  {
    SnakeScene scene = SmallScene();
    scene.Contrast = contrast;
    image.Pixels = scene.MakePixels(1);
    image.Parameters.UseDescriptionLength = true;
    const bool pruned = image.Run().SignificantBoundary;
    image.Parameters.UseDescriptionLength = false;
    EXPECT_EQ(image.Run().SignificantBoundary, pruned);
    EXPECT_EQ(pruned, contrast > 0.0);
  }
}

TEST(CudaRegionSnakeEngine, DegenerateImages)
{
  for (const auto law : AllLaws)
  {
    if (GetTraits(law).Values == ValueRange::Positive)
    {
      continue;
    }
    SCOPED_TRACE(GetTraits(law).Name);
    Case image;
    image.Width = 60;
    image.Height = 50;
    image.Parameters.NoiseLaw = law;
    image.Pixels.assign(60 * 50, 0);
    EXPECT_FALSE(image.Run().SignificantBoundary) << "an image of zeros";
    image.Pixels.assign(60 * 50, 1);
    EXPECT_FALSE(image.Run().SignificantBoundary) << "a constant image";
    for (int y = 10; y < 30; ++y)
    {
      std::fill_n(image.Pixels.begin() + y * 60 + 20, 25, uint16_t{ 0 });
    }
    const CudaRegionSnakeResult binary = image.Run();
    EXPECT_EQ(binary.Stop, CudaRegionSnakeStop::Converged);
    EXPECT_TRUE(binary.SignificantBoundary) << "a clean binary image";
  }
}

TEST(CudaRegionSnakeEngine, TargetOfOneValueIsFoundInNoise)
{
  for (const auto noise : { SceneNoise::Gaussian, SceneNoise::Gamma, SceneNoise::Rayleigh })
  {
    SCOPED_TRACE("noise " + std::to_string(static_cast<int>(noise)));
    SnakeScene scene = SmallScene();
    scene.Target = SceneTarget::None;
    scene.Noise = noise;
    Case image = MakeCase(scene);
    for (int y = 20; y < 60; ++y)
    {
      std::fill_n(image.Pixels.begin() + y * image.Width + 30, 40, uint16_t{ 100 });
    }
    const CudaRegionSnakeResult result = image.Run();
    EXPECT_EQ(result.Stop, CudaRegionSnakeStop::Converged);
    EXPECT_TRUE(result.SignificantBoundary);
    EXPECT_TRUE(std::isfinite(result.Criterion));
    EXPECT_GT(IntersectionOverUnion({ result.Polygon }, { MakeRectangle(30, 20, 70, 60) }, scene.Height), 0.98);
  }
}

TEST(CudaRegionSnakeEngine, NoiseAloneHasNoSignificantBoundary)
{
  constexpr int scenes = 200;
  for (int noise = 0; noise < 6; ++noise)
  {
    int found = 0;
    for (int number = 0; number < scenes; ++number)
    {
      SnakeScene scene;
      scene.Width = 24 + 7 * (number % 12);
      scene.Height = 24 + 5 * (number % 17);
      scene.Target = SceneTarget::None;
      scene.Noise = static_cast<SceneNoise>(noise);
      scene.Seed = 5000 + static_cast<uint64_t>(number);
      Case image = MakeCase(scene);
      image.Parameters.Start =
        number % 4 == 0 ? CudaFiltersEnums::Start::Automatic : CudaFiltersEnums::Start::MarginRectangle;
      found += image.Run().SignificantBoundary ? 1 : 0;
    }
    EXPECT_EQ(found, 0) << "noise " << noise;
  }
}

TEST(CudaRegionSnakeEngine, CriterionOfFloatsIsInNaturalUnits)
{
  // The grid's step must not show in J: the same image, and its values in other units.
  constexpr double   looks = 4.4;
  const SnakeScene   scene = SmallScene();
  const Case         image = MakeCase(scene);
  std::vector<float> floats(image.Pixels.begin(), image.Pixels.end());
  const auto         run = [&](CudaFiltersEnums::NoiseLaw law) {
    CudaRegionSnakeParameters parameters = image.Parameters;
    parameters.NoiseLaw = law;
    parameters.NumberOfLooks = looks;
    CudaRegionSnakeInput input;
    input.Image = MakeImageView(floats.data(), CudaComponentType::Float, scene.Width, scene.Height);
    return CudaRegionSnakeOnHost(input, parameters, 1, {}).CriterionOfOneRegion;
  };
  for (const auto law : AllLaws)
  {
    if (GetTraits(law).Grid == SampleGrid::Binary)
    {
      continue;
    }
    Case integers = image;
    integers.Parameters.NoiseLaw = law;
    integers.Parameters.NumberOfLooks = looks;
    const double expected = integers.Run().CriterionOfOneRegion;
    EXPECT_NEAR(run(law), expected, 1e-5 * std::abs(expected)) << GetTraits(law).Name;
  }
}

TEST(CudaRegionSnakeEngine, ImagesThatCannotBeAreRefused)
{
  FloatImage image;
  float &    first = image.Pixels[5 * FloatImage::Side + 3];
  float &    second = image.Pixels[9 * FloatImage::Side + 1];
  first = std::numeric_limits<float>::quiet_NaN();
  second = std::numeric_limits<float>::infinity();
  EXPECT_MESSAGE(image.Run(NoiseLaw::Gaussian), "Pixel [103, -2] is nan");
  first = 1.0f;
  EXPECT_MESSAGE(image.Run(NoiseLaw::Gaussian), "Pixel [101, 2] is inf");
  second = -1.0f;
  EXPECT_MESSAGE(
    image.Run(NoiseLaw::Gamma),
    "Pixel [101, 2] is -1; NoiseLaw Gamma needs values of 0 or more. Is the image in decibels? Then compute "
    "10^(pixel / 10) first. Pixels without a value can be left out by a mask of valid pixels");
  EXPECT_MESSAGE(
    image.Run(NoiseLaw::Rayleigh),
    "NoiseLaw Rayleigh needs values of 0 or more. Is the image in decibels? Then compute 10^(pixel / 20) first");
  EXPECT_MESSAGE(image.Run(NoiseLaw::LogNormal), "NoiseLaw LogNormal needs values above 0. Pixels without");
  EXPECT_MESSAGE(image.Run(NoiseLaw::Poisson), "Pixel [100, -7] is 1.5; NoiseLaw Poisson needs counts");
  EXPECT_MESSAGE(image.Run(NoiseLaw::Bernoulli), "Set ForegroundThreshold");

  std::fill(image.Mask.begin(), image.Mask.end(), uint8_t{ 0 });
  EXPECT_MESSAGE(image.Run(NoiseLaw::Gaussian, true), "has 0 valid pixels");
  image.MaskView.Size[0] = 39;
  EXPECT_MESSAGE(image.Run(NoiseLaw::Gaussian, true), "The mask of valid pixels has 39 x 64 pixels");
  image.Input.Image = MakeImageView(image.Pixels.data(), CudaComponentType::Float, 1, 1);
  EXPECT_MESSAGE(image.Run(NoiseLaw::Gaussian), "has 1 valid pixels");
}

// A few values far above the others would take the digits of the others away. They are refused by name, for each law
// whose samples follow the largest value. A mask of valid pixels is the remedy, whatever lies below it. A factor of 0
// stands for four values alike; others leave no gap between the largest and the rest, which nearly all lie together.
TEST(CudaRegionSnakeEngine, ExtremePixelsAreRefusedUnlessTheyAreMasked)
{
  constexpr uint64_t seed = 71000;
  std::cout << "seed " << seed << std::endl;
  for (const auto & [law, value, factor] : { std::tuple(NoiseLaw::Gaussian, -3.4e38f, 0.0f),
                                             { NoiseLaw::Gaussian, 1e8f, 0.0f },
                                             { NoiseLaw::GaussianCommonVariance, -3.4e38f, 0.0f },
                                             { NoiseLaw::Gamma, 1e12f, 0.0f },
                                             { NoiseLaw::Rayleigh, 1e8f, 0.0f },
                                             { NoiseLaw::Gaussian, -3e38f, 4.0f },
                                             { NoiseLaw::Gaussian, 1e12f, 100.0f },
                                             { NoiseLaw::Gamma, 1e12f, 4.0f } })
  {
    FloatImage image;
    image.FillWithNoise(10.0f, seed);
    const auto place = [&image](size_t i, float pixel) {
      image.Pixels[i] = pixel;
      image.Mask[i] = 0;
    };
    if (factor > 0.0f)
    {
      size_t next = 323;
      for (float pixel = value; std::abs(pixel) > 10.0f; pixel /= factor)
      {
        place(next++, pixel);
      }
    }
    else
    {
      for (const size_t i : { 323, 329, 1951, 4095 })
      {
        place(i, value);
      }
    }
    std::ostringstream text;
    text << GetTraits(law).Name << ", " << value << ", factor " << factor;
    SCOPED_TRACE(text.str());
    EXPECT_MESSAGE(image.Run(law), "Pixel [103, -2] is ");
    EXPECT_MESSAGE(image.Run(law),
                   factor > 0.0f ? "so far above the others" : "the first of 4 so far above the others");
    EXPECT_MESSAGE(image.Run(law), "Leave such pixels out by a mask of valid pixels");
    const CudaRegionSnakeResult masked = image.Run(law, true);
    double                      sum = 0.0;
    for (size_t i = 0; i < image.Pixels.size(); ++i)
    {
      sum += image.Mask[i] != 0 ? image.Pixels[i] : 0.0;
      image.Pixels[i] = image.Mask[i] != 0 ? image.Pixels[i] : 10.0f;
    }
    ExpectSameResults(image.Run(law, true), masked, "other values below the mask");
    const auto pixels = static_cast<double>(masked.Inside.NumberOfPixels);
    const auto others = static_cast<double>(masked.Outside.NumberOfPixels);
    EXPECT_NEAR(pixels * masked.Inside.Mean + others * masked.Outside.Mean, sum, 1e-5 * (pixels + others));
  }
}

// What decides is the number of digits that are left, and whether the extreme values stand apart.
TEST(CudaRegionSnakeEngine, WideRangesAreAcceptedWhereTheyLeaveDigitsOrHaveNoGap)
{
  FloatImage           image;
  std::vector<float> & pixels = image.Pixels;
  // Ratios of a million leave 8 steps to the values of squares; more bits are there without squares.
  const auto fill = [&pixels](float extreme) {
    for (size_t i = 0; i < pixels.size(); ++i)
    {
      pixels[i] = 10.0f + static_cast<float>(i % 3);
    }
    pixels[100] = extreme;
  };
  for (const auto & [extreme, step] : { std::pair(1e6f, 0.0625), { 1e7f, 1.0 } })
  {
    fill(extreme);
    EXPECT_NO_THROW(image.Run(NoiseLaw::Gaussian)) << extreme;
    // The smallest powers of two that bring the extreme value below 2^24, and the sums of what is rounded to them.
    const CudaRegionSnakeResult result = image.Run(NoiseLaw::Rayleigh);
    uint64_t                    sum = 0;
    for (const float pixel : pixels)
    {
      sum += static_cast<uint64_t>(std::floor(pixel / step + 0.5));
    }
    EXPECT_EQ(static_cast<uint64_t>(result.Inside.Sum + result.Outside.Sum), sum) << extreme;
  }
  fill(2e9f);
  EXPECT_NO_THROW(image.Run(NoiseLaw::Gamma));
  EXPECT_MESSAGE(image.Run(NoiseLaw::Rayleigh), "Pixel [136, -6] is 2e+09, the first of 1 so far above");
  fill(3e38f);
  EXPECT_NO_THROW(image.Run(NoiseLaw::LogNormal)); // a grid of logarithms
  // A spot whose flanks go down to 1e-38: most pixels are nothing, and no gap sets the bright ones apart.
  for (size_t i = 0; i < pixels.size(); ++i)
  {
    const double x = static_cast<double>(i % FloatImage::Side) - 31.5;
    const double y = static_cast<double>(i / FloatImage::Side) - 31.5;
    pixels[i] = static_cast<float>(std::exp(-(x * x + y * y) / 18.0));
  }
  EXPECT_NO_THROW(image.Run(NoiseLaw::Gaussian));
  // Images of one value, for which the grid has a step of 1.
  for (const float value : { 1e-20f, 0.25f, 3.0f })
  {
    std::fill(pixels.begin(), pixels.end(), value);
    EXPECT_NO_THROW(image.Run(NoiseLaw::Gaussian)) << value;
    EXPECT_NO_THROW(image.Run(NoiseLaw::Gamma)) << value;
  }
  // Zeros are no values whose digits could get lost; a few tiny values are not most of the image.
  std::fill(pixels.begin(), pixels.end(), 0.0f);
  std::fill_n(pixels.begin() + 1000, 400, 5.0f);
  EXPECT_NO_THROW(image.Run(NoiseLaw::Gaussian));
  std::fill_n(pixels.begin() + 2000, 300, 1e-30f);
  EXPECT_NO_THROW(image.Run(NoiseLaw::Gaussian));
  // No-data values are refused even where most pixels have them.
  std::fill_n(pixels.begin() + 2000, 1500, -3.4e38f);
  EXPECT_MESSAGE(image.Run(NoiseLaw::Gaussian), "Pixel [116, 24] is -3.4e+38, the first of 1500 so far above");
}

TEST(CudaRegionSnakeEngine, StartPolygonsAndMasks)
{
  Case                 image = MakeCase(SmallScene());
  CudaRegionSnakeInput input;
  input.Image = MakeImageView(image.Pixels.data(), CudaComponentType::UShort, image.Width, image.Height);
  CudaSnakePolygon start;
  input.StartPolygon = &start;
  const auto run = [&]() { return CudaRegionSnakeOnHost(input, image.Parameters, 1, {}); };
  EXPECT_MESSAGE(run(), "has 0 different vertices");
  start = { { 1, 1 }, { 1, 1 }, { 9, 9 } };
  EXPECT_MESSAGE(run(), "has 2 different vertices");
  start = { { 10, 10 }, { 50, 50 }, { 50, 10 }, { 10, 50 } };
  EXPECT_MESSAGE(run(), "crosses or touches itself");
  start = { { 10, 10 }, { 97, 50 }, { 50, 10 } };
  EXPECT_MESSAGE(run(), "(97, 50), outside the image");
  start = { { 10, 10 }, { 13, 10 }, { 13, 13 }, { 10, 13 } };
  EXPECT_MESSAGE(run(), "has 9 valid pixels inside");
  start = { { 0, 0 }, { 96, 0 }, { 96, 80 }, { 0, 80 } };
  EXPECT_MESSAGE(run(), "0 outside");
  start.assign(1, { 0, 0 });
  for (int32_t x = 1; x < 90; ++x)
  {
    start.push_back({ x, 10 + x % 2 });
  }
  start.push_back({ 90, 0 });
  image.Parameters.MaximumNumberOfNodes = 20;
  EXPECT_MESSAGE(run(), "has 91 nodes; MaximumNumberOfNodes is 20");
  image.Parameters.MaximumNumberOfNodes = 200;
  start = { { 20, 20 }, { 20, 60 }, { 70, 60 }, { 70, 20 }, { 20, 20 } }; // clockwise or not, closed or not
  const CudaRegionSnakeResult result = run();
  EXPECT_GT(IntersectionOverUnion({ result.Polygon }, SmallScene().GetTruth(), 80), 0.9);
  EXPECT_EQ(result.Record.front().NumberOfNodes, 4u);
  EXPECT_EQ(result.Record.front().NumberOfPixels, 2000);

  std::vector<uint8_t> mask(image.Pixels.size(), 0);
  const CudaImageView  maskView = MakeImageView(mask.data(), CudaComponentType::UChar, image.Width, image.Height);
  input.StartMask = &maskView;
  EXPECT_MESSAGE(run(), "give one start");
  input.StartPolygon = nullptr;
  EXPECT_MESSAGE(run(), "The initial mask has 0 valid pixels inside");
  for (int y = 20; y < 60; ++y)
  {
    std::fill_n(mask.begin() + y * 96 + 20, 50, uint8_t{ 255 });
  }
  ExpectSameResults(result, run(), "a mask of the same pixels");
}

TEST(CudaSnakeStart, RectangleSearchFindsTheSmallestCriterion)
{
  SnakeScene scene;
  scene.Width = 21;
  scene.Height = 17;
  scene.Contrast = 2.0;
  Case image = MakeCase(scene);
  image.Parameters.MaximumNumberOfIterations = 1;
  const CudaRegionSnakeResult result = image.Run();
  const CudaRegionSnakeStep   first = result.Record.front();
  const LawDescription        law = MakeLawDescription(image.Parameters, image.Pixels.size());
  const Moments               total = SumPixels(image, MakeRectangle(0, 0, 21, 17), 0);
  double                      best = std::numeric_limits<double>::infinity();
  for (int y1 = 1; y1 <= 17; ++y1)
  {
    for (int y0 = 0; y0 < y1; ++y0)
    {
      for (int x1 = 1; x1 <= 21; ++x1)
      {
        for (int x0 = 0; x0 < x1; ++x0)
        {
          const Moments target = SumPixels(image, MakeRectangle(x0, y0, x1, y1), 0);
          if (target.Count >= 16 && total.Count - target.Count >= 16)
          {
            best = std::min(best, Criterion(law, target, total));
          }
        }
      }
    }
  }
  EXPECT_EQ(first.What, Kind::Level);
  EXPECT_EQ(first.Criterion, best);
}

TEST(CudaSnakeStart, TracedMasksAreSimpleAndCoverTheirComponent)
{
  for (uint64_t number = 0; number < 200; ++number)
  {
    constexpr int32_t    side = 40;
    std::vector<uint8_t> mask(side * side);
    for (size_t i = 0; i < mask.size(); ++i)
    {
      mask[i] = SplitMix64(number * 10000 + i) % 100 < 40 + number / 5 ? 1 : 0;
    }
    const CudaImageView    view = MakeImageView(mask.data(), CudaComponentType::UChar, side, side);
    const uint32_t         limit = number % 3 == 0 ? 8 : 4096;
    const CudaSnakePolygon polygon = TraceMask(view, static_cast<uint32_t>(number % 2), limit);
    ASSERT_TRUE(CudaSnakePolygonIsSimple(polygon)) << "mask " << number;
    ASSERT_LE(polygon.size(), limit) << "mask " << number;
  }
  // A ring with a gap at a corner only: the hole is filled.
  const std::string    pictures[] = { "......", ".####.", ".#..#.", ".#..#.", ".####.", "......" };
  std::vector<uint8_t> ring;
  for (const std::string & row : pictures)
  {
    for (const char cell : row)
    {
      ring.push_back(cell == '#' ? 1 : 0);
    }
  }
  const CudaSnakePolygon square = TraceMask(MakeImageView(ring.data(), CudaComponentType::UChar, 6, 6), 0, 100);
  ASSERT_EQ(square.size(), 4u);
  EXPECT_TRUE(square[0] == (CudaSnakePoint{ 1, 1 }));
  EXPECT_TRUE(square[2] == (CudaSnakePoint{ 5, 5 }));
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(CudaSnakeStart, TracingALargeComponentTakesNoMoreThanItsCells)
{
  // In a process of its own, which gets its cells, a byte each, and little more.
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto trace = [] {
    constexpr size_t     side = 6000;
    constexpr size_t     room = size_t{ 8 } << 20;
    std::vector<uint8_t> mask(side * side, 1);
    for (size_t y = 0; y < side; y += 2)
    {
      mask[y * side + side / 2 + (y / 2) % 2] = 0;
    }
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + side * side + room;
    const rlimit limits{ limit, limit };
    setrlimit(RLIMIT_AS, &limits);
    const CudaImageView view = MakeImageView(mask.data(), CudaComponentType::UChar, side, side);
    return TraceMask(view, 0, 4096).size() >= 4;
  };
  EXPECT_EXIT(std::_Exit(trace() ? EXIT_SUCCESS : EXIT_FAILURE), ::testing::ExitedWithCode(EXIT_SUCCESS), "");
}
#endif

TEST(CudaFiltersEnumsOfTheSnake, EveryLawIsNamedAndDescribed)
{
  const std::vector<CudaNoiseLawInformation> laws = CudaNoiseLaws();
  ASSERT_EQ(laws.size(), AllLaws.size());
  for (size_t i = 0; i < laws.size(); ++i)
  {
    const CudaNoiseLawInformation & law = laws[i];
    EXPECT_EQ(law.Law, AllLaws[i]);
    EXPECT_EQ(CudaNoiseLawFromString(law.Name), law.Law);
    std::ostringstream printed;
    printed << law.Law;
    EXPECT_EQ(printed.str(), "itk::CudaFiltersEnums::NoiseLaw::" + law.Name);
    EXPECT_NE(CudaNoiseLawNames().find(law.Name), std::string::npos);
    EXPECT_FALSE(law.Description.empty()) << law.Name;
    EXPECT_FALSE(law.AllowedValues.empty()) << law.Name;
    // Samples count from 0: a grid from there holds no negative values.
    const auto grid = GetTraits(law.Law).Grid;
    const bool holdsNegative = grid == SampleGrid::FromMinimum || grid == SampleGrid::Binary;
    EXPECT_TRUE(holdsNegative || GetTraits(law.Law).Values != ValueRange::Finite) << law.Name;
  }
}
