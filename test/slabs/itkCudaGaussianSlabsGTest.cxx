// SPDX-License-Identifier: Apache-2.0

// Runs in slabs on the host: the bits of a run over the whole image, however the image is cut; each plane read and
// written once; seams that an impulse does not show; errors of sources and sinks.

#include "itkCudaDetailGaussianSlabs.h"
#include "support/itkCudaExpectException.h"
#include "gaussian/host/HostPlan.h"
#include "support/itkCudaSlabTest.h"
#include "support/itkCudaTestSeed.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

using ApproximationEnum = CudaFiltersEnums::Approximation;

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
MakeHostOptions(size_t chunksPerSlab)
{
  CudaSlabOptions options;
  options.OnHost = true;
  options.ChunksPerSlab = chunksPerSlab;
  return options;
}

/** One case of the comparison with a whole run. */
void
ExpectSameBits(const SlabCase & test, const std::vector<size_t> & chunksPerSlab)
{
  const SlabImage input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  for (const size_t chunks : chunksPerSlab)
  {
    VerifyingEndpoints   ends(test.Plan, input, test.OutputType);
    const CudaSlabReport report = ends.Run(MakeHostOptions(chunks));
    EXPECT_TRUE(ends.Output.Bytes == expected.Bytes) << test.Name << ", chunks in a slab: " << chunks;
    const auto   shape = CudaGetGaussianSlabShape(test.Plan, ends.Input.GetView(), expected.Shape);
    const size_t sweeps = shape.NeedsAllChunks ? 2 : 1;
    EXPECT_EQ(report.BytesUp, sweeps * input.Bytes.size()) << test.Name;
    EXPECT_EQ(report.BytesDown, expected.Bytes.size()) << test.Name;
    EXPECT_EQ(report.Used, shape.NeedsAllChunks ? CudaSlabReport::TwoSweeps : CudaSlabReport::OneSweep) << test.Name;
    EXPECT_EQ(report.NumberOfSlabs, (shape.NumberOfChunks + chunks - 1) / chunks) << test.Name;
    EXPECT_TRUE(report.OnHost);
    EXPECT_EQ(ends.Asked, sweeps * input.GetNumberOfPlanes()) << test.Name;
    EXPECT_EQ(ends.Given, input.GetNumberOfPlanes()) << test.Name;
  }
}

TEST(GaussianSlabsOnHost, HaveTheBitsOfTheWholeForAllFilters)
{
  for (const SlabCase & test : MakeSlabCases())
  {
    ExpectSameBits(test, { 1, 3 });
  }
}

TEST(GaussianSlabsOnHost, HaveTheBitsOfTheWholeForAllSizesAndSigmas)
{
  for (const size_t length : { 129, 1000, 1025, 3072 })
  {
    for (const double sigma : { 0.7, 4.0, 10.66, 10.67, 32.0, 33.0, 150.0 })
    {
      ExpectSameBits(MakeSmoothingCase(length, sigma), { 1, 2, 8 });
    }
  }
}

TEST(GaussianSlabsOnHost, SomeSecondsOfRandomCasesHaveTheBitsOfTheWhole)
{
  std::mt19937 generator(static_cast<unsigned int>(GetSeed()));
  const auto   begin = std::chrono::steady_clock::now();
  unsigned int cases = 0;
  for (; std::chrono::steady_clock::now() - begin < std::chrono::seconds(GetFuzzSeconds()); ++cases)
  {
    const SlabCase test = DrawSlabCase(generator);
    SCOPED_TRACE("case " + std::to_string(cases));
    ExpectSameBits(test, { 1 + generator() % 5 });
    ASSERT_FALSE(HasFailure()) << "seed " << GetSeed();
  }
  std::cout << cases << " cases" << std::endl;
}

