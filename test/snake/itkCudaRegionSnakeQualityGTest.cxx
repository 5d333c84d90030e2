// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkMultiThreaderBase.h"
#include "snake/itkCudaSnakeTestCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <vector>

// How well snakes find targets, and radar images of several looks. The square of an amplitude that is Nakagami
// distributed (Rayleigh for one look) is an intensity that is Gamma distributed, so both laws have to find the same
// boundary.
namespace
{
using itk::CudaFiltersEnums;
using itk::CudaRegionSnakeResult;
using namespace itk::cuda;
using itk::CudaDetail::CudaRegionSnakeParameters;
using itk::cuda::region::operator==;

constexpr double Looks[] = { 1.0, 2.0, 4.4, 16.0 };
constexpr int    Scenes = 200;

/** An amplitude image of some looks, of random size, target and contrast. */
struct AmplitudeScene
{
  SnakeScene         Scene;
  double             NumberOfLooks;
  std::vector<float> Amplitudes;

  AmplitudeScene(uint64_t number, double numberOfLooks, bool noTarget)
    : NumberOfLooks(numberOfLooks)
  {
    const auto random = [number](uint64_t what, uint64_t choices) {
      return static_cast<int32_t>(SplitMix64(number * 64 + what) % choices);
    };
    Scene.Width = 40 + random(0, 80);
    Scene.Height = 40 + random(1, 80);
    Scene.Target = noTarget ? itk::cuda::SceneTarget::None : static_cast<itk::cuda::SceneTarget>(random(2, 4));
    const double                     ratio = 1.5 + 0.25 * random(3, 9);
    std::mt19937_64                  engine(number);
    std::gamma_distribution<double>  intensity(numberOfLooks, 250.0 * 250.0 / numberOfLooks);
    const std::vector<unsigned char> inside = MakeTarget();
    for (const unsigned char in : inside)
    {
      Amplitudes.push_back(static_cast<float>(std::sqrt((in ? ratio : 1.0) * intensity(engine))));
    }
  }

  /** Whole numbers of at most 12 bits: their squares are floats without rounding. */
  void
  RoundAmplitudes()
  {
    for (float & amplitude : Amplitudes)
    {
      amplitude = std::min(4095.0f, std::round(amplitude));
    }
  }

  std::vector<float>
  GetIntensities() const
  {
    std::vector<float> intensities;
    for (const float amplitude : Amplitudes)
    {
      intensities.push_back(amplitude * amplitude);
    }
    return intensities;
  }

  template <typename TPixel>
  CudaRegionSnakeResult
  Run(const std::vector<TPixel> & pixels, itk::CudaComponentType type, CudaFiltersEnums::NoiseLaw law) const
  {
    itk::CudaDetail::CudaRegionSnakeInput input;
    input.Image = itk::cuda::MakeImageView(
      pixels.data(), type, static_cast<size_t>(Scene.Width), static_cast<size_t>(Scene.Height));
    return itk::CudaDetail::CudaRegionSnakeOnHost(input, GetParameters(law), 1, {});
  }
  CudaRegionSnakeResult
  RunRayleigh() const
  {
    return Run(Amplitudes, itk::CudaComponentType::Float, CudaFiltersEnums::NoiseLaw::Rayleigh);
  }
  CudaRegionSnakeResult
  RunGamma() const
  {
    return Run(GetIntensities(), itk::CudaComponentType::Float, CudaFiltersEnums::NoiseLaw::Gamma);
  }

  itk::CudaDetail::CudaRegionSnakeParameters
  GetParameters(CudaFiltersEnums::NoiseLaw law) const
  {
    itk::CudaDetail::CudaRegionSnakeParameters parameters;
    parameters.NoiseLaw = law;
    parameters.NumberOfLooks = NumberOfLooks;
    parameters.MinimumEdgeLength = 8.0;
    return parameters;
  }

private:
  std::vector<unsigned char>
  MakeTarget() const
  {
    std::vector<unsigned char> inside(static_cast<size_t>(Scene.Width) * static_cast<size_t>(Scene.Height), 0);
    for (const itk::CudaSnakePolygon & outline : Scene.GetTruth())
    {
      const itk::CudaDetail::CudaSnakeRowSpans spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(outline, Scene.Height);
      for (size_t y = 0; y < static_cast<size_t>(Scene.Height); ++y)
      {
        for (size_t i = spans.First[y]; i < spans.First[y + 1]; i += 2)
        {
          std::fill(inside.begin() + static_cast<ptrdiff_t>(y) * Scene.Width + spans.Columns[i],
                    inside.begin() + static_cast<ptrdiff_t>(y) * Scene.Width + spans.Columns[i + 1],
                    static_cast<unsigned char>(1));
        }
      }
    }
    return inside;
  }
};

void
ExpectSameNodes(const CudaRegionSnakeResult & a, const CudaRegionSnakeResult & b, const std::string & name)
{
  ASSERT_EQ(a.Polygon.size(), b.Polygon.size()) << name;
  for (size_t i = 0; i < a.Polygon.size(); ++i)
  {
    ASSERT_TRUE(a.Polygon[i] == b.Polygon[i]) << name << " node " << i;
  }
  ASSERT_EQ(a.Record.size(), b.Record.size()) << name;
  ASSERT_EQ(a.Inside.NumberOfPixels, b.Inside.NumberOfPixels) << name;
  ASSERT_EQ(a.SignificantBoundary, b.SignificantBoundary) << name;
  ASSERT_EQ(a.Stop, b.Stop) << name;
}

/** Scenes of the published sizes: 15 megapixels. */
constexpr int32_t Side = 3900;

struct Expectation
{
  std::string Name;
  SceneNoise  Noise;
  double      Contrast;
  double      Ratio;
  double      IntersectionOverUnion;
};

/** Segments a scene from both starts and prints a line for each. */
class CudaRegionSnakeQualitySlow : public ::testing::Test
{
protected:
  const unsigned int m_Threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();

