// SPDX-License-Identifier: Apache-2.0

// Runs in slabs on the device: the bits of a run over the whole image there, however the image is cut and whatever
// logical devices take the chunks; bytes over the link; memory; faults.

#include "runtime/device/Call.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "runtime/memory/DeviceMemory.h"
#include "itkCudaError.h"
#include "support/itkCudaFaultWalk.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaSlabTest.h"
#include "runtime/device/Stream.h"
#include "support/itkCudaTestSeed.h"
#include "runtime/transfer/TransferPolicy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

class GaussianSlabsGpu : public testing::Test
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(0, reason))
    {
      GTEST_SKIP() << reason;
    }
  }

  void
  TearDown() override
  {
    CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
    CudaFiltersConfiguration::SetDeviceMemoryResource(nullptr, nullptr);
  }
};

/** Fills memory that later buffers get with NaN. */
void
PoisonDeviceMemory(size_t bytes)
{
  const cuda::StreamLease  stream(0);
  const cuda::DeviceBuffer buffer(bytes, stream);
  ITK_CUDA_CALL(cudaMemsetAsync(buffer.GetPointer(), 0xff, bytes, stream.GetStream()));
  stream.Synchronize();
}

SlabImage
RunWhole(const CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
{
  SlabImage output = MakeSlabOutput(plan, input, type);
  SlabImage source = input;
  CudaRunOnDevice(plan, source.GetView(), output.GetView(), 0, nullptr);
  return output;
}

CudaSlabOptions
MakeDeviceOptions(size_t chunksPerSlab, size_t queues = 1)
{
  CudaSlabOptions options;
  options.Devices.assign(queues, 0);
  options.ChunksPerSlab = chunksPerSlab;
  return options;
}

/** Index of the first byte that differs; the number of bytes if none does. */
size_t
FindDifference(const SlabImage & a, const SlabImage & b)
{
  return std::mismatch(a.Bytes.begin(), a.Bytes.end(), b.Bytes.begin()).first - a.Bytes.begin();
}

void
ExpectSameBits(const SlabCase & test, const std::vector<size_t> & chunksPerSlab, const std::vector<size_t> & queues)
{
  const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  PoisonDeviceMemory(size_t{ 16 } << 20);
  const auto   shape = CudaGetGaussianSlabShape(test.Plan, input.Shape, expected.Shape);
  const size_t sweeps = shape.NeedsAllChunks ? 2 : 1;
  for (const size_t chunks : chunksPerSlab)
  {
    for (const size_t number : queues)
    {
      SCOPED_TRACE(test.Name + ", chunks in a slab: " + std::to_string(chunks) + ", queues: " + std::to_string(number));
      VerifyingEndpoints   ends(test.Plan, input, test.OutputType);
      const CudaSlabReport report = ends.Run(MakeDeviceOptions(chunks, number));
      EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size());
      EXPECT_EQ(report.BytesUp, sweeps * input.Bytes.size());
      EXPECT_EQ(report.BytesDown, expected.Bytes.size());
      EXPECT_EQ(ends.Asked, sweeps * input.GetNumberOfPlanes());
      EXPECT_EQ(report.Devices.size(), number);
      EXPECT_EQ(report.NumberOfSlabs, (shape.NumberOfChunks + report.ChunksPerSlab - 1) / report.ChunksPerSlab);
      EXPECT_EQ(report.Used, shape.NeedsAllChunks ? CudaSlabReport::TwoSweeps : CudaSlabReport::OneSweep);
      EXPECT_FALSE(report.OnHost);
    }
  }
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeForAllFilters)
{
  for (const SlabCase & test : MakeSlabCases())
  {
    ExpectSameBits(test, { 1, 3 }, { 1, 2 });
    if (HasFailure())
    {
      break; // one is enough to look at
    }
  }
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeForAllSizesAndSigmas)
{
  for (const size_t length : { 129, 1000, 1025, 3072 })
  {
    for (const double sigma : { 0.7, 4.0, 10.66, 10.67, 32.0, 33.0, 150.0 })
    {
      SlabCase test = MakeSmoothingCase(length, sigma);
      test.Size[0] = 70;
      ExpectSameBits(test, { 1, 2, 5, 8 }, { 1, 2, 4 });
    }
  }
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeInSlabsThatAreChosen)
{
  for (const double sigma : { 2.0, 20.0, 30.0, 60.0 })
  {
    SlabCase test = MakeSmoothingCase(34 * 128 - 5, sigma);
    test.OutputType = CudaComponentType::Float; // as it is computed
    ExpectSameBits(test, { 0 }, { 1, 3 });
    const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
    const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
    SlabImage       output = MakeSlabOutput(test.Plan, input, test.OutputType);
    SlabImage       source = input;
    const auto      report =
      CudaGaussianFilterSlabs(test.Plan, source.GetView(), output.GetView(), MakeDeviceOptions(0), nullptr);
    EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size()) << "sigma " << sigma;
    EXPECT_EQ(report.ChunksPerSlab, 4u);
    EXPECT_EQ(report.NumberOfSlabs, 9u);
  }
}