TEST(GaussianSlabsOnHost, PartsMakeUpTheWhole)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    const SlabCase     test = MakeSmoothingCase(900, sigma);
    const SlabImage    input = MakeRandomImage(test.Size, 1, CudaComponentType::Short, GetSeed());
    const SlabImage    expected = RunWhole(test.Plan, input, CudaComponentType::Float);
    const auto         states = CudaMakeSlabStates();
    VerifyingEndpoints ends(test.Plan, input, CudaComponentType::Float);
    for (const size_t first : { size_t{ 384 }, size_t{ 0 }, size_t{ 640 } })
    {
      CudaSlabOptions options = MakeHostOptions(1);
      options.FirstPlane = first;
      options.NumberOfPlanes = first == 640 ? 260 : 256 + (first == 0 ? 128 : 0);
      options.States = states;
      ends.Given = 0;
      ends.Next = first;
      ends.Run(options);
      EXPECT_EQ(ends.Given, options.NumberOfPlanes);
    }
    EXPECT_TRUE(ends.Output.Bytes == expected.Bytes) << "sigma " << sigma;
    // Sigma 3: each part and a chunk on either side, and plane 0 once. Sigma 60: all once, and then the parts.
    EXPECT_EQ(ends.Asked, sigma < 30 ? 1 + (256 + 2 * 128) + (384 + 128) + (260 + 128) : 900u + 900u);
  }
}

TEST(GaussianSlabsOnHost, HaveTheBitsOfTheWholeFromViewToViewAndInPlace)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    const SlabCase  test = MakeSmoothingCase(700, sigma);
    SlabImage       input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
    const SlabImage expected = RunWhole(test.Plan, input, CudaComponentType::Float);
    SlabImage       output = MakeSlabOutput(test.Plan, input, CudaComponentType::Float);
    CudaGaussianFilterSlabs(test.Plan, input.GetView(), output.GetView(), MakeHostOptions(2), nullptr);
    EXPECT_TRUE(output.Bytes == expected.Bytes);
    CudaGaussianFilterSlabs(test.Plan, input.GetView(), input.GetView(), MakeHostOptions(1), nullptr);
    EXPECT_TRUE(input.Bytes == expected.Bytes);
  }
}

/** The kernel as the plan has it, from its poles. */
double
GetKernelValue(const CudaGaussianImpulseResponse & kernel, double n)
{
  std::complex<double> sum = 0;
  for (unsigned int j = 0; j < kernel.NumberOfPolePairs; ++j)
  {
    sum += kernel.Weight[j] * std::pow(kernel.Pole[j], std::abs(n));
  }
  return n < 0 && kernel.IsAntisymmetric() ? -sum.real() : sum.real();
}

TEST(GaussianSlabsOnHost, ImpulsesAtSeamsGiveTheKernel)
{
  constexpr size_t length = 1000;
  for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
  {
    for (const double sigma : { 4.0, 20.0, 50.0 })
    {
      for (unsigned int order = 0; order < 3; ++order)
      {
        const auto kernel = MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, true);
        const auto plan = MakeGaussianLinePlan(2, kernel);
        for (size_t seam = 128; seam < length; seam += 256)
        {
          for (const size_t position : { seam - 1, seam, seam + 1 })
          {
            SlabImage input = MakeSlabImage({ 1, 1, length, 1 }, 1, CudaComponentType::Double);
            input.Get<double>()[position] = 1.0;
            VerifyingEndpoints ends(plan, input, CudaComponentType::Double);
            ends.Run(MakeHostOptions(1));
            const double scale = std::abs(GetKernelValue(kernel, order == 1 ? std::round(sigma) : 0));
            for (size_t n = 0; n < length; ++n)
            {
              const double expected = GetKernelValue(kernel, static_cast<double>(n) - static_cast<double>(position));
              ASSERT_NEAR(ends.Output.Get<double>()[n], expected, 1e-6 * scale)
                << "impulse at " << position << ", pixel " << n << ", sigma " << sigma << ", order " << order;
            }
          }
        }
      }
    }
  }
}

