// SPDX-License-Identifier: Apache-2.0

// Plans as data: kernels keep ITK's normalisation, and running a plan's passes one by one on the host gives the same as
// filtering each term by itself.

#include "itkCudaDetailGaussianPlan.h"
#include "gaussian/host/HostPlan.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianLineReference.h"
#include "itkMacro.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using cuda::gaussian::FilterLine;
using cuda::test::ExpectContains;
using cuda::test::GetException;

using Image3 = std::vector<double>;

constexpr size_t Size[3] = { 9, 7, 11 };
constexpr size_t NumberOfPixels = Size[0] * Size[1] * Size[2];

Image3
MakeRandomImage()
{
  std::mt19937                           generator(4);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Image3                                 image(NumberOfPixels);
  for (double & pixel : image)
  {
    pixel = uniform(generator);
  }
  return image;
}

Image3
FilterAlong(unsigned int axis, const CudaGaussianImpulseResponse & kernel, const Image3 & input)
{
  cuda::test::Volume volume{ { { Size[0], Size[1], Size[2], 1 } }, input };
  volume.ForEachLine(axis, [&kernel](std::vector<double> line) {
    FilterLine(kernel, line.data(), line.data(), line.size());
    return line;
  });
  return volume.Pixels;
}

double
Combine(CudaGaussianCombine combine, double old, double value)
{
  switch (combine)
  {
    case CudaGaussianCombine::Add:
      return old + value;
    case CudaGaussianCombine::StoreSquare:
      return value * value;
    case CudaGaussianCombine::AddSquare:
      return old + value * value;
    case CudaGaussianCombine::AddSquareAndRoot:
      return std::sqrt(old + value * value);
    default:
      return value;
  }
}

/** The plan's result images. Images start as NaN, so that reading one before it is written shows. */
std::vector<Image3>
RunOnHost(const CudaGaussianPlan & plan, const Image3 & input)
{
  std::vector<Image3> images(plan.NumberOfImages, Image3(NumberOfPixels, std::nan("")));
  images.at(0) = input;
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    const Image3 source = images.at(pass.Source);
    for (const CudaGaussianPassResult & result : pass.Results)
    {
      EXPECT_NE(result.Destination, pass.Source);
      const Image3 filtered = FilterAlong(pass.Axis, result.Kernel, source);
      Image3 &     destination = images.at(result.Destination);
      for (size_t i = 0; i < NumberOfPixels; ++i)
      {
        destination[i] = Combine(result.Combine, destination[i], filtered[i]);
      }
    }
  }
  std::vector<Image3> results;
  for (const unsigned int result : plan.Results)
  {
    results.push_back(images.at(result));
  }
  return results;
}

Image3
FilterTerm(const CudaGaussianParameters & parameters, const CudaGaussianTerm & term, Image3 image)
{
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    image = FilterAlong(axis,
                        MakeGaussianImpulseResponse(parameters.Approximation,
                                                    term.Orders[axis],
                                                    (term.Sigma.empty() ? parameters.Sigma : term.Sigma)[axis],
                                                    parameters.Spacing[axis],
                                                    parameters.NormalizeAcrossScale),
                        image);
  }
  for (double & pixel : image)
  {
    pixel *= term.Factor;
  }
  return image;
}

CudaGaussianParameters
MakeAnisotropicParameters(bool keepInput = false)
{
  return { { 1.5, 0.8, 2.0 }, { 0.5, -1.25, 2.0 }, false, keepInput };
}

std::vector<CudaGaussianTerm>
MakeHessianTerms(const CudaGaussianParameters & parameters)
{
  std::vector<CudaGaussianTerm> terms;
  for (unsigned int a = 0; a < 3; ++a)
  {
    for (unsigned int b = a; b < 3; ++b)
    {
      terms.push_back(MakeGaussianDerivativeTerm(parameters, a, b));
    }
  }
  return terms;
}

void
ExpectNear(const Image3 & actual, const Image3 & expected)
{
  for (size_t i = 0; i < NumberOfPixels; ++i)
  {
    ASSERT_NEAR(actual[i], expected[i], 1e-13) << "pixel " << i;
  }
}