/** How the filters' way took an image from host to host, which fits, and with the bits of the whole. */
CudaSlabReport
RunFilter(const SlabCase & test, CudaFiltersEnums::Streaming streaming, bool isPageLocked)
{
  SlabImage       input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  SlabImage       output = MakeSlabOutput(test.Plan, input, test.OutputType);
  std::fill(output.Bytes.begin(), output.Bytes.end(), static_cast<unsigned char>(0xff));
  const auto forBoth = [&](const auto & function) {
    for (SlabImage * const image : { &input, &output })
    {
      EXPECT_TRUE(!isPageLocked || function(*image) == cudaSuccess);
    }
  };
  forBoth([](SlabImage & image) {
    return cudaHostRegister(image.Bytes.data(), image.Bytes.size(), cudaHostRegisterPortable);
  });
  CudaFilterBackend backend;
  backend.Requested = CudaFiltersEnums::Backend::Cuda;
  backend.Streaming = streaming;
  const size_t needed = CudaWorkingSet(test.Plan, input.GetView(), output.GetView());
  EXPECT_TRUE(backend.SelectDevice(nullptr, needed, true));
  EXPECT_TRUE(CudaRunOnDevice(test.Plan, input.GetView(), output.GetView(), backend, nullptr));
  forBoth([](SlabImage & image) { return cudaHostUnregister(image.Bytes.data()); });
  EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size());
  return backend.SlabReport;
}

/** Images on both sides of the limits of bytes and of turns. With look-ahead a, K chunks take (K + a + 1) / K turns. */
TEST_F(GaussianSlabsGpu, ImagesThatFitAreOverlappedWithTheBitsOfTheWhole)
{
  using Schedule = CudaSlabReport::Schedule;
  struct Case
  {
    std::array<size_t, 4> Size;
    double                Sigma;
    CudaComponentType     Type;
    Schedule              Used;
  };
  const auto float32 = CudaComponentType::Float;
  const Case cases[] = { { { 4096, 4096, 1, 1 }, 4.0, float32, Schedule::Overlapped },
                         { { 4096, 4095, 1, 1 }, 4.0, float32, Schedule::Whole },
                         { { 6000, 7000, 1, 1 }, 20.0, CudaComponentType::Short, Schedule::Overlapped },
                         { { 256, 256, 512, 1 }, 4.0, float32, Schedule::Overlapped },  // 1.5 turns
                         { { 256, 256, 512, 1 }, 12.0, float32, Schedule::Overlapped }, // 1.75 turns
                         { { 256, 256, 512, 1 }, 24.0, float32, Schedule::Whole },      // 2 turns
                         { { 512, 512, 256, 1 }, 4.0, float32, Schedule::Whole } };     // 2 turns
  for (const Case & one : cases)
  {
    const unsigned int dimension = one.Size[2] > 1 ? 3 : 2;
    const auto         parameters = MakeSlabParameters(dimension, one.Sigma, CudaFiltersEnums::Approximation::Deriche);
    for (const auto & [name, plan] :
         { std::pair("smoothing", MakeSmoothingPlan(parameters)), std::pair("gradient", MakeGradientPlan(parameters)) })
    {
      SlabCase test{ name, plan, one.Size };
      test.InputType = test.OutputType = one.Type;
      for (const bool isPageLocked : { false, true })
      {
        SCOPED_TRACE(test.Name + " of " + std::to_string(one.Size[0]) + " x " + std::to_string(one.Size[1]) + " x " +
                     std::to_string(one.Size[2]) + ", sigma " + std::to_string(one.Sigma) +
                     (isPageLocked ? ", page-locked" : ""));
        EXPECT_EQ(RunFilter(test, CudaFiltersEnums::Streaming::Automatic, isPageLocked).Used, one.Used);
      }
      EXPECT_EQ(RunFilter(test, CudaFiltersEnums::Streaming::Off, false).Used, Schedule::Whole);
    }
  }
}

