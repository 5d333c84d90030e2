// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaSnakeScene.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <iomanip>
#include <iostream>
#include <string>

namespace
{
using namespace itk::cuda;
using itk::CudaFiltersEnums;
using itk::CudaDetail::CudaRegionSnakeParameters;
using itk::CudaRegionSnakeResult;

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

  /** The kept sums against those of the pixels inside, added up one by one. */
  static void
  ExpectSumsOfPixels(const std::vector<uint16_t> & pixels, const CudaRegionSnakeResult & result)
  {
    const itk::CudaDetail::CudaSnakeRowSpans spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(result.Polygon, Side);
    uint64_t                                 count = 0;
    uint64_t                                 sum = 0;
    for (size_t y = 0; y < static_cast<size_t>(Side); ++y)
    {
      for (size_t i = spans.First[y]; i < spans.First[y + 1]; i += 2)
      {
        for (int32_t x = spans.Columns[i]; x < spans.Columns[i + 1]; ++x)
        {
          ++count;
          sum += pixels[y * Side + static_cast<size_t>(x)];
        }
      }
    }
    EXPECT_EQ(result.Inside.NumberOfPixels, count);
    EXPECT_EQ(result.Inside.Sum, sum);
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
      ExpectSumsOfPixels(pixels, result);
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

TEST_F(CudaRegionSnakeQualitySlow, Contrast)
{
  this->Check({ "contrast 1", SceneNoise::Gaussian, 1.0, 1.0, 0.9995 });
  this->Check({ "contrast 0.25", SceneNoise::Gaussian, 0.25, 1.0, 0.99 });
  this->Check({ "contrast 0.1", SceneNoise::Gaussian, 0.1, 1.0, 0.97 });
}

TEST_F(CudaRegionSnakeQualitySlow, EqualMeans)
{
  this->Check({ "sigma ratio 2", SceneNoise::Gaussian, 0.0, 2.0, 0.9995 });
  this->Check({ "sigma ratio 1.25", SceneNoise::Gaussian, 0.0, 1.25, 0.997 });
}

TEST_F(CudaRegionSnakeQualitySlow, Gamma)
{
  this->Check({ "Gamma, mean ratio 2", SceneNoise::Gamma, 0.0, 2.0, 0.998 });
  this->Check({ "Gamma, mean ratio 1.5", SceneNoise::Gamma, 0.0, 1.5, 0.997 });
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
