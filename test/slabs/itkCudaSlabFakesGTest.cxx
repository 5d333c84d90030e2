// SPDX-License-Identifier: Apache-2.0

// The slabs' way through devices without a GPU: threads stand for streams, and the host's steps for kernels
// (itkCudaSlabFakes.cxx). Bits of runs over whole images; logical devices; memory; what sources and sinks throw.

#include "runtime/device/Call.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "gaussian/slabs/Slabs.h"
#include "itkCudaError.h"
#include "runtime/Settings.h"
#include "support/itkCudaSlabFakes.h"
#include "support/itkCudaSlabTest.h"
#include "support/itkCudaTestSeed.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;
using itk::cuda::FaultHook;

/** Host memory is taken for page-locked memory now and then. */
class SlabFakes : public testing::Test
{
protected:
  void
  SetUp() override
  {
    cuda::SetNumberOfTransferThreads(8);
    SetMixesPageLocked(true);
  }

  void
  TearDown() override
  {
    SetMixesPageLocked(false);
    cuda::SetNumberOfTransferThreads(0);
  }
};

/** In double, the fakes' type. */
SlabImage
RunWhole(const CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
{
  SlabImage  output = MakeSlabOutput(plan, input, type);
  SlabImage  source = input;
  const auto threader = MultiThreaderBase::New();
  CudaRunOnHost(plan, source.GetView(), output.GetView(), threader, nullptr);
  return output;
}

CudaSlabOptions
MakeDeviceOptions(size_t chunksPerSlab, size_t queues)
{
  CudaSlabOptions options;
  options.Devices.assign(queues, 0);
  options.ChunksPerSlab = chunksPerSlab;
  return options;
}

void
ExpectSameBits(SlabCase test, const std::vector<size_t> & chunksPerSlab, const std::vector<size_t> & queues)
{
  test.InputType = CudaComponentType::Double;
  const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  const auto      shape = CudaGetGaussianSlabShape(test.Plan, input.Shape, expected.Shape);
  const size_t    sweeps = shape.NeedsAllChunks ? 2 : 1;
  for (const size_t chunks : chunksPerSlab)
  {
    for (const size_t number : queues)
    {
      SCOPED_TRACE(test.Name + ", chunks in a slab: " + std::to_string(chunks) + ", queues: " + std::to_string(number));
      VerifyingEndpoints ends(test.Plan, input, test.OutputType);
      GetMostFakeBytes();
      const CudaSlabReport report = ends.Run(MakeDeviceOptions(chunks, number));
      EXPECT_TRUE(ends.Output.Bytes == expected.Bytes);
      EXPECT_EQ(report.BytesUp, sweeps * input.Bytes.size());
      EXPECT_EQ(report.BytesDown, expected.Bytes.size());
      EXPECT_EQ(ends.Asked, sweeps * input.GetNumberOfPlanes());
      EXPECT_LE(GetMostFakeBytes(), report.PeakDeviceBytes);
      EXPECT_EQ(GetFakeBytesInUse(), 0u);

      SlabImage output = MakeSlabOutput(test.Plan, input, test.OutputType);
      CudaGaussianFilterSlabs(
        test.Plan, ends.Input.GetView(), output.GetView(), MakeDeviceOptions(chunks, number), nullptr);
      EXPECT_TRUE(output.Bytes == expected.Bytes) << "from view to view";
    }
  }
}

TEST_F(SlabFakes, GiveTheBitsOfTheWholeForAllFilters)
{
  for (SlabCase & test : MakeSlabCases())
  {
    if (test.InputType != CudaComponentType::Float)
    {
      test.Size[0] = 3;
      ExpectSameBits(test, { 1 }, { 2 });
    }
  }
}

TEST_F(SlabFakes, GiveTheBitsOfTheWholeForAllCuts)
{
  for (const size_t length : { 129, 1025 })
  {
    for (const double sigma : { 2.0, 8.0, 16.0, 40.0 })
    {
      SlabCase test = MakeSmoothingCase(length, sigma);
      test.OutputType = CudaComponentType::Double;
      ExpectSameBits(test, { 1, 2, 3, 8 }, { 1, 2, 3, 4 });
    }
  }
}

TEST_F(SlabFakes, GiveTheBitsOfTheWholeInSlabsThatAreChosen)
{
  constexpr size_t length = 34 * 128 - 5;
  for (const double sigma : { 2.0, 8.0, 16.0, 40.0 })
  {
    SlabCase test = MakeSmoothingCase(length, sigma);
    test.OutputType = CudaComponentType::Double;
    ExpectSameBits(test, { 0 }, { 1, 3 });
  }
  const SlabCase       test = MakeSmoothingCase(length, 2.0);
  const SlabImage      input = MakeRandomImage(test.Size, test.Components, CudaComponentType::Double, GetSeed());
  VerifyingEndpoints   ends(test.Plan, input, CudaComponentType::Double);
  const CudaSlabReport report = ends.Run(MakeDeviceOptions(0, 1));
  EXPECT_EQ(report.LookAhead, 1u);
  EXPECT_EQ(report.ChunksPerSlab, 4u);
  EXPECT_EQ(report.NumberOfSlabs, 9u);
}

/** Bytes of the first and of the last run. */
std::pair<size_t, size_t>
ExpectSameBitsWithAnyMemory(const SlabCase & test, size_t chunksPerSlab, size_t queues)
{
  SCOPED_TRACE(test.Name + ", types " + std::to_string(static_cast<int>(test.InputType)) + " and " +
               std::to_string(static_cast<int>(test.OutputType)) + ", queues: " + std::to_string(queues));
  const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  const auto      shape = CudaGetGaussianSlabShape(test.Plan, input.Shape, expected.Shape);
  const size_t    sweeps = shape.NeedsAllChunks ? 2 : 1;
  bool            isFromViews = false;
  const auto      run = [&](size_t limit) {
    CudaSlabOptions options = MakeDeviceOptions(chunksPerSlab, queues);
    options.DeviceMemoryLimit = limit;
    VerifyingEndpoints ends(test.Plan, input, test.OutputType);
    GetMostFakeBytes();
    isFromViews = !isFromViews;
    const CudaSlabReport report =
      isFromViews ? CudaGaussianFilterSlabs(test.Plan, ends.Input.GetView(), ends.Output.GetView(), options, nullptr)
                       : ends.Run(options);
    EXPECT_TRUE(ends.Output.Bytes == expected.Bytes) << "limit " << limit << ", from views " << isFromViews;
    EXPECT_EQ(report.BytesUp, sweeps * input.Bytes.size());
    EXPECT_EQ(report.BytesDown, expected.Bytes.size());
    EXPECT_LE(GetMostFakeBytes(), report.PeakDeviceBytes);
    EXPECT_EQ(GetFakeBytesInUse(), 0u);
    return report;
  };
  return ExpectAnyMemoryWillDo(run);
}

TEST_F(SlabFakes, GiveTheBitsOfTheWholeWithAnyMemoryForAllFilters)
{
  for (SlabCase & test : MakeSlabCases())
  {
    if (test.InputType == CudaComponentType::Double)
    {
      test.Size[0] = 3;
      ExpectSameBitsWithAnyMemory(test, 1, 1);
    }
  }
}

TEST_F(SlabFakes, GiveTheBitsOfTheWholeWithAnyMemoryForAllTypes)
{
  using Type = CudaComponentType;
  const std::vector<std::pair<Type, Type>> types{ { Type::UChar, Type::Double }, { Type::Short, Type::Double },
                                                  { Type::Float, Type::Double }, { Type::Double, Type::Double },
                                                  { Type::Double, Type::Short }, { Type::Int, Type::UChar } };
  for (const auto & [from, to] : types)
  {
    for (const size_t length : { 129, 641 })
    {
      for (const double sigma : { 2.0, 8.0, 40.0 })
      {
        SlabCase test = MakeSmoothingCase(length, sigma);
        test.Size[1] = 13; // groups of two rows, and one
        test.InputType = from;
        test.OutputType = to;
        for (const size_t queues : { 1, 2, 3 })
        {
          const auto [most, least] = ExpectSameBitsWithAnyMemory(test, queues == 2 ? 0 : 1, queues);
          EXPECT_LT(least, most);
        }
      }
    }
  }
}

TEST_F(SlabFakes, HoldPixelsOfTheirTypeWhereMemoryIsScarce)
{
  SlabCase test = MakeSmoothingCase(1000, 2.0);
  test.Size[0] = 32;
  test.Size[1] = 32;
  test.InputType = CudaComponentType::UChar;
  test.OutputType = CudaComponentType::Double;
  const size_t least = ExpectSameBitsWithAnyMemory(test, 1, 1).second;
  const size_t chunk = size_t{ 128 } * 32 * 32;
  const size_t states = chunk / 128 * 64; // two sweeps of two pole pairs, 16 bytes each
  // two slots; the end states of three chunks, and the edges; an eighth of a chunk of double for a group's rows, and
  // for a part across slabs, between two passes, as it is computed and as it is sent; a little
  EXPECT_LE(least, 2 * chunk + 4 * states + 5 * chunk * sizeof(double) / 8 + (size_t{ 32 } << 10));
}

TEST_F(SlabFakes, GiveTheBitsOfTheWholeInPlace)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    const SlabCase  test = MakeSmoothingCase(1300, sigma);
    SlabImage       input = MakeRandomImage(test.Size, 1, CudaComponentType::Double, GetSeed());
    const SlabImage expected = RunWhole(test.Plan, input, CudaComponentType::Double);
    CudaGaussianFilterSlabs(test.Plan, input.GetView(), input.GetView(), MakeDeviceOptions(1, 2), nullptr);
    EXPECT_TRUE(input.Bytes == expected.Bytes) << sigma;
  }
}

