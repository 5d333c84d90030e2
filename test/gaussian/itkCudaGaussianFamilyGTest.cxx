// SPDX-License-Identifier: Apache-2.0

// Gradient, gradient magnitude, Laplacian and Hessian: on the GPU against a chain of line passes in float64, on the
// host the bits of ITK's class; and where they compute.

#include "support/itkCudaGaussianPipelineProperties.h"

#include "itkCudaDetailWorkScope.h"
#include "runtime/DetailNames.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkNthElementImageAdaptor.h"

namespace itk::cuda::test
{
namespace
{
class CudaGaussianFamilyGpuTest : public GpuTest
{};

/** A derivative as a user states it: its order along each axis, and sigma in physical units. */
template <unsigned int VDimension>
struct Derivative
{
  std::array<unsigned int, VDimension> Orders{};
  std::array<double, VDimension>       Sigma{};
  bool                                 NormalizeAcrossScale{ false };
};

template <unsigned int VDimension>
std::vector<Derivative<VDimension>>
MakeFirstDerivatives(double sigma, bool normalize = false)
{
  std::vector<Derivative<VDimension>> derivatives(VDimension);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    derivatives[d].Orders[d] = 1;
    derivatives[d].Sigma.fill(sigma);
    derivatives[d].NormalizeAcrossScale = normalize;
  }
  return derivatives;
}

template <unsigned int VDimension>
std::vector<Derivative<VDimension>>
MakeSecondDerivatives(double sigma, bool mixed, bool normalize = false)
{
  std::vector<Derivative<VDimension>> derivatives;
  for (unsigned int a = 0; a < VDimension; ++a)
  {
    for (unsigned int b = a; b < (mixed ? VDimension : a + 1); ++b)
    {
      Derivative<VDimension> derivative;
      ++derivative.Orders[a];
      ++derivative.Orders[b];
      derivative.Sigma.fill(sigma);
      derivative.NormalizeAcrossScale = normalize;
      derivatives.push_back(derivative);
    }
  }
  return derivatives;
}

/** The derivative in float64, and the largest value that it can take on such an input. */
template <unsigned int VDimension>
struct Reference
{
  typename Image<double, VDimension>::Pointer Values;
  double                                      Scale{ 0.0 };
  double                                      LargestSigma{ 0.0 };
};

template <typename TImage, unsigned int VDimension = TImage::ImageDimension>
Reference<VDimension>
MakeReference(const TImage * input, const Derivative<VDimension> & derivative)
{
  std::vector<GaussianParameters> passes;
  double                          factor = 1.0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    const double spacing = input->GetSpacing()[d];
    passes.push_back({ d, derivative.Orders[d], derivative.Sigma[d], spacing, derivative.NormalizeAcrossScale });
    factor /= std::pow(spacing, derivative.Orders[d]);
  }
  const auto            exact = ToDouble(input);
  Reference<VDimension> reference;
  reference.Scale = MaximumMagnitude(exact.GetPointer()) * KernelL1Norm(passes) * std::abs(factor);
  reference.LargestSigma = LargestSigmaInPixels(passes);
  reference.Values = Float64Reference<VDimension>(exact, passes);
  double * const begin = reference.Values->GetBufferPointer();
  std::transform(begin,
                 begin + reference.Values->GetBufferedRegion().GetNumberOfPixels(),
                 begin,
                 [factor](double value) { return value * factor; });
  return reference;
}

/** One component of an image of vectors or tensors, as a scalar image. */
template <typename TImage>
typename Image<double, TImage::ImageDimension>::Pointer
GetComponent(const TImage * image, unsigned int component)
{
  auto scalar = Image<double, TImage::ImageDimension>::New();
  scalar->CopyInformation(image);
  scalar->SetRegions(image->GetBufferedRegion());
  scalar->Allocate();
  ImageRegionConstIteratorWithIndex<TImage> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    scalar->SetPixel(it.GetIndex(), static_cast<double>(it.Get()[component]));
  }
  return scalar;
}

