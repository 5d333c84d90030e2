// SPDX-License-Identifier: Apache-2.0

// Runs in slabs have the bits of a run over the whole image, however the image is cut and whatever logical devices take
// the chunks. Each plane is read as often as it must be and written once. What sources and sinks throw arrives. The
// programs of the tests say where the slabs run (GetSlabMachine()).

#include "itkCudaDetailGaussianSlabs.h"
#include "support/itkCudaSlabTest.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

using Type = CudaComponentType;

class SlabRuns : public testing::TestWithParam<const SlabMachine *>
{
protected:
  void
  SetUp() override
  {
    const std::string reason = m_Machine.SetUp();
    if (!reason.empty())
    {
      GTEST_SKIP() << reason;
    }
  }

  void
  TearDown() override
  {
    m_Machine.TearDown();
  }

  void
  ExpectSameBits(const SlabCase & test, const std::vector<size_t> & chunksPerSlab, const std::vector<size_t> & queues)
  {
    const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
    const SlabImage expected = m_Machine.RunWhole(test.Plan, input, test.OutputType);
    for (const size_t chunks : chunksPerSlab)
    {
      for (const size_t number : queues)
      {
        SCOPED_TRACE(test.Name + ", chunks in a slab: " + std::to_string(chunks) +
                     ", queues: " + std::to_string(number));
        this->ExpectSameBits(test, input, expected, m_Machine.MakeOptions(chunks, number));
      }
    }
  }

  /** Returns the reports of the runs with decreasing memory: the bytes of the first and of the last one. */
  std::pair<size_t, size_t>
  ExpectSameBitsWithAnyMemory(const SlabCase & test, size_t chunksPerSlab, size_t queues)
  {
    SCOPED_TRACE(test.Name + ", types " + std::to_string(static_cast<int>(test.InputType)) + " and " +
                 std::to_string(static_cast<int>(test.OutputType)) + ", queues: " + std::to_string(queues));
    const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
    const SlabImage expected = m_Machine.RunWhole(test.Plan, input, test.OutputType);
    const size_t    sweeps = GetSweeps(test, input, expected);
    bool            isFromViews = false;
    return ExpectAnyMemoryWillDo([&](size_t limit) {
      CudaSlabOptions options = m_Machine.MakeOptions(chunksPerSlab, queues);
      options.DeviceMemoryLimit = limit;
      VerifyingEndpoints ends(test.Plan, input, test.OutputType);
      isFromViews = !isFromViews;
      m_Machine.Prepare(true);
      const CudaSlabReport report =
        isFromViews ? CudaGaussianFilterSlabs(test.Plan, ends.Input.GetView(), ends.Output.GetView(), options, nullptr)
                    : ends.Run(options);
      m_Machine.Verify(report);
      EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size())
        << "limit " << limit << ", from views " << isFromViews;
      EXPECT_EQ(report.BytesUp, sweeps * input.Bytes.size());
      EXPECT_EQ(report.BytesDown, expected.Bytes.size());
      return report;
    });
  }

  const SlabMachine & m_Machine{ *GetParam() };

private:
  static size_t
  GetSweeps(const SlabCase & test, const SlabImage & input, const SlabImage & output)
  {
    return CudaGetGaussianSlabShape(test.Plan, input.Shape, output.Shape).NeedsAllChunks ? 2 : 1;
  }

  void
  ExpectSameBits(const SlabCase &        test,
                 const SlabImage &       input,
                 const SlabImage &       expected,
                 const CudaSlabOptions & options) const
  {
    const size_t       sweeps = GetSweeps(test, input, expected);
    const size_t       chunks = CudaGetGaussianSlabShape(test.Plan, input.Shape, expected.Shape).NumberOfChunks;
    VerifyingEndpoints ends(test.Plan, input, test.OutputType);
    m_Machine.Prepare(false);
    const CudaSlabReport report = ends.Run(options);
    m_Machine.Verify(report);
    EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size());
    EXPECT_EQ(report.BytesUp, sweeps * input.Bytes.size());
    EXPECT_EQ(report.BytesDown, expected.Bytes.size());
    EXPECT_EQ(ends.Asked, sweeps * input.GetNumberOfPlanes());
    EXPECT_EQ(ends.Given, input.GetNumberOfPlanes());
    EXPECT_EQ(report.Used, sweeps == 2 ? CudaSlabReport::TwoSweeps : CudaSlabReport::OneSweep);
    EXPECT_EQ(report.OnHost, m_Machine.OnHost);
    EXPECT_EQ(report.Devices.size(), options.Devices.size());
    EXPECT_EQ(report.NumberOfSlabs, (chunks + report.ChunksPerSlab - 1) / report.ChunksPerSlab);
    EXPECT_TRUE(options.ChunksPerSlab == 0 || report.ChunksPerSlab <= options.ChunksPerSlab);

    SlabImage output = MakeSlabOutput(test.Plan, input, test.OutputType);
    m_Machine.Prepare(false);
    m_Machine.Verify(CudaGaussianFilterSlabs(test.Plan, ends.Input.GetView(), output.GetView(), options, nullptr));
    EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size()) << "from view to view";
  }
};

