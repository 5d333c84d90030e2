// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaExpectException.h"
#include "partition/itkCudaPartitionTestCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace
{
using itk::CudaComponentType;
using itk::CudaPartitionRegion;
using itk::CudaRegionPartitionResult;
using itk::CudaRegionPartitionStop;
using itk::CudaDetail::CudaImageView;
using itk::CudaDetail::CudaRegionPartitionInput;
using itk::CudaDetail::CudaRegionPartitionObserver;
using itk::CudaDetail::CudaRegionPartitionOnHost;
using itk::CudaDetail::CudaRegionPartitionParameters;
using itk::CudaDetail::VerifyCudaRegionPartitionParameters;
using itk::cuda::region::AllLaws;
using itk::cuda::region::NoiseLaw;
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using itk::cuda::test::MakeRandomCase;
using itk::cuda::test::MakeView;
using itk::cuda::test::NameOf;
using itk::cuda::test::PartitionCase;

CudaRegionPartitionParameters
MakeParameters(NoiseLaw law)
{
  CudaRegionPartitionParameters parameters;
  parameters.NoiseLaw = law;
  parameters.LabelsOnly = true;
  return parameters;
}

/** A run of the engine and its labels. */
template <typename TLabel>
struct Outcome
{
  CudaRegionPartitionResult Result;
  std::vector<TLabel>       Labels;
};

template <typename TLabel = uint32_t>
Outcome<TLabel>
Divide(const PartitionCase &                 image,
       const CudaRegionPartitionParameters & parameters,
       const CudaRegionPartitionObserver &   observer = {},
       unsigned int                          threads = 2,
       const std::vector<uint32_t> *         initialLabels = nullptr)
{
  const auto          width = static_cast<size_t>(image.Width);
  const auto          height = static_cast<size_t>(image.Height);
  Outcome<TLabel>     outcome;
  const CudaImageView mask = image.GetMask();
  const CudaImageView initial =
    MakeView(initialLabels != nullptr ? initialLabels->data() : nullptr, CudaComponentType::UInt, width, height);
  CudaRegionPartitionInput input;
  input.Image = image.GetImage();
  input.ValidMask = image.Valid.empty() ? nullptr : &mask;
  input.InitialLabels = initialLabels != nullptr ? &initial : nullptr;
  outcome.Labels.assign(width * height, TLabel{ 99 });
  const auto type = sizeof(TLabel) == 2 ? CudaComponentType::UShort : CudaComponentType::UInt;
  outcome.Result = CudaRegionPartitionOnHost(
    input, parameters, MakeView(outcome.Labels.data(), type, width, height), threads, observer);
  return outcome;
}

/** The table, counted pixel by pixel. Without a mask all pixels of a region have its label. */
void
CompareTable(const PartitionCase & image, const Outcome<uint32_t> & outcome, bool squares, const std::string & name)
{
  struct Counted
  {
    double             Pixels{ 0.0 };
    double             Perimeter{ 0.0 };
    double             Sum{ 0.0 };
    double             SumOfSquares{ 0.0 };
    int32_t            Box[4]{ 1 << 30, 1 << 30, 0, 0 };
    std::set<uint32_t> Neighbors;
  };
  std::map<uint32_t, Counted> regions;
  for (int32_t y = 0; y < image.Height; ++y)
  {
    for (int32_t x = 0; x < image.Width; ++x)
    {
      const uint32_t label = outcome.Labels[image.IndexOf(x, y)];
      const double   pixel = image.Pixels[image.IndexOf(x, y)];
      Counted &      region = regions[label];
      region.Pixels += 1.0;
      region.Sum += pixel;
      region.SumOfSquares += pixel * pixel;
      region.Box[0] = std::min(region.Box[0], x);
      region.Box[1] = std::min(region.Box[1], y);
      region.Box[2] = std::max(region.Box[2], x + 1);
      region.Box[3] = std::max(region.Box[3], y + 1);
      for (const auto & [x2, y2] : { std::pair(x - 1, y), { x + 1, y }, { x, y - 1 }, { x, y + 1 } })
      {
        const bool     inside = x2 >= 0 && y2 >= 0 && x2 < image.Width && y2 < image.Height;
        const uint32_t other = inside ? outcome.Labels[image.IndexOf(x2, y2)] : 0;
        region.Perimeter += other != label ? 1.0 : 0.0;
        if (inside && other != label)
        {
          region.Neighbors.insert(other);
        }
      }
    }
  }
  ASSERT_EQ(regions.size(), outcome.Result.Regions.size()) << name;
  for (const auto & [label, counted] : regions)
  {
    const CudaPartitionRegion & row = outcome.Result.Regions.at(label - 1);
    const double                mean = counted.Sum / counted.Pixels;
    EXPECT_EQ(static_cast<double>(row.NumberOfPixels), counted.Pixels) << name;
    EXPECT_EQ(row.Area, counted.Pixels) << name;
    EXPECT_EQ(row.Perimeter, counted.Perimeter) << name;
    EXPECT_TRUE(std::equal(row.BoundingBox.begin(), row.BoundingBox.end(), counted.Box)) << name;
    EXPECT_EQ(std::set<uint32_t>(row.Neighbors.begin(), row.Neighbors.end()), counted.Neighbors) << name;
    EXPECT_TRUE(std::is_sorted(row.Neighbors.begin(), row.Neighbors.end())) << name;
    EXPECT_NEAR(row.Mean, mean, 1e-12 * mean) << name;
    if (squares)
    {
      EXPECT_NEAR(row.MeanSquare, counted.SumOfSquares / counted.Pixels, 1e-12 * row.MeanSquare) << name;
      EXPECT_NEAR(row.Variance, counted.SumOfSquares / counted.Pixels - mean * mean, 1e-12 * row.MeanSquare) << name;
    }
    else
    {
      EXPECT_TRUE(std::isnan(row.MeanSquare) && std::isnan(row.Variance)) << name;
    }
  }
}
} // namespace

