// SPDX-License-Identifier: Apache-2.0

// Plans as data: their images and passes, which terms share. The results of terms that share passes of several sigmas
// are those of each term alone; itkCudaGaussianFiltersGTest.cxx compares the results of all filters' plans.

#include "itkCudaDetailGaussianPlan.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianRunner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace itk::cuda::test
{
namespace
{
using namespace itk::CudaDetail;

/** Expects that the components of a plan on the host are its terms, filtered axis by axis in double. */
void
ExpectTerms(const CudaGaussianPlan &              plan,
            const CudaGaussianParameters &        parameters,
            const std::vector<CudaGaussianTerm> & terms)
{
  const Volume input = MakeDataVolume({ { 9, 7, 11, 1 } }, DataKind::Uniform);
  const auto   found = RunPlan(plan, input, CudaComponentType::Double, CudaComponentType::Double, BackendEnum::Host);
  ASSERT_EQ(found.size(), terms.size() * input.Pixels.size());
  for (size_t i = 0; i < terms.size(); ++i)
  {
    Volume expected = input;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      FilterVolume(expected,
                   { axis, terms[i].Orders[axis], terms[i].Sigma[axis], parameters.Spacing[axis] },
                   parameters.Approximation);
    }
    for (size_t n = 0; n < input.Pixels.size(); ++n)
    {
      ASSERT_NEAR(found[n * terms.size() + i], terms[i].Factor * expected.Pixels[n], DoubleAccuracy)
        << "term " << i << ", pixel " << n;
    }
  }
}

CudaGaussianParameters
MakeAnisotropicParameters(bool keepInput = false)
{
  return { { 1.5, 0.8, 2.0 }, { 0.5, 1.25, 2.0 }, false, keepInput };
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

class GaussianKernel : public testing::TestWithParam<CudaFiltersEnums::Approximation>
{};
INSTANTIATE_TEST_SUITE_P(Approximation,
                         GaussianKernel,
                         testing::Values(CudaFiltersEnums::Approximation::Deriche,
                                         CudaFiltersEnums::Approximation::Accurate));

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
  const CudaGaussianParameters unequal = MakeAnisotropicParameters();
  const auto                   terms = makeTerms(unequal);
  const auto                   plan = MakeGaussianPlan(unequal, terms, CudaGaussianOutput::Components);
  EXPECT_EQ(plan.Passes.size(), 8u); // along z two sigmas, along y two of one source and one, along x three
  EXPECT_EQ(CountWrites(plan), 8u);
  ExpectTerms(plan, unequal, terms);

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

/** Where derivatives are differences of pixels, plans have the shape that they have at any sigma. */
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
} // namespace
} // namespace itk::cuda::test