std::string
GetName(const testing::TestParamInfo<const SlabMachine *> & info)
{
  return info.param->Name;
}

INSTANTIATE_TEST_SUITE_P(Machine, SlabRuns, testing::Values(&GetSlabMachine()), GetName);

/** Returns the cases of all filters that the machine computes in the type of its runs over whole images. */
std::vector<SlabCase>
MakeCasesFor(const SlabMachine & machine)
{
  std::vector<SlabCase> cases;
  for (SlabCase & test : MakeSlabCases())
  {
    if (!machine.IsFake || test.InputType == Type::Double)
    {
      test.Size[0] = machine.IsFake ? 3 : test.Size[0];
      cases.push_back(test);
    }
  }
  return cases;
}

TEST_P(SlabRuns, HaveTheBitsOfTheWholeForAllFilters)
{
  for (const SlabCase & test : MakeCasesFor(m_Machine))
  {
    this->ExpectSameBits(test, { 1, 3 }, m_Machine.OnHost ? std::vector<size_t>{ 1 } : std::vector<size_t>{ 1, 2 });
    ASSERT_FALSE(HasFailure()) << "one is enough to look at";
  }
}

TEST_P(SlabRuns, HaveTheBitsOfTheWholeForAllSizesAndSigmas)
{
  for (const size_t length : m_Machine.Lengths)
  {
    for (const double sigma : { 0.7, 4.0, 10.66, 10.67, 32.0, 33.0, 150.0 })
    {
      SlabCase test = MakeSmoothingCase(length, sigma);
      test.InputType = test.OutputType = m_Machine.Type;
      this->ExpectSameBits(test, m_Machine.Chunks, m_Machine.Queues);
    }
  }
}

TEST_P(SlabRuns, HaveTheBitsOfTheWholeAtSeams)
{
  for (const size_t plane : { 127, 128, 129, 640, 1023 })
  {
    const SlabCase test = MakeSmoothingCase(1025, 4.0);
    SlabImage      input = MakeRandomImage(test.Size, 1, Type::Double, GetSeed());
    input.Get<double>()[plane * 45 + 7] += 1000.0;
    const SlabImage    expected = m_Machine.RunWhole(test.Plan, input, Type::Double);
    VerifyingEndpoints ends(test.Plan, input, Type::Double);
    ends.Run(m_Machine.MakeOptions(1, 2));
    EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size()) << "plane " << plane;
  }
}

TEST_P(SlabRuns, HaveTheBitsOfTheWholeInPlace)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    for (const Type type : { m_Machine.Type, Type::Short })
    {
      if (m_Machine.IsFake && type == Type::Short)
      {
        continue; // a run over the whole computes in float
      }
      SlabCase test = MakeSmoothingCase(1300, sigma);
      test.InputType = test.OutputType = type;
      const SlabImage input = MakeRandomImage(test.Size, 1, type, GetSeed());
      const SlabImage expected = m_Machine.RunWhole(test.Plan, input, type);
      for (const size_t queues : { 1, 3 })
      {
        SlabImage image = input;
        CudaGaussianFilterSlabs(
          test.Plan, image.GetView(), image.GetView(), m_Machine.MakeOptions(queues % 3, queues), nullptr);
        EXPECT_EQ(FindDifference(image, expected), expected.Bytes.size())
          << "sigma " << sigma << ", type " << static_cast<int>(type);
      }
    }
  }
}

