// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeTestCase_h
#define itkCudaSnakeTestCase_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Lattice.h"
#include "itkCudaSnakeScene.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace itk::cuda
{
/** An image of 16 bits with what the engine needs to segment it. */
struct Case
{
  int32_t                   Width{ 0 };
  int32_t                   Height{ 0 };
  std::vector<uint16_t>     Pixels;
  std::vector<uint8_t>      Valid; // empty: all
  CudaSnakePolygon          Start; // empty: what the parameters say
  CudaRegionSnakeParameters Parameters;

  /** What is segmented; views of this object. */
  template <typename TRun>
  CudaRegionSnakeResult
  RunWith(const TRun & run) const
  {
    CudaRegionSnakeInput input;
    input.Image = MakeImageView(Pixels.data(), CudaComponentType::UShort, Width, Height);
    const CudaImageView mask = MakeImageView(Valid.data(), CudaComponentType::UChar, Width, Height);
    input.ValidMask = Valid.empty() ? nullptr : &mask;
    input.StartPolygon = Start.empty() ? nullptr : &Start;
    return run(input, Parameters);
  }
  CudaRegionSnakeResult
  Run(unsigned int threads = 1, const CudaRegionSnakeObserver & observer = {}) const
  {
    return this->RunWith([&](const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters) {
      return CudaRegionSnakeOnHost(input, parameters, threads, observer);
    });
  }
  bool
  IsValid(size_t x, size_t y) const
  {
    return Valid.empty() || Valid[y * Width + x] != 0;
  }
};

inline Case
MakeCase(const SnakeScene & scene)
{
  Case result;
  result.Width = scene.Width;
  result.Height = scene.Height;
  result.Pixels = scene.MakePixels(1);
  result.Parameters.NoiseLaw = NoiseLawOf(scene);
  return result;
}

/** Bit for bit, but for the times. */
inline void
ExpectSameResults(const CudaRegionSnakeResult & a, const CudaRegionSnakeResult & b, const std::string & name)
{
  using region::operator==;
  const auto    bitsOf = [](double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  };
  const auto fieldsOf = [bitsOf](const CudaRegionSnakeStatistics & s) {
    return std::tuple(s.NumberOfPixels,
                      s.Sum,
                      s.SumOfSquares,
                      s.SumOfSquaresHigh,
                      bitsOf(s.Mean),
                      bitsOf(s.Variance),
                      bitsOf(s.MeanSquare));
  };
  ASSERT_EQ(a.Polygon.size(), b.Polygon.size()) << name;
  for (size_t i = 0; i < a.Polygon.size(); ++i)
  {
    ASSERT_TRUE(a.Polygon[i] == b.Polygon[i]) << name << " node " << i;
  }
  ASSERT_EQ(fieldsOf(a.Inside), fieldsOf(b.Inside)) << name;
  ASSERT_EQ(fieldsOf(a.Outside), fieldsOf(b.Outside)) << name;
  ASSERT_EQ(a.Criterion, b.Criterion) << name;
  ASSERT_EQ(a.CriterionOfOneRegion, b.CriterionOfOneRegion) << name;
  ASSERT_EQ(a.DescriptionLength, b.DescriptionLength) << name;
  ASSERT_EQ(a.Stop, b.Stop) << name;
  ASSERT_EQ(a.NumberOfIterations, b.NumberOfIterations) << name;
  ASSERT_EQ(a.SignificantBoundary, b.SignificantBoundary) << name;
  ASSERT_EQ(a.Record.size(), b.Record.size()) << name;
  for (size_t i = 0; i < a.Record.size(); ++i)
  {
    const auto stepOf = [](const CudaRegionSnakeStep & s) {
      return std::tuple(s.What, s.LevelExponent, s.Step, s.NumberOfNodes, s.NumberOfPixels, s.Criterion, s.Change);
    };
    ASSERT_EQ(stepOf(a.Record[i]), stepOf(b.Record[i])) << name << " entry " << i;
  }
}

/** A scene of random size, noise, target and parameters. */
inline Case
RandomCase(uint64_t number, int32_t largestSide)
{
  const auto random = [number](uint64_t what, uint64_t choices) {
    return static_cast<int32_t>(SplitMix64(number * 64 + what) % choices);
  };
  SnakeScene scene;
  scene.Width = 16 + random(0, static_cast<uint64_t>(largestSide - 15));
  scene.Height = 16 + random(1, static_cast<uint64_t>(largestSide - 15));
  scene.Target = static_cast<SceneTarget>(random(2, 5));
  scene.Noise = static_cast<SceneNoise>(random(3, 6));
  scene.Contrast = 0.25 * random(4, 9);
  scene.Ratio = 1.0 + 0.25 * random(5, 9);
  scene.Seed = number;
  Case result = MakeCase(scene);
  if (scene.Noise == SceneNoise::Gaussian && random(6, 2) == 1)
  {
    result.Parameters.NoiseLaw = CudaFiltersEnums::NoiseLaw::GaussianCommonVariance;
  }
  result.Parameters.Schedule = static_cast<CudaFiltersEnums::Schedule>(random(7, 2));
  result.Parameters.Start = static_cast<CudaFiltersEnums::Start>(random(8, 4) == 0 ? 0 : 1);
  result.Parameters.MinimumEdgeLength = 2.0 + random(9, 30);
  result.Parameters.MaximumNumberOfNodes = 8u << random(13, 7);
  result.Parameters.MaximumStep = 1u + static_cast<unsigned int>(random(10, 40));
  result.Parameters.UseDescriptionLength = random(11, 2) == 1;
  if (random(12, 3) == 0)
  {
    result.Valid.resize(result.Pixels.size());
    for (size_t i = 0; i < result.Valid.size(); ++i)
    {
      result.Valid[i] = SplitMix64(number ^ (i << 20)) % 8 == 0 ? 0 : 1;
    }
  }
  return result;
}

/** A polygon of four nodes a tooth whose phases take long: there are many, and near each other. */
inline CudaSnakePolygon
MakeComb(int32_t teeth)
{
  CudaSnakePolygon comb;
  for (int32_t i = 0; i < teeth; ++i)
  {
    comb.insert(comb.end(), { { 4 * i, 10 }, { 4 * i + 1, 24 }, { 4 * i + 2, 24 }, { 4 * i + 3, 10 } });
  }
  comb.front().Y = comb.back().Y = 0;
  return comb;
}

/** An image that such a comb fits in, which it starts from. */
inline Case
MakeCaseForComb(int32_t teeth)
{
  SnakeScene scene;
  scene.Width = 4 * teeth + 1;
  scene.Height = 32;
  Case result = MakeCase(scene);
  result.Start = MakeComb(teeth);
  result.Parameters.MinimumEdgeLength = 1.0;
  result.Parameters.MaximumNumberOfNodes = 1u << 16;
  return result;
}
} // namespace itk::cuda

#endif
