// SPDX-License-Identifier: Apache-2.0

// Verifies that filters never request more device memory than version 0.1 (945a25c) did. The table was printed by that
// version's functions for these shapes.

#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;

/** The size, components and types of an image whose pixels do not matter. */
struct Shape
{
  const char *      Name;
  unsigned int      Dimension;
  size_t            Size[3];
  size_t            Components;
  CudaComponentType Input;
  CudaComponentType Output;
};

constexpr Shape Shapes[] = {
  { "2-D float", 2, { 1001, 517, 1 }, 1, CudaComponentType::Float, CudaComponentType::Float },
  { "2-D short to float", 2, { 333, 4099, 1 }, 1, CudaComponentType::Short, CudaComponentType::Float },
  { "2-D double", 2, { 640, 480, 1 }, 1, CudaComponentType::Double, CudaComponentType::Double },
  { "2-D unsigned char in colours", 2, { 255, 1025, 1 }, 3, CudaComponentType::UChar, CudaComponentType::UChar },
  { "3-D float", 3, { 128, 100, 300 }, 1, CudaComponentType::Float, CudaComponentType::Float },
  { "3-D unsigned short to float", 3, { 99, 65, 129 }, 1, CudaComponentType::UShort, CudaComponentType::Float },
  { "3-D int to double", 3, { 64, 70, 513 }, 1, CudaComponentType::Int, CudaComponentType::Double },
  { "3-D float vectors", 3, { 50, 60, 70 }, 2, CudaComponentType::Float, CudaComponentType::Float },
};

CudaImageView
MakeView(const Shape & shape, CudaComponentType type, size_t components)
{
  CudaImageView view;
  view.ComponentType = type;
  view.NumberOfComponents = components;
  size_t stride = components;
  for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
  {
    view.Size[d] = d < 3 ? shape.Size[d] : 1;
    view.Stride[d] = stride;
    stride *= view.Size[d];
  }
  return view;
}

/** What version 0.1 asked for: a row for each shape. The approximations, and the partitions of Young and van Vliet's
 * filter, did not differ. A filter along one axis took as much as smoothing, and the magnitude as the Laplacian. */
struct Limits
{
  size_t Smoothing, Gradient, Laplacian, Hessian;
  size_t ShortKernels; // also Young and van Vliet's filter
  size_t LongKernels;
};

constexpr Limits Version01[] = {
  { 4282311, 14521496, 6358583, 20744108, 4152544, 4154148 },
  { 13748046, 38465016, 19257102, 54942996, 13748046, 13748046 },
  { 5068800, 17203200, 7526400, 24576000, 4915200, 4918408 },
  { 7081725, 13113850, 10230525, 18096375, 7081725, 7081725 },
  { 31680000, 153600000, 62400000, 276480000, 30720000, 30721604 },
  { 8368230, 33439380, 15076230, 60170760, 8368230, 8368230 },
  { 45964800, 183859200, 82736640, 330946560, 45964800, 45964800 },
  { 5174400, 14649600, 8668800, 26678400, 5174400, 5174400 },
};

void
ExpectAtMost(const Shape & shape, const Limits & limits)
{
  const auto input = MakeView(shape, shape.Input, shape.Components);
  const auto expect = [&](const auto & plan, size_t results, size_t limit, const std::string & what) {
    const size_t bytes = CudaWorkingSet(plan, input, MakeView(shape, shape.Output, shape.Components * results));
    EXPECT_LE(bytes, limit) << shape.Name << ", " << what;
    EXPECT_GT(bytes, 0u) << shape.Name << ", " << what;
  };
  for (const auto approximation :
       { CudaFiltersEnums::Approximation::Deriche, CudaFiltersEnums::Approximation::Accurate })
  {
    CudaGaussianParameters parameters;
    parameters.Sigma.assign(shape.Dimension, 4.0);
    parameters.Spacing.assign(shape.Dimension, 1.0);
    parameters.Approximation = approximation;
    const std::pair<CudaGaussianPlan, size_t> plans[] = {
      { MakeSmoothingPlan(parameters), limits.Smoothing },
      { MakeGradientPlan(parameters), limits.Gradient },
      { MakeLaplacianPlan(parameters), limits.Laplacian },
      { MakeHessianPlan(parameters), limits.Hessian },
      { MakeGradientMagnitudePlan(parameters), limits.Laplacian },
      { MakeGaussianLinePlan(1, MakeGaussianImpulseResponse(approximation, 0, 4.0, 1.0, false)), limits.Smoothing },
    };
    for (const auto & [plan, limit] : plans)
    {
      expect(plan, plan.Results.size(), limit, "plan " + std::to_string(plan.Results.size()));
    }
  }
  for (const auto & [radius, limit] : { std::pair(5, limits.ShortKernels), std::pair(200, limits.LongKernels) })
  {
    CudaGaussianFirPlan plan;
    for (unsigned int axis = shape.Dimension; axis-- > 0;)
    {
      CudaGaussianFirPass pass;
      pass.Axis = axis;
      pass.Weights.assign(static_cast<size_t>(2 * radius + 1), 1.0 / (2 * radius + 1));
      plan.Passes.push_back(pass);
    }
    expect(plan, 1, limit, "kernels of radius " + std::to_string(radius));
  }
  for (const auto partition :
       { CudaFiltersEnums::Partition::OneWay, CudaFiltersEnums::Partition::TwoWay, CudaFiltersEnums::Partition::Exact })
  {
    CudaPartitionedGaussianPlan plan;
    plan.LinePartition = partition;
    for (unsigned int axis = 0; axis < shape.Dimension; ++axis)
    {
      plan.Passes.push_back(
        { axis, 15.0, CudaCentralPixelRadius(30.0), CudaAutomaticNumberOfSections(shape.Size[axis]) });
    }
    expect(plan, 1, limits.ShortKernels, "partition " + std::to_string(static_cast<int>(partition)));
  }
}

TEST(CudaWorkingSet, OfNoFilterIsLargerThanThatOfVersion01)
{
  static_assert(std::size(Shapes) == std::size(Version01));
  for (size_t i = 0; i < std::size(Shapes); ++i)
  {
    ExpectAtMost(Shapes[i], Version01[i]);
  }
}
} // namespace