/** Slabs of 75 MiB, and a last one of 5 MiB. A large upload goes on in the page-locked memory of the one before. */
TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeInLargeSlabs)
{
  SlabCase test = MakeSmoothingCase(4 * 128 + 9, 4.0);
  test.Size = { { 512, 300, 4 * 128 + 9, 1 } };
  SlabImage       source = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, source, CudaComponentType::Float);
  const size_t    pinned = CudaFiltersConfiguration::GetPinnedBytesInUse();
  for (const size_t queues : { 1, 2 })
  {
    SlabImage  output = MakeSlabOutput(test.Plan, source, CudaComponentType::Float);
    const auto run = [&](const CudaProgressFunction & progress) {
      CudaGaussianFilterSlabs(test.Plan, source.GetView(), output.GetView(), MakeDeviceOptions(1, queues), progress);
    };
    for (const float last : { 0.1f, 0.5f, 0.9f })
    {
      const auto stop = [last](float done) {
        if (done > last)
        {
          throw std::runtime_error("stop");
        }
      };
      EXPECT_THROW(run(stop), std::runtime_error) << queues << " queues, behind " << last;
      EXPECT_EQ(CudaFiltersConfiguration::GetPinnedBytesInUse(), pinned) << queues << " queues, behind " << last;
    }
    output = MakeSlabOutput(test.Plan, source, CudaComponentType::Float);
    run(nullptr);
    EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size()) << queues << " queues";
    EXPECT_EQ(CudaFiltersConfiguration::GetPinnedBytesInUse(), pinned) << queues << " queues";
  }
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeAtSeams)
{
  for (const size_t plane : { 127, 128, 129, 640, 1023 })
  {
    const SlabCase test = MakeSmoothingCase(1025, 4.0);
    SlabImage      input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
    input.Get<float>()[plane * 45 + 7] += 1000.0f;
    const SlabImage    expected = RunWhole(test.Plan, input, CudaComponentType::Float);
    VerifyingEndpoints ends(test.Plan, input, CudaComponentType::Float);
    ends.Run(MakeDeviceOptions(1, 2));
    EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size()) << "plane " << plane;
  }
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeFromViewToViewAndInPlace)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    for (const auto type : { CudaComponentType::Float, CudaComponentType::Short })
    {
      for (const size_t queues : { 1, 3 })
      {
        SlabCase test = MakeSmoothingCase(1500, sigma);
        test.Size = { { 128, 64, 1500, 1 } };
        SlabImage            input = MakeRandomImage(test.Size, 1, type, GetSeed());
        const SlabImage      expected = RunWhole(test.Plan, input, type);
        SlabImage            output = MakeSlabOutput(test.Plan, input, type);
        const auto           before = cuda::GetTransferCounts();
        const CudaSlabReport report =
          CudaGaussianFilterSlabs(test.Plan, input.GetView(), output.GetView(), MakeDeviceOptions(1, queues), nullptr);
        const auto after = cuda::GetTransferCounts();
        EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size());
        EXPECT_EQ(after.UploadedBytes - before.UploadedBytes, report.BytesUp);
        EXPECT_EQ(after.DownloadedBytes - before.DownloadedBytes, report.BytesDown);
        EXPECT_EQ(report.BytesUp, (sigma < 30 ? 1 : 2) * input.Bytes.size());
        EXPECT_EQ(report.BytesDown, input.Bytes.size());
        CudaGaussianFilterSlabs(test.Plan, input.GetView(), input.GetView(), MakeDeviceOptions(0, queues), nullptr);
        EXPECT_EQ(FindDifference(input, expected), expected.Bytes.size());
      }
    }
  }
}

