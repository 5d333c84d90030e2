// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionSnakeBatchFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "support/itkCudaFaultWalk.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "snake/device/Batch.h"
#include "snake/device/Snake.h"
#include "snake/host/Host.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "snake/Start.h"
#include "snake/itkCudaSnakeImageTestCase.h"
#include "snake/itkCudaSnakeLongSums.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
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

  /** Prepares images whose sums lie in host memory, made in bands of few rows on one to four logical devices. */
  std::function<std::unique_ptr<DeviceSnakeImage>(const TypedCase &)>
  PrepareInBands() const
  {
    return [this, turn = 0](const TypedCase & image) mutable {
      SumsPlacement placement{ true, size_t{ 16 } << turn % 4, std::vector<int>(turn % 5, m_Device) };
      ++turn;
      return image.WithInput([&](const CudaDetail::CudaRegionSnakeInput & input) {
        return std::make_unique<DeviceSnakeImage>(input, image.Parameters, Threads(2), m_Device, placement);
      });
    };
  }

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

// The bands in which sums in host memory are made, and the devices that make them, change no bit of a snake.
TEST_F(CudaSnakeImageGpu, SumsInHostMemoryGiveTheBitsOfThoseOnTheDevice)
{
  CompareRunsOfThreads(this->PrepareInBands(), RunOn, 59000);
  CompareRectangles(this->PrepareInBands(), RunOn, 52000);
}

// An image whose samples and sums take 144 MB is searched with a sixth of that on the device, whose bands may be made
// on several logical devices and have any number of rows.
TEST_F(CudaSnakeImageGpu, AnImageLargerThanTheLimitHasItsSumsInHostMemory)
{
  constexpr size_t           width = 4001;
  constexpr size_t           height = 18003;
  CudaRegionSnakeParameters  parameters;
  std::vector<unsigned char> pixels(width * height);
  std::mt19937_64            engine(61000);
  const LatticePoint         corner{ 700, 3000 };
  const LatticePoint         opposite{ 3100, 15007 };
  for (size_t i = 0; i < pixels.size(); ++i)
  {
    const auto x = static_cast<int32_t>(i % width);
    const auto y = static_cast<int32_t>(i / width);
    const bool inside = x >= corner.X && x < opposite.X && y >= corner.Y && y < opposite.Y;
    pixels[i] = static_cast<unsigned char>(engine() % 100 + (inside ? 60 : 0));
  }
  parameters.NoiseLaw = CudaFiltersEnums::NoiseLaw::Gaussian;
  CudaDetail::CudaRegionSnakeInput input;
  input.Image.Data = pixels.data();
  input.Image.ComponentType = CudaComponentType::UChar;
  input.Image.Size = { { width, height, 1, 1 } };
  input.Image.Stride = { { 1, width, width * height, width * height } };
  const CudaRegionSnakeResult expected = CudaDetail::CudaRegionSnakeOnDevice(input, parameters, m_Device, 2, {});
  EXPECT_TRUE(expected.SignificantBoundary);
  EXPECT_GT(expected.Inside.NumberOfPixels, 2390u * 11990u);

  CudaFiltersConfiguration::ReleaseMemory();
  const size_t inUse = CudaFiltersConfiguration::GetDeviceBytesInUse();
  CudaFiltersConfiguration::SetDeviceMemoryLimit(inUse + pixels.size() / 3);
  for (const size_t devices : { 1, 2, 4 })
  {
    const std::vector<int> logical(devices, m_Device);
    input.DevicesOfBands = &logical;
    const auto answer =
      AnswerOf([&] { return CudaDetail::CudaRegionSnakeOnDevice(input, parameters, m_Device, 2, {}); });
    EXPECT_EQ(answer.Message, "");
    ExpectSameResults(expected, answer.Result, std::to_string(devices) + " devices");
  }
  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  for (const size_t rows : { 16, 256, 8192 })
  {
    const DeviceSnakeImage image(input, parameters, Threads(2), m_Device, { true, rows, { m_Device, m_Device } });
    SnakeRun               run;
    run.Parameters = parameters;
    ExpectSameResults(expected, RunOnDevice(image, run), std::to_string(rows) + " rows");
  }
  EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), inUse);
}

// Both filters search an image that does not fit into their memory on the GPU, with the result of the host.
TEST_F(CudaSnakeImageGpu, FiltersSearchImagesThatDoNotFit)
{
  using ImageType = itk::Image<unsigned char, 2>;
  using LabelType = itk::Image<unsigned char, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 1500, 3000 } });
  image->Allocate();
  std::mt19937_64                              engine(62000);
  itk::ImageRegionIteratorWithIndex<ImageType> pixel(image, image->GetBufferedRegion());
  for (; !pixel.IsAtEnd(); ++pixel)
  {
    const auto & index = pixel.GetIndex();
    const bool   inside = index[0] >= 300 && index[0] < 900 && index[1] >= 700 && index[1] < 2200;
    pixel.Set(static_cast<unsigned char>(engine() % 100 + (inside ? 60 : 0)));
  }
  const auto search = [&](auto filter, const char * backend) {
    filter->SetInput(image);
    filter->SetNoiseLaw("gaussian");
    filter->SetBackend(backend);
    filter->SetDeviceMemoryLimit(7u << 20); // samples and sums alone take 9 MB
    filter->Update();
    EXPECT_EQ(filter->GetBackendReason().find("in slabs") != std::string::npos, std::string(backend) == "cuda")
      << filter->GetBackendReason();
    return filter;
  };
  const auto one = [&](const char * backend) {
    return search(itk::CudaRegionSnakeImageFilter<ImageType, LabelType>::New(), backend)->GetResult();
  };
  const CudaRegionSnakeResult expected = one("host");
  EXPECT_TRUE(expected.SignificantBoundary);
  ExpectSameResults(expected, one("cuda"), "the snake");
  const auto many = [&](const char * backend) {
    const auto filter = itk::CudaRegionSnakeBatchFilter<ImageType, LabelType>::New();
    filter->AddInitialRegion({ { { 350, 800 } }, { { 500, 1300 } } });
    return search(filter, backend)->GetContourPoints(0);
  };
  EXPECT_GE(many("host").size(), 4u);
  EXPECT_EQ(many("cuda"), many("host"));
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