template <typename TOutput, unsigned int VDimension>
void
Expect_component_is_accurate(const TOutput * output, unsigned int component, const Reference<VDimension> & reference)
{
  const auto scalar = GetComponent(output, component);
  EXPECT_TRUE(IsWithin(
    scalar.GetPointer(), reference.Values.GetPointer(), reference.Scale, FloatAccuracy(reference.LargestSigma)))
    << "component " << component;
}

template <unsigned int VDimension>
typename Image<float, VDimension>::Pointer
MakeInput(DataKind kind)
{
  constexpr SizeValueType odd[] = { 33, 31, 17 };
  Size<VDimension>        size;
  std::copy_n(odd, VDimension, size.begin());
  auto                           image = MakeDataImage<Image<float, VDimension>>(MakeRegion<VDimension>(size), kind);
  std::array<double, VDimension> spacing;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    spacing[d] = 0.5 + 0.75 * d;
  }
  SetSpacing(image.GetPointer(), spacing);
  return image;
}

/** A rotation by 30 degrees in the plane of the first two axes. */
template <typename TImage>
void
Rotate(TImage * image)
{
  auto         direction = image->GetDirection();
  const double c = std::sqrt(0.75);
  direction[0][0] = c;
  direction[0][1] = -0.5;
  direction[1][0] = 0.5;
  direction[1][1] = c;
  image->SetDirection(direction);
}

constexpr double Sigmas[] = { 0.8, 2.0, 30.0 };

template <unsigned int VDimension>
void
Expect_gradient_is_accurate(bool normalize)
{
  using ImageType = Image<float, VDimension>;
  using OutputType = Image<CovariantVector<float, VDimension>, VDimension>;
  for (const DataKind kind : AllDataKinds)
  {
    for (const double sigma : Sigmas)
    {
      SCOPED_TRACE(DataKindToString(kind) + ", sigma " + std::to_string(sigma));
      const auto input = MakeInput<VDimension>(kind);
      auto       filter = CudaGradientRecursiveGaussianImageFilter<ImageType, OutputType>::New();
      filter->SetInput(input);
      filter->SetSigma(sigma);
      filter->SetNormalizeAcrossScale(normalize);
      const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
      const auto derivatives = MakeFirstDerivatives<VDimension>(sigma, normalize);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        Expect_component_is_accurate(output.GetPointer(), d, MakeReference(input.GetPointer(), derivatives[d]));
      }
    }
  }
}

template <unsigned int VDimension>
void
Expect_hessian_is_accurate(bool normalize)
{
  using ImageType = Image<float, VDimension>;
  using OutputType = Image<SymmetricSecondRankTensor<float, VDimension>, VDimension>;
  for (const DataKind kind : AllDataKinds)
  {
    for (const double sigma : Sigmas)
    {
      SCOPED_TRACE(DataKindToString(kind) + ", sigma " + std::to_string(sigma));
      const auto input = MakeInput<VDimension>(kind);
      auto       filter = CudaHessianRecursiveGaussianImageFilter<ImageType, OutputType>::New();
      filter->SetInput(input);
      filter->SetSigma(sigma);
      filter->SetNormalizeAcrossScale(normalize);
      const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
      const auto derivatives = MakeSecondDerivatives<VDimension>(sigma, true, normalize);
      for (unsigned int i = 0; i < derivatives.size(); ++i)
      {
        Expect_component_is_accurate(output.GetPointer(), i, MakeReference(input.GetPointer(), derivatives[i]));
      }
    }
  }
}