TEST_P(SlabRuns, SomeSecondsOfRandomCasesHaveTheBitsOfTheWhole)
{
  std::mt19937 generator(static_cast<unsigned int>(GetSeed()));
  const auto   begin = std::chrono::steady_clock::now();
  unsigned int cases = 0;
  for (; std::chrono::steady_clock::now() - begin < std::chrono::seconds(GetFuzzSeconds()); ++cases)
  {
    SlabCase test = DrawSlabCase(generator);
    if (m_Machine.IsFake && test.OutputType != Type::Double)
    {
      test.InputType = Type::Double;
    }
    SCOPED_TRACE("case " + std::to_string(cases));
    this->ExpectSameBits(test, { 1 + generator() % 5 }, { 1 + generator() % 4 });
    if (m_Machine.IsFake)
    {
      this->ExpectSameBitsWithAnyMemory(test, generator() % 3, 1 + generator() % 4);
    }
    ASSERT_FALSE(HasFailure()) << "seed " << GetSeed();
  }
  std::cout << cases << " cases" << std::endl;
}

/** Parts of an image, one of them from the middle on, find states for each other. */
TEST_P(SlabRuns, PartsMakeUpTheWhole)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    for (const bool isScarce : { false, true })
    {
      if (isScarce && !m_Machine.IsFake)
      {
        continue;
      }
      SCOPED_TRACE("sigma " + std::to_string(sigma) + ", scarce memory: " + std::to_string(isScarce));
      SlabCase test = MakeSmoothingCase(900, sigma);
      test.InputType = Type::Short;
      test.OutputType = m_Machine.Type;
      const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
      const SlabImage expected = m_Machine.RunWhole(test.Plan, input, test.OutputType);
      CudaSlabOptions options = m_Machine.MakeOptions(1);
      options.States = CudaMakeSlabStates();
      options.DeviceMemoryLimit = isScarce ? FindLeastMemory(test, options) : 0;
      VerifyingEndpoints ends(test.Plan, input, test.OutputType);
      for (const size_t first : { 384, 0, 640 })
      {
        options.FirstPlane = first;
        options.NumberOfPlanes = first == 640 ? 260 : 256 + (first == 0 ? 128 : 0);
        ends.Given = 0;
        ends.Next = first;
        m_Machine.Prepare(false);
        m_Machine.Verify(ends.Run(options));
        EXPECT_EQ(ends.Given, options.NumberOfPlanes) << "from plane " << first << " on";
      }
      EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size());
      // Sigma 3: each part and a chunk on either side, and plane 0 once. Sigma 60: all once, and then the parts.
      EXPECT_EQ(ends.Asked, sigma < 30 ? 1 + (256 + 2 * 128) + (384 + 128) + (260 + 128) : 900u + 900u);
    }
  }
}

/** Parts of an image that know each other only by states as bytes, as runs of several processes do, read their planes
 * twice, in any order, and the first plane of the image. */
TEST_P(SlabRuns, StatesAsBytesMakeUpTheWhole)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  const std::vector<size_t> firsts{ 0, 384, 640 };
  constexpr size_t          length = 900;
  for (const ModeEnum mode : { ModeEnum::Nearest, ModeEnum::Reflect, ModeEnum::Constant })
  {
    auto parameters = MakeSlabParameters(3, 60.0, CudaFiltersEnums::Approximation::Deriche);
    parameters.Boundary = { mode, 990.0 };
    for (const auto & plan : { MakeSmoothingPlan(parameters), MakeGradientMagnitudePlan(parameters) })
    {
      SCOPED_TRACE(mode);
      const SlabImage    input = MakeRandomImage({ 5, 4, length, 1 }, 2, m_Machine.Type, GetSeed());
      VerifyingEndpoints whole(plan, input, m_Machine.Type);
      whole.Run(m_Machine.MakeOptions(1));
      VerifyingEndpoints ends(plan, input, m_Machine.Type);
      const auto         read = [&](size_t first, size_t planes, void * pixels) {
        std::memcpy(pixels, &input.Bytes[first * input.GetBytesOfPlane()], planes * input.GetBytesOfPlane());
      };
      CudaSlabOptions options = m_Machine.MakeOptions(2);
      const auto      takePart = [&](size_t part) {
        options.FirstPlane = firsts[part];
        options.NumberOfPlanes = (part + 1 < firsts.size() ? firsts[part + 1] : length) - firsts[part];
      };
      std::vector<std::vector<unsigned char>> states(firsts.size());
      for (const size_t part : { 1, 2, 0 })
      {
        takePart(part);
        states[part] = CudaGaussianSlabEndStates(plan, input.Shape, ends.Output.Shape, read, options, [](float) {});
      }
      states =
        CudaGaussianSlabStartStates(plan, input.Shape, ends.Output.Shape, states, firsts, m_Machine.MakeOptions(1));
      for (const size_t part : { 2, 0, 1 })
      {
        takePart(part);
        options.States = CudaReadSlabStates(states[part]);
        ends.Next = firsts[part];
        ends.Run(options);
      }
      EXPECT_EQ(FindDifference(ends.Output, whole.Output), whole.Output.Bytes.size());
      states[0].resize(states[0].size() - 3);
      EXPECT_THROW(CudaReadSlabStates(states[0]), ExceptionObject);
    }
  }
}

