// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "snake/itkCudaSnakeTestCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <vector>

// Radar images of several looks. The square of an amplitude that is Nakagami distributed (Rayleigh for one look) is an
// intensity that is Gamma distributed, so both laws have to find the same boundary.
namespace
{
using itk::CudaFiltersEnums;
using itk::CudaRegionSnakeResult;
using itk::cuda::IntersectionOverUnion;
using itk::cuda::SnakeScene;
using itk::cuda::SplitMix64;
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

/** In images of noise alone, for each number of looks, few boundaries are significant. */
void
ExpectFewFalseBoundaries(int images, uint64_t firstSeed)
{
  std::cout << "seeds from " << firstSeed << std::endl;
  for (const double looks : Looks)
  {
    int found = 0;
    for (int number = 0; number < images; ++number)
    {
      const AmplitudeScene scene(firstSeed + static_cast<uint64_t>(number), looks, true);
      found += scene.RunRayleigh().SignificantBoundary ? 1 : 0;
    }
    std::cout << looks << " looks: " << found << " of " << images << " images" << std::endl;
    EXPECT_LE(found, images / 50) << looks << " looks";
  }
}
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

TEST(CudaRegionSnakeLooks, RayleighFindsTheRegionOfGammaOnRoundedSquares)
{
  constexpr uint64_t firstSeed = 300000;
  std::cout << "seeds from " << firstSeed << std::endl;
  int same = 0;
  for (int number = 0; number < Scenes; ++number)
  {
    const AmplitudeScene        scene(firstSeed + static_cast<uint64_t>(number), Looks[number % 4], false);
    const CudaRegionSnakeResult rayleigh = scene.RunRayleigh();
    const CudaRegionSnakeResult gamma = scene.RunGamma();
    const double overlap = IntersectionOverUnion({ rayleigh.Polygon }, { gamma.Polygon }, scene.Scene.Height);
    same += overlap == 1.0 ? 1 : 0;
    EXPECT_GE(overlap, 0.9999) << "scene " << number;
    EXPECT_EQ(rayleigh.SignificantBoundary, gamma.SignificantBoundary) << "scene " << number;
  }
  std::cout << same << " of " << Scenes << " regions are the same" << std::endl;
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

TEST(CudaRegionSnakeLooks, NoiseAloneHasFewSignificantBoundaries)
{
  ExpectFewFalseBoundaries(250, 500000);
}

TEST(CudaRegionSnakeLooks, NoiseOfThousandImagesHasFewSignificantBoundariesSlow)
{
  ExpectFewFalseBoundaries(1000, 600000);
}

class CudaRegionSnakeLooksGpu : public itk::cuda::SnakeDeviceTest
{};

TEST_F(CudaRegionSnakeLooksGpu, DeviceAndHostAgreeForEveryNumberOfLooks)
{
  for (int number = 0; number < Scenes; ++number)
  {
    const AmplitudeScene scene(700000 + static_cast<uint64_t>(number), Looks[number % 4], number % 10 == 0);
    const auto law = number % 8 < 4 ? CudaFiltersEnums::NoiseLaw::Rayleigh : CudaFiltersEnums::NoiseLaw::Gamma;
    itk::CudaDetail::CudaRegionSnakeInput input;
    input.Image = itk::cuda::MakeImageView(scene.Amplitudes.data(),
                                           itk::CudaComponentType::Float,
                                           static_cast<size_t>(scene.Scene.Width),
                                           static_cast<size_t>(scene.Scene.Height));
    const itk::CudaDetail::CudaRegionSnakeParameters parameters = scene.GetParameters(law);
    itk::cuda::ExpectSameResults(itk::CudaDetail::CudaRegionSnakeOnDevice(input, parameters, m_Device, 1, {}),
                                 itk::CudaDetail::CudaRegionSnakeOnHost(input, parameters, 1, {}),
                                 "scene " + std::to_string(number));
    if (HasFatalFailure())
    {
      return;
    }
  }
}
