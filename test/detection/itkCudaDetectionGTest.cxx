// SPDX-License-Identifier: Apache-2.0
#include "detection/Detection.h"
#include "partition/itkCudaPartitionTestCase.h"
#include "partition/itkCudaPartitionTestExecutor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

// The detection against sums pixel by pixel and a flood fill, and that all executors give the same bits.
namespace
{
using namespace itk;
using namespace itk::cuda;
using namespace itk::cuda::test;
using region::AllLaws;
using region::Moments;
using region::NoiseLaw;

/** Labels and table of a run. */
struct Found
{
  std::vector<uint32_t> Labels;
  CudaDetectionResult   Result;
};

constexpr int64_t OnePart = std::numeric_limits<int64_t>::max();

template <typename TExecutor>
Found
RunOn(const TExecutor &               loops,
      const PreparedCase &            prepared,
      const CudaDetectionParameters & parameters,
      int64_t                         pixelsOfPart = OnePart)
{
  const CudaDetectionProgress       noObserver;
  const detection::DetectionRequest request{ parameters, CudaComponentType::UInt, noObserver, pixelsOfPart };
  Found                             found;
  found.Labels.assign(static_cast<size_t>(prepared.Samples.Width) * static_cast<size_t>(prepared.Samples.Height), 77);
  found.Result =
    detection::Detection(loops, prepared.Samples, request)
      .Run([&](const auto & write) { write(found.Labels.data(), static_cast<size_t>(prepared.Samples.Width)); })
      .value();
  return found;
}

/** Sums the pixels of a window, but not those of another around the same pixel. */
Moments
SumWindow(const PartitionCase & image,
          const PreparedCase &  prepared,
          const Size<2> &       window,
          const Size<2> &       without,
          int32_t               x,
          int32_t               y)
{
  const auto reach = [](SizeValueType side) { return static_cast<int32_t>(side / 2); };
  Moments    sums;
  for (int32_t row = std::max(0, y - reach(window[1])); row <= std::min(image.Height - 1, y + reach(window[1])); ++row)
  {
    for (int32_t column = std::max(0, x - reach(window[0])); column <= std::min(image.Width - 1, x + reach(window[0]));
         ++column)
    {
      const bool isInside = std::abs(row - y) <= reach(without[1]) && std::abs(column - x) <= reach(without[0]);
      if (image.IsValid(column, row) && (without[0] == 0 || !isInside))
      {
        sums += prepared.Scene.SumRow(row, column, column + 1);
      }
    }
  }
  return sums;
}

/** The detection as one would write it without any of its means, apart from the law's test. */
Found
DetectByBruteForce(const PartitionCase &           image,
                   const PreparedCase &            prepared,
                   const CudaDetectionParameters & parameters)
{
  const detection::LawTest test{
    { image.Law, parameters.NumberOfLooks, static_cast<int64_t>(prepared.Samples.NumberOfValidPixels) },
    region::Log(parameters.ProbabilityOfFalseAlarm)
  };
  Found               found;
  std::vector<double> logs(image.Pixels.size(), 1.0);
  found.Labels.assign(image.Pixels.size(), 0);
  for (int32_t y = 0; y < image.Height; ++y)
  {
    for (int32_t x = 0; x < image.Width; ++x)
    {
      const detection::Windows windows{ SumWindow(image, prepared, parameters.TargetWindow, { { 0, 0 } }, x, y),
                                        SumWindow(
                                          image, prepared, parameters.BackgroundWindow, parameters.GuardWindow, x, y) };
      if (image.IsValid(x, y) && windows.Ring.Count > 0)
      {
        ++found.Result.NumberOfTestedPixels;
        const double log = test(windows);
        if (log <= test.LogProbability)
        {
          ++found.Result.NumberOfPixelsAboveThreshold;
          logs[image.IndexOf(x, y)] = log;
        }
      }
    }
  }
  std::vector<bool> isTaken(image.Pixels.size(), false);
  for (int32_t start = 0; start < image.Width * image.Height; ++start)
  {
    if (logs[static_cast<size_t>(start)] > 0.0 || isTaken[static_cast<size_t>(start)])
    {
      continue;
    }
    std::vector<int32_t> pixels{ start };
    isTaken[static_cast<size_t>(start)] = true;
    for (size_t next = 0; next < pixels.size(); ++next)
    {
      const int32_t x = pixels[next] % image.Width;
      const int32_t y = pixels[next] / image.Width;
      for (int32_t row = std::max(0, y - 1); row <= std::min(image.Height - 1, y + 1); ++row)
      {
        for (int32_t column = std::max(0, x - 1); column <= std::min(image.Width - 1, x + 1); ++column)
        {
          const size_t index = image.IndexOf(column, row);
          if (logs[index] <= 0.0 && !isTaken[index])
          {
            isTaken[index] = true;
            pixels.push_back(static_cast<int32_t>(index));
          }
        }
      }
    }
    if (pixels.size() < parameters.MinimumNumberOfPixels ||
        (parameters.MaximumNumberOfPixels > 0 && pixels.size() > parameters.MaximumNumberOfPixels))
    {
      continue;
    }
    std::sort(pixels.begin(), pixels.end());
    CudaDetection detection;
    detection.NumberOfPixels = pixels.size();
    detection.BoundingBox = { { image.Width, image.Height, 0, 0 } };
    double best = 1.0;
    for (const int32_t pixel : pixels)
    {
      const int32_t x = pixel % image.Width;
      const int32_t y = pixel / image.Width;
      auto &        box = detection.BoundingBox;
      box = { { std::min(box[0], x), std::min(box[1], y), std::max(box[2], x + 1), std::max(box[3], y + 1) } };
      detection.Centroid[0] += static_cast<double>(x) / static_cast<double>(pixels.size());
      detection.Centroid[1] += static_cast<double>(y) / static_cast<double>(pixels.size());
      if (logs[static_cast<size_t>(pixel)] < best)
      {
        best = logs[static_cast<size_t>(pixel)];
        detection.Peak = { { x, y } };
      }
    }
    detection.Significance = -best / std::log(10.0);
    const Moments target =
      SumWindow(image, prepared, parameters.TargetWindow, { { 0, 0 } }, detection.Peak[0], detection.Peak[1]);
    const Moments ring = SumWindow(
      image, prepared, parameters.BackgroundWindow, parameters.GuardWindow, detection.Peak[0], detection.Peak[1]);
    detection.Target = region::MakeStatistics(target, prepared.Samples, image.Law);
    detection.Background = region::MakeStatistics(ring, prepared.Samples, image.Law);
    detection.Statistic = test.GetLikelihoodRatio({ target, ring });
    found.Result.Detections.push_back(detection);
    for (const int32_t pixel : pixels)
    {
      found.Labels[static_cast<size_t>(pixel)] = static_cast<uint32_t>(found.Result.Detections.size());
    }
  }
  return found;
}

void
ExpectEqual(const CudaRegionSnakeStatistics & found, const CudaRegionSnakeStatistics & expected)
{
  EXPECT_EQ(found.NumberOfPixels, expected.NumberOfPixels);
  EXPECT_EQ(found.Sum, expected.Sum);
  EXPECT_EQ(found.SumOfSquares, expected.SumOfSquares);
  EXPECT_EQ(found.Mean, expected.Mean);
}

/** \param tolerance of the centroid, which is summed in another order by brute force */
void
ExpectEqual(const Found & found, const Found & expected, double tolerance)
{
  EXPECT_EQ(found.Result.NumberOfTestedPixels, expected.Result.NumberOfTestedPixels);
  EXPECT_EQ(found.Result.NumberOfPixelsAboveThreshold, expected.Result.NumberOfPixelsAboveThreshold);
  EXPECT_EQ(found.Labels, expected.Labels);
  ASSERT_EQ(found.Result.Detections.size(), expected.Result.Detections.size());
  for (size_t i = 0; i < expected.Result.Detections.size(); ++i)
  {
    const CudaDetection & x = found.Result.Detections[i];
    const CudaDetection & y = expected.Result.Detections[i];
    EXPECT_EQ(x.NumberOfPixels, y.NumberOfPixels) << i;
    EXPECT_EQ(x.BoundingBox, y.BoundingBox) << i;
    EXPECT_EQ(x.Peak, y.Peak) << i;
    EXPECT_NEAR(x.Centroid[0], y.Centroid[0], tolerance) << i;
    EXPECT_NEAR(x.Centroid[1], y.Centroid[1], tolerance) << i;
    EXPECT_NEAR(x.Significance, y.Significance, tolerance) << i;
    EXPECT_EQ(x.Statistic, y.Statistic) << i;
    ExpectEqual(x.Target, y.Target);
    ExpectEqual(x.Background, y.Background);
  }
}

CudaDetectionParameters
MakeRandomParameters(NoiseLaw law, std::mt19937_64 & engine)
{
  const auto              odd = [&engine](SizeValueType least, uint64_t more) { return least + 2 * (engine() % more); };
  CudaDetectionParameters parameters;
  parameters.NoiseLaw = law;
  parameters.NumberOfLooks = std::array<double, 3>{ { 0.7, 1.0, 4.4 } }[engine() % 3];
  parameters.ProbabilityOfFalseAlarm = std::array<double, 3>{ { 1e-6, 1e-3, 0.05 } }[engine() % 3];
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    parameters.TargetWindow[axis] = odd(1, 3);
    parameters.GuardWindow[axis] = odd(parameters.TargetWindow[axis], 3);
    parameters.BackgroundWindow[axis] = odd(parameters.GuardWindow[axis] + 2, 3);
  }
  parameters.MinimumNumberOfPixels = 1 + engine() % 3;
  parameters.MaximumNumberOfPixels = engine() % 2 == 0 ? 0 : parameters.MinimumNumberOfPixels + engine() % 200;
  return parameters;
}