/** Parts of an image, one of them from the middle on, that find states for each other. */
void
ExpectPartsMakeUpTheWhole(double sigma, CudaComponentType type, bool isScarce)
{
  SCOPED_TRACE("sigma " + std::to_string(sigma) + ", type " + std::to_string(static_cast<int>(type)) +
               ", scarce memory: " + std::to_string(isScarce));
  SlabCase test = MakeSmoothingCase(900, sigma);
  test.InputType = type;
  test.OutputType = CudaComponentType::Double;
  const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  CudaSlabOptions options = MakeDeviceOptions(1, 1);
  options.States = CudaMakeSlabStates();
  options.DeviceMemoryLimit = isScarce ? FindLeastMemory(test, options) : 0;
  VerifyingEndpoints ends(test.Plan, input, test.OutputType);
  for (const size_t first : { 384, 0, 640 })
  {
    options.FirstPlane = first;
    options.NumberOfPlanes = first == 640 ? 260 : 256 + (first == 0 ? 128 : 0);
    ends.Next = first;
    GetMostFakeBytes();
    const CudaSlabReport report = ends.Run(options);
    EXPECT_LE(GetMostFakeBytes(), report.PeakDeviceBytes) << "from plane " << first << " on";
  }
  EXPECT_TRUE(ends.Output.Bytes == expected.Bytes);
  EXPECT_EQ(ends.Asked, sigma < 30 ? 1 + (256 + 2 * 128) + (384 + 128) + (260 + 128) : 900u + 900u);
}