size_t
CountWrites(const CudaGaussianPlan & plan)
{
  size_t writes = 0;
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    writes += pass.Results.size();
  }
  return writes;
}
} // namespace

class GaussianKernel : public testing::TestWithParam<CudaFiltersEnums::Approximation>
{};
INSTANTIATE_TEST_SUITE_P(Approximation,
                         GaussianKernel,
                         testing::Values(CudaFiltersEnums::Approximation::Deriche,
                                         CudaFiltersEnums::Approximation::Accurate));

TEST_P(GaussianKernel, HasUnitResponseToConstantRampAndParabola)
{
  constexpr size_t length = 4001;
  constexpr size_t centre = length / 2;
  for (const double sigma : { 0.5, 0.6617, 2.0, 17.0 })
  {
    std::vector<double> constant(length, 1.0), ramp(length), parabola(length);
    for (size_t n = 0; n < length; ++n)
    {
      const double x = static_cast<double>(n) - static_cast<double>(centre);
      ramp[n] = x;
      parabola[n] = 0.5 * x * x;
    }
    const auto respond = [&](unsigned int order, std::vector<double> line) {
      FilterLine(MakeGaussianImpulseResponse(GetParam(), order, sigma, 1.0, false), line.data(), line.data(), length);
      return line[centre];
    };
    EXPECT_DOUBLE_EQ(respond(0, constant), 1.0);
    EXPECT_NEAR(respond(1, constant), 0.0, 1e-12);
    EXPECT_NEAR(respond(1, ramp), 1.0, 1e-9);
    EXPECT_NEAR(respond(2, constant), 0.0, 1e-12);
    EXPECT_NEAR(respond(2, ramp), 0.0, 1e-9);
    EXPECT_NEAR(respond(2, parabola), 1.0, 1e-7);
  }
}

TEST_P(GaussianKernel, ScalesAcrossScaleAndTurnsWithTheSpacing)
{
  const CudaGaussianImpulseResponse plain = MakeGaussianImpulseResponse(GetParam(), 1, 3.0, 0.5, false);
  const CudaGaussianImpulseResponse scaled = MakeGaussianImpulseResponse(GetParam(), 1, 3.0, 0.5, true);
  const CudaGaussianImpulseResponse turned = MakeGaussianImpulseResponse(GetParam(), 1, 3.0, -0.5, false);
  const CudaGaussianImpulseResponse second = MakeGaussianImpulseResponse(GetParam(), 2, 3.0, 0.5, false);
  const CudaGaussianImpulseResponse secondScaled = MakeGaussianImpulseResponse(GetParam(), 2, 3.0, 0.5, true);
  EXPECT_DOUBLE_EQ(plain.SigmaInPixels, 6.0);
  for (unsigned int j = 0; j < plain.NumberOfPolePairs; ++j)
  {
    EXPECT_NEAR(std::abs(scaled.Weight[j] - 3.0 * plain.Weight[j]), 0.0, 1e-15);
    EXPECT_NEAR(std::abs(turned.Weight[j] + plain.Weight[j]), 0.0, 1e-15);
    EXPECT_NEAR(std::abs(secondScaled.Weight[j] - 9.0 * second.Weight[j]), 0.0, 1e-15);
  }
}

TEST_P(GaussianKernel, RefusesParametersOutOfRange)
{
  EXPECT_THROW(MakeGaussianImpulseResponse(GetParam(), 3, 1.0, 1.0, false), ExceptionObject);
  for (const double sigma : { 0.0, -1.0, std::nan(""), static_cast<double>(INFINITY) })
  {
    EXPECT_THROW(MakeGaussianImpulseResponse(GetParam(), 0, sigma, 1.0, false), ExceptionObject) << "sigma " << sigma;
  }
  for (const double spacing : { 0.0, 1e-9 })
  {
    EXPECT_THROW(MakeGaussianImpulseResponse(GetParam(), 0, 1.0, spacing, false), ExceptionObject);
  }
}

