// SPDX-License-Identifier: Apache-2.0

// The slabs' way through devices without a GPU: threads stand for streams, and the host's steps for kernels
// (itkCudaSlabFakes.cxx). Bits of runs over whole images; logical devices; memory; what sources and sinks throw.

#include "itkCudaDetailGaussianSlabs.h"
#include "itkCudaError.h"
#include "itkCudaSlabFakes.h"
#include "itkCudaSlabTest.h"
#include "itkCudaTestSeed.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

/** In double, the fakes' type. */
SlabImage
RunWhole(const CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
{
  SlabImage  output = MakeSlabOutput(plan, input, type);
  SlabImage  source = input;
  const auto threader = MultiThreaderBase::New();
  RunGaussianPlanOnHost(plan, source.GetView(), output.GetView(), threader, nullptr);
  return output;
}

CudaSlabOptions
MakeDeviceOptions(size_t chunksPerSlab, size_t lanes)
{
  CudaSlabOptions options;
  options.Devices.assign(lanes, 0);
  options.ChunksPerSlab = chunksPerSlab;
  return options;
}

void
ExpectSameBits(SlabCase test, const std::vector<size_t> & chunksPerSlab, const std::vector<size_t> & lanes)
{
  test.InputType = CudaComponentType::Double;
  const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  const auto      shape = CudaGetGaussianSlabShape(test.Plan, input.Shape, expected.Shape);
  const size_t    sweeps = shape.NeedsAllChunks ? 2 : 1;
  for (const size_t chunks : chunksPerSlab)
  {
    for (const size_t number : lanes)
    {
      SCOPED_TRACE(test.Name + ", chunks in a slab: " + std::to_string(chunks) + ", lanes: " + std::to_string(number));
      SlabEnds ends(test.Plan, input, test.OutputType);
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

TEST(SlabFakes, GiveTheBitsOfTheWholeForAllFilters)
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

TEST(SlabFakes, GiveTheBitsOfTheWholeForAllCuts)
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

/** Bytes of the first and of the last run. */
std::pair<size_t, size_t>
ExpectSameBitsWithAnyMemory(const SlabCase & test, size_t chunksPerSlab, size_t lanes)
{
  SCOPED_TRACE(test.Name + ", types " + std::to_string(static_cast<int>(test.InputType)) + " and " +
               std::to_string(static_cast<int>(test.OutputType)) + ", lanes: " + std::to_string(lanes));
  const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  const auto      shape = CudaGetGaussianSlabShape(test.Plan, input.Shape, expected.Shape);
  const size_t    sweeps = shape.NeedsAllChunks ? 2 : 1;
  bool            isFromViews = false;
  const auto      run = [&](size_t limit) {
    CudaSlabOptions options = MakeDeviceOptions(chunksPerSlab, lanes);
    options.DeviceMemoryLimit = limit;
    SlabEnds ends(test.Plan, input, test.OutputType);
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

TEST(SlabFakes, GiveTheBitsOfTheWholeWithAnyMemoryForAllFilters)
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

TEST(SlabFakes, GiveTheBitsOfTheWholeWithAnyMemoryForAllTypes)
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
        for (const size_t lanes : { 1, 2, 3 })
        {
          const auto [most, least] = ExpectSameBitsWithAnyMemory(test, lanes == 2 ? 0 : 1, lanes);
          EXPECT_LT(least, most);
        }
      }
    }
  }
}

TEST(SlabFakes, HoldPixelsOfTheirTypeWhereMemoryIsScarce)
{
  SlabCase test = MakeSmoothingCase(1000, 2.0);
  test.Size[0] = 32;
  test.Size[1] = 32;
  test.InputType = CudaComponentType::UChar;
  test.OutputType = CudaComponentType::Double;
  const size_t least = ExpectSameBitsWithAnyMemory(test, 1, 1).second;
  const size_t chunk = size_t{ 128 } * 32 * 32;
  const size_t states = chunk / 128 * 64; // two sweeps of two pole pairs, 16 bytes each
  // two slots; the totals of three chunks, and the edges; an eighth of a chunk of double for a group's rows, and for a
  // part across slabs, between two passes, as it is computed and as it is sent; a little
  EXPECT_LE(least, 2 * chunk + 4 * states + 5 * chunk * sizeof(double) / 8 + (size_t{ 32 } << 10));
}

TEST(SlabFakes, GiveTheBitsOfTheWholeInPlace)
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

TEST(SlabFakes, PartsMakeUpTheWhole)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    const SlabCase  test = MakeSmoothingCase(900, sigma);
    const SlabImage input = MakeRandomImage(test.Size, 1, CudaComponentType::Double, GetSeed());
    const SlabImage expected = RunWhole(test.Plan, input, CudaComponentType::Double);
    const auto      states = CudaMakeSlabStates();
    SlabEnds        ends(test.Plan, input, CudaComponentType::Double);
    for (const size_t first : { 384, 0, 640 })
    {
      CudaSlabOptions options = MakeDeviceOptions(1, 1);
      options.FirstPlane = first;
      options.NumberOfPlanes = first == 640 ? 260 : 256 + (first == 0 ? 128 : 0);
      options.States = states;
      ends.Next = first;
      ends.Run(options);
    }
    EXPECT_TRUE(ends.Output.Bytes == expected.Bytes) << "sigma " << sigma;
    EXPECT_EQ(ends.Asked, sigma < 30 ? 1 + (256 + 2 * 128) + (384 + 128) + (260 + 128) : 900u + 900u);
  }
}

TEST(SlabFakes, SomeSecondsOfRandomCasesHaveTheBitsOfTheWhole)
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

TEST(SlabFakes, WhatSourceSinkOrProgressThrowsArrivesAndEndsTheCalls)
{
  for (const double sigma : { 2.0, 40.0 })
  {
    ExpectThrownArrivesAndEndsTheCalls(
      sigma,
      CudaComponentType::Double,
      RunWhole,
      [](SlabEnds & ends, unsigned int n) { ends.Run(MakeDeviceOptions(1, 1 + n % 3)); },
      [] { EXPECT_EQ(GetFakeBytesInUse(), 0u); });
  }
}
} // namespace