TEST_F(SlabFakes, PartsMakeUpTheWhole)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    for (const auto type : { CudaComponentType::Double, CudaComponentType::Short })
    {
      ExpectPartsMakeUpTheWhole(sigma, type, false);
      ExpectPartsMakeUpTheWhole(sigma, type, true);
    }
  }
}

/** Calls Next() until it has returned planes `calls` times, or the run is complete. Copies the planes to `output`. */
bool
TakePlanes(cuda::SlabRun & run, size_t calls, SlabImage & output)
{
  for (size_t call = 0; call < calls; ++call)
  {
    const cuda::SlabPlanes planes = run.Next();
    if (planes.Number == 0)
    {
      return true;
    }
    std::memcpy(
      &output.Bytes[planes.First * output.GetBytesOfPlane()], planes.Pixels, planes.Number * output.GetBytesOfPlane());
  }
  return false;
}

/** The threads of the queues continue while nobody takes planes, and end with a run that nobody completes. */
TEST_F(SlabFakes, RunsArePausedAndLeftAfterAnyPlanes)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    SlabCase test = MakeSmoothingCase(900, sigma);
    test.InputType = test.OutputType = CudaComponentType::Double;
    const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
    const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
    SlabImage       source = input;
    for (const bool onHost : { true, false })
    {
      bool isComplete = false;
      for (size_t taken = 0; !isComplete; ++taken)
      {
        CudaSlabOptions options = MakeDeviceOptions(1, 1 + taken % 3);
        options.OnHost = onHost;
        SlabImage  output = MakeSlabOutput(test.Plan, input, test.OutputType);
        const auto copy = [&](size_t first, size_t planes, void * pixels) {
          std::memcpy(pixels, &source.Bytes[first * source.GetBytesOfPlane()], planes * source.GetBytesOfPlane());
        };
        const auto run =
          cuda::gaussian::MakeSlabRun({ test.Plan, { input.Shape, output.Shape, copy }, options, nullptr });
        isComplete = TakePlanes(*run, taken, output);
        std::this_thread::sleep_for(std::chrono::milliseconds(2 * taken));
        if (taken % 2 == 0 && !isComplete)
        {
          EXPECT_TRUE(TakePlanes(*run, input.GetNumberOfPlanes(), output));
        }
        EXPECT_TRUE((taken % 2 == 1 && !isComplete) || output.Bytes == expected.Bytes) << taken << ' ' << onHost;
      }
      EXPECT_EQ(GetFakeBytesInUse(), 0u);
    }
  }
}

