// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "snake/device/Snake.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "snake/itkCudaSnakeTestCase.h"
#include "support/itkCudaRunInThreads.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

// The device gives the host's results bit for bit: polygons, sums, criteria, records. The blocks of the snake's kernel
// wait for each other. However few or many there are, and whoever else uses the device, they all get through.
namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::region;
using namespace itk::cuda::snake;

class CudaRegionSnakeGridGpu : public SnakeDeviceTest
{
protected:
  const unsigned int m_Threads = MultiThreaderBase::GetGlobalDefaultNumberOfThreads();

  CudaRegionSnakeResult
  RunOnDevice(const Case & image, const CudaRegionSnakeObserver & observer = {}) const
  {
    return image.RunWith([&](const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters) {
      return CudaRegionSnakeOnDevice(input, parameters, m_Device, m_Threads, observer);
    });
  }

  void
  CompareScenes(uint64_t first, uint64_t number) const
  {
    for (uint64_t scene = first; scene < first + number; ++scene)
    {
      const Case image = RandomCase(scene, scene % 10 == 0 ? 700 : 200);
      ASSERT_NO_FATAL_FAILURE(
        ExpectSameResults(image.Run(m_Threads), this->RunOnDevice(image), "scene " + std::to_string(scene)));
    }
  }

  CudaRegionSnakeResult
  RunOnBlocks(const Case & image, int blocks) const
  {
    SnakeLaunchOptions options;
    options.MaximumNumberOfBlocks = blocks;
    return this->RunWithOptions(image, options, {});
  }

  CudaRegionSnakeResult
  RunWithOptions(const Case & image, const SnakeLaunchOptions & options, const CudaRegionSnakeObserver & observer) const
  {
    return image.RunWith([&](const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters) {
      const DeviceSnakeImage snakeImage(input, parameters, Threads(1), m_Device);
      SnakeRun               run;
      run.Parameters = parameters;
      run.StartPolygon = input.StartPolygon;
      run.Observer = observer;
      return itk::cuda::snake::RunOnDevice(snakeImage, run, options);
    });
  }
};

bool
IsSamePoint(const CudaSnakePoint & a, const CudaSnakePoint & b)
{
  return a.X == b.X && a.Y == b.Y;
}
} // namespace

// Few enough for compute-sanitizer.
TEST_F(CudaRegionSnakeGridGpu, TenScenes)
{
  this->CompareScenes(0, 10);
}

TEST_F(CudaRegionSnakeGridGpu, RandomScenes)
{
  this->CompareScenes(0, 300);
}

TEST_F(CudaRegionSnakeGridGpu, TenThousandRandomScenesSlow)
{
  this->CompareScenes(300, 9700);
}

TEST_F(CudaRegionSnakeGridGpu, ObserversSeeTheSameStatesAndChangeNothing)
{
  std::vector<Case> images;
  for (uint64_t number = 20000; number < 20020; ++number)
  {
    images.push_back(RandomCase(number, 200));
  }
  // Two levels: the last state of a level is shown in its cells.
  SnakeScene scene;
  scene.Width = scene.Height = 700;
  images.push_back(MakeCase(scene));
  ASSERT_GT(images.back().Run().Record.front().LevelExponent, 0u);
  for (size_t number = 0; number < images.size(); ++number)
  {
    const Case & image = images[number];
    struct Seen
    {
      std::vector<CudaSnakePolygon> Polygons;
      std::vector<uint64_t>         Sums;
    } onHost, onDevice;
    const auto watch = [](Seen & seen) {
      CudaRegionSnakeObserver observer;
      observer.Step = [&seen](const CudaRegionSnakeState & state) {
        seen.Polygons.push_back(state.Polygon);
        seen.Sums.push_back(state.Sum);
      };
      observer.Progress = [](float) { return true; };
      return observer;
    };
    ExpectSameResults(image.Run(1, watch(onHost)), this->RunOnDevice(image, watch(onDevice)), "watched");
    ExpectSameResults(image.Run(), this->RunOnDevice(image), "not watched");
    ASSERT_EQ(onHost.Sums, onDevice.Sums) << "image " << number;
    ASSERT_EQ(onHost.Polygons.size(), onDevice.Polygons.size());
    for (size_t i = 0; i < onHost.Polygons.size(); ++i)
    {
      const auto & polygon = onHost.Polygons[i];
      EXPECT_TRUE(std::equal(
        polygon.begin(), polygon.end(), onDevice.Polygons[i].begin(), onDevice.Polygons[i].end(), IsSamePoint))
        << "image " << number << " state " << i;
    }
  }
}