TEST_F(GaussianSlabsGpu, SomeSecondsOfRandomCasesHaveTheBitsOfTheWhole)
{
  std::mt19937 generator(static_cast<unsigned int>(GetSeed()));
  const auto   begin = std::chrono::steady_clock::now();
  unsigned int cases = 0;
  for (; std::chrono::steady_clock::now() - begin < std::chrono::seconds(GetFuzzSeconds()); ++cases)
  {
    const SlabCase test = DrawSlabCase(generator);
    SCOPED_TRACE("case " + std::to_string(cases));
    ExpectSameBits(test, { 1 + generator() % 5 }, { 1 + generator() % 4 });
    ASSERT_FALSE(HasFailure()) << "seed " << GetSeed();
  }
  std::cout << cases << " cases" << std::endl;
}

TEST_F(GaussianSlabsGpu, PartsMakeUpTheWhole)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    const SlabCase     test = MakeSmoothingCase(900, sigma);
    const SlabImage    input = MakeRandomImage(test.Size, 1, CudaComponentType::Short, GetSeed());
    const SlabImage    expected = RunWhole(test.Plan, input, CudaComponentType::Float);
    const auto         states = CudaMakeSlabStates();
    VerifyingEndpoints ends(test.Plan, input, CudaComponentType::Float);
    for (const size_t first : { 384, 0, 640 })
    {
      CudaSlabOptions options = MakeDeviceOptions(1);
      options.FirstPlane = first;
      options.NumberOfPlanes = first == 640 ? 260 : 256 + (first == 0 ? 128 : 0);
      options.States = states;
      ends.Next = first;
      ends.Run(options);
    }
    EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size()) << "sigma " << sigma;
    EXPECT_EQ(ends.Asked, sigma < 30 ? 1 + (256 + 2 * 128) + (384 + 128) + (260 + 128) : 900u + 900u);
  }
}

TEST_F(GaussianSlabsGpu, ContinueTheImageInOtherBoundaryModes)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  for (const ModeEnum mode : { ModeEnum::Reflect, ModeEnum::Mirror, ModeEnum::Constant })
  {
    for (const auto & [length, sigma] :
         std::vector<std::pair<size_t, double>>{ { 100, 4.0 }, { 700, 5.0 }, { 900, 60.0 } })
    {
      auto parameters = MakeSlabParameters(3, sigma, CudaFiltersEnums::Approximation::Deriche);
      parameters.Boundary = { mode, 990.0 };
      const auto         plan = MakeSmoothingPlan(parameters);
      SlabImage          input = MakeRandomImage({ 5, 4, length, 1 }, 1, CudaComponentType::Float, GetSeed());
      SlabImage          expected = RunWhole(plan, input, CudaComponentType::Float);
      VerifyingEndpoints ends(plan, input, CudaComponentType::Float);
      ends.Run(MakeDeviceOptions(1, 2));
      EXPECT_EQ(ends.Given, length);
      for (size_t i = 0; i < 5 * 4 * length; ++i)
      {
        // The window leaves out 1.25e-7 of the weights, and float rounds.
        ASSERT_NEAR(ends.Output.Get<float>()[i], expected.Get<float>()[i], 1e-6 * 1100.0)
          << "mode " << mode << ", " << length << " planes, sigma " << sigma << ", pixel " << i;
      }
    }
  }
}

/** Counts what is allocated, from CUDA. */
struct CountingMemory
{
  std::atomic<size_t> InUse{ 0 };
  std::atomic<size_t> Most{ 0 };