/** States of the host are not those of a device, also where a run that found some was stopped. */
TEST_F(SlabFakes, StatesOfAStoppedRunElsewhereAreNotTaken)
{
  struct Stop
  {};
  SlabCase test = MakeSmoothingCase(900, 40.0);
  test.InputType = test.OutputType = CudaComponentType::Double;
  const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  const auto      tryAll = [&](bool beginsOnHost, bool endsOnHost, VerifyingEndpoints::Call call) {
    CudaSlabOptions options = MakeDeviceOptions(1, 1);
    options.States = CudaMakeSlabStates();
    const auto run = [&](bool onHost, const std::function<void()> & thrower) {
      options.OnHost = onHost;
      VerifyingEndpoints ends(test.Plan, input, test.OutputType);
      ends.ThrowAt(call, 2, thrower);
      ends.Run(options);
      EXPECT_TRUE(ends.Output.Bytes == expected.Bytes) << beginsOnHost << endsOnHost << call;
      return ends.Asked;
    };
    run(beginsOnHost, nullptr);
    EXPECT_THROW(run(!beginsOnHost, [] { throw Stop(); }), Stop);
    run(endsOnHost, nullptr);
    EXPECT_EQ(run(endsOnHost, nullptr), input.GetNumberOfPlanes()) << "its own states are taken";
  };
  for (const bool beginsOnHost : { true, false })
  {
    for (const bool endsOnHost : { true, false })
    {
      tryAll(beginsOnHost, endsOnHost, VerifyingEndpoints::Source);
      tryAll(beginsOnHost, endsOnHost, VerifyingEndpoints::Sink);
    }
  }
}

TEST_F(SlabFakes, SomeSecondsOfRandomCasesHaveTheBitsOfTheWhole)
{
  std::mt19937 generator(static_cast<unsigned int>(GetSeed()));
  const auto   begin = std::chrono::steady_clock::now();
  unsigned int cases = 0;
  for (; std::chrono::steady_clock::now() - begin < std::chrono::seconds(GetFuzzSeconds()); ++cases)
  {
    const SlabCase test = DrawSlabCase(generator);
    SCOPED_TRACE("case " + std::to_string(cases));
    ExpectSameBits(test, { 1 + generator() % 5 }, { 1 + generator() % 4 });
    SlabCase typed = test;
    typed.InputType = typed.OutputType == CudaComponentType::Double ? test.InputType : CudaComponentType::Double;
    ExpectSameBitsWithAnyMemory(typed, generator() % 3, 1 + generator() % 4);
    ASSERT_FALSE(HasFailure()) << "seed " << GetSeed();
  }
  std::cout << cases << " cases" << std::endl;
}