TEST_P(SlabRuns, ContinueTheImageInOtherBoundaryModes)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  for (const ModeEnum mode : { ModeEnum::Reflect, ModeEnum::Mirror, ModeEnum::Constant })
  {
    for (const auto & [length, sigma] : std::vector<std::pair<size_t, double>>{
           { 2, 3.0 }, { 100, 4.0 }, { 128, 1.0 }, { 300, 20.0 }, { 700, 5.0 }, { 900, 60.0 } })
    {
      auto parameters = MakeSlabParameters(3, sigma, CudaFiltersEnums::Approximation::Deriche);
      parameters.Boundary = { mode, 990.0 };
      for (const auto & plan : { MakeSmoothingPlan(parameters), MakeGradientMagnitudePlan(parameters) })
      {
        SlabImage          input = MakeRandomImage({ 5, 4, length, 1 }, 1, m_Machine.Type, GetSeed());
        SlabImage          expected = m_Machine.RunWhole(plan, input, Type::Double);
        VerifyingEndpoints ends(plan, input, Type::Double);
        ends.Run(m_Machine.MakeOptions(1, 2));
        EXPECT_EQ(ends.Given, length);
        EXPECT_LE(ends.Asked, 2 * length);
        for (size_t i = 0; i < 5 * 4 * length; ++i)
        {
          // The window leaves out 1.25e-7 of the weights.
          ASSERT_NEAR(ends.Output.Get<double>()[i], expected.Get<double>()[i], 5e-7 * 1100.0)
            << "mode " << mode << ", " << length << " planes, sigma " << sigma << ", pixel " << i;
        }
      }
    }
  }
}

/** The exception must reach the caller, and no further call may be made. */
TEST_P(SlabRuns, WhatSourceSinkOrProgressThrowsArrivesAndEndsTheCalls)
{
  struct Stop : std::runtime_error
  {
    using std::runtime_error::runtime_error;
  };
  for (const double sigma : { 3.0, 60.0 })
  {
    const SlabCase  test = MakeSmoothingCase(600, sigma);
    const SlabImage input = MakeRandomImage(test.Size, 1, m_Machine.Type, GetSeed());
    const SlabImage expected = m_Machine.RunWhole(test.Plan, input, m_Machine.Type);
    for (const VerifyingEndpoints::Call call :
         { VerifyingEndpoints::Source, VerifyingEndpoints::Sink, VerifyingEndpoints::Progress })
    {
      unsigned int n = 0;
      for (bool threw = true; threw && n < 1000; ++n)
      {
        const size_t bytes = CudaFiltersConfiguration::GetDeviceBytesInUse();
        {
          VerifyingEndpoints ends(test.Plan, input, m_Machine.Type);
          ends.ThrowAt(call, n, [] { throw Stop("as planned"); });
          threw = false;
          try
          {
            ends.Run(m_Machine.MakeOptions(1, 1 + n % 3));
          }
          catch (const Stop & stop)
          {
            threw = true;
            EXPECT_STREQ(stop.what(), "as planned");
          }
          EXPECT_EQ(ends.CallsAfterThrow, 0u);
          EXPECT_TRUE(threw || ends.Output.Bytes == expected.Bytes);
        }
        EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), bytes);
      }
      EXPECT_GT(n, 3u) << "sigma " << sigma << ", call " << call;
      EXPECT_LT(n, 1000u);
    }
  }
}