  static void *
  Allocate(size_t bytes, int, void * stream, void * context)
  {
    auto * const counts = static_cast<CountingMemory *>(context);
    const size_t inUse = counts->InUse += bytes;
    counts->Most = std::max<size_t>(counts->Most, inUse);
    void * pointer = nullptr;
    return cudaMallocAsync(&pointer, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess ? pointer : nullptr;
  }

  static void
  Release(void * pointer, size_t bytes, int, void * stream, void * context) noexcept
  {
    static_cast<CountingMemory *>(context)->InUse -= bytes;
    ITK_CUDA_CALL_NOTHROW(cudaFreeAsync(pointer, static_cast<cudaStream_t>(stream)));
  }
};

TEST_F(GaussianSlabsGpu, AnImageOfSixteenTimesTheLimitStaysWithinIt)
{
  SlabCase test = MakeSmoothingCase(128 * 120 + 5, 4.0);
  test.Size[0] = 64;
  test.Size[1] = 48;
  const SlabImage input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, CudaComponentType::Float);
  const size_t    limit = input.Bytes.size() / 16;
  CountingMemory  memory;
  CudaFiltersConfiguration::SetDeviceMemoryResource(CountingMemory::Allocate, CountingMemory::Release, &memory);
  CudaFiltersConfiguration::SetDeviceMemoryLimit(limit);
  VerifyingEndpoints   ends(test.Plan, input, CudaComponentType::Float);
  const CudaSlabReport report = ends.Run(MakeDeviceOptions(1));
  EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size());
  EXPECT_LE(memory.Most, limit);
  EXPECT_LE(memory.Most, report.PeakDeviceBytes);
  EXPECT_GT(2 * memory.Most, report.PeakDeviceBytes);
  EXPECT_LE(report.PeakDeviceBytes, limit);

  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  memory.Most = 0;
  CudaSlabOptions options = MakeDeviceOptions(1);
  options.DeviceMemoryLimit = limit;
  VerifyingEndpoints(test.Plan, input, CudaComponentType::Float).Run(options);
  EXPECT_LE(memory.Most, limit);

  options.DeviceMemoryLimit = size_t{ 1 } << 20;
  try
  {
    VerifyingEndpoints(test.Plan, input, CudaComponentType::Float).Run(options);
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
    EXPECT_NE(std::string(error.GetDescription()).find("allowed: 1048576 bytes"), std::string::npos)
      << error.GetDescription();
  }
}

/** Bytes of the first and of the last run. */
std::pair<size_t, size_t>
ExpectSameBitsWithAnyMemory(const SlabCase & test, size_t queues)
{
  SCOPED_TRACE(test.Name + ", types " + std::to_string(static_cast<int>(test.InputType)) + " and " +
               std::to_string(static_cast<int>(test.OutputType)) + ", queues: " + std::to_string(queues));
  const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  PoisonDeviceMemory(size_t{ 16 } << 20);
  const auto     shape = CudaGetGaussianSlabShape(test.Plan, input.Shape, expected.Shape);
  const size_t   sweeps = shape.NeedsAllChunks ? 2 : 1;
  CountingMemory memory;
  CudaFiltersConfiguration::SetDeviceMemoryResource(CountingMemory::Allocate, CountingMemory::Release, &memory);
  const auto run = [&](size_t limit) {
    memory.Most = 0;
    CudaSlabOptions options = MakeDeviceOptions(1, queues);
    options.DeviceMemoryLimit = limit;
    VerifyingEndpoints   ends(test.Plan, input, test.OutputType);
    const CudaSlabReport report = ends.Run(options);
    EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size()) << "limit " << limit;
    EXPECT_EQ(report.BytesUp, sweeps * input.Bytes.size());
    EXPECT_EQ(report.BytesDown, expected.Bytes.size());
    EXPECT_LE(memory.Most, report.PeakDeviceBytes);
    return report;
  };
  const auto bytes = ExpectAnyMemoryWillDo(run);
  CudaFiltersConfiguration::SetDeviceMemoryResource(nullptr, nullptr);
  return bytes;
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeWithAnyMemoryForAllFilters)
{
  for (const SlabCase & test : MakeSlabCases())
  {
    ExpectSameBitsWithAnyMemory(test, 1);
  }
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeWithAnyMemoryForAllTypes)
{
  using Type = CudaComponentType;
  const std::vector<std::pair<Type, Type>> types{ { Type::Short, Type::Short }, { Type::UChar, Type::UChar },
                                                  { Type::Float, Type::Float }, { Type::Double, Type::Double },
                                                  { Type::UChar, Type::Float }, { Type::Short, Type::Double } };
  for (const auto & [from, to] : types)
  {
    for (const size_t length : { 129, 1025 })
    {
      for (const double sigma : { 4.0, 10.67, 33.0 })
      {
        SlabCase test = MakeSmoothingCase(length, sigma);
        test.Size[0] = 70;
        test.Size[1] = 45;
        test.InputType = from;
        test.OutputType = to;
        for (const size_t queues : { 1, 2 })
        {
          const auto [most, least] = ExpectSameBitsWithAnyMemory(test, queues);
          EXPECT_LT(least, most);
        }
      }
    }
  }
}