TEST(CudaDetection, EveryLawFindsWhatBruteForceFinds)
{
  std::mt19937_64 engine(PrintSeed(611));
  size_t          detections = 0;
  for (const NoiseLaw law : AllLaws)
  {
    for (int run = 0; run < 6; ++run)
    {
      const auto    width = static_cast<int32_t>(21 + engine() % 60);
      const auto    height = static_cast<int32_t>(21 + engine() % 150);
      PartitionCase image = MakeRandomCase(law, width, height, 12, engine);
      if (run % 2 == 1)
      {
        AddMask(image, engine);
      }
      const CudaDetectionParameters parameters = MakeRandomParameters(law, engine);
      SCOPED_TRACE(NameOf(law) + ", " + std::to_string(width) + " x " + std::to_string(height) + ", run " +
                   std::to_string(run));
      const PreparedCase prepared(image);
      const Found        onHost = RunOn(prepared.GetExecutor(), prepared, parameters);
      ExpectEqual(onHost, DetectByBruteForce(image, prepared, parameters), 1e-9);
      ExpectEqual(RunOn(TestExecutor(prepared.Scene, 1 + engine()), prepared, parameters), onHost, 0.0);
      const PreparedCase inThreads(image, 3);
      ExpectEqual(RunOn(inThreads.GetExecutor(), inThreads, parameters), onHost, 0.0);
      // Large images are tested in parts of one or more strips, which must not change the result.
      const auto pixelsOfPart = static_cast<int64_t>(1 + engine() % 10000);
      ExpectEqual(RunOn(prepared.GetExecutor(), prepared, parameters, pixelsOfPart), onHost, 0.0);
      ExpectEqual(RunOn(TestExecutor(prepared.Scene, 7), prepared, parameters, pixelsOfPart), onHost, 0.0);
      detections += onHost.Result.Detections.size();
    }
  }
  EXPECT_GT(detections, 100u);
}