TEST(CudaRegionPartitionEngine, TableAndTreeDescribeTheLabels)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(501));
  for (const NoiseLaw law : AllLaws)
  {
    const PartitionCase image = MakeRandomCase(law, 130, 100, 6, engine);
    const auto          outcome = Divide(image, MakeParameters(law));
    const auto &        result = outcome.Result;
    EXPECT_EQ(result.Stop, CudaRegionPartitionStop::LabelsOnly);
    EXPECT_TRUE(result.Nodes.empty() && result.Edges.empty());
    EXPECT_GT(result.Regions.size(), 1u) << NameOf(law);
    if (law != NoiseLaw::LogNormal) // whose table is that of logarithms
    {
      CompareTable(image, outcome, itk::cuda::region::UsesSquares(law), NameOf(law));
    }
    // All merges together lead to one region; what they change adds up.
    ASSERT_EQ(result.Merges.size(), result.Regions.size() - 1) << NameOf(law);
    EXPECT_GE(result.Merges.front().Change, 0.0) << NameOf(law); // or the labels could have merged further
    double             description = result.Description;
    std::set<uint32_t> gone;
    for (const auto & merge : result.Merges)
    {
      EXPECT_LT(merge.First, merge.Second);
      EXPECT_EQ(gone.count(merge.First), 0u);
      EXPECT_TRUE(gone.insert(merge.Second).second);
      description += merge.Change;
    }
    EXPECT_NEAR(description, result.DescriptionOfOneRegion, 1e-9 * std::abs(description)) << NameOf(law);
    EXPECT_LT(result.Description, result.DescriptionOfOneRegion) << NameOf(law);
  }
}

TEST(CudaRegionPartitionEngine, LooksAreThoseGivenOrEstimated)
{
  std::mt19937_64     engine(itk::cuda::test::PrintSeed(502));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 160, 160, 3, engine);
  auto                parameters = MakeParameters(NoiseLaw::Gamma);
  const auto          estimated = Divide(image, parameters);
  EXPECT_GT(estimated.Result.NumberOfLooks, 0.7);
  EXPECT_LT(estimated.Result.NumberOfLooks, 1.1);
  parameters.NumberOfLooks = estimated.Result.NumberOfLooks;
  EXPECT_EQ(Divide(image, parameters).Labels, estimated.Labels);
  parameters.NumberOfLooks = 1e-6;
  EXPECT_EQ(Divide(image, parameters).Result.Regions.size(), 1u); // no fluctuation means anything
  parameters.NumberOfLooks = 50.0;
  EXPECT_GT(Divide(image, parameters).Result.Regions.size(), 2 * estimated.Result.Regions.size());
  EXPECT_EQ(Divide(image, MakeParameters(NoiseLaw::Poisson)).Result.NumberOfLooks, 1.0);
}