TEST(GaussianPlan, GivesEachTermAsAComponent)
{
  const Image3 input = MakeRandomImage();
  for (const bool keepInput : { false, true })
  {
    CudaGaussianParameters parameters = MakeAnisotropicParameters(keepInput);
    parameters.Approximation = keepInput ? CudaFiltersEnums::Approximation::Accurate // the tree is the same
                                         : CudaFiltersEnums::Approximation::Deriche;
    for (const auto & terms : { MakeGaussianGradientTerms(parameters), MakeHessianTerms(parameters) })
    {
      const auto results = RunOnHost(MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Components), input);
      ASSERT_EQ(results.size(), terms.size());
      for (size_t i = 0; i < terms.size(); ++i)
      {
        ExpectNear(results[i], FilterTerm(parameters, terms[i], input));
      }
    }
  }
}

TEST(GaussianPlan, AddsTermsAndTakesTheirNorm)
{
  const Image3                 input = MakeRandomImage();
  const CudaGaussianParameters parameters = MakeAnisotropicParameters();
  const auto                   terms = MakeGaussianGradientTerms(parameters);
  Image3                       sum(NumberOfPixels, 0.0), norm(NumberOfPixels, 0.0);
  for (const CudaGaussianTerm & term : terms)
  {
    const Image3 filtered = FilterTerm(parameters, term, input);
    for (size_t i = 0; i < NumberOfPixels; ++i)
    {
      sum[i] += filtered[i];
      norm[i] += filtered[i] * filtered[i];
    }
  }
  for (double & pixel : norm)
  {
    pixel = std::sqrt(pixel);
  }
  ExpectNear(RunOnHost(MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Sum), input).front(), sum);
  ExpectNear(RunOnHost(MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Norm), input).front(), norm);
}

TEST(GaussianPlan, SharesPasses)
{
  const CudaGaussianParameters parameters = MakeAnisotropicParameters();
  const auto                   gradient =
    MakeGaussianPlan(parameters, MakeGaussianGradientTerms(parameters), CudaGaussianOutput::Components);
  const auto hessian = MakeGaussianPlan(parameters, MakeHessianTerms(parameters), CudaGaussianOutput::Components);
  EXPECT_EQ(gradient.Passes.size(), 6u);
  EXPECT_EQ(CountWrites(gradient), 8u);
  EXPECT_EQ(hessian.Passes.size(), 10u);
  EXPECT_EQ(CountWrites(hessian), 15u);
}

TEST(GaussianPlan, GivesTheGradientTheSigmasOfITKsFilters)
{
  using Sigmas = std::vector<double>;
  CudaGaussianParameters plane{ { 1.0, 8.0 }, { 1.0, 1.0 } };
  EXPECT_EQ(CudaGradientSigmas(plane, 0), (Sigmas{ 8.0, 1.0 }));
  EXPECT_EQ(CudaGradientSigmas(plane, 1), (Sigmas{ 1.0, 8.0 }));
  CudaGaussianParameters volume{ { 1.0, 3.0, 9.0 }, { 1.0, 1.0, 1.0 } };
  EXPECT_EQ(CudaGradientSigmas(volume, 0), (Sigmas{ 9.0, 1.0, 3.0 }));
  EXPECT_EQ(CudaGradientSigmas(volume, 1), (Sigmas{ 1.0, 9.0, 3.0 }));
  EXPECT_EQ(CudaGradientSigmas(volume, 2), (Sigmas{ 1.0, 3.0, 9.0 }));
  volume.Approximation = CudaFiltersEnums::Approximation::Accurate;
  for (unsigned int component = 0; component < 3; ++component)
  {
    EXPECT_EQ(CudaGradientSigmas(volume, component), volume.Sigma);
  }
}

