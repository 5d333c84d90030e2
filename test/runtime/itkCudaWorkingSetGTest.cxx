// SPDX-License-Identifier: Apache-2.0

// Verifies that filters never request more device memory than version 0.1 (945a25c) did. The table was printed by that
// version's functions with the code below.

#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <vector>

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

/** Returns the terms of smoothing, gradient (also for its magnitude), Laplacian and Hessian, numbered 0, 1, 2 and 3. */
std::vector<CudaGaussianTerm>
MakeTerms(unsigned int dimension, unsigned int filter)
{
  const auto make = [dimension](int a, int b) {
    CudaGaussianTerm term{ std::vector<unsigned int>(dimension, 0), 1.0 };
    for (const int axis : { a, b })
    {
      if (axis >= 0)
      {
        ++term.Orders[static_cast<size_t>(axis)];
      }
    }
    return term;
  };
  std::vector<CudaGaussianTerm> terms;
  const int                     axes = static_cast<int>(dimension);
  for (int a = 0; a < axes && filter > 0; ++a)
  {
    for (int b = filter == 3 ? a : axes - 1; b < axes; ++b)
    {
      terms.push_back(filter == 1 ? make(a, -1) : filter == 2 ? make(a, a) : make(a, b));
    }
  }
  return filter == 0 ? std::vector<CudaGaussianTerm>{ make(-1, -1) } : terms;
}

std::vector<size_t>
GetWorkingSets(const Shape & shape)
{
  std::vector<size_t> sets;
  const auto          input = MakeView(shape, shape.Input, shape.Components);
  for (const auto approximation :
       { CudaFiltersEnums::Approximation::Deriche, CudaFiltersEnums::Approximation::Accurate })
  {
    CudaGaussianParameters parameters;
    parameters.Sigma.assign(shape.Dimension, 4.0);
    parameters.Spacing.assign(shape.Dimension, 1.0);
    parameters.Approximation = approximation;
    for (unsigned int filter = 0; filter < 5; ++filter)
    {
      const auto             terms = MakeTerms(shape.Dimension, filter == 4 ? 1 : filter);
      const auto             what = filter == 4   ? CudaGaussianOutput::Norm
                                    : filter == 2 ? CudaGaussianOutput::Sum
                                                  : CudaGaussianOutput::Components;
      const CudaGaussianPlan plan = MakeGaussianPlan(parameters, terms, what);
      sets.push_back(
        CudaWorkingSet(plan, input, MakeView(shape, shape.Output, shape.Components * plan.Results.size())));
    }
    const auto single = MakeGaussianLinePlan(1, MakeGaussianImpulseResponse(approximation, 0, 4.0, 1.0, false));
    sets.push_back(CudaWorkingSet(single, input, MakeView(shape, shape.Output, shape.Components)));
  }
  const auto output = MakeView(shape, shape.Output, shape.Components);
  for (const size_t radius : { size_t{ 5 }, size_t{ 200 } })
  {
    CudaGaussianFirPlan plan;
    for (unsigned int axis = shape.Dimension; axis-- > 0;)
    {
      CudaGaussianFirPass pass;
      pass.Axis = axis;
      pass.Weights.assign(2 * radius + 1, 1.0 / static_cast<double>(2 * radius + 1));
      plan.Passes.push_back(pass);
    }
    sets.push_back(CudaWorkingSet(plan, input, output));
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
    sets.push_back(CudaWorkingSet(plan, input, output));
  }
  return sets;
}

/** Bytes for each shape. Each row has the order of GetWorkingSets(). */
const std::vector<size_t> Version01[] = { { 4282311,
                                            14521496,
                                            6358583,
                                            20744108,
                                            6358583,
                                            4282311,
                                            4282311,
                                            14521496,
                                            6358583,
                                            20744108,
                                            6358583,
                                            4282311,
                                            4152544,
                                            4154148,
                                            4152544,
                                            4152544,
                                            4152544 },
                                          { 13748046,
                                            38465016,
                                            19257102,
                                            54942996,
                                            19257102,
                                            13748046,
                                            13748046,
                                            38465016,
                                            19257102,
                                            54942996,
                                            19257102,
                                            13748046,
                                            13748046,
                                            13748046,
                                            13748046,
                                            13748046,
                                            13748046 },
                                          { 5068800,
                                            17203200,
                                            7526400,
                                            24576000,
                                            7526400,
                                            5068800,
                                            5068800,
                                            17203200,
                                            7526400,
                                            24576000,
                                            7526400,
                                            5068800,
                                            4915200,
                                            4918408,
                                            4915200,
                                            4915200,
                                            4915200 },
                                          { 7081725,
                                            13113850,
                                            10230525,
                                            18096375,
                                            10230525,
                                            7081725,
                                            7081725,
                                            13113850,
                                            10230525,
                                            18096375,
                                            10230525,
                                            7081725,
                                            7081725,
                                            7081725,
                                            7081725,
                                            7081725,
                                            7081725 },
                                          { 31680000,
                                            153600000,
                                            62400000,
                                            276480000,
                                            62400000,
                                            31680000,
                                            31680000,
                                            153600000,
                                            62400000,
                                            276480000,
                                            62400000,
                                            31680000,
                                            30720000,
                                            30721604,
                                            30720000,
                                            30720000,
                                            30720000 },
                                          { 8368230,
                                            33439380,
                                            15076230,
                                            60170760,
                                            15076230,
                                            8368230,
                                            8368230,
                                            33439380,
                                            15076230,
                                            60170760,
                                            15076230,
                                            8368230,
                                            8368230,
                                            8368230,
                                            8368230,
                                            8368230,
                                            8368230 },
                                          { 45964800,
                                            183859200,
                                            82736640,
                                            330946560,
                                            82736640,
                                            45964800,
                                            45964800,
                                            183859200,
                                            82736640,
                                            330946560,
                                            82736640,
                                            45964800,
                                            45964800,
                                            45964800,
                                            45964800,
                                            45964800,
                                            45964800 },
                                          { 5174400,
                                            14649600,
                                            8668800,
                                            26678400,
                                            8668800,
                                            5174400,
                                            5174400,
                                            14649600,
                                            8668800,
                                            26678400,
                                            8668800,
                                            5174400,
                                            5174400,
                                            5174400,
                                            5174400,
                                            5174400,
                                            5174400 } };

TEST(CudaWorkingSet, OfNoFilterIsLargerThanThatOfVersion01)
{
  for (size_t i = 0; i < std::size(Shapes); ++i)
  {
    const std::vector<size_t> sets = GetWorkingSets(Shapes[i]);
    ASSERT_EQ(sets.size(), Version01[i].size());
    for (size_t k = 0; k < sets.size(); ++k)
    {
      EXPECT_LE(sets[k], Version01[i][k]) << Shapes[i].Name << ", place " << k << " of the row";
      EXPECT_GT(sets[k], 0u);
    }
  }
}
} // namespace