  CudaRegionSnakeResult
  Segment(const std::vector<uint16_t> & pixels, const CudaRegionSnakeParameters & parameters) const
  {
    itk::CudaDetail::CudaRegionSnakeInput input;
    input.Image = MakeImageView(pixels.data(), itk::CudaComponentType::UShort, Side, Side);
    return itk::CudaDetail::CudaRegionSnakeOnHost(input, parameters, m_Threads, {});
  }

  static void
  Print(const std::string & name, const char * start, double iou, const CudaRegionSnakeResult & result)
  {
    std::cout << std::fixed << std::setprecision(5) << name << ", " << start << ": IoU " << iou << ", "
              << result.Polygon.size() << " nodes, " << result.NumberOfIterations << " iterations, "
              << result.SecondsOfMoves + result.SecondsOfRemoval << " s" << std::endl;
  }

  void
  Check(const Expectation & expectation) const
  {
    SnakeScene scene;
    scene.Width = scene.Height = Side;
    scene.Noise = expectation.Noise;
    scene.Contrast = expectation.Contrast;
    scene.Ratio = expectation.Ratio;
    const std::vector<uint16_t> pixels = scene.MakePixels(m_Threads);
    CudaRegionSnakeParameters   parameters;
    parameters.NoiseLaw = NoiseLawOf(scene);
    for (const auto start : { CudaFiltersEnums::Start::Automatic, CudaFiltersEnums::Start::MarginRectangle })
    {
      parameters.Start = start;
      const CudaRegionSnakeResult result = this->Segment(pixels, parameters);
      const double                iou = IntersectionOverUnion({ result.Polygon }, scene.GetTruth(), Side);
      Print(expectation.Name, start == CudaFiltersEnums::Start::Automatic ? "automatic" : "margin", iou, result);
      EXPECT_GE(iou, expectation.IntersectionOverUnion) << expectation.Name;
      EXPECT_TRUE(result.SignificantBoundary) << expectation.Name;
      EXPECT_TRUE(itk::CudaDetail::CudaSnakePolygonIsSimple(result.Polygon)) << expectation.Name;
      EXPECT_EQ(result.Stop, itk::CudaRegionSnakeStop::Converged) << expectation.Name;
      if (expectation.Contrast == 1.0 && expectation.Noise == SceneNoise::Gaussian)
      {
        EXPECT_LE(result.Polygon.size(), 2 * scene.GetTruth().front().size()) << expectation.Name;
      }
    }
  }
};
} // namespace

TEST(CudaRegionSnakeLooks, RayleighHasTheNodesOfGammaOnSquares)
{
  constexpr uint64_t firstSeed = 100000;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (int number = 0; number < Scenes; ++number)
  {
    AmplitudeScene scene(firstSeed + static_cast<uint64_t>(number), Looks[number % 4], false);
    scene.RoundAmplitudes();
    const CudaRegionSnakeResult rayleigh = scene.RunRayleigh();
    const CudaRegionSnakeResult gamma = scene.RunGamma();
    const std::string           name = "scene " + std::to_string(number);
    ExpectSameNodes(rayleigh, gamma, name);
    if (HasFatalFailure())
    {
      return;
    }
    // Both grids hold the values without rounding: the sums differ by their steps, powers of two.
    int          exponent;
    const double quotient = static_cast<double>(rayleigh.Inside.SumOfSquares) / static_cast<double>(gamma.Inside.Sum);
    EXPECT_EQ(std::frexp(quotient, &exponent), 0.5) << name;
    EXPECT_NEAR(rayleigh.Criterion, gamma.Criterion, 1e-12 * std::abs(gamma.Criterion)) << name;
    EXPECT_NEAR(rayleigh.CriterionOfOneRegion, gamma.CriterionOfOneRegion, 1e-12 * std::abs(gamma.Criterion)) << name;
    EXPECT_NEAR(rayleigh.Inside.MeanSquare, gamma.Inside.Mean, 1e-12 * gamma.Inside.Mean) << name;
  }
}