/** Checks a scalar output against `combine` of the references; errors add up. */
template <typename TFilter, unsigned int VDimension, typename TCombine>
void
Expect_combination_is_accurate(const std::vector<Derivative<VDimension>> & derivatives,
                               DataKind                                    kind,
                               double                                      sigma,
                               bool                                        normalize,
                               const TCombine &                            combine)
{
  SCOPED_TRACE(DataKindToString(kind) + ", sigma " + std::to_string(sigma));
  const auto input = MakeInput<VDimension>(kind);
  auto       filter = TFilter::New();
  filter->SetInput(input);
  filter->SetSigma(sigma);
  filter->SetNormalizeAcrossScale(normalize);
  const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);

  std::vector<Reference<VDimension>> references;
  double                             scale = 0.0;
  for (const auto & derivative : derivatives)
  {
    references.push_back(MakeReference(input.GetPointer(), derivative));
    scale += references.back().Scale;
  }
  const auto   combined = references.front().Values;
  const size_t pixels = combined->GetBufferedRegion().GetNumberOfPixels();
  for (size_t i = 0; i < pixels; ++i)
  {
    std::vector<double> values;
    for (const auto & reference : references)
    {
      values.push_back(reference.Values->GetBufferPointer()[i]);
    }
    combined->GetBufferPointer()[i] = combine(values);
  }
  EXPECT_TRUE(
    IsWithin(output.GetPointer(), combined.GetPointer(), scale, FloatAccuracy(references.front().LargestSigma)));
}