// Runs that are launched together give what each gives alone: in one launch, in many small ones with little room for
// their results, and if the batch is stopped before it begins. The starts of some are too long to run together.
TEST_F(CudaSnakeImageGpu, BatchesGiveTheBitsOfEachRunAlone)
{
  uint64_t seed = 57000;
  std::cout << "seeds from " << seed << std::endl;
  std::mt19937_64 engine(seed);
  for (const auto law : AllLaws)
  {
    for (const bool masked : { false, true })
    {
      ++seed;
      TypedCase image = RandomTypedCase(seed, law, SnakePixelTypes[seed % 4], masked, 600);
      image.Parameters.MinimumEdgeLength = 1.0 + static_cast<double>(engine() % 4);
      image.Parameters.MaximumStep = 4;
      image.Parameters.MaximumNumberOfNodes = 4096;
      image.Parameters.UseDescriptionLength = true;
      const auto                    prepared = this->Prepare(image);
      std::vector<CudaSnakePolygon> polygons;
      std::vector<SnakeRun>         runs;
      for (int i = 0; i < 60; ++i)
      {
        const auto below = [&](size_t limit) { return static_cast<int32_t>(engine() % limit); };
        const auto width = 1 + below(std::min<size_t>(image.Width, i % 10 == 0 ? 600 : 60));
        const auto height = 1 + below(std::min<size_t>(image.Height, i % 10 == 0 ? 600 : 60));
        SnakeRun   run = RunWith(image);
        run.Rectangle = { below(image.Width - static_cast<size_t>(width) + 1),
                          below(image.Height - static_cast<size_t>(height) + 1),
                          width,
                          height };
        polygons.push_back(MakeRectangle(width / 4, height / 4, width - width / 4, height - height / 4));
        runs.push_back(run);
      }
      std::vector<SnakeAnswer> expected;
      for (size_t i = 0; i < runs.size(); ++i)
      {
        runs[i].StartPolygon = &polygons[i];
        expected.push_back(AnswerOf([&] { return RunOnDevice(*prepared, runs[i]); }));
      }
      const auto compare = [&](const BatchLaunchOptions & options, bool goesOn) {
        const auto batch = MakeDeviceBatch(*prepared, Threads(2), options);
        int        asked = 0;
        batch->RunTogether(runs, [&](double share) {
          EXPECT_GE(share, 0.0);
          EXPECT_LT(share, 1.0);
          ++asked;
          return goesOn;
        });
        for (size_t i = 0; i < runs.size(); ++i)
        {
          ExpectSameAnswers(
            expected[i], AnswerOf([&] { return batch->Run(i, runs[i], Threads(1)); }), image.Name + std::to_string(i));
        }
        return asked;
      };
      EXPECT_LT(compare({}, true), compare({ 7, 1, 1, 0 }, true));
      EXPECT_EQ(compare({}, false), 1);
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
  itk::cuda::test::WalkFaults<int32_t>("snake image in host memory", [&] {
    return image.WithInput([&](const CudaDetail::CudaRegionSnakeInput & input) {
      return cornersOf(
        DeviceSnakeImage(input, image.Parameters, Threads(1), m_Device, { true, 64, { m_Device, m_Device } }));
    });
  });
  // A run that fails leaves the image as it was.
  const auto prepared = this->Prepare(image);
  itk::cuda::test::WalkFaults<int32_t>("snake run", [&] { return cornersOf(*prepared); });
  // Small windows, which run together, and the large one, which does not.
  std::vector<SnakeRun>  windows{ part };
  const auto             width = static_cast<int32_t>(image.Width);
  const auto             height = static_cast<int32_t>(image.Height);
  const int32_t          side = std::min({ 40, width, height });
  const CudaSnakePolygon start = MakeRectangle(side / 4, side / 4, side - side / 4, side - side / 4);
  for (int32_t i = 0; i < 20; ++i)
  {
    windows.push_back(RunWith(image));
    windows.back().Rectangle = { i * (width - side) / 20, i * (height - side) / 20, side, side };
    windows.back().StartPolygon = &start;
    windows.back().Parameters.UseDescriptionLength = true;
    windows.back().Parameters.MaximumNumberOfNodes = 256;
  }
  itk::cuda::test::WalkFaults<int32_t>("batch", [&] {
    std::vector<int32_t> corners;
    const auto           batch = MakeDeviceBatch(*prepared, Threads(1));
    batch->RunTogether(windows, [](double) { return true; });
    for (size_t i = 0; i < windows.size(); ++i)
    {
      for (const CudaSnakePoint & corner : batch->Run(i, windows[i], Threads(1)).Polygon)
      {
        corners.insert(corners.end(), { corner.X, corner.Y });
      }
    }
    return corners;
  });
  ExpectSameResults(RunAfresh(image, run), RunOn(*prepared, run), image.Name);
}