/** What only a device has: slabs of several chunks that it chooses, and limits of memory. */
class SlabRunsOnDevice : public SlabRuns
{};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SlabRunsOnDevice);
INSTANTIATE_TEST_SUITE_P(Machine,
                         SlabRunsOnDevice,
                         testing::ValuesIn(GetSlabMachine().OnHost
                                             ? std::vector<const SlabMachine *>{}
                                             : std::vector<const SlabMachine *>{ &GetSlabMachine() }),
                         GetName);

TEST_P(SlabRunsOnDevice, HaveTheBitsOfTheWholeInSlabsThatAreChosen)
{
  for (const double sigma : { 2.0, 20.0, 30.0, 60.0 })
  {
    SlabCase test = MakeSmoothingCase(34 * 128 - 5, sigma);
    test.InputType = test.OutputType = m_Machine.Type;
    this->ExpectSameBits(test, { 0 }, { 1, 3 });
    SlabImage  input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
    SlabImage  output = MakeSlabOutput(test.Plan, input, test.OutputType);
    const auto report =
      CudaGaussianFilterSlabs(test.Plan, input.GetView(), output.GetView(), m_Machine.MakeOptions(0), nullptr);
    EXPECT_EQ(report.ChunksPerSlab, 4u);
    EXPECT_EQ(report.NumberOfSlabs, 9u);
  }
}

TEST_P(SlabRunsOnDevice, HaveTheBitsOfTheWholeWithAnyMemoryForAllFilters)
{
  for (const SlabCase & test : MakeCasesFor(m_Machine))
  {
    this->ExpectSameBitsWithAnyMemory(test, 1, 1);
  }
}

TEST_P(SlabRunsOnDevice, HaveTheBitsOfTheWholeWithAnyMemoryForAllTypes)
{
  // The fakes compute in double.
  const Type                               computed = m_Machine.IsFake ? Type::Double : Type::Float;
  const std::vector<std::pair<Type, Type>> types{ { Type::UChar, computed },      { Type::Short, Type::Double },
                                                  { Type::Float, Type::Double },  { computed, computed },
                                                  { Type::Double, Type::Double }, { Type::Double, Type::Short },
                                                  { Type::Int, Type::UChar } };
  for (const auto & [from, to] : types)
  {
    for (const size_t length : { 129, 641 })
    {
      for (const double sigma : { 4.0, 10.67, 33.0 })
      {
        SlabCase test = MakeSmoothingCase(length, sigma);
        test.Size[0] = m_Machine.IsFake ? test.Size[0] : 70;
        test.Size[1] = 13; // groups of two rows, and one
        test.InputType = from;
        test.OutputType = to;
        for (const size_t queues : { 1, 2, 3 })
        {
          const auto [most, least] = this->ExpectSameBitsWithAnyMemory(test, queues == 2 ? 0 : 1, queues);
          EXPECT_LT(least, most);
        }
      }
    }
  }
}

/** Slabs do not fit. The engine takes columns instead, in which lines are whole. */
TEST_P(SlabRunsOnDevice, HaveTheBitsOfLinesThatAreNeverCut)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    SCOPED_TRACE(sigma);
    SlabCase test = MakeSmoothingCase(1025, sigma);
    test.Size = { { 8, 24, 1025, 1 } };
    test.InputType = test.OutputType = m_Machine.Type;
    SlabImage       input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
    const SlabImage expected = m_Machine.RunWhole(test.Plan, input, test.OutputType);
    SlabImage       output = MakeSlabOutput(test.Plan, input, test.OutputType);
    CudaSlabOptions options = m_Machine.MakeOptions(1);
    options.DeviceMemoryLimit = FindLeastMemory(test, options) - 1;
    m_Machine.Prepare(true);
    const CudaSlabReport report =
      CudaGaussianFilterSlabs(test.Plan, input.GetView(), output.GetView(), options, nullptr);
    m_Machine.Verify(report);
    EXPECT_EQ(report.Used, CudaSlabReport::Columns);
    EXPECT_GT(report.NumberOfSlabs, 1u);
    EXPECT_EQ(report.BytesUp, 2 * input.Bytes.size());
    EXPECT_EQ(report.BytesDown, 2 * output.Bytes.size());
    EXPECT_LE(report.PeakDeviceBytes, options.DeviceMemoryLimit);
    EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size());
    VerifyingEndpoints ends(test.Plan, input, test.OutputType);
    EXPECT_NE(ends.Run(m_Machine.MakeOptions(1)).Used, CudaSlabReport::Columns);
    EXPECT_EQ(FindDifference(ends.Output, output), output.Bytes.size());
  }
}

