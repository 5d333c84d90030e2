// SPDX-License-Identifier: Apache-2.0
// Pixels of several components: each component is filtered as an image of its own.
#include "itkComplexToRealImageAdaptor.h"
#include "itkCovariantVector.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"

#include <complex>

namespace itk::cuda::test
{
namespace
{
class CudaGaussianPixelTypesTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianPixelTypesTest);

constexpr unsigned int Dimension = 2;

template <typename TImage>
using ComponentOf = typename NumericTraits<typename TImage::InternalPixelType>::ValueType;

/** An image with other random values in each component; for integers over most of the range of a byte. */
template <typename TImage>
typename TImage::Pointer
MakeComponentImage(unsigned int numberOfComponents)
{
  using ComponentType = ComponentOf<TImage>;
  auto image = TImage::New();
  image->SetRegions(typename TImage::RegionType({ { 3, -2 } }, { { 65, 33 } }));
  image->SetNumberOfComponentsPerPixel(numberOfComponents);
  image->Allocate();
  auto * const data = reinterpret_cast<ComponentType *>(image->GetBufferPointer());
  for (size_t i = 0; i < 65 * 33 * numberOfComponents; ++i)
  {
    data[i] = static_cast<ComponentType>(10.0 + 30.0 * (i % numberOfComponents) + 50.0 * UniformRandom(i));
  }
  return image;
}

/** One component as a scalar image. */
template <typename TImage>
typename Image<ComponentOf<TImage>, Dimension>::Pointer
ExtractComponent(const TImage * image, unsigned int component)
{
  using ComponentType = ComponentOf<TImage>;
  using ScalarImageType = Image<ComponentType, Dimension>;
  auto               scalar = MakeImage<ScalarImageType>(image->GetBufferedRegion());
  const size_t       count = image->GetBufferedRegion().GetNumberOfPixels();
  const auto * const data = reinterpret_cast<const ComponentType *>(image->GetBufferPointer());
  for (size_t i = 0; i < count; ++i)
  {
    scalar->GetBufferPointer()[i] = data[i * image->GetNumberOfComponentsPerPixel() + component];
  }
  return scalar;
}

/** A component of the output is the scalar result: integers against ITK's class, reals within the bound. */
template <typename TKind, typename TComponent>
void
Expect_component_is_scalar_result(const Image<TComponent, Dimension> * output,
                                  const Image<TComponent, Dimension> * input,
                                  unsigned int                         variant)
{
  using ScalarImageType = Image<TComponent, Dimension>;
  const auto passes = TKind::Passes(input, variant);
  if constexpr (std::is_integral_v<TComponent>)
  {
    auto itkFilter = TKind::template ITKFilter<ScalarImageType>::New();
    TKind::SetParameters(itkFilter.GetPointer(), variant);
    itkFilter->SetInput(input);
    itkFilter->Update();
    const auto   exact = ToDouble(input);
    const double error = MaximumMagnitude(exact.GetPointer()) * KernelL1Norm(passes) * FloatAccuracy(1.0);
    EXPECT_TRUE(IsTruncatedAsITKs<ScalarImageType>(
      output, itkFilter->GetOutput(), Float64Reference<Dimension>(exact, passes).GetPointer(), error));
  }
  else
  {
    EXPECT_TRUE(IsAccurate(output, input, passes));
  }
}

/** Orders 1 and 2 have negative values: along axis 0, which is order 0, only, if the components are unsigned. */
template <typename TKind, typename TImage>
unsigned int
NumberOfVariantsFor()
{
  return std::is_unsigned_v<ComponentOf<TImage>> ? 1 : TKind::NumberOfVariants(Dimension);
}

template <typename TKind, typename TImage>
void
Expect_components_are_filtered(BackendEnum backend, unsigned int numberOfComponents)
{
  const auto input = MakeComponentImage<TImage>(numberOfComponents);
  for (unsigned int variant = 0; variant < NumberOfVariantsFor<TKind, TImage>(); ++variant)
  {
    auto filter = TKind::template CudaFilter<TImage>::New();
    TKind::SetParameters(filter.GetPointer(), variant);
    filter->SetInput(input);
    const auto output = RunPoisoned(filter.GetPointer(), backend);
    ASSERT_EQ(output->GetNumberOfComponentsPerPixel(), numberOfComponents);
    ASSERT_EQ(output->GetBufferedRegion(), input->GetBufferedRegion());
    for (unsigned int c = 0; c < numberOfComponents; ++c)
    {
      SCOPED_TRACE(std::string(TKind::Name) + ", variant " + std::to_string(variant) + ", component " +
                   std::to_string(c));
      Expect_component_is_scalar_result<TKind, ComponentOf<TImage>>(
        ExtractComponent(output.GetPointer(), c), ExtractComponent(input.GetPointer(), c), variant);
    }
  }
}

template <template <typename> class TPixel>
void
Expect_pixel_is_filtered(BackendEnum backend)
{
  using FloatImageType = Image<TPixel<float>, Dimension>;
  using ByteImageType = Image<TPixel<unsigned char>, Dimension>;
  using DoubleImageType = Image<TPixel<double>, Dimension>;
  constexpr unsigned int components = sizeof(TPixel<unsigned char>);
  Expect_components_are_filtered<RecursiveKind, FloatImageType>(backend, components);
  Expect_components_are_filtered<RecursiveKind, ByteImageType>(backend, components);
  Expect_components_are_filtered<RecursiveKind, DoubleImageType>(backend, components);
  Expect_components_are_filtered<SmoothingKind, FloatImageType>(backend, components);
  Expect_components_are_filtered<SmoothingKind, ByteImageType>(backend, components);
  Expect_components_are_filtered<SmoothingKind, DoubleImageType>(backend, components);
}

template <typename T>
using Vector3 = Vector<T, 3>;
template <typename T>
using CovariantVector5 = CovariantVector<T, 5>;
template <typename T>
using Tensor3 = SymmetricSecondRankTensor<T, 3>;

TEST_P(CudaGaussianPixelTypesTest, Vector)
{
  Expect_pixel_is_filtered<Vector3>(GetParam());
}

TEST_P(CudaGaussianPixelTypesTest, CovariantVector)
{
  Expect_pixel_is_filtered<CovariantVector5>(GetParam());
}

TEST_P(CudaGaussianPixelTypesTest, RGBPixel)
{
  Expect_pixel_is_filtered<RGBPixel>(GetParam());
}

TEST_P(CudaGaussianPixelTypesTest, RGBAPixel)
{
  Expect_pixel_is_filtered<RGBAPixel>(GetParam());
}

TEST_P(CudaGaussianPixelTypesTest, SymmetricSecondRankTensor)
{
  Expect_pixel_is_filtered<Tensor3>(GetParam());
}

TEST_P(CudaGaussianPixelTypesTest, VectorImage)
{
  for (const unsigned int components : { 1, 2, 7 })
  {
    Expect_components_are_filtered<RecursiveKind, itk::VectorImage<float, Dimension>>(GetParam(), components);
    Expect_components_are_filtered<RecursiveKind, itk::VectorImage<unsigned char, Dimension>>(GetParam(), components);
    Expect_components_are_filtered<RecursiveKind, itk::VectorImage<double, Dimension>>(GetParam(), components);
    Expect_components_are_filtered<SmoothingKind, itk::VectorImage<float, Dimension>>(GetParam(), components);
    Expect_components_are_filtered<SmoothingKind, itk::VectorImage<unsigned char, Dimension>>(GetParam(), components);
    Expect_components_are_filtered<SmoothingKind, itk::VectorImage<double, Dimension>>(GetParam(), components);
  }
}

// What the GPU does not know runs on the host, and the reason names the type.

using ComplexImageType = Image<std::complex<float>, Dimension>;

ComplexImageType::Pointer
MakeComplexImage()
{
  const auto image = MakeImage<ComplexImageType>({ { { 0, 0 } }, { { 33, 31 } } });
  for (size_t i = 0; i < 33 * 31; ++i)
  {
    image->GetBufferPointer()[i] = { static_cast<float>(UniformRandom(2 * i)),
                                     static_cast<float>(UniformRandom(2 * i + 1)) };
  }
  return image;
}

/** Backend Automatic takes the host, and says why. */
template <typename TFilter>
void
Expect_host_is_used_for(TFilter * filter, const std::string & word)
{
  filter->SetBackend(BackendEnum::Automatic);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  EXPECT_NE(filter->GetBackendReason().find(word), std::string::npos) << filter->GetBackendReason();
}

/** Backend Cuda refuses, and says why. */
template <typename TFilter>
void
Expect_gpu_is_refused_for(TFilter * filter, const std::string & word)
{
  filter->SetBackend(BackendEnum::Cuda);
  try
  {
    filter->Update();
    ADD_FAILURE() << "no exception";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::NotUsable);
    EXPECT_NE(std::string(error.GetDescription()).find(word), std::string::npos) << error.GetDescription();
  }
}

