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