TEST(CudaDetection, TilesAndStripsMeetWithoutSeams)
{
  std::mt19937_64     engine(PrintSeed(612));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 1100, 200, 300, engine);
  const PreparedCase  prepared(image);
  auto                parameters = MakeRandomParameters(NoiseLaw::Gamma, engine);
  parameters.TargetWindow = { { 5, 3 } };
  parameters.GuardWindow = { { 7, 9 } };
  parameters.BackgroundWindow = { { 41, 131 } }; // more rows than a strip
  parameters.ProbabilityOfFalseAlarm = 1e-2;
  const Found found = RunOn(prepared.GetExecutor(), prepared, parameters);
  EXPECT_GT(found.Result.Detections.size(), 10u);
  ExpectEqual(RunOn(TestExecutor(prepared.Scene, 5), prepared, parameters), found, 0.0);
  // A few windows by brute force, on the seams.
  const detection::WindowShape shape{ { { 2, 1 }, { 3, 4 }, { 20, 65 } }, 1100, 200 };
  for (const int32_t x : { 0, 511, 512, 1023, 1024, 1099 })
  {
    for (const int32_t y : { 0, 63, 64, 127, 128, 199 })
    {
      const detection::Windows windows = detection::SumWindows(prepared.Scene, shape, x, y);
      EXPECT_TRUE(windows.Target == SumWindow(image, prepared, parameters.TargetWindow, { { 0, 0 } }, x, y))
        << x << ' ' << y;
      EXPECT_TRUE(windows.Ring == SumWindow(image, prepared, parameters.BackgroundWindow, parameters.GuardWindow, x, y))
        << x << ' ' << y;
    }
  }
}