TEST(CudaGaussianUnsupportedTypes, ComplexPixelsRunOnTheHost)
{
  const auto input = MakeComplexImage();
  auto       filter = CudaRecursiveGaussianImageFilter<ComplexImageType>::New();
  filter->SetInput(input);
  Expect_gpu_is_refused_for(filter.GetPointer(), "type");
  Expect_host_is_used_for(filter.GetPointer(), "type");
  auto itkFilter = RecursiveGaussianImageFilter<ComplexImageType>::New();
  itkFilter->SetInput(input);
  itkFilter->Update();
  EXPECT_TRUE(HasSameBits<ComplexImageType>(filter->GetOutput(), itkFilter->GetOutput()));
}

TEST(CudaGaussianUnsupportedTypes, ComplexPixelsAreSmoothedOnTheHost)
{
  const auto input = MakeComplexImage();
  auto       filter = CudaSmoothingRecursiveGaussianImageFilter<ComplexImageType>::New();
  filter->SetInput(input);
  Expect_gpu_is_refused_for(filter.GetPointer(), "type");
  Expect_host_is_used_for(filter.GetPointer(), "type");
  auto itkFilter = SmoothingRecursiveGaussianImageFilter<ComplexImageType>::New();
  itkFilter->SetInput(input);
  itkFilter->Update();
  EXPECT_TRUE(HasSameBits<ComplexImageType>(filter->GetOutput(), itkFilter->GetOutput()));
}

TEST(CudaGaussianUnsupportedTypes, ImageAdaptorsRunOnTheHost)
{
  using RealImageType = Image<float, Dimension>;
  using AdaptorType = ComplexToRealImageAdaptor<ComplexImageType, float>;
  const auto input = MakeComplexImage();
  auto       adaptor = AdaptorType::New();
  adaptor->SetImage(input);
  auto filter = CudaRecursiveGaussianImageFilter<AdaptorType, RealImageType>::New();
  filter->SetInput(adaptor);
  Expect_gpu_is_refused_for(filter.GetPointer(), "adaptor");
  Expect_host_is_used_for(filter.GetPointer(), "adaptor");
  const auto real = MakeImage<RealImageType>(input->GetBufferedRegion());
  for (size_t i = 0; i < 33 * 31; ++i)
  {
    real->GetBufferPointer()[i] = input->GetBufferPointer()[i].real();
  }
  EXPECT_TRUE(IsAccurate(filter->GetOutput(), real.GetPointer(), { { 0, 0, 1.0, 1.0, false } }));
}
} // namespace
} // namespace itk::cuda::test