TEST_F(SlabFakes, WhatSourceSinkOrProgressThrowsArrivesAndEndsTheCalls)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    ExpectThrownArrivesAndEndsTheCalls(
      sigma,
      CudaComponentType::Double,
      RunWhole,
      [](VerifyingEndpoints & ends, unsigned int n) { ends.Run(MakeDeviceOptions(1, 1 + n % 3)); },
      [] { EXPECT_EQ(GetFakeBytesInUse(), 0u); });
  }
}

/** Whether the failed call asked about memory, which is then taken for ordinary memory: nothing else comes of it. */
bool
IsFailureHarmless()
{
  return FaultHook::GetCall().find("cudaPointerGetAttributes") == 0;
}

/** Makes each call of CUDA fail, one after the other. */
void
ExpectEachFailureIsReported(const SlabCase & test, const CudaSlabOptions & options, bool isFromViews, cudaError_t error)
{
  const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  const auto      run = [&](VerifyingEndpoints & ends) {
    isFromViews ? CudaGaussianFilterSlabs(test.Plan, ends.Input.GetView(), ends.Output.GetView(), options, nullptr)
                : ends.Run(options);
  };
  unsigned long n = 1;
  for (bool fired = true; fired && n < 2000; ++n)
  {
    VerifyingEndpoints ends(test.Plan, input, test.OutputType);
    std::string        failure;
    FaultHook::FailCall(n, error);
    try
    {
      run(ends);
    }
    catch (const CudaError & caught)
    {
      failure = caught.GetDescription();
    }
    FaultHook::Clear();
    fired = FaultHook::GetFired();
    const std::string where = "call " + std::to_string(n) + ": " + FaultHook::GetCall();
    const bool        isHarmless = IsFailureHarmless();
    EXPECT_EQ(failure, isHarmless ? "" : FaultHook::GetCall()) << where;
    EXPECT_TRUE((fired && !isHarmless) || ends.Output.Bytes == expected.Bytes) << where;
    EXPECT_EQ(GetFakeBytesInUse(), 0u) << where;
    if (n % 4 == 0)
    {
      VerifyingEndpoints next(test.Plan, input, test.OutputType);
      run(next);
      EXPECT_TRUE(next.Output.Bytes == expected.Bytes) << "the run after " << where;
    }
  }
  EXPECT_GT(n, 50u);
  EXPECT_LT(n, 2000u);
  std::cout << n - 2 << " calls" << std::endl;
}

TEST_F(SlabFakes, EachCallThatFailsIsReportedAndTheNextRunIsRight)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    SlabCase test = MakeSmoothingCase(300, sigma);
    test.Size = { { 2, 2, 300, 1 } };
    test.InputType = CudaComponentType::Short;
    test.OutputType = CudaComponentType::Double;
    for (const size_t queues : { 1, 2 })
    {
      const bool      isScarce = (sigma < 30) == (queues == 1);
      CudaSlabOptions options = MakeDeviceOptions(1, queues);
      options.DeviceMemoryLimit = isScarce ? FindLeastMemory(test, options) : 0;
      SCOPED_TRACE(test.Name + ", queues: " + std::to_string(queues) +
                   ", limit: " + std::to_string(options.DeviceMemoryLimit));
      ExpectEachFailureIsReported(test, options, queues == 2, isScarce ? cudaErrorMemoryAllocation : cudaErrorUnknown);
    }
  }
}

/** A smoothing whose slabs do not fit. The engine takes columns instead, in which lines are whole. */
struct ColumnsCase
{
  explicit ColumnsCase(double sigma)
    : Test(MakeSmoothingCase(1025, sigma))
    , Options(MakeDeviceOptions(1, 1))
  {
    Test.Size = { { 8, 24, 1025, 1 } };
    Test.InputType = Test.OutputType = CudaComponentType::Double;
    Input = MakeRandomImage(Test.Size, 1, Test.InputType, GetSeed());
    Expected = RunWhole(Test.Plan, Input, Test.OutputType);
    Options.DeviceMemoryLimit = FindLeastMemory(Test, Options) - 1;
  }