double
GetNorm(const std::vector<double> & values)
{
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

double
GetSum(const std::vector<double> & values)
{
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <unsigned int VDimension>
void
Expect_scalars_are_accurate(bool normalize)
{
  using ImageType = Image<float, VDimension>;
  for (const DataKind kind : AllDataKinds)
  {
    for (const double sigma : Sigmas)
    {
      Expect_combination_is_accurate<CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>, VDimension>(
        MakeFirstDerivatives<VDimension>(sigma, normalize), kind, sigma, normalize, GetNorm);
      Expect_combination_is_accurate<CudaLaplacianRecursiveGaussianImageFilter<ImageType>, VDimension>(
        MakeSecondDerivatives<VDimension>(sigma, false, normalize), kind, sigma, normalize, GetSum);
    }
  }
}

template <typename TFilter, typename TSuperclass>
void
Expect_bits_of_the_superclass_on_the_host()
{
  using ImageType = typename TFilter::InputImageType;
  const auto input = MakeInput<ImageType::ImageDimension>(DataKind::Uniform);
  auto       filter = TFilter::New();
  auto       expected = TSuperclass::New();
  filter->SetInput(input);
  expected->SetInput(input);
  filter->SetSigma(1.5);
  expected->SetSigma(1.5);
  UpdateOn(filter.GetPointer(), BackendEnum::Host);
  expected->Update();
  EXPECT_TRUE(HasSameBits<typename TFilter::OutputImageType>(filter->GetOutput(), expected->GetOutput()));
}

} // namespace

TEST_F(CudaGaussianFamilyGpuTest, GradientIsAccurate)
{
  Expect_gradient_is_accurate<2>(false);
  Expect_gradient_is_accurate<3>(false);
  Expect_gradient_is_accurate<3>(true);
}

TEST_F(CudaGaussianFamilyGpuTest, HessianIsAccurate)
{
  Expect_hessian_is_accurate<2>(false);
  Expect_hessian_is_accurate<3>(false);
  Expect_hessian_is_accurate<3>(true);
}

TEST_F(CudaGaussianFamilyGpuTest, MagnitudeAndLaplacianAreAccurate)
{
  Expect_scalars_are_accurate<2>(false);
  Expect_scalars_are_accurate<3>(false);
  Expect_scalars_are_accurate<3>(true);
}

TEST_F(CudaGaussianFamilyGpuTest, GradientTurnsWithTheImage)
{
  using ImageType = Image<float, 3>;
  using OutputType = Image<CovariantVector<float, 3>, 3>;
  const auto input = MakeInput<3>(DataKind::Uniform);
  Rotate(input.GetPointer());
  auto filter = CudaGradientRecursiveGaussianImageFilter<ImageType, OutputType>::New();
  filter->SetInput(input);
  filter->SetSigma(2.0);
  const auto turned = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
  auto       along = CudaGradientRecursiveGaussianImageFilter<ImageType, OutputType>::New();
  along->SetInput(input);
  along->SetSigma(2.0);
  along->UseImageDirectionOff();
  UpdateOn(along.GetPointer(), BackendEnum::Cuda);
  for (ImageRegionConstIteratorWithIndex<OutputType> it(turned, turned->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    CovariantVector<float, 3> expected;
    input->TransformLocalVectorToPhysicalVector(along->GetOutput()->GetPixel(it.GetIndex()), expected);
    for (unsigned int d = 0; d < 3; ++d)
    {
      ASSERT_NEAR(it.Get()[d], expected[d], 1e-6 * expected.GetNorm() + 1e-12) << it.GetIndex();
    }
  }
}

TEST_F(CudaGaussianFamilyGpuTest, GradientOfVectorsLiesComponentAfterComponent)
{
  using VectorImageType = VectorImage<float, 2>;
  const auto first = MakeInput<2>(DataKind::Uniform);
  const auto second = MakeInput<2>(DataKind::Ramp);
  auto       input = VectorImageType::New();
  input->CopyInformation(first);
  input->SetRegions(first->GetBufferedRegion());
  input->SetNumberOfComponentsPerPixel(2);
  input->Allocate();
  const size_t pixels = first->GetBufferedRegion().GetNumberOfPixels();
  for (size_t i = 0; i < pixels; ++i)
  {
    input->GetBufferPointer()[2 * i] = first->GetBufferPointer()[i];
    input->GetBufferPointer()[2 * i + 1] = second->GetBufferPointer()[i];
  }
  auto filter = CudaGradientRecursiveGaussianImageFilter<VectorImageType, VectorImageType>::New();
  filter->SetInput(input);
  filter->SetSigma(2.0);
  UpdateOn(filter.GetPointer(), BackendEnum::Cuda);
  ASSERT_EQ(filter->GetOutput()->GetNumberOfComponentsPerPixel(), 4u);
  const auto derivatives = MakeFirstDerivatives<2>(2.0);
  for (unsigned int component = 0; component < 4; ++component)
  {
    const auto & scalar = component < 2 ? first : second;
    Expect_component_is_accurate(static_cast<const VectorImageType *>(filter->GetOutput()),
                                 component,
                                 MakeReference(scalar.GetPointer(), derivatives[component % 2]));
  }
}

TEST(CudaGaussianFamilyHost, HasTheBitsOfITK)
{
  using ImageType = Image<float, 3>;
  Expect_bits_of_the_superclass_on_the_host<CudaGradientRecursiveGaussianImageFilter<ImageType>,
                                            GradientRecursiveGaussianImageFilter<ImageType>>();
  Expect_bits_of_the_superclass_on_the_host<CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>,
                                            GradientMagnitudeRecursiveGaussianImageFilter<ImageType>>();
  Expect_bits_of_the_superclass_on_the_host<CudaLaplacianRecursiveGaussianImageFilter<ImageType>,
                                            LaplacianRecursiveGaussianImageFilter<ImageType>>();
  Expect_bits_of_the_superclass_on_the_host<CudaHessianRecursiveGaussianImageFilter<ImageType>,
                                            HessianRecursiveGaussianImageFilter<ImageType>>();
}

TEST(CudaHostScope, NestsAndEndsWithAnException)
{
  EXPECT_FALSE(CudaHostScope::IsActive());
  try
  {
    const CudaHostScope outer;
    {
      const CudaHostScope inner;
      EXPECT_TRUE(CudaHostScope::IsActive());
    }
    EXPECT_TRUE(CudaHostScope::IsActive());
    throw 1;
  }
  catch (int)
  {}
  EXPECT_FALSE(CudaHostScope::IsActive());
}

TEST(CudaHostScope, KeepsAutomaticFiltersOnTheHost)
{
  using ImageType = Image<float, 2>;
  auto filter = CudaLaplacianRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(MakeInput<2>(DataKind::Uniform));
  const CudaHostScope scope;
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  EXPECT_EQ(filter->GetBackendReason(), "inside a filter that runs on the host");
}
} // namespace itk::cuda::test