TEST_F(GaussianSlabsGpu, HaveTheBitsOfLinesThatAreNeverCut)
{
  for (const double sigma : { 4.0, 33.0 })
  {
    for (const auto type : { CudaComponentType::Float, CudaComponentType::Double })
    {
      SlabCase test = MakeSmoothingCase(1025, sigma);
      test.Size = { { 64, 40, 1025, 1 } };
      SlabImage       input = MakeRandomImage(test.Size, 1, type, GetSeed());
      const SlabImage expected = RunWhole(test.Plan, input, type);
      CudaSlabOptions options = MakeDeviceOptions(1);
      options.DeviceMemoryLimit = input.Bytes.size() / 10; // slabs need more
      SlabImage            output = MakeSlabOutput(test.Plan, input, type);
      const CudaSlabReport report =
        CudaGaussianFilterSlabs(test.Plan, input.GetView(), output.GetView(), options, nullptr);
      EXPECT_EQ(report.Used, CudaSlabReport::Columns);
      EXPECT_EQ(report.BytesUp, 2 * input.Bytes.size());
      EXPECT_EQ(report.BytesDown, 2 * input.Bytes.size());
      EXPECT_LE(report.PeakDeviceBytes, options.DeviceMemoryLimit);
      EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size()) << "sigma " << sigma;
      VerifyingEndpoints ends(test.Plan, input, type);
      EXPECT_NE(ends.Run(MakeDeviceOptions(1)).Used, CudaSlabReport::Columns);
      EXPECT_EQ(FindDifference(ends.Output, output), output.Bytes.size()) << "sigma " << sigma;
    }
  }
}

TEST_F(GaussianSlabsGpu, WhatSourceSinkOrProgressThrowsArrivesAndEndsTheCalls)
{
  const size_t before = CudaFiltersConfiguration::GetDeviceBytesInUse();
  for (const double sigma : { 3.0, 60.0 })
  {
    ExpectThrownArrivesAndEndsTheCalls(
      sigma,
      CudaComponentType::Float,
      RunWhole,
      [](VerifyingEndpoints & ends, unsigned int n) { ends.Run(MakeDeviceOptions(1, 1 + n % 3)); },
      [before] { EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), before); });
  }
}

TEST_F(GaussianSlabsGpu, EachCallThatFailsIsReportedAndTheNextRunIsRightSlow)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    const auto walk = [&](const SlabCase & test, const std::string & name, CudaSlabOptions options, bool isScarce) {
      const SlabImage input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
      if (isScarce)
      {
        options.DeviceMemoryLimit = FindLeastMemory(test, options);
      }
      WalkFaults<unsigned char>(name, [&] {
        VerifyingEndpoints ends(test.Plan, input, CudaComponentType::Float);
        ends.Run(options);
        return ends.Output.Bytes;
      });
    };
    SlabCase test = MakeSmoothingCase(500, sigma);
    walk(test, test.Name, MakeDeviceOptions(1, 2), false);
    // Each part and each group of rows makes calls of its own: a small image will do.
    test = MakeSmoothingCase(300, sigma);
    test.Size[1] = 2;
    walk(test, test.Name + ", scarce memory", MakeDeviceOptions(1), true);
  }
}

TEST_F(GaussianSlabsGpu, TwoThreadsRunAtTheSameTime)
{
  const SlabCase                  test = MakeSmoothingCase(1500, 4.0);
  const SlabImage                 input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
  const SlabImage                 expected = RunWhole(test.Plan, input, CudaComponentType::Float);
  std::vector<VerifyingEndpoints> ends(2, VerifyingEndpoints(test.Plan, input, CudaComponentType::Float));
  std::vector<std::string>        errors(2);
  std::vector<std::thread>        threads;
  for (size_t i = 0; i < ends.size(); ++i)
  {
    threads.emplace_back([&, i] {
      try
      {
        ends[i].Run(MakeDeviceOptions(1, 1 + i));
      }
      catch (const std::exception & error)
      {
        errors[i] = error.what();
      }
    });
  }
  for (size_t i = 0; i < ends.size(); ++i)
  {
    threads[i].join();
    EXPECT_EQ(errors[i], "");
    EXPECT_EQ(FindDifference(ends[i].Output, expected), expected.Bytes.size());
  }
}
} // namespace
