// SPDX-License-Identifier: Apache-2.0
#include "snake/itkCudaSnakeImageTestCase.h"
#include "snake/host/Host.h"

#include <memory>

// Any number of runs on one image in host memory: each gives what it gives alone.
namespace
{
using itk::cuda::TypedCase;
using itk::cuda::region::Threads;
using itk::cuda::snake::HostSnakeImage;
using itk::cuda::snake::SnakeRun;

std::unique_ptr<HostSnakeImage>
Prepare(const TypedCase & image)
{
  return image.WithInput([&](const itk::CudaDetail::CudaRegionSnakeInput & input) {
    return std::make_unique<HostSnakeImage>(input, image.Parameters, Threads(2));
  });
}

itk::CudaRegionSnakeResult
RunOn(const HostSnakeImage & image, const SnakeRun & run)
{
  return RunOnHost(image, run, Threads(1));
}
} // namespace

TEST(CudaSnakeImage, RunsOfSeveralThreadsGiveTheBitsOfEachAlone)
{
  itk::cuda::CompareRunsOfThreads(Prepare, RunOn, 50000);
}

TEST(CudaSnakeImage, RectanglesGiveTheBitsOfTheCutImage)
{
  itk::cuda::CompareRectangles(Prepare, RunOn, 52000);
}

TEST(CudaSnakeImage, ExceptionsLeaveTheImageAsItWas)
{
  itk::cuda::CompareAfterExceptions(Prepare, RunOn);
}

TEST(CudaSnakeImage, LawAndLooksAreTheImages)
{
  const TypedCase image = itk::cuda::RandomTypedCase(
    53000, itk::CudaFiltersEnums::NoiseLaw::Gamma, itk::CudaComponentType::UShort, true, 100);
  const auto prepared = Prepare(image);
  SnakeRun   run;
  run.Parameters = image.Parameters;
  const itk::CudaRegionSnakeResult expected = RunOn(*prepared, run);
  run.Parameters.NoiseLaw = itk::CudaFiltersEnums::NoiseLaw::Poisson;
  run.Parameters.NumberOfLooks = 17.0;
  run.Parameters.ForegroundThreshold = 3.0;
  itk::cuda::ExpectSameResults(expected, RunOn(*prepared, run), image.Name);
}

// A prepared image gives the results of runs on it, with corners of the image's pixels also in a window. A run that
// starts on the level of pixels has no other level in its record.
TEST(CudaSnakeImage, PreparedImagesRunInWindowsAndOnTheLevelOfPixels)
{
  const TypedCase image = itk::cuda::RandomTypedCase(
    54000, itk::CudaFiltersEnums::NoiseLaw::Gamma, itk::CudaComponentType::UShort, true, 560);
  ASSERT_GT(std::min(image.Width, image.Height), 60u);
  const auto                  reference = Prepare(image);
  const auto                  prepared = image.WithInput([&](const itk::CudaDetail::CudaRegionSnakeInput & input) {
    return itk::CudaDetail::CudaPrepareSnakeImageOnHost(input, image.Parameters, 2);
  });
  const itk::CudaSnakePolygon start{ { 20, 20 }, { 50, 20 }, { 50, 50 }, { 20, 50 } };

  itk::CudaDetail::CudaPreparedSnakeRun run;
  run.Parameters = image.Parameters;
  run.WindowCorner = { 5, 3 };
  run.WindowSize = { 55, 57 };
  run.StartPolygon = &start;
  itk::CudaSnakePolygon inWindow = start;
  for (itk::CudaSnakePoint & corner : inWindow)
  {
    corner = { corner.X - 5, corner.Y - 3 };
  }
  SnakeRun expectedRun;
  expectedRun.Parameters = image.Parameters;
  expectedRun.Rectangle = { 5, 3, 55, 57 };
  expectedRun.StartPolygon = &inWindow;
  itk::CudaRegionSnakeResult expected = RunOn(*reference, expectedRun);
  for (itk::CudaSnakePoint & corner : expected.Polygon)
  {
    corner = { corner.X + 5, corner.Y + 3 };
  }
  itk::cuda::ExpectSameResults(expected, prepared->Run(run), image.Name);

  run.WindowCorner = { 0, 0 };
  run.WindowSize = { 0, 0 };
  run.StartsOnPixels = true;
  run.Parameters.Schedule = itk::CudaFiltersEnums::Schedule::CoarseToFine;
  const itk::CudaRegionSnakeResult onPixels = prepared->Run(run);
  ASSERT_FALSE(onPixels.Record.empty());
  for (const itk::CudaRegionSnakeStep & step : onPixels.Record)
  {
    EXPECT_EQ(step.LevelExponent, 0u);
  }

  const itk::CudaSnakePolygon small{ { 20, 20 }, { 21, 20 }, { 21, 21 }, { 20, 21 } };
  run.StartPolygon = &small;
  run.Parameters.MinimumRegionSize = 4;
  EXPECT_EQ(prepared->Run(run).Stop, itk::CudaRegionSnakeStop::RegionTooSmall);
  EXPECT_TRUE(prepared->Run(run).Polygon.empty());
}