TEST(CudaRegionPartitionEngine, ScaledFloatsHaveTheLabelsOfIntegers)
{
  std::mt19937_64     engine(itk::cuda::test::PrintSeed(503));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Rayleigh, 90, 80, 5, engine);
  const auto          parameters = MakeParameters(NoiseLaw::Rayleigh);
  const auto          expected = Divide(image, parameters);
  std::vector<float>  pixels;
  for (const uint16_t pixel : image.Pixels)
  {
    pixels.push_back(static_cast<float>(pixel) * 4.0f);
  }
  CudaRegionPartitionInput input;
  input.Image = MakeView(pixels.data(), CudaComponentType::Float, 90, 80);
  std::vector<uint32_t> labels(pixels.size());
  const auto            result =
    CudaRegionPartitionOnHost(input, parameters, MakeView(labels.data(), CudaComponentType::UInt, 90, 80), 1, {});
  EXPECT_EQ(labels, expected.Labels);
  // -log likelihood of an amplitude that is four times as large: L n log 16 more.
  const double shift = result.NumberOfLooks * 90.0 * 80.0 * std::log(16.0);
  EXPECT_NEAR(result.Description, expected.Result.Description + shift, 1e-9 * result.Description);
  EXPECT_NEAR(result.DescriptionOfOneRegion, expected.Result.DescriptionOfOneRegion + shift, 1e-9 * result.Description);
  EXPECT_NEAR(result.Regions[0].Mean, 4.0 * expected.Result.Regions[0].Mean, 1e-9 * result.Regions[0].Mean);
}

TEST(CudaRegionPartitionEngine, PixelsThatAreNotValidHaveLabelZero)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(504));
  PartitionCase   image = MakeRandomCase(NoiseLaw::Gamma, 70, 60, 4, engine);
  itk::cuda::test::AddMask(image, engine);
  const auto outcome = Divide(image, MakeParameters(NoiseLaw::Gamma));
  uint64_t   pixels = 0;
  for (size_t i = 0; i < image.Valid.size(); ++i)
  {
    ASSERT_EQ(outcome.Labels[i] == 0, image.Valid[i] == 0) << i;
    pixels += image.Valid[i];
  }
  double area = 0.0;
  for (const CudaPartitionRegion & row : outcome.Result.Regions)
  {
    pixels -= row.NumberOfPixels;
    area += row.Area;
  }
  EXPECT_EQ(pixels, 0u);
  EXPECT_EQ(area, 70.0 * 60.0);
}

TEST(CudaRegionPartitionEngine, InitialLabelsStayAsTheyAre)
{
  std::mt19937_64       engine(itk::cuda::test::PrintSeed(505));
  const PartitionCase   image = MakeRandomCase(NoiseLaw::Gamma, 60, 50, 4, engine);
  std::vector<uint32_t> initial(60 * 50);
  for (int32_t i = 0; i < 60 * 50; ++i)
  {
    initial[static_cast<size_t>(i)] = static_cast<uint32_t>(i % 60 / 20 * 1000 + (i / 60 / 25 == 0 ? 7 : 3));
  }
  const auto outcome = Divide(image, MakeParameters(NoiseLaw::Gamma), {}, 2, &initial);
  EXPECT_EQ(outcome.Result.Regions.size(), 6u);
  std::map<uint32_t, uint32_t> names;
  for (size_t i = 0; i < initial.size(); ++i)
  {
    EXPECT_EQ(names.emplace(initial[i], outcome.Labels[i]).first->second, outcome.Labels[i]);
  }
  // The labels of a run lead to themselves.
  const auto first = Divide(image, MakeParameters(NoiseLaw::Gamma));
  EXPECT_EQ(Divide(image, MakeParameters(NoiseLaw::Gamma), {}, 2, &first.Labels).Labels, first.Labels);
}

/** The tree of many regions has a thread of its own, if there is more than one. */
TEST(CudaRegionPartitionEngine, ManyRegionsHaveOneTreeForAnyNumberOfThreads)
{
  constexpr int32_t     width = 160;
  constexpr int32_t     height = 140;
  constexpr int32_t     side = 4;
  std::mt19937_64       engine(itk::cuda::test::PrintSeed(509));
  PartitionCase         image = MakeRandomCase(NoiseLaw::Gamma, width, height, 4, engine);
  std::vector<uint32_t> initial;
  for (int32_t i = 0; i < width * height; ++i)
  {
    initial.push_back(static_cast<uint32_t>(i / width / side * width + i % width / side));
  }
  auto parameters = MakeParameters(NoiseLaw::Gamma);
  parameters.LabelsOnly = false;
  parameters.AllowMerging = false;
  parameters.MaximumNumberOfIterations = 1;
  const auto expected = Divide(image, parameters, {}, 1, &initial);
  EXPECT_EQ(expected.Result.Regions.size(), 1400u);
  EXPECT_EQ(expected.Result.Merges.size(), 1399u);
  for (const unsigned int threads : { 2u, 3u, 8u })
  {
    const auto actual = Divide(image, parameters, {}, threads, &initial);
    EXPECT_EQ(actual.Labels, expected.Labels) << threads;
    EXPECT_TRUE(std::equal(actual.Result.Merges.begin(),
                           actual.Result.Merges.end(),
                           expected.Result.Merges.begin(),
                           expected.Result.Merges.end(),
                           [](const auto & m, const auto & n) {
                             return m.First == n.First && m.Second == n.Second && m.Change == n.Change;
                           }))
      << threads;
  }
}

