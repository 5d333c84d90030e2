// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "support/itkCudaFaultWalk.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "snake/device/Snake.h"
#include "snake/host/Host.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "snake/itkCudaSnakeImageTestCase.h"
#include "snake/itkCudaSnakeLongSums.h"

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

// Any number of runs on one image in device memory: each gives what the host gives, whoever else runs on it, and
// whatever has become of the threads and streams that made it.
namespace
{
using namespace itk;
using namespace itk::cuda;
using namespace itk::cuda::region;
using namespace itk::cuda::snake;

class CudaSnakeImageGpu : public SnakeDeviceTest
{
protected:
  std::unique_ptr<DeviceSnakeImage>
  Prepare(const TypedCase & image) const
  {
    return image.WithInput([&](const CudaDetail::CudaRegionSnakeInput & input) {
      return std::make_unique<DeviceSnakeImage>(input, image.Parameters, Threads(2), m_Device);
    });
  }

  /** In a workspace of exactly the size that was asked for, full of what no array may count on. */
  static CudaRegionSnakeResult
  RunOn(const DeviceSnakeImage & image, const SnakeRun & run)
  {
    constexpr size_t   room = 4096;
    const DeviceGuard  guard(image.GetSums().GetDevice());
    const StreamLease  stream(image.GetSums().GetDevice());
    const size_t       bytes = GetWorkspaceBytes(image, run);
    const DeviceBuffer memory(bytes + room, stream);
    auto * const       behind = static_cast<unsigned char *>(memory.GetPointer()) + bytes;
    ITK_CUDA_CALL(cudaMemsetAsync(memory.GetPointer(), 0xab, bytes + room, stream.GetStream()));
    const CudaRegionSnakeResult result = RunOnDevice(image, run, Workspace(memory.GetPointer(), bytes), stream);
    std::vector<unsigned char>  rest(room);
    ITK_CUDA_CALL(cudaMemcpyAsync(rest.data(), behind, room, cudaMemcpyDeviceToHost, stream.GetStream()));
    stream.Synchronize();
    if (rest != std::vector<unsigned char>(room, 0xab))
    {
      throw std::logic_error("The run wrote behind its workspace");
    }
    return result;
  }

  const std::function<std::unique_ptr<DeviceSnakeImage>(const TypedCase &)> m_Prepare =
    [this](const TypedCase & image) { return this->Prepare(image); };

  static SnakeRun
  RunWith(const TypedCase & image)
  {
    SnakeRun run;
    run.Parameters = image.Parameters;
    return run;
  }
};
} // namespace

TEST_F(CudaSnakeImageGpu, RunsOfSeveralThreadsGiveTheBitsOfEachAlone)
{
  CompareRunsOfThreads(m_Prepare, RunOn, 50000);
}

TEST_F(CudaSnakeImageGpu, RectanglesGiveTheBitsOfTheCutImage)
{
  CompareRectangles(m_Prepare, RunOn, 52000);
}

TEST_F(CudaSnakeImageGpu, ExceptionsLeaveTheImageAsItWas)
{
  CompareAfterExceptions(m_Prepare, RunOn);
}

TEST_F(CudaSnakeImageGpu, SumsOfSquaresBeyond64BitsGiveTheSameSnake)
{
  CompareLongSums(
    [this](Samples && samples, const TypedCase & image, const SnakeRun & run) {
      const CudaRegionSnakeResult result = RunOn(DeviceSnakeImage(samples, image.Parameters, m_Device), run);
      ExpectSameResults(RunOnHost(HostSnakeImage(std::move(samples), image.Parameters, Threads(2)), run, Threads(2)),
                        result,
                        image.Name);
      return result;
    },
    57000);
}

TEST_F(CudaSnakeImageGpu, OneWorkspaceServesManyRuns)
{
  const TypedCase image =
    RandomTypedCase(55000, CudaFiltersEnums::NoiseLaw::Gaussian, CudaComponentType::Short, true, 700);
  const auto                  prepared = this->Prepare(image);
  const RandomRuns            runs(image.Parameters, image.Width, image.Height);
  const std::vector<SnakeRun> all = runs.Get();
  const StreamLease           stream(m_Device);
  size_t                      bytes = 0;
  for (const SnakeRun & run : all)
  {
    bytes = std::max(bytes, GetWorkspaceBytes(*prepared, run));
  }
  const DeviceBuffer memory(bytes, stream);
  for (int repetition = 0; repetition < 3; ++repetition)
  {
    for (const SnakeRun & run : all)
    {
      const auto expected = AnswerOf([&] { return RunAfresh(image, run); });
      const auto answer =
        AnswerOf([&] { return RunOnDevice(*prepared, run, Workspace(memory.GetPointer(), bytes), stream); });
      ExpectSameAnswers(expected, answer, image.Name);
    }
  }
}