TEST(CudaDetection, AnImageOfOneValueHasNoTargets)
{
  for (const NoiseLaw law : AllLaws)
  {
    for (const uint16_t value : { 0, 1, 60000 })
    {
      if ((law == NoiseLaw::LogNormal && value == 0) || (law == NoiseLaw::Bernoulli && value > 1))
      {
        continue;
      }
      SCOPED_TRACE(NameOf(law) + " " + std::to_string(value));
      PartitionCase           image{ 40, 35, std::vector<uint16_t>(40 * 35, value), law, {} };
      const PreparedCase      prepared(image);
      CudaDetectionParameters parameters;
      parameters.NoiseLaw = law;
      parameters.ProbabilityOfFalseAlarm = 0.1;
      const Found found = RunOn(prepared.GetExecutor(), prepared, parameters);
      EXPECT_EQ(found.Result.NumberOfTestedPixels, 1400u);
      EXPECT_EQ(found.Result.NumberOfPixelsAboveThreshold, 0u);
      EXPECT_EQ(found.Labels, std::vector<uint32_t>(1400, 0));
    }
  }
}

TEST(CudaDetection, OnePixelIsFoundInZeros)
{
  // The bounds of the laws' parameters stand for a background without noise.
  for (const NoiseLaw law :
       { NoiseLaw::Gaussian, NoiseLaw::GaussianCommonVariance, NoiseLaw::Gamma, NoiseLaw::Rayleigh, NoiseLaw::Poisson })
  {
    SCOPED_TRACE(NameOf(law));
    PartitionCase image{ 40, 35, std::vector<uint16_t>(40 * 35, 0), law, {} };
    image.Pixels[image.IndexOf(20, 17)] = 5000;
    const PreparedCase      prepared(image);
    CudaDetectionParameters parameters;
    parameters.NoiseLaw = law;
    parameters.TargetWindow = { { 1, 1 } };
    const Found found = RunOn(prepared.GetExecutor(), prepared, parameters);
    ASSERT_EQ(found.Result.Detections.size(), 1u);
    EXPECT_EQ(found.Result.Detections[0].Peak, (std::array<int32_t, 2>{ { 20, 17 } }));
    EXPECT_EQ(found.Result.Detections[0].NumberOfPixels, 1u);
    EXPECT_GT(found.Result.Detections[0].Significance, 6.0);
    EXPECT_TRUE(std::isfinite(found.Result.Detections[0].Significance));
  }
}

TEST(CudaDetection, AllPixelsMayBeAboveTheThreshold)
{
  // A checkerboard of bright pixels, which touch at corners only: one component, whose list is half of the image.
  PartitionCase image{ 96, 70, {}, NoiseLaw::Poisson, {} };
  for (int i = 0; i < 96 * 70; ++i)
  {
    image.Pixels.push_back((i % 96 + i / 96) % 2 == 0 ? 10000 : 0);
  }
  const PreparedCase      prepared(image);
  CudaDetectionParameters parameters;
  parameters.NoiseLaw = NoiseLaw::Poisson;
  parameters.TargetWindow = { { 1, 1 } };
  parameters.GuardWindow = { { 1, 1 } };
  parameters.BackgroundWindow = { { 3, 3 } };
  const Found found = RunOn(prepared.GetExecutor(), prepared, parameters);
  ASSERT_EQ(found.Result.Detections.size(), 1u);
  EXPECT_EQ(found.Result.Detections[0].NumberOfPixels, 96u * 70u / 2u);
  ExpectEqual(RunOn(TestExecutor(prepared.Scene, 9), prepared, parameters), found, 0.0);
}

TEST(CudaDetection, TheObserverStopsTheRun)
{
  std::mt19937_64     engine(PrintSeed(613));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 64, 200, 5, engine);
  const PreparedCase  prepared(image);
  auto                parameters = MakeRandomParameters(NoiseLaw::Gamma, engine);
  for (int most = 1; most <= 2; ++most)
  {
    int                               asked = 0;
    const CudaDetectionProgress       observer = [&](float) { return ++asked < most; };
    const detection::DetectionRequest request{ parameters, CudaComponentType::UInt, observer };
    const auto result = detection::Detection(prepared.GetExecutor(), prepared.Samples, request).Run([](const auto &) {
      FAIL() << "labels of a stopped run";
    });
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(asked, most);
  }
}
} // namespace
