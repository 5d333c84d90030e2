// SPDX-License-Identifier: Apache-2.0
// The gradient with unequal sigmas: with Deriche it is that of ITK's class on every backend, with Accurate sigma i is
// that of axis i.
#include "itkCudaDetailFilterRun.h"
#include "runtime/DetailNames.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkMultiThreaderBase.h"

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;

template <unsigned int VDimension>
using ScalarImage = Image<float, VDimension>;
template <unsigned int VDimension>
using GradientImage = Image<CovariantVector<float, VDimension>, VDimension>;
template <unsigned int VDimension>
using GradientFilter = CudaGradientRecursiveGaussianImageFilter<ScalarImage<VDimension>, GradientImage<VDimension>>;
/** ITK's class, made without the object factory. */
template <unsigned int VDimension>
using ITKGradientFilter =
  CudaHostFilter<GradientRecursiveGaussianImageFilter<ScalarImage<VDimension>, GradientImage<VDimension>>>;

class CudaGradientSigmasTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGradientSigmasTest);

template <unsigned int VDimension>
struct Case
{
  std::array<double, VDimension> Sigma;
  bool                           NormalizeAcrossScale;
  bool                           UseImageDirection;
};

template <unsigned int VDimension>
std::vector<Case<VDimension>>
MakeCases()
{
  std::vector<std::array<double, VDimension>> sigmas;
  if constexpr (VDimension == 2)
  {
    sigmas = { { 1.0, 8.0 }, { 6.0, 0.9 }, { 2.0, 2.0 } };
  }
  else
  {
    sigmas = { { 1.0, 3.0, 9.0 }, { 5.0, 1.0, 1.0 }, { 1.0, 1.0, 4.0 }, { 3.0, 1.0, 3.0 }, { 2.0, 2.0, 2.0 } };
  }
  std::vector<Case<VDimension>> cases;
  for (const auto & sigma : sigmas)
  {
    cases.push_back({ sigma, false, false });
    cases.push_back({ sigma, true, true });
  }
  return cases;
}

/** Noise, with spacings of their own and turned axes. */
template <unsigned int VDimension>
typename ScalarImage<VDimension>::Pointer
MakeInput()
{
  constexpr SizeValueType        odd[] = { 120, 90, 35 };
  Size<VDimension>               size;
  std::array<double, VDimension> spacing;
  std::copy_n(odd, VDimension, size.begin());
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    spacing[d] = 0.75 + 0.5 * d;
  }
  auto image = MakeDataImage<ScalarImage<VDimension>>(MakeRegion<VDimension>(size), DataKind::Uniform, 100.0);
  SetSpacing(image.GetPointer(), spacing);
  auto direction = image->GetDirection();
  direction[0][0] = direction[1][1] = 0.8;
  direction[1][0] = 0.6;
  direction[0][1] = -0.6;
  image->SetDirection(direction);
  return image;
}

template <unsigned int VDimension, typename TFilter>
void
SetCase(TFilter * filter, const Case<VDimension> & parameters)
{
  typename TFilter::SigmaArrayType sigmas;
  std::copy_n(parameters.Sigma.begin(), VDimension, sigmas.Begin());
  filter->SetSigmaArray(sigmas);
  filter->SetNormalizeAcrossScale(parameters.NormalizeAcrossScale);
  filter->SetUseImageDirection(parameters.UseImageDirection);
}

/** The largest value that a derivative of such an input can have, along any axis and with any of the sigmas: what the
 * bound is relative to. */
template <unsigned int VDimension>
double
GetScale(const ScalarImage<VDimension> * input, const Case<VDimension> & parameters)
{
  double largest = 0.0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    const double spacing = input->GetSpacing()[d];
    const double sigma = *std::min_element(parameters.Sigma.begin(), parameters.Sigma.end());
    largest = std::max(largest, KernelL1Norm({ d, 1, sigma, spacing, parameters.NormalizeAcrossScale }) / spacing);
  }
  return largest * MaximumMagnitude(ToDouble(input).GetPointer());
}

/** Both are results in float. */
template <unsigned int VDimension>
void
Expect_same_gradient(const GradientImage<VDimension> * actual, const GradientImage<VDimension> * expected, double scale)
{
  ASSERT_EQ(actual->GetBufferedRegion(), expected->GetBufferedRegion());
  const size_t count = expected->GetBufferedRegion().GetNumberOfPixels();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    double worst = 0.0;
    for (size_t i = 0; i < count; ++i)
    {
      const double difference = actual->GetBufferPointer()[i][d] - expected->GetBufferPointer()[i][d];
      worst = std::max(worst, std::isfinite(difference) ? std::abs(difference) : scale);
    }
    EXPECT_LE(worst / scale, 2.0 * FloatAccuracy(9.0)) << "component " << d;
  }
}