TEST_F(CudaSnakeImageGpu, TheFilterStaysWithinItsWorkingSet)
{
  uint64_t seed = 56000;
  std::cout << "seeds from " << seed << std::endl;
  for (const auto law : AllLaws)
  {
    for (const auto type : SnakePixelTypes)
    {
      ++seed;
      const TypedCase image = RandomTypedCase(seed, law, type, seed % 2 == 0, seed % 3 == 0 ? 800 : 100);
      image.WithInput([&](const CudaDetail::CudaRegionSnakeInput & input) {
        const size_t inUse = CudaFiltersConfiguration::GetDeviceBytesInUse();
        CudaFiltersConfiguration::SetDeviceMemoryLimit(inUse +
                                                       CudaDetail::CudaRegionSnakeWorkingSet(input, image.Parameters));
        const auto answer =
          AnswerOf([&] { return CudaDetail::CudaRegionSnakeOnDevice(input, image.Parameters, m_Device, 1, {}); });
        CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
        EXPECT_EQ(answer.Message, "") << image.Name;
      });
    }
  }
}

TEST_F(CudaSnakeImageGpu, OutlivesThreadsAndStreams)
{
  const TypedCase image =
    RandomTypedCase(55002, CudaFiltersEnums::NoiseLaw::Rayleigh, CudaComponentType::UShort, false, 300);
  const SnakeRun                    run = RunWith(image);
  const CudaRegionSnakeResult       expected = RunAfresh(image, run);
  std::unique_ptr<DeviceSnakeImage> prepared;
  std::thread([&] { prepared = this->Prepare(image); }).join();
  // On a stream of the caller's, which is gone when the next run begins.
  for (int i = 0; i < 3; ++i)
  {
    const DeviceGuard guard(m_Device);
    cudaStream_t      stream = nullptr;
    ITK_CUDA_CALL(cudaStreamCreate(&stream));
    const size_t       bytes = GetWorkspaceBytes(*prepared, run);
    const StreamLease  lease(m_Device);
    const DeviceBuffer memory(bytes, lease);
    lease.Synchronize();
    ExpectSameResults(
      expected, RunOnDevice(*prepared, run, { memory.GetPointer(), bytes }, Context(m_Device, stream)), image.Name);
    ITK_CUDA_CALL(cudaStreamDestroy(stream));
  }
  const CudaRegionSnakeResult last = RunOn(*prepared, run);
  const size_t                bytesInUse = CudaFiltersConfiguration::GetDeviceBytesInUse();
  std::thread([&] { prepared.reset(); }).join();
  EXPECT_LT(CudaFiltersConfiguration::GetDeviceBytesInUse(), bytesInUse);
  ExpectSameResults(expected, last, "after the end of the image");
}

TEST_F(CudaSnakeImageGpu, SurvivesTheFailureOfAnyCall)
{
  const TypedCase image =
    RandomTypedCase(55003, CudaFiltersEnums::NoiseLaw::Gaussian, CudaComponentType::UShort, true, 560);
  SnakeRun         run = RunWith(image);
  const RandomRuns runs(image.Parameters, image.Width, image.Height);
  run.StartPolygon = runs.Get()[2].StartPolygon;
  SnakeRun part = RunWith(image);
  part.Rectangle = { 3, 2, static_cast<int32_t>(image.Width) - 5, static_cast<int32_t>(image.Height) - 4 };
  const auto cornersOf = [&](const DeviceSnakeImage & prepared) {
    std::vector<int32_t> corners;
    for (const SnakeRun & each : { run, part })
    {
      for (const CudaSnakePoint & corner : RunOnDevice(prepared, each).Polygon)
      {
        corners.insert(corners.end(), { corner.X, corner.Y });
      }
    }
    return corners;
  };
  itk::cuda::test::WalkFaults<int32_t>("snake image", [&] { return cornersOf(*this->Prepare(image)); });
  // A run that fails leaves the image as it was.
  const auto prepared = this->Prepare(image);
  itk::cuda::test::WalkFaults<int32_t>("snake run", [&] { return cornersOf(*prepared); });
  ExpectSameResults(RunAfresh(image, run), RunOn(*prepared, run), image.Name);
}
