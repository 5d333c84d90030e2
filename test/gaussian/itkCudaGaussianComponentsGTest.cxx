// SPDX-License-Identifier: Apache-2.0
// Outputs that have not as many components as the filter gives: an exception that names both numbers, on every backend.
#include "runtime/DetailNames.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkMultiThreaderBase.h"

namespace itk::cuda::test
{
namespace
{
class CudaGaussianComponentsTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianComponentsTest);

/** The message of the exception that `function()` ends with; empty: none. */
template <typename TFunction>
std::string
GetFailure(const TFunction & function)
{
  try
  {
    function();
  }
  catch (const ExceptionObject & exception)
  {
    return exception.GetDescription();
  }
  return {};
}

/** The message speaks of an output with `found` components and of `needed`. */
void
Expect_both_numbers(const std::string & text, size_t found, size_t needed)
{
  EXPECT_NE(text.find("output has " + std::to_string(found) + " component"), std::string::npos) << '"' << text << '"';
  EXPECT_NE(text.find("must have " + std::to_string(needed)), std::string::npos) << '"' << text << '"';
}

TEST_P(CudaGaussianComponentsTest, PartitionedFilterNeedsAsManyAsTheInputHas)
{
  using InputType = Image<RGBPixel<float>, 2>;
  using OutputType = Image<float, 2>;
  const auto input = MakeImage<InputType>(MakeRegion<2>({ { 40, 30 } }));
  input->FillBuffer(RGBPixel<float>(1.0f));
  const auto filter = CudaPartitionedRecursiveGaussianImageFilter<InputType, OutputType>::New();
  filter->SetInput(input);
  filter->SetBackend(GetParam());
  Expect_both_numbers(GetFailure([&] { filter->Update(); }), 1, 3);
}

TEST_P(CudaGaussianComponentsTest, GradientNeedsOneForEachAxis)
{
  using InputType = Image<float, 3>;
  using OutputType = Image<CovariantVector<float, 2>, 3>;
  const auto input = MakeDataImage<InputType>(MakeRegion<3>({ { 20, 10, 15 } }), DataKind::Uniform);
  for (const auto approximation :
       { CudaFiltersEnums::Approximation::Deriche, CudaFiltersEnums::Approximation::Accurate })
  {
    const auto filter = CudaGradientRecursiveGaussianImageFilter<InputType, OutputType>::New();
    filter->SetInput(input);
    filter->SetBackend(GetParam());
    filter->SetApproximation(approximation);
    Expect_both_numbers(GetFailure([&] { filter->Update(); }), 2, 3);
  }
}

/** A dense image of so many components, without the filter. */
CudaImageView
MakeView(std::vector<float> & pixels, size_t components)
{
  CudaImageView view;
  view.NumberOfComponents = components;
  view.Size = { { 8, 6, 1, 1 } };
  view.Stride = { { components, 8 * components, 48 * components, 48 * components } };
  pixels.assign(48 * components, 1.0f);
  view.Data = pixels.data();
  return view;
}

TEST(CudaGaussianComponents, EnginesOfTheHostCompareThem)
{
  CudaGaussianParameters parameters;
  parameters.Sigma = { 1.0, 1.0 };
  parameters.Spacing = { 1.0, 1.0 };
  const CudaGaussianPlan      gradient = MakeGradientPlan(parameters);
  CudaPartitionedGaussianPlan partitioned;
  partitioned.Passes = { { 0, 1.0, 1, 1 } };
  const auto threader = MultiThreaderBase::New();
  for (const size_t components : { 1, 3, 5 })
  {
    std::vector<float>  inputPixels;
    std::vector<float>  outputPixels;
    const CudaImageView input = MakeView(inputPixels, 2);
    const CudaImageView output = MakeView(outputPixels, components);
    Expect_both_numbers(GetFailure([&] { CudaRunOnHost(gradient, input, output, threader, nullptr); }), components, 4);
    Expect_both_numbers(
      GetFailure([&] { CudaRunOnHost(partitioned, input, output, threader, nullptr); }), components, 2);
  }
}
} // namespace
} // namespace itk::cuda::test