TEST_F(CudaRegionSnakeGridGpu, PublishedSizesSlow)
{
  for (const int32_t side : { 3900, 10000, 12247 })
  {
    SnakeScene scene;
    scene.Width = scene.Height = side;
    for (const double contrast : { 1.0, 0.1 })
    {
      scene.Contrast = contrast;
      Case image{ side, side, scene.MakePixels(m_Threads), {}, {}, {} };
      image.Parameters.NoiseLaw = NoiseLawOf(scene);
      for (const auto schedule : { CudaFiltersEnums::Schedule::CoarseToFine, CudaFiltersEnums::Schedule::AsPublished })
      {
        image.Parameters.Schedule = schedule;
        const std::string name = std::to_string(side) + " contrast " + std::to_string(contrast);
        ASSERT_NO_FATAL_FAILURE(ExpectSameResults(image.Run(m_Threads), this->RunOnDevice(image), name));
      }
    }
  }
}

TEST_F(CudaRegionSnakeGridGpu, FewBlocksGiveTheSameBits)
{
  for (uint64_t scene = 30000; scene < 30020; ++scene)
  {
    const Case                  image = RandomCase(scene, 300);
    const CudaRegionSnakeResult expected = image.Run();
    for (const int blocks : { 1, 2, 3, 17 })
    {
      const std::string name = "scene " + std::to_string(scene) + " on " + std::to_string(blocks) + " blocks";
      ASSERT_NO_FATAL_FAILURE(ExpectSameResults(expected, this->RunOnBlocks(image, blocks), name));
    }
  }
}

TEST_F(CudaRegionSnakeGridGpu, PausesAtEveryPointGiveTheSameBits)
{
  // Large portions: after each phase. The smallest: after every row of each warp, every node, every row of pairs.
  std::vector<Case> images;
  for (uint64_t scene = 32000; scene < 32012; ++scene)
  {
    images.push_back(RandomCase(scene, scene % 4 == 0 ? 400 : 120));
  }
  // More nodes than lists on the chip hold.
  images.push_back(MakeCaseForComb(400));
  images.back().Parameters.MaximumNumberOfIterations = 12;
  images.push_back(MakeCaseForComb(300));
  images.back().Parameters.MaximumNumberOfIterations = 12;
  images.back().Parameters.Schedule = CudaFiltersEnums::Schedule::AsPublished;
  for (size_t i = 0; i < images.size(); ++i)
  {
    const CudaRegionSnakeResult expected = images[i].Run();
    size_t                      reportsOfLargerPortions = 0;
    for (const int32_t steps : { 1 << 18, 64, 1 })
    {
      const std::string  name = "image " + std::to_string(i) + ", portions of " + std::to_string(steps);
      SnakeLaunchOptions options;
      options.NanosecondsOfLaunch = 0;
      options.StepsPerPortion = steps;
      size_t                  reports = 0;
      CudaRegionSnakeObserver observer;
      observer.Progress = [&reports](float) {
        ++reports;
        return true;
      };
      ASSERT_NO_FATAL_FAILURE(ExpectSameResults(expected, this->RunWithOptions(images[i], options, observer), name));
      EXPECT_GE(reports + 1, expected.Record.size()) << name;
      EXPECT_GT(reports, reportsOfLargerPortions) << name;
      reportsOfLargerPortions = reports;
    }
  }
}

