// SPDX-License-Identifier: Apache-2.0

// What is special to runs in slabs on a device, without a GPU: threads stand for streams, and the host's steps for
// kernels (itkCudaSlabFakes.cxx). itkCudaSlabRunsGTest.cxx has what holds for every machine.

#include "runtime/device/Call.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "gaussian/slabs/Slabs.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaFakeCuda.h"
#include "support/itkCudaResidentParts.h"
#include "support/itkCudaSlabTest.h"
#include "support/itkCudaTestSeed.h"
#include "runtime/transfer/TransferPolicy.h"

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

using itk::cuda::GetTransferCounts;
using itk::cuda::TransferCounts;

TransferCounts before;

/** Host memory counts as page-locked memory in some of the queries. Queues are dealt to three devices, one of which has
 * two. */
std::string
SetUpFakes()
{
  itk::CudaFiltersConfiguration::SetDevices({ 0, 1, 1, 2 });
  itk::CudaFiltersConfiguration::SetNumberOfTransferThreads(8);
  SetMixesPageLocked(true);
  return {};
}

void
TearDownFakes()
{
  SetMixesPageLocked(false);
  itk::CudaFiltersConfiguration::SetDevices({});
  itk::CudaFiltersConfiguration::SetNumberOfTransferThreads(0);
}

void
PrepareRun(bool)
{
  GetMostFakeBytes();
  before = GetTransferCounts();
}

void
VerifyRun(const CudaSlabReport & report)
{
  EXPECT_LE(GetMostFakeBytes(), report.PeakDeviceBytes);
  EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u);
  const TransferCounts after = GetTransferCounts();
  // Besides pixels, states of chunks may cross the link.
  EXPECT_LE(after.UploadedBytes - before.UploadedBytes, report.BytesUp);
  EXPECT_LE(after.DownloadedBytes - before.DownloadedBytes, report.BytesDown);
}
} // namespace

const SlabMachine &
itk::cuda::test::GetSlabMachine()
{
  static const SlabMachine fakes{ "Fakes",        false,          true,          CudaComponentType::Double,
                                  { 1, 2, 3, 8 }, { 1, 2, 3, 4 }, { 129, 1025 }, RunWholeOnHost,
                                  SetUpFakes,     TearDownFakes,  PrepareRun,    VerifyRun };
  return fakes;
}

namespace
{
class SlabFakes : public testing::Test
{
protected:
  void
  SetUp() override
  {
    GetSlabMachine().SetUp();
  }