TEST(CudaRegionPartitionEngine, LabelsOf16BitsAreRefusedForTooManyRegions)
{
  std::mt19937_64     engine(itk::cuda::test::PrintSeed(506));
  const PartitionCase small = MakeRandomCase(NoiseLaw::Gamma, 50, 40, 3, engine);
  const auto          parameters = MakeParameters(NoiseLaw::Gamma);
  const auto          wide = Divide<uint32_t>(small, parameters);
  const auto          narrow = Divide<uint16_t>(small, parameters);
  EXPECT_TRUE(std::equal(wide.Labels.begin(), wide.Labels.end(), narrow.Labels.begin()));

  // Every pixel a region.
  PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 257, 255, 3, engine);
  image.Valid.clear();
  std::vector<uint32_t> initial(image.Pixels.size());
  std::iota(initial.begin(), initial.end(), 0u);
  EXPECT_EQ(Divide<uint16_t>(image, parameters, {}, 2, &initial).Labels.back(), 65535u);
  image = MakeRandomCase(NoiseLaw::Gamma, 257, 256, 3, engine);
  image.Valid.clear();
  initial.resize(image.Pixels.size());
  std::iota(initial.begin(), initial.end(), 0u);
  ExpectContains(GetException([&] { Divide<uint16_t>(image, parameters, {}, 2, &initial); }),
                 "The partition has 65792 regions; labels of 16 bits tell 65535 apart");
  EXPECT_EQ(Divide<uint32_t>(image, parameters, {}, 2, &initial).Labels.back(), 65792u);
}

TEST(CudaRegionPartitionEngine, AbortIsHonoured)
{
  std::mt19937_64             engine(itk::cuda::test::PrintSeed(507));
  const PartitionCase         image = MakeRandomCase(NoiseLaw::Gamma, 60, 50, 4, engine);
  CudaRegionPartitionObserver observer;
  int                         calls = 0;
  observer.Progress = [&calls](float share) {
    ++calls;
    return share < 0.0f;
  };
  const auto outcome = Divide(image, MakeParameters(NoiseLaw::Gamma), observer);
  EXPECT_EQ(outcome.Result.Stop, CudaRegionPartitionStop::Aborted);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(outcome.Result.Regions.empty() && outcome.Result.Merges.empty());
  EXPECT_EQ(std::count(outcome.Labels.begin(), outcome.Labels.end(), outcome.Labels.front()), 60 * 50)
    << "the labels are not written";
  struct Stopped
  {};
  observer.Progress = [](float) -> bool { throw Stopped(); };
  EXPECT_THROW(Divide(image, MakeParameters(NoiseLaw::Gamma), observer), Stopped);
  EXPECT_EQ(Divide(image, MakeParameters(NoiseLaw::Gamma)).Result.Stop, CudaRegionPartitionStop::LabelsOnly);
}