TEST(GaussianSlabsOnHost, AgreeWithTheFilterOfWholeLines)
{
  for (const double sigma : { 0.7, 10.67, 33.0, 150.0 })
  {
    const auto         kernel = MakeGaussianImpulseResponse(ApproximationEnum::Deriche, 0, sigma, 1.0, false);
    SlabImage          input = MakeRandomImage({ 3, 1, 1025, 1 }, 1, CudaComponentType::Double, GetSeed());
    VerifyingEndpoints ends(MakeGaussianLinePlan(2, kernel), input, CudaComponentType::Double);
    ends.Run(MakeHostOptions(1));
    for (size_t column = 0; column < 3; ++column)
    {
      std::vector<double> line(1025);
      for (size_t n = 0; n < line.size(); ++n)
      {
        line[n] = input.Get<double>()[3 * n + column];
      }
      cuda::gaussian::FilterLine(kernel, line.data(), line.data(), line.size());
      for (size_t n = 0; n < line.size(); ++n)
      {
        ASSERT_NEAR(ends.Output.Get<double>()[3 * n + column], line[n], 1e-10) << "sigma " << sigma << ", pixel " << n;
      }
    }
  }
}

TEST(GaussianSlabsOnHost, ContinueTheImageInOtherBoundaryModes)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  for (const ModeEnum mode : { ModeEnum::Reflect, ModeEnum::Mirror, ModeEnum::Constant })
  {
    for (const auto & [length, sigma] : std::vector<std::pair<size_t, double>>{
           { 2, 3.0 }, { 100, 4.0 }, { 128, 1.0 }, { 300, 20.0 }, { 700, 5.0 }, { 900, 60.0 } })
    {
      auto parameters = MakeSlabParameters(3, sigma, ApproximationEnum::Deriche);
      parameters.Boundary = { mode, 990.0 };
      for (const auto & plan : { MakeSmoothingPlan(parameters), MakeGradientMagnitudePlan(parameters) })
      {
        SlabImage          input = MakeRandomImage({ 5, 4, length, 1 }, 1, CudaComponentType::Float, GetSeed());
        SlabImage          expected = RunWhole(plan, input, CudaComponentType::Float);
        VerifyingEndpoints ends(plan, input, CudaComponentType::Float);
        ends.Run(MakeHostOptions(1));
        EXPECT_EQ(ends.Given, length);
        EXPECT_LE(ends.Asked, 2 * length);
        for (size_t i = 0; i < 5 * 4 * length; ++i)
        {
          // The window leaves out 1.25e-7 of the weights.
          ASSERT_NEAR(ends.Output.Get<float>()[i], expected.Get<float>()[i], 5e-7 * 1100.0)
            << "mode " << mode << ", " << length << " planes, sigma " << sigma << ", pixel " << i;
        }
        CudaGaussianFilterSlabs(plan, input.GetView(), input.GetView(), MakeHostOptions(2), nullptr);
        EXPECT_TRUE(input.Bytes == ends.Output.Bytes) << "in place";
      }
    }
  }
}

TEST(GaussianSlabsOnHost, WhatSourceSinkOrProgressThrowsArrivesAndEndsTheCalls)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    ExpectThrownArrivesAndEndsTheCalls(
      sigma,
      CudaComponentType::Float,
      RunWhole,
      [](VerifyingEndpoints & ends, unsigned int) { ends.Run(MakeHostOptions(1)); },
      [] {});
  }
}

TEST(GaussianSlabs, WhatCannotBeCutIsRefusedInWords)
{
  const SlabImage        input = MakeRandomImage({ 4, 4, 300, 1 }, 1, CudaComponentType::Float, 1);
  CudaGaussianParameters parameters;
  parameters.Sigma = { 2, 2, 2 };
  parameters.Spacing = { 1, 1, 1 };
  parameters.Boundary.Mode = CudaFiltersEnums::BoundaryMode::Wrap;
  ExpectContains(
    GetException([&] {
      VerifyingEndpoints(MakeSmoothingPlan(parameters), input, CudaComponentType::Float).Run(MakeHostOptions(1));
    }),
    "BoundaryMode is");
  parameters.Boundary.Mode = CudaFiltersEnums::BoundaryMode::Nearest;
  CudaSlabOptions options = MakeHostOptions(1);
  options.FirstPlane = 100;
  ExpectContains(GetException([&] {
                   VerifyingEndpoints(MakeSmoothingPlan(parameters), input, CudaComponentType::Float).Run(options);
                 }),
                 "FirstPlane of the slabs' options is 100; it must be a multiple of 128 or the image's end, 300");
}
} // namespace
