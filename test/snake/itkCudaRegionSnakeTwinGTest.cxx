// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "snake/itkCudaSnakeTestCase.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

// The device gives the host's results bit for bit: polygons, sums, criteria, records.
namespace
{
using itk::CudaFiltersEnums;
using itk::CudaDetail::CudaRegionSnakeInput;
using itk::CudaDetail::CudaRegionSnakeObserver;
using itk::CudaDetail::CudaRegionSnakeParameters;
using itk::CudaRegionSnakeResult;
using itk::cuda::Case;
using itk::cuda::ExpectSameResults;
using itk::cuda::RandomCase;
using itk::cuda::SnakeScene;
using itk::cuda::region::operator==;

class CudaRegionSnakeTwinGpu : public itk::cuda::SnakeDeviceTest
{
protected:
  const unsigned int m_Threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();

  CudaRegionSnakeResult
  RunOnDevice(const Case & image, const CudaRegionSnakeObserver & observer = {}) const
  {
    return image.RunWith([&](const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters) {
      return itk::CudaDetail::CudaRegionSnakeOnDevice(input, parameters, m_Device, m_Threads, observer);
    });
  }

  void
  CompareScenes(uint64_t first, uint64_t number) const
  {
    for (uint64_t scene = first; scene < first + number; ++scene)
    {
      const Case image = RandomCase(scene, scene % 10 == 0 ? 700 : 200);
      ExpectSameResults(image.Run(m_Threads), this->RunOnDevice(image), "scene " + std::to_string(scene));
      if (HasFatalFailure())
      {
        return;
      }
    }
  }
};
} // namespace

// Few enough for compute-sanitizer.
TEST_F(CudaRegionSnakeTwinGpu, TenScenes)
{
  this->CompareScenes(0, 10);
}

TEST_F(CudaRegionSnakeTwinGpu, RandomScenes)
{
  this->CompareScenes(0, 300);
}

TEST_F(CudaRegionSnakeTwinGpu, TenThousandRandomScenesSlow)
{
  this->CompareScenes(300, 9700);
}

TEST_F(CudaRegionSnakeTwinGpu, ObserversSeeTheSameStatesAndChangeNothing)
{
  std::vector<Case> images;
  for (uint64_t number = 20000; number < 20020; ++number)
  {
    images.push_back(RandomCase(number, 200));
  }
  // Two levels: the last state of a level is shown in its cells.
  SnakeScene scene;
  scene.Width = scene.Height = 700;
  images.push_back(itk::cuda::MakeCase(scene));
  ASSERT_GT(images.back().Run().Record.front().LevelExponent, 0u);
  for (size_t number = 0; number < images.size(); ++number)
  {
    const Case & image = images[number];
    struct Seen
    {
      std::vector<itk::CudaSnakePolygon> Polygons;
      std::vector<uint64_t>              Sums;
    } onHost, onDevice;
    const auto watch = [](Seen & seen) {
      CudaRegionSnakeObserver observer;
      observer.Step = [&seen](const itk::CudaDetail::CudaRegionSnakeState & state) {
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
      ASSERT_EQ(onHost.Polygons[i].size(), onDevice.Polygons[i].size()) << "image " << number << " state " << i;
      for (size_t j = 0; j < onHost.Polygons[i].size(); ++j)
      {
        ASSERT_TRUE(onHost.Polygons[i][j] == onDevice.Polygons[i][j]) << "image " << number << " state " << i;
      }
    }
  }
}

TEST_F(CudaRegionSnakeTwinGpu, AbortIsHonoured)
{
  CudaRegionSnakeObserver observer;
  observer.Progress = [](float) { return false; };
  const Case image = RandomCase(1, 200);
  EXPECT_EQ(this->RunOnDevice(image, observer).Stop, itk::CudaRegionSnakeStop::Aborted);
  ExpectSameResults(image.Run(), this->RunOnDevice(image), "after an abort");
}

TEST_F(CudaRegionSnakeTwinGpu, StartsOfTheUser)
{
  Case                          image = RandomCase(2, 200);
  const int32_t                 w = image.Width;
  const int32_t                 h = image.Height;
  const itk::CudaSnakePolygon   start{ { w / 4, h / 4 }, { w - w / 4, h / 3 }, { w / 2, h - h / 4 } };
  const CudaRegionSnakeObserver none;
  const auto                    run = [&](bool device) {
    return image.RunWith([&](CudaRegionSnakeInput input, const CudaRegionSnakeParameters & parameters) {
      input.StartPolygon = &start;
      return device ? itk::CudaDetail::CudaRegionSnakeOnDevice(input, parameters, m_Device, m_Threads, none)
                                       : itk::CudaDetail::CudaRegionSnakeOnHost(input, parameters, m_Threads, none);
    });
  };
  ExpectSameResults(run(false), run(true), "start polygon");
}

TEST_F(CudaRegionSnakeTwinGpu, PublishedSizesSlow)
{
  for (const int32_t side : { 3900, 10000, 12247 })
  {
    SnakeScene scene;
    scene.Width = scene.Height = side;
    for (const double contrast : { 1.0, 0.1 })
    {
      scene.Contrast = contrast;
      Case image;
      image.Width = image.Height = side;
      image.Pixels = scene.MakePixels(m_Threads);
      image.Parameters.NoiseLaw = NoiseLawOf(scene);
      for (const auto schedule : { CudaFiltersEnums::Schedule::CoarseToFine, CudaFiltersEnums::Schedule::AsPublished })
      {
        image.Parameters.Schedule = schedule;
        const std::string name = std::to_string(side) + " contrast " + std::to_string(contrast);
        ExpectSameResults(image.Run(m_Threads), this->RunOnDevice(image), name);
        if (HasFatalFailure())
        {
          return;
        }
      }
    }
  }
}
