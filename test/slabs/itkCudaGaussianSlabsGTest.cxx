// SPDX-License-Identifier: Apache-2.0

// What is special to runs in slabs on the host, which itkCudaSlabRunsGTest.cxx tests: seams that an impulse does not
// show, and images that cannot be cut.

#include "itkCudaDetailGaussianSlabs.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaSlabTest.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

const itk::cuda::test::SlabMachine &
itk::cuda::test::GetSlabMachine()
{
  static const SlabMachine host{ "Host",
                                 true,
                                 false,
                                 CudaComponentType::Float,
                                 { 1, 2, 8 },
                                 { 1 },
                                 { 129, 1000, 1025, 3072 },
                                 RunWholeOnHost,
                                 [] { return std::string(); },
                                 [] {},
                                 [](bool) {},
                                 [](const CudaSlabReport &) {} };
  return host;
}

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

using ApproximationEnum = CudaFiltersEnums::Approximation;
CudaSlabOptions
MakeHostOptions(size_t chunksPerSlab)
{
  return GetSlabMachine().MakeOptions(chunksPerSlab);
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
  const auto getRefusal = [&](const SlabImage & image) {
    return GetException([&] {
      CudaGetGaussianSlabShape(MakeSmoothingPlan(parameters),
                               image.Shape,
                               MakeSlabOutput(MakeSmoothingPlan(parameters), image, CudaComponentType::Float).Shape);
    });
  };
  for (const auto mode : { CudaFiltersEnums::BoundaryMode::Reflect, CudaFiltersEnums::BoundaryMode::Mirror })
  {
    parameters.Boundary.Mode = mode;
    parameters.Sigma[2] = 1e12;
    ExpectContains(getRefusal(input), "Sigma is so large that slabs would continue the image by");
    ExpectContains(
      GetException([&] {
        VerifyingEndpoints(MakeSmoothingPlan(parameters), input, CudaComponentType::Float).Run(MakeHostOptions(1));
      }),
      "at most 131072 are possible, or Streaming Off");
    parameters.Sigma[2] = 1000;
    EXPECT_EQ(getRefusal(input), "");
  }
  parameters.Boundary = { CudaFiltersEnums::BoundaryMode::Constant, 0.5 };
  ExpectContains(getRefusal(MakeRandomImage({ 4, 4, 300, 1 }, 1, CudaComponentType::Short, 1)),
                 "BoundaryValue is 0.5; in slabs it must be a value that the input's pixels can have");
  EXPECT_EQ(getRefusal(input), "");
  parameters.Boundary.Mode = CudaFiltersEnums::BoundaryMode::Nearest;
  parameters.Sigma[2] = 2;
  CudaSlabOptions options = MakeHostOptions(1);
  options.FirstPlane = 100;
  ExpectContains(GetException([&] {
                   VerifyingEndpoints(MakeSmoothingPlan(parameters), input, CudaComponentType::Float).Run(options);
                 }),
                 "FirstPlane of the slabs' options is 100; it must be a multiple of 128 or the image's end, 300");
}
} // namespace