TEST_F(CudaRegionSnakeGridGpu, LaunchesOfWholePhasesEndAfterTheirTimeWithTheSameResult)
{
  size_t reportsOfAll = 0;
  for (uint64_t scene = 32200; scene < 32212; ++scene)
  {
    const std::string           name = "scene " + std::to_string(scene);
    const Case                  image = RandomCase(scene, scene % 4 == 0 ? 400 : 120);
    const CudaRegionSnakeResult expected = image.Run();
    SnakeLaunchOptions          options;
    options.NanosecondsOfLaunch = 0;
    size_t                  reports = 0;
    CudaRegionSnakeObserver observer;
    observer.ReportsLevels = false;
    observer.Progress = [&reports](float) {
      ++reports;
      return true;
    };
    ASSERT_NO_FATAL_FAILURE(ExpectSameResults(expected, this->RunWithOptions(image, options, observer), name));
    // A launch looks at the clock after 16 phases. An entry of the record takes a phase or more.
    EXPECT_GE(reports + 1, expected.Record.size() / 16) << name;
    reportsOfAll += reports;

    observer.Progress = [](float) { return false; };
    const CudaRegionSnakeResult stopped = this->RunWithOptions(image, options, observer);
    const bool                  hasTime = expected.Record.size() > 16;
    EXPECT_TRUE(!hasTime || stopped.Stop == CudaRegionSnakeStop::Aborted) << name;
  }
  EXPECT_GT(reportsOfAll, 12u);
}

TEST_F(CudaRegionSnakeGridGpu, LaunchesAreShortWhereTheDriverEndsLongOnes)
{
  const Case                  image = RandomCase(32100, 300);
  const CudaRegionSnakeResult expected = image.Run();
  SnakeLaunchOptions          options;
  options.NanosecondsOfLaunch = 0;
  unsigned long calls[2];
  for (const int timeout : { 0, 1 })
  {
    SetKernelTimeoutForTests(timeout);
    FaultHook::FailCall(0, cudaSuccess); // counts calls
    const CudaRegionSnakeResult result = this->RunWithOptions(image, options, {});
    calls[timeout] = FaultHook::GetNumberOfCalls();
    FaultHook::Clear();
    SetKernelTimeoutForTests(-1);
    ExpectSameResults(expected, result, timeout == 1 ? "short launches" : "one launch");
  }
  EXPECT_GT(calls[1], calls[0] + expected.Record.size());
}

TEST_F(CudaRegionSnakeGridGpu, AbortIsHonouredInsideAPhase)
{
  const Case              image = MakeCaseForComb(1 << 14);
  int                     reports = 0;
  CudaRegionSnakeObserver observer;
  observer.Progress = [&](float) { return ++reports < 8; };
  EXPECT_EQ(this->RunWithOptions(image, {}, observer).Stop, CudaRegionSnakeStop::Aborted);
  EXPECT_EQ(reports, 8);
  const Case after = RandomCase(32200, 200);
  ExpectSameResults(after.Run(), this->RunWithOptions(after, {}, {}), "after an abort");
}

TEST_F(CudaRegionSnakeGridGpu, EightThreadsAtOnceGiveTheSameBits)
{
  constexpr uint64_t number = 8;
  constexpr uint64_t scenes = 12;
  // Whole grids and small ones, which share the device.
  test::RunInThreads(number, [this](unsigned int thread) -> std::string {
    for (uint64_t scene = 31000 + thread; scene < 31000 + number * scenes; scene += number)
    {
      const Case image = RandomCase(scene, 300);
      ExpectSameResults(
        image.Run(), this->RunOnBlocks(image, thread % 2 == 0 ? 1000000 : 5), "scene " + std::to_string(scene));
    }
    return {};
  });
}