  void
  TearDown() override
  {
    GetSlabMachine().TearDown();
  }
};

SlabImage
RunWhole(const CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
{
  return RunWholeOnHost(plan, input, type);
}

CudaSlabOptions
MakeDeviceOptions(size_t chunksPerSlab, size_t queues)
{
  return GetSlabMachine().MakeOptions(chunksPerSlab, queues);
}

TEST_F(SlabFakes, HoldPixelsOfTheirTypeWhereMemoryIsScarce)
{
  SlabCase test = MakeSmoothingCase(1000, 2.0);
  test.Size[0] = 32;
  test.Size[1] = 32;
  test.InputType = CudaComponentType::UChar;
  test.OutputType = CudaComponentType::Double;
  const size_t least = FindLeastMemory(test, MakeDeviceOptions(1, 1));
  const size_t chunk = size_t{ 128 } * 32 * 32;
  const size_t states = chunk / 128 * 64; // two sweeps of two pole pairs, 16 bytes each
  // two slots; the end states of three chunks, and the edges; an eighth of a chunk of double for a group's rows, and
  // for a part across slabs, between two passes, as it is computed and as it is sent; a little
  EXPECT_LE(least, 2 * chunk + 4 * states + 5 * chunk * sizeof(double) / 8 + (size_t{ 32 } << 10));
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

/** The bits do not depend on which devices the slabs are dealt to, on a link between them, or on how much memory each
 * has. A device's memory is not exceeded, and one that is too small is named. */
TEST_F(SlabFakes, SlabsAreDealtToDevicesOfDifferentMemory)
{
  const std::vector<std::vector<int>> lists{ { 0, 0 }, { 0, 0, 0 }, { 2, 1 }, { 3, 0, 0, 3 }, { 0, 1, 2, 3 } };
  for (const double sigma : { 2.0, 20.0, 60.0 })
  {
    SlabCase test = MakeSmoothingCase(1700, sigma);
    test.InputType = CudaComponentType::Short;
    test.OutputType = CudaComponentType::Double;
    const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
    const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
    for (const std::vector<int> & devices : lists)
    {
      CudaSlabOptions options = MakeDeviceOptions(1, 1);
      options.Devices = devices;
      const auto run = [&] {
        VerifyingEndpoints ends(test.Plan, input, test.OutputType);
        PrepareRun(true);
        const CudaSlabReport report = ends.Run(options);
        VerifyRun(report);
        EXPECT_TRUE(ends.Output.Bytes == expected.Bytes) << sigma;
        EXPECT_EQ(report.Devices, devices);
        EXPECT_GT(report.BytesBetween, 0u);
        return report;
      };
      const CudaSlabReport report = run();
      const int            small = devices.back();
      options.DeviceMemoryLimit = 0;
      SetFakeMemory(small, report.PeakDeviceBytes / 2);
      SetArePeersLinked(false);
      EXPECT_EQ(run().BytesBetween, report.BytesBetween);
      SetFakeMemory(small, 1000);
      try
      {
        run();
        ADD_FAILURE() << "nothing was thrown";
      }
      catch (const CudaError & error)
      {
        EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
        const std::string name = "not enough memory on device " + std::to_string(small) + ' ';
        EXPECT_EQ(std::string(error.GetDescription()).find(name), 0u) << error.GetDescription();
        EXPECT_NE(std::string(error.GetDescription()).find("allowed: 1000 bytes"), std::string::npos);
      }
      SetFakeMemory(small, 0);
      SetArePeersLinked(true);
    }
  }
}

/** An index that is no device's is refused in words. */
TEST_F(SlabFakes, DevicesThatDoNotExistAreRefused)
{
  const SlabCase  test = MakeSmoothingCase(300, 2.0);
  const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
  for (const int device : { -1, 4, 100 })
  {
    CudaSlabOptions options = MakeDeviceOptions(1, 1);
    options.Devices = { 0, device };
    VerifyingEndpoints ends(test.Plan, input, test.OutputType);
    try
    {
      ends.Run(options);
      ADD_FAILURE() << "nothing was thrown";
    }
    catch (const CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), CudaError::Kind::NotUsable);
      EXPECT_EQ(std::string(error.GetDescription()),
                "Devices: device index " + std::to_string(device) + " is out of range: there are devices 0 to 3");
    }
    EXPECT_EQ(ends.Asked, 0u);
  }
}

/** Runs of two threads deal to the same devices in a different order. */
TEST_F(SlabFakes, ThreadsShareDevices)
{
  SlabCase test = MakeSmoothingCase(1300, 20.0);
  test.InputType = test.OutputType = CudaComponentType::Double;
  const SlabImage          input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
  const SlabImage          expected = RunWhole(test.Plan, input, test.OutputType);
  std::vector<std::thread> threads;
  for (const std::vector<int> & devices : { std::vector<int>{ 0, 1, 2 }, { 2, 1, 0 }, { 1, 3 } })
  {
    threads.emplace_back([&test, &input, &expected, devices] {
      for (unsigned int run = 0; run < 3; ++run)
      {
        CudaSlabOptions options = MakeDeviceOptions(1, 1);
        options.Devices = devices;
        VerifyingEndpoints ends(test.Plan, input, test.OutputType);
        ends.Run(options);
        EXPECT_TRUE(ends.Output.Bytes == expected.Bytes);
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u);
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
      EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u);
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

/** Returns whether the call that failed has an alternative: memory of unknown kind is taken for ordinary memory, and an
 * allocation is repeated. */
bool
IsFailureHarmless()
{
  return FaultHook::GetCall().find("cudaPointerGetAttributes") == 0 ||
         FaultHook::GetCall().find("cudaMallocFromPoolAsync") == 0;
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
    const std::string call = FaultHook::GetCall().substr(0, FaultHook::GetCall().find('('));
    const bool        isHarmless = IsFailureHarmless();
    // Where memory runs out, a run may take another way, with the same bits.
    const bool mayGoOn = !fired || isHarmless || error == cudaErrorMemoryAllocation;
    EXPECT_TRUE(failure.empty() ? mayGoOn : fired) << where << ": " << failure;
    const bool isNamed = failure.find(call) != std::string::npos;
    EXPECT_TRUE(failure.empty() || isNamed || failure.find("Devices: device ") == 0 || failure.find("device ") == 0)
      << where << ": " << failure;
    const bool namesDevice = failure.find("device ") != std::string::npos;
    EXPECT_TRUE(failure.empty() || namesDevice || error == cudaErrorMemoryAllocation) << where << ": " << failure;
    EXPECT_TRUE(!failure.empty() || ends.Output.Bytes == expected.Bytes) << where;
    EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u) << where;
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

TEST_F(SlabFakes, PartsOnDevicesHaveTheBitsOfSlabsFromTheHost)
{
  CompareResidentParts({ 0, 1, 1, 2 });
}

TEST_F(SlabFakes, PartsOnDevicesSurviveTheFailureOfAnyCall)
{
  WalkFaultsOfResidentParts({ 0, 1 });
}

TEST_F(SlabFakes, PartsThatMakeUpNoImageAreRefused)
{
  ExpectPartsThatAreRefused();
}

/** A smoothing whose slabs do not fit. The engine takes columns instead. */
struct ColumnsCase
{
  explicit ColumnsCase(double sigma)
    : Test(MakeSmoothingCase(1025, sigma))
    , Options(MakeDeviceOptions(1, 1))
  {
    Test.Size = { { 8, 24, 1025, 1 } };
    Test.InputType = Test.OutputType = CudaComponentType::Double;
    Input = MakeRandomImage(Test.Size, 1, Test.InputType, GetSeed());
    Options.DeviceMemoryLimit = FindLeastMemory(Test, Options) - 1;
  }

  SlabCase        Test;
  SlabImage       Input;
  CudaSlabOptions Options;
};

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
    for (unsigned int run = 1; run < mostRuns && FaultHook::GetFired() && !kind; ++run)
    {
      kind = runAndFail(options, isInPlace, ++callToFail);
    }
    return kind;
  };
  for (const CudaSlabOptions & options : { columns.Options, MakeDeviceOptions(1, 1) })
  {
    SCOPED_TRACE("limit " + std::to_string(options.DeviceMemoryLimit));
    for (unsigned int run = 0; run < 2; ++run) // a first run makes more calls
    {
      EXPECT_EQ(getKind(options, false, 0), std::nullopt);
    }
    const unsigned long middle = (FaultHook::GetNumberOfCalls() + 1) / 2;
    EXPECT_EQ(getKind(options, false, middle), CudaError::Kind::OutOfMemory);
    EXPECT_EQ(getKind(options, true, middle), CudaError::Kind::CallFailed);
  }
}
} // namespace