TEST(CudaRegionSnakeLooks, RayleighHasTheBitsOfGammaOnSquaresOfIntegers)
{
  constexpr uint64_t firstSeed = 200000;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (int number = 0; number < Scenes; ++number)
  {
    const AmplitudeScene  scene(firstSeed + static_cast<uint64_t>(number), Looks[number % 4], false);
    std::vector<uint8_t>  amplitudes;
    std::vector<uint16_t> intensities;
    for (const float amplitude : scene.Amplitudes)
    {
      amplitudes.push_back(static_cast<uint8_t>(std::min(255.0f, std::round(amplitude / 5.0f))));
      intensities.push_back(static_cast<uint16_t>(amplitudes.back() * amplitudes.back()));
    }
    const CudaRegionSnakeResult rayleigh =
      scene.Run(amplitudes, itk::CudaComponentType::UChar, CudaFiltersEnums::NoiseLaw::Rayleigh);
    const CudaRegionSnakeResult gamma =
      scene.Run(intensities, itk::CudaComponentType::UShort, CudaFiltersEnums::NoiseLaw::Gamma);
    const std::string name = "scene " + std::to_string(number);
    ExpectSameNodes(rayleigh, gamma, name);
    if (HasFatalFailure())
    {
      return;
    }
    EXPECT_EQ(rayleigh.Inside.SumOfSquares, gamma.Inside.Sum) << name;
    EXPECT_EQ(rayleigh.Criterion, gamma.Criterion) << name;
    EXPECT_EQ(rayleigh.CriterionOfOneRegion, gamma.CriterionOfOneRegion) << name;
    for (size_t i = 0; i < rayleigh.Record.size(); ++i)
    {
      ASSERT_EQ(rayleigh.Record[i].Criterion, gamma.Record[i].Criterion) << name << " entry " << i;
    }
  }
}

TEST(CudaRegionSnakeLooks, LooksScaleTheCriterion)
{
  AmplitudeScene              scene(400000, 4.4, false);
  const CudaRegionSnakeResult several = scene.RunRayleigh();
  scene.NumberOfLooks = 1.0;
  const CudaRegionSnakeResult one = scene.RunRayleigh();
  EXPECT_NEAR(several.CriterionOfOneRegion, 4.4 * one.CriterionOfOneRegion, 1e-12 * several.CriterionOfOneRegion);
  EXPECT_LT(several.DescriptionLength, 4.4 * one.DescriptionLength) << "nodes pay sooner";
}

TEST_F(CudaRegionSnakeQualitySlow, Targets)
{
  for (const Expectation & expectation : {
         Expectation{ "contrast 1", SceneNoise::Gaussian, 1.0, 1.0, 0.9995 },
         { "contrast 0.25", SceneNoise::Gaussian, 0.25, 1.0, 0.99 },
         { "contrast 0.1", SceneNoise::Gaussian, 0.1, 1.0, 0.97 },
         { "equal means, sigma ratio 2", SceneNoise::Gaussian, 0.0, 2.0, 0.9995 },
         { "equal means, sigma ratio 1.25", SceneNoise::Gaussian, 0.0, 1.25, 0.997 },
         { "Gamma, mean ratio 2", SceneNoise::Gamma, 0.0, 2.0, 0.998 },
         { "Gamma, mean ratio 1.5", SceneNoise::Gamma, 0.0, 1.5, 0.997 },
       })
  {
    this->Check(expectation);
  }
}

TEST_F(CudaRegionSnakeQualitySlow, AsPublished)
{
  SnakeScene scene;
  scene.Width = scene.Height = Side;
  CudaRegionSnakeParameters parameters;
  parameters.NoiseLaw = NoiseLawOf(scene);
  parameters.Schedule = CudaFiltersEnums::Schedule::AsPublished;
  parameters.Start = CudaFiltersEnums::Start::MarginRectangle;
  parameters.MinimumEdgeLength = 16.0;
  parameters.UseDescriptionLength = false;
  const CudaRegionSnakeResult result = this->Segment(scene.MakePixels(m_Threads), parameters);
  const double                iou = IntersectionOverUnion({ result.Polygon }, scene.GetTruth(), Side);
  Print("as published", "margin", iou, result);
  EXPECT_GE(iou, 0.999);
  EXPECT_GE(result.Polygon.size(), 200u);
}