TEST(GaussianPlan, SharesPassesOfTheSameSigma)
{
  const auto makeTerms = [](const CudaGaussianParameters & parameters) {
    auto terms = MakeGaussianGradientTerms(parameters);
    for (unsigned int d = 0; d < terms.size(); ++d)
    {
      terms[d].Sigma = CudaGradientSigmas(parameters, d);
    }
    return terms;
  };
  const Image3                 input = MakeRandomImage();
  const CudaGaussianParameters unequal = MakeAnisotropicParameters();
  const auto                   terms = makeTerms(unequal);
  const auto                   plan = MakeGaussianPlan(unequal, terms, CudaGaussianOutput::Components);
  EXPECT_EQ(plan.Passes.size(), 8u); // along z two sigmas, along y two of one source and one, along x three
  EXPECT_EQ(CountWrites(plan), 8u);
  const auto results = RunOnHost(plan, input);
  for (size_t i = 0; i < terms.size(); ++i)
  {
    ExpectNear(results[i], FilterTerm(unequal, terms[i], input));
  }

  CudaGaussianParameters equal = MakeAnisotropicParameters();
  equal.Sigma.assign(3, 1.5);
  const auto shared = MakeGaussianPlan(equal, makeTerms(equal), CudaGaussianOutput::Components);
  const auto plain = MakeGaussianPlan(equal, MakeGaussianGradientTerms(equal), CudaGaussianOutput::Components);
  EXPECT_EQ(shared.NumberOfImages, plain.NumberOfImages);
  EXPECT_EQ(shared.Results, plain.Results);
  ASSERT_EQ(shared.Passes.size(), plain.Passes.size());
  for (size_t i = 0; i < plain.Passes.size(); ++i)
  {
    EXPECT_EQ(shared.Passes[i].Axis, plain.Passes[i].Axis);
    EXPECT_EQ(shared.Passes[i].Source, plain.Passes[i].Source);
    ASSERT_EQ(shared.Passes[i].Results.size(), plain.Passes[i].Results.size());
    for (size_t r = 0; r < plain.Passes[i].Results.size(); ++r)
    {
      EXPECT_EQ(shared.Passes[i].Results[r].Destination, plain.Passes[i].Results[r].Destination);
      EXPECT_EQ(shared.Passes[i].Results[r].Kernel.Order, plain.Passes[i].Results[r].Kernel.Order);
    }
  }
}

/** Where derivatives are differences of pixels, plans have the shape that they have at any sigma, and the results of
 * their terms; what three pixels leave out of the smoothing is 1e-6. */
TEST(GaussianPlan, SharesPassesWhereDerivativesAreDifferences)
{
  for (const auto approximation :
       { CudaFiltersEnums::Approximation::Deriche, CudaFiltersEnums::Approximation::Accurate })
  {
    for (unsigned int narrow = 0; narrow < 3; ++narrow)
    {
      CudaGaussianParameters parameters = MakeAnisotropicParameters(true);
      parameters.Approximation = approximation;
      const CudaGaussianPlan usual = MakeHessianPlan(parameters);
      parameters.Sigma[narrow] = 0.1 * std::abs(parameters.Spacing[narrow]);
      const CudaGaussianPlan plan = MakeHessianPlan(parameters);
      ASSERT_EQ(plan.Passes.size(), usual.Passes.size());
      EXPECT_EQ(plan.NumberOfImages, usual.NumberOfImages);
      for (const CudaGaussianLinePass & pass : plan.Passes)
      {
        for (const CudaGaussianPassResult & result : pass.Results)
        {
          EXPECT_TRUE(result.Kernel.HasPolesOf(pass.Results.front().Kernel));
        }
      }
      const Image3 input = MakeRandomImage();
      const auto   results = RunOnHost(plan, input);
      const auto   terms = MakeHessianTerms(parameters);
      for (size_t i = 0; i < terms.size(); ++i)
      {
        const Image3 expected = FilterTerm(parameters, terms[i], input);
        double       scale = 1e-12;
        for (const double value : expected)
        {
          scale = std::max(scale, std::abs(value));
        }
        for (size_t n = 0; n < NumberOfPixels; ++n)
        {
          ASSERT_NEAR(results[i][n], expected[n], 2e-5 * scale) << "component " << i << ", pixel " << n;
        }
      }
    }
  }
}

TEST(GaussianPlan, CombiningPassesComeLastAndNeedNoMoreThanFourImages)
{
  const CudaGaussianParameters parameters = MakeAnisotropicParameters();
  const auto plan = MakeGaussianPlan(parameters, MakeGaussianGradientTerms(parameters), CudaGaussianOutput::Norm);
  ASSERT_EQ(plan.Passes.size(), 6u);
  EXPECT_EQ(plan.NumberOfImages, 4u);
  for (size_t i = 3; i < 6; ++i)
  {
    EXPECT_EQ(plan.Passes[i].Axis, 0u);
    EXPECT_EQ(plan.Passes[i].Results.front().Destination, plan.Results.front());
  }
}