TEST(CudaRegionPartitionEngine, BadParametersAreNamed)
{
  const auto expect = [](const std::function<void(CudaRegionPartitionParameters &)> & change,
                         const std::string &                                          message) {
    CudaRegionPartitionParameters parameters = MakeParameters(NoiseLaw::Gamma);
    EXPECT_NO_THROW(VerifyCudaRegionPartitionParameters(parameters));
    change(parameters);
    ExpectContains(GetException([&] { VerifyCudaRegionPartitionParameters(parameters); }), message);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using P = CudaRegionPartitionParameters;
  expect([](P & p) { p.NoiseLaw.reset(); }, "NoiseLaw is not set; call SetNoiseLaw()");
  expect([](P & p) { p.NumberOfLooks = -1.0; },
         "NumberOfLooks is -1; it must be a number above 0, or 0 for an estimate");
  expect([](P & p) { p.NumberOfLooks = nan; }, "NumberOfLooks is nan; it must be");
  expect([](P & p) { p.NumberOfLooks = infinity; }, "NumberOfLooks is inf; it must be");
  expect([](P & p) { p.ForegroundThreshold = infinity; }, "ForegroundThreshold is inf; it must be finite");
  expect([](P & p) { p.SegmentCost = -0.5; }, "SegmentCost is -0.5; it must be 0 or more nats");
  expect([](P & p) { p.SegmentCost = nan; }, "SegmentCost is nan; it must be");
  for (const unsigned int size : { 0u, 3u, 12u, 128u, 0x80000000u })
  {
    expect([size](P & p) { p.BlockSize = size; },
           "BlockSize is " + std::to_string(size) + "; it must be 1, 2, 4, 8, 16, 32 or 64");
  }
  expect([](P & p) { p.MinimumNumberOfPixels = 0; }, "MinimumNumberOfPixels is 0; it must be 1 or more");
  expect([](P & p) { p.MaximumNumberOfIterations = 0; },
         "MaximumNumberOfIterations is 0; it must be from 1 to 1000000");
}

TEST(CudaRegionPartitionEngine, BadImagesAreRefused)
{
  std::mt19937_64          engine(itk::cuda::test::PrintSeed(508));
  PartitionCase            image = MakeRandomCase(NoiseLaw::Gamma, 20, 10, 2, engine);
  const auto               parameters = MakeParameters(NoiseLaw::Gamma);
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
  EXPECT_NO_THROW(CudaRegionPartitionOnHost(input, parameters, good, 2, {}));
}

// Four extreme values would take the digits of all other pixels away: they are refused by name. With a mask over them
// the result is that of an image that never had them; a ratio of 1e5 leaves the digits.
TEST(CudaRegionPartitionEngine, ExtremePixelsAreRefusedUnlessTheyAreMasked)
{
  std::mt19937_64                       engine(itk::cuda::test::PrintSeed(509));
  std::uniform_real_distribution<float> noise(5.0f, 15.0f);
  constexpr size_t                      side = 48;
  std::vector<float>                    pixels(side * side);
  double                                sum = 0.0;
  const std::array<size_t, 4>           places{ { 2 * side + 7, 20 * side, 20 * side + 1, 40 * side + 47 } };
  for (size_t i = 0; i < pixels.size(); ++i)
  {
    pixels[i] = noise(engine);
    sum += std::find(places.begin(), places.end(), i) == places.end() ? pixels[i] : 0.0;
  }
  const auto put = [&](float value) {
    for (const size_t place : places)
    {
      pixels[place] = value;
    }
  };
  std::vector<uint8_t> valid(pixels.size(), 1);
  for (const size_t place : places)
  {
    valid[place] = 0;
  }
  const CudaImageView   mask = MakeView(valid.data(), CudaComponentType::UChar, side, side);
  std::vector<uint32_t> labels(pixels.size());
  for (const auto & [law, value, text] : { std::tuple(NoiseLaw::Gaussian, -3.4e38f, "-3.4e+38"),
                                           { NoiseLaw::GaussianCommonVariance, 1e12f, "1e+12" },
                                           { NoiseLaw::Gamma, 1e12f, "1e+12" },
                                           { NoiseLaw::Rayleigh, 1e8f, "1e+08" } })
  {
    const auto               parameters = MakeParameters(law);
    CudaRegionPartitionInput input;
    input.Image = MakeView(pixels.data(), CudaComponentType::Float, side, side);
    const auto run = [&] {
      return CudaRegionPartitionOnHost(
        input, parameters, MakeView(labels.data(), CudaComponentType::UInt, side, side), 2, {});
    };
    put(value);
    const std::string message = GetException(run);
    ExpectContains(message, std::string("Pixel [7, 2] is ") + text + ", the first of 4 so far above the others");
    ExpectContains(message, "Leave such pixels out by a mask of valid pixels");
    input.ValidMask = &mask;
    const auto                  masked = run();
    const std::vector<uint32_t> maskedLabels = labels;
    put(10.0f);
    const auto expected = run();
    EXPECT_EQ(labels, maskedLabels) << NameOf(law);
    EXPECT_EQ(masked.Description, expected.Description) << NameOf(law);
    ASSERT_EQ(masked.Regions.size(), 1u) << NameOf(law);
    EXPECT_EQ(masked.Regions[0].Mean, expected.Regions[0].Mean) << NameOf(law);
    EXPECT_NEAR(masked.Regions[0].Mean, sum / (side * side - 4.0), 1e-6) << NameOf(law); // half a step: 5e-7
    input.ValidMask = nullptr;
    put(1e6f);
    EXPECT_EQ(GetException(run), "") << NameOf(law);
  }
}