/** Shows its plan. */
template <unsigned int VDimension>
class PlannedFilter : public GradientFilter<VDimension>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(PlannedFilter);
  using Self = PlannedFilter;
  using Superclass = GradientFilter<VDimension>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  itkNewMacro(Self);
  using Superclass::MakePlan;

protected:
  PlannedFilter() = default;
};

/** What the filter's plan gives on the host: a stand-in for the GPU that every machine has. */
template <unsigned int VDimension>
typename GradientImage<VDimension>::Pointer
RunPlanOnHost(const ScalarImage<VDimension> * input, const Case<VDimension> & parameters)
{
  const auto filter = PlannedFilter<VDimension>::New();
  filter->SetInput(input);
  SetCase(filter.GetPointer(), parameters);
  const auto region = input->GetBufferedRegion();
  const auto output = MakeImage<GradientImage<VDimension>>(region);
  CudaRunOnHost(filter->MakePlan(),
                MakeCudaImageView(input, region),
                MakeCudaImageView<GradientImage<VDimension>>(output, region),
                MultiThreaderBase::New(),
                nullptr);
  return output;
}

template <unsigned int VDimension, typename TRun>
void
Expect_gradient_of_ITK(const TRun & run)
{
  const auto input = MakeInput<VDimension>();
  for (const Case<VDimension> & parameters : MakeCases<VDimension>())
  {
    const auto itkFilter = ITKGradientFilter<VDimension>::New();
    itkFilter->SetInput(input);
    SetCase(itkFilter.GetPointer(), parameters);
    itkFilter->Update();
    std::ostringstream what;
    what << "sigma {" << parameters.Sigma[0] << ", " << parameters.Sigma[1] << "...}, NormalizeAcrossScale "
         << parameters.NormalizeAcrossScale;
    SCOPED_TRACE(what.str());
    Expect_same_gradient<VDimension>(
      run(input.GetPointer(), parameters), itkFilter->GetOutput(), GetScale(input.GetPointer(), parameters));
  }
}

TEST(CudaGradientSigmas, PlanOfDericheGivesTheGradientOfITK)
{
  Expect_gradient_of_ITK<2>(RunPlanOnHost<2>);
  Expect_gradient_of_ITK<3>(RunPlanOnHost<3>);
}

TEST_P(CudaGradientSigmasTest, DericheGivesTheGradientOfITK)
{
  const auto run = [](const auto * input, const auto & parameters) {
    constexpr unsigned int Dimension = std::remove_pointer_t<decltype(input)>::ImageDimension;
    const auto             filter = GradientFilter<Dimension>::New();
    filter->SetInput(input);
    SetCase(filter.GetPointer(), parameters);
    return RunPoisoned(filter.GetPointer(), GetParam());
  };
  Expect_gradient_of_ITK<2>(run);
  Expect_gradient_of_ITK<3>(run);
}

/** Component after component as a derivative along its axis and smoothing along the others. */
TEST_P(CudaGradientSigmasTest, AccurateGivesEachAxisItsSigma)
{
  constexpr unsigned int Dimension = 3;
  const Case<Dimension>  parameters{ { 1.0, 3.0, 9.0 }, false, false };
  const auto             input = MakeInput<Dimension>();
  const auto             expected = MakeImage<GradientImage<Dimension>>(input->GetBufferedRegion());
  for (unsigned int component = 0; component < Dimension; ++component)
  {
    ScalarImage<Dimension>::Pointer image = input;
    for (unsigned int axis = 0; axis < Dimension; ++axis)
    {
      const auto pass = CudaRecursiveGaussianImageFilter<ScalarImage<Dimension>>::New();
      pass->SetInput(image);
      pass->SetDirection(axis);
      pass->SetSigma(parameters.Sigma[axis]);
      pass->SetOrder(axis == component ? GaussianOrderEnum::FirstOrder : GaussianOrderEnum::ZeroOrder);
      pass->SetApproximation(Approximation::Accurate);
      image = RunPoisoned(pass.GetPointer(), BackendEnum::Host);
    }
    const size_t count = input->GetBufferedRegion().GetNumberOfPixels();
    for (size_t i = 0; i < count; ++i)
    {
      expected->GetBufferPointer()[i][component] =
        image->GetBufferPointer()[i] / static_cast<float>(input->GetSpacing()[component]);
    }
  }
  const auto filter = GradientFilter<Dimension>::New();
  filter->SetInput(input);
  SetCase(filter.GetPointer(), parameters);
  filter->SetApproximation(Approximation::Accurate);
  Expect_same_gradient<Dimension>(
    RunPoisoned(filter.GetPointer(), GetParam()), expected, GetScale(input.GetPointer(), parameters));
}
} // namespace
} // namespace itk::cuda::test