/** Returns what queues must copy from each other for a plan of one pass, found chunk by chunk: the first plane for each
 * queue but the first; with a window of chunks, half of the states of each chunk that a slab of another queue is within
 * reach of, and the states of the lines' ends for slabs that they are within reach of; otherwise the states of all
 * chunks that are not on the first queue, to it and back, and once the states of the lines' ends. */
size_t
CountBytesBetween(const CudaSlabReport & report,
                  size_t                 chunks,
                  size_t                 bytesOfState,
                  size_t                 bytesOfPlane,
                  bool                   fetchesEnds)
{
  const size_t queues = report.Devices.size();
  const size_t slabs = report.NumberOfSlabs;
  const auto   getSlab = [&](size_t chunk) { return chunk / report.ChunksPerSlab; };
  size_t       bytes = (std::min(queues, slabs) - 1) * bytesOfPlane;
  for (size_t slab = 0; slab < slabs; ++slab)
  {
    const size_t begin = slab * report.ChunksPerSlab;
    const size_t end = std::min(begin + report.ChunksPerSlab, chunks);
    for (size_t chunk = 0; chunk < chunks; ++chunk)
    {
      const bool isNear = chunk + report.LookAhead >= begin && chunk < end + report.LookAhead;
      bytes += isNear && getSlab(chunk) % queues != slab % queues ? bytesOfState / 2 : 0;
    }
    if (report.Used == CudaSlabReport::TwoSweeps)
    {
      const size_t states = 2 * (end - begin) * bytesOfState + (end == chunks ? bytesOfState / 2 : 0);
      bytes += slab % queues == 0 ? 0 : states;
      continue;
    }
    const bool needsEnds = fetchesEnds && end + report.LookAhead >= chunks;
    bytes += needsEnds && (slabs - 1) % queues != slab % queues ? bytesOfState / 2 : 0;
  }
  return bytes;
}

/** Queues copy from each other what their slabs need and no more, whether their devices are different or the same, and
 * whether a link joins them. */
TEST_P(SlabRunsOnDevice, QueuesCopyOnlyStatesWithinReachFromEachOther)
{
  for (const double sigma : { 0.7, 4.0, 10.67, 20.0, 30.0 })
  {
    SlabCase test = MakeSmoothingCase(11 * 128 - 3, sigma);
    test.Size[0] = 64; // rows without padding, so that states are of pixels only
    test.InputType = test.OutputType = m_Machine.Type;
    const size_t    lines = test.Size[0] * test.Size[1];
    const size_t    bytesOfPixel = CudaComponentSize(m_Machine.Type);
    const SlabImage input = MakeRandomImage(test.Size, 1, test.InputType, GetSeed());
    const SlabImage expected = m_Machine.RunWhole(test.Plan, input, test.OutputType);
    for (const size_t chunks : { 1, 2, 3 })
    {
      for (const size_t queues : { 1, 2, 3, 4 })
      {
        const CudaSlabOptions options = m_Machine.MakeOptions(chunks, queues);
        VerifyingEndpoints    ends(test.Plan, input, test.OutputType);
        const CudaSlabReport  report = ends.Run(options);
        EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size());
        EXPECT_EQ(report.Devices, options.Devices);
        // Two sweeps of two pole pairs with two numbers each. Strips, in which the GPU computes, need no ends of lines.
        EXPECT_EQ(report.BytesBetween,
                  CountBytesBetween(report, 11, lines * 8 * bytesOfPixel, lines * bytesOfPixel, m_Machine.IsFake))
          << "sigma " << sigma << ", chunks in a slab: " << chunks << ", queues: " << queues;
      }
    }
  }
}
} // namespace