  CudaSlabReport
  Run(SlabImage & input, SlabImage & output) const
  {
    return CudaGaussianFilterSlabs(Test.Plan, input.GetView(), output.GetView(), Options, nullptr);
  }

  SlabCase        Test;
  SlabImage       Input, Expected;
  CudaSlabOptions Options;
};

TEST_F(SlabFakes, HaveTheBitsOfLinesThatAreNeverCut)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    SCOPED_TRACE(sigma);
    ColumnsCase columns(sigma);
    SlabImage   output = MakeSlabOutput(columns.Test.Plan, columns.Input, columns.Test.OutputType);
    GetMostFakeBytes();
    const CudaSlabReport report = columns.Run(columns.Input, output);
    EXPECT_EQ(report.Used, CudaSlabReport::Columns);
    EXPECT_GT(report.NumberOfSlabs, 1u);
    EXPECT_EQ(report.BytesUp, 2 * columns.Input.Bytes.size());
    EXPECT_EQ(report.BytesDown, 2 * output.Bytes.size());
    EXPECT_LE(GetMostFakeBytes(), report.PeakDeviceBytes);
    EXPECT_LE(report.PeakDeviceBytes, columns.Options.DeviceMemoryLimit);
    EXPECT_TRUE(output.Bytes == columns.Expected.Bytes);
    VerifyingEndpoints ends(columns.Test.Plan, columns.Input, columns.Test.OutputType);
    EXPECT_NE(ends.Run(MakeDeviceOptions(1, 1)).Used, CudaSlabReport::Columns);
    EXPECT_TRUE(ends.Output.Bytes == output.Bytes);
  }
}

/** After too little memory the host may take over, unless the input may be lost. */
TEST_F(SlabFakes, TooLittleMemoryInPlaceIsNoneThatTheHostMayTakeOverFrom)
{
  const ColumnsCase columns(2.0);
  const auto        runAndFail = [&](const CudaSlabOptions & options, bool isInPlace, unsigned long callToFail) {
    SlabImage                      input = columns.Input;
    SlabImage                      output = MakeSlabOutput(columns.Test.Plan, input, columns.Test.OutputType);
    std::optional<CudaError::Kind> kind;
    FaultHook::FailCall(callToFail, cudaErrorMemoryAllocation);
    try
    {
      CudaGaussianFilterSlabs(
        columns.Test.Plan, input.GetView(), (isInPlace ? input : output).GetView(), options, nullptr);
    }
    catch (const CudaError & error)
    {
      kind = error.GetKind();
    }
    FaultHook::Clear();
    EXPECT_TRUE(isInPlace || input.Bytes == columns.Input.Bytes);
    return kind;
  };
  // The calls of several threads come in any order: where a harmless one fails, a later one is to fail in a new run.
  const auto getKind = [&](const CudaSlabOptions & options, bool isInPlace, unsigned long callToFail) {
    constexpr unsigned int mostRuns = 50;
    auto                   kind = runAndFail(options, isInPlace, callToFail);
    for (unsigned int run = 1; run < mostRuns && FaultHook::GetFired() && IsFailureHarmless(); ++run)
    {
      kind = runAndFail(options, isInPlace, ++callToFail);
    }
    return kind;
  };
  for (const CudaSlabOptions & options : { columns.Options, MakeDeviceOptions(1, 1) })
  {
    SCOPED_TRACE("limit " + std::to_string(options.DeviceMemoryLimit));
    EXPECT_EQ(getKind(options, false, 0), std::nullopt);
    const unsigned long middle = (FaultHook::GetNumberOfCalls() + 1) / 2;
    EXPECT_EQ(getKind(options, false, middle), CudaError::Kind::OutOfMemory);
    EXPECT_EQ(getKind(options, true, middle), CudaError::Kind::CallFailed);
  }
}
} // namespace