TEST(GaussianPlan, PlansOfFiltersAreThoseOfTheirTerms)
{
  const Image3           input = MakeRandomImage();
  CudaGaussianParameters parameters = MakeAnisotropicParameters();
  const auto             terms = MakeGaussianGradientTerms(parameters);
  const auto             hessian = MakeHessianTerms(parameters);
  const auto             expected = [&](const std::vector<CudaGaussianTerm> & these, CudaGaussianOutput output) {
    return RunOnHost(MakeGaussianPlan(parameters, these, output), input);
  };
  const std::vector<CudaGaussianTerm> onDiagonal{ hessian[0], hessian[3], hessian[5] };
  EXPECT_EQ(RunOnHost(MakeGradientMagnitudePlan(parameters), input), expected(terms, CudaGaussianOutput::Norm));
  EXPECT_EQ(RunOnHost(MakeLaplacianPlan(parameters), input), expected(onDiagonal, CudaGaussianOutput::Sum));
  EXPECT_EQ(RunOnHost(MakeHessianPlan(parameters), input), expected(hessian, CudaGaussianOutput::Components));
  // ITK's gradient has sigmas of its own.
  parameters.Approximation = CudaFiltersEnums::Approximation::Accurate;
  EXPECT_EQ(RunOnHost(MakeGradientPlan(parameters), input), expected(terms, CudaGaussianOutput::Components));
  const std::vector<double> direction{ 0, 1, 0, 1, 0, 0, 0, 0, -1 };
  EXPECT_EQ(MakeGradientPlan(parameters, direction).Rotation, direction);
}

TEST(GaussianPlan, WrongNumbersOfAxesAreNamed)
{
  using Numbers = std::vector<double>;
  const CudaGaussianParameters wrong[] = {
    {}, { { 1.0 }, {} }, { { 1.0, 1.0 }, { 1.0 } }, { Numbers(5, 1.0), Numbers(5, 1.0) }
  };
  for (const CudaGaussianParameters & parameters : wrong)
  {
    for (const auto make : { MakeSmoothingPlan, MakeGradientMagnitudePlan, MakeLaplacianPlan, MakeHessianPlan })
    {
      const std::string failure = GetException([&] { make(parameters); });
      ExpectContains(failure, "Sigma is given for");
      ExpectContains(failure, "one to 4");
    }
    ExpectContains(GetException([&] { MakeGradientPlan(parameters); }), "Sigma is given for");
  }
  const CudaGaussianParameters plane{ { 1.0, 1.0 }, { 1.0, 1.0 } };
  ExpectContains(GetException([&] { MakeGradientPlan(plane, { 1.0, 0.0, 1.0 }); }), "Direction has 3 elements");
  const auto expect = [&](const std::vector<CudaGaussianTerm> & terms, const std::string & text) {
    ExpectContains(GetException([&] { MakeGaussianPlan(plane, terms, CudaGaussianOutput::Sum); }), text);
  };
  expect({}, "no terms");
  expect({ { { 0 } } }, "orders for 1 axes");
  expect({ { { 0, 0 }, 1.0, { 1.0 } } }, "sigmas for 1;");
  expect({ { { 0, 3 } } }, "Order is 3");
}

TEST(GaussianPlan, SmoothsWithTwoImages)
{
  for (unsigned int dimension = 1; dimension <= 4; ++dimension)
  {
    CudaGaussianParameters parameters;
    parameters.Sigma.assign(dimension, 1.0);
    parameters.Spacing.assign(dimension, 1.0);
    const auto plan = MakeSmoothingPlan(parameters);
    EXPECT_EQ(plan.NumberOfImages, 2u);
    EXPECT_EQ(plan.Passes.size(), dimension);
  }
}

TEST(GaussianPlan, SeveralResultsAreImagesOfTheirOwn)
{
  const CudaGaussianParameters parameters = MakeAnisotropicParameters();
  const auto plan = MakeGaussianPlan(parameters, MakeHessianTerms(parameters), CudaGaussianOutput::Components);
  const std::set<unsigned int> results(plan.Results.begin(), plan.Results.end());
  EXPECT_EQ(results.size(), 6u);
  EXPECT_EQ(results.count(0), 0u);
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    EXPECT_EQ(results.count(pass.Source), 0u);
  }
}
