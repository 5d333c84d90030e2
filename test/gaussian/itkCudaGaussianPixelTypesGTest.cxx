// SPDX-License-Identifier: Apache-2.0
// Pixels of several components: each component is filtered as an image of its own. Outputs that have not as many
// components as the filter gives are refused, and so are pixels that the device does not know.
#include "itkComplexToRealImageAdaptor.h"
#include "itkCovariantVector.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianRunner.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkMultiThreaderBase.h"
#include "itkRGBPixel.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"
#include "itkVectorImage.h"

#include <complex>

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;

class CudaGaussianPixelTypesTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianPixelTypesTest);

constexpr double Sigma = 2.5;

template <typename TImage>
using ComponentOf = typename CudaDetail::CudaImageTraits<TImage>::ComponentType;

/** An image with other random values in each component; for integers over most of the range of a byte. */
template <typename TImage>
typename TImage::Pointer
MakeComponentImage(unsigned int numberOfComponents)
{
  typename TImage::SizeType size;
  size.Fill(5);
  size[0] = 65;
  size[TImage::ImageDimension - 1] = 33;
  const auto image = TImage::New();
  image->SetRegions(size);
  image->SetNumberOfComponentsPerPixel(numberOfComponents);
  image->Allocate();
  auto * const data = reinterpret_cast<ComponentOf<TImage> *>(image->GetBufferPointer());
  for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels() * numberOfComponents; ++i)
  {
    data[i] = static_cast<ComponentOf<TImage>>(10.0 + 30.0 * (i % numberOfComponents) + 50.0 * UniformRandom(i));
  }
  return image;
}

/** One component of all pixels. */
template <typename TImage>
Volume
ExtractComponent(const TImage * image, unsigned int component)
{
  const auto size = image->GetBufferedRegion().GetSize();
  Volume     volume;
  std::copy(size.begin(), size.end(), volume.Size.begin());
  const auto * const data = reinterpret_cast<const ComponentOf<TImage> *>(image->GetBufferPointer());
  for (size_t i = 0; i < volume.GetNumberOfPixels(); ++i)
  {
    volume.Pixels.push_back(data[i * image->GetNumberOfComponentsPerPixel() + component]);
  }
  return volume;
}

/** Truncated toward zero, or on either side of a step, where the component's type is an integer. */
template <typename TComponent>
void
ExpectResult(const Volume & found, Volume expected, const std::vector<GaussianParameters> & passes, Approximation how)
{
  double error = LargestOf(expected.Pixels) * FloatAccuracy(Sigma);
  for (const GaussianParameters & pass : passes)
  {
    error *= L1Norm(MakeReferenceKernel(how, pass));
    FilterVolume(expected, pass, how);
  }
  for (size_t i = 0; i < found.Pixels.size(); ++i)
  {
    const double exact = expected.Pixels[i];
    if (!std::is_integral_v<TComponent>)
    {
      ASSERT_NEAR(found.Pixels[i], exact, error) << "pixel " << i;
    }
    else if (!IsNearIntegerStep(exact, error))
    {
      ASSERT_EQ(found.Pixels[i], std::trunc(exact)) << "pixel " << i;
    }
  }
}

/** Runs TFilter of images of this type on all components. */
template <template <typename, typename> class TFilter, typename TImage>
void
ExpectComponentsAreFiltered(BackendEnum backend, unsigned int numberOfComponents)
{
  const auto input = MakeComponentImage<TImage>(numberOfComponents);
  using ScalarImage = Image<float, TImage::ImageDimension>;
  constexpr bool isRecursive =
    std::is_same_v<TFilter<ScalarImage, ScalarImage>, CudaRecursiveGaussianImageFilter<ScalarImage, ScalarImage>>;
  std::vector<GaussianParameters> passes;
  for (unsigned int d = 0; d < (isRecursive ? 1 : TImage::ImageDimension); ++d)
  {
    passes.push_back({ d, 0, Sigma });
  }
  for (const Approximation approximation : AllApproximations)
  {
    const auto filter = TFilter<TImage, TImage>::New();
    filter->SetInput(input);
    filter->SetSigma(Sigma);
    filter->SetApproximation(approximation);
    const auto output = RunPoisoned(filter.GetPointer(), backend);
    ASSERT_EQ(output->GetNumberOfComponentsPerPixel(), numberOfComponents);
    ASSERT_EQ(output->GetBufferedRegion(), input->GetBufferedRegion());
    for (unsigned int c = 0; c < numberOfComponents; ++c)
    {
      SCOPED_TRACE(testing::Message() << filter->GetNameOfClass() << ", " << approximation << ", component " << c);
      ExpectResult<ComponentOf<TImage>>(
        ExtractComponent(output.GetPointer(), c), ExtractComponent(input.GetPointer(), c), passes, approximation);
    }
  }
}

// Arrays of fixed and of variable length, with component types of a computation in float, in double, and of an integer.
TEST_P(CudaGaussianPixelTypesTest, ComponentsAreFilteredAsImagesOfTheirOwn)
{
  ExpectComponentsAreFiltered<CudaSmoothingRecursiveGaussianImageFilter, Image<Vector<float, 3>, 2>>(GetParam(), 3);
  ExpectComponentsAreFiltered<CudaRecursiveGaussianImageFilter, Image<RGBPixel<unsigned char>, 2>>(GetParam(), 3);
  ExpectComponentsAreFiltered<CudaRecursiveGaussianImageFilter, Image<SymmetricSecondRankTensor<double, 3>, 2>>(
    GetParam(), 6);
  ExpectComponentsAreFiltered<CudaRecursiveGaussianImageFilter, VectorImage<unsigned char, 2>>(GetParam(), 2);
  for (const unsigned int components : { 1, 2, 7 })
  {
    ExpectComponentsAreFiltered<CudaSmoothingRecursiveGaussianImageFilter, VectorImage<float, 2>>(GetParam(),
                                                                                                  components);
  }
}

TEST_P(CudaGaussianPixelTypesTest, ImagesOfOneAndFourDimensionsAreFiltered)
{
  ExpectComponentsAreFiltered<CudaRecursiveGaussianImageFilter, Image<float, 1>>(GetParam(), 1);
  ExpectComponentsAreFiltered<CudaRecursiveGaussianImageFilter, Image<float, 4>>(GetParam(), 1);
}

TEST_P(CudaGaussianPixelTypesTest, GradientOfVectorsLiesComponentAfterComponent)
{
  using ImageType = VectorImage<float, 2>;
  const auto input = MakeComponentImage<ImageType>(3);
  for (const Approximation approximation : AllApproximations)
  {
    const auto filter = CudaGradientRecursiveGaussianImageFilter<ImageType, ImageType>::New();
    filter->SetInput(input);
    filter->SetSigma(Sigma);
    filter->SetApproximation(approximation);
    UpdateOn(filter.GetPointer(), GetParam());
    ASSERT_EQ(filter->GetOutput()->GetNumberOfComponentsPerPixel(), 6u);
    for (unsigned int c = 0; c < 6; ++c)
    {
      SCOPED_TRACE(testing::Message() << approximation << ", component " << c);
      ExpectResult<float>(ExtractComponent(filter->GetOutput(), c),
                          ExtractComponent(input.GetPointer(), c / 2),
                          { { 0, c % 2 == 0 ? 1u : 0u, Sigma }, { 1, c % 2 == 0 ? 0u : 1u, Sigma } },
                          approximation);
    }
  }
}

TEST_P(CudaGaussianPixelTypesTest, ComponentsThatAreNotFiniteDoNotSpoilEachOther)
{
  using ImageType = Image<Vector<float, 3>, 2>;
  for (const Approximation approximation : AllApproximations)
  {
    const auto image = MakeComponentImage<ImageType>(3);
    const auto run = [&] {
      const auto filter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
      filter->SetInput(image);
      filter->SetSigma(Sigma);
      filter->SetApproximation(approximation);
      return RunPoisoned(filter.GetPointer(), GetParam());
    };
    const auto clean = run();
    image->GetBufferPointer()[65 * 10 + 30][1] = std::numeric_limits<float>::quiet_NaN();
    const auto found = run();
    for (const unsigned int c : { 0, 2 })
    {
      EXPECT_EQ(ExtractComponent(found.GetPointer(), c).Pixels, ExtractComponent(clean.GetPointer(), c).Pixels);
    }
    EXPECT_TRUE(std::isnan(found->GetBufferPointer()[65 * 10 + 30][1]));
  }
}

// ---------------------------------------------------------------------------------------------------------- refusals

/** The message speaks of an output with `found` components and of `needed`. */
void
ExpectBothNumbers(const std::string & text, size_t found, size_t needed)
{
  ExpectContains(text, "output has " + std::to_string(found) + " component");
  ExpectContains(text, "must have " + std::to_string(needed));
}

TEST_P(CudaGaussianPixelTypesTest, OutputsOfOtherComponentsAreRefused)
{
  using ImageType = Image<float, 3>;
  const auto gradient = CudaGradientRecursiveGaussianImageFilter<ImageType, Image<CovariantVector<float, 2>, 3>>::New();
  gradient->SetInput(MakeComponentImage<ImageType>(1));
  gradient->SetBackend(GetParam());
  for (const Approximation approximation : AllApproximations)
  {
    gradient->SetApproximation(approximation);
    ExpectBothNumbers(GetException([&] { gradient->Update(); }), 2, 3);
  }
  using ColourImage = Image<RGBPixel<float>, 2>;
  const auto partitioned = CudaPartitionedRecursiveGaussianImageFilter<ColourImage, Image<float, 2>>::New();
  partitioned->SetInput(MakeComponentImage<ColourImage>(3));
  partitioned->SetBackend(GetParam());
  ExpectBothNumbers(GetException([&] { partitioned->Update(); }), 1, 3);
}

TEST(CudaGaussianPixelTypes, EnginesOfTheHostCompareNumbersOfComponents)
{
  CudaDetail::CudaGaussianParameters parameters;
  parameters.Sigma = { 1.0, 1.0 };
  parameters.Spacing = { 1.0, 1.0 };
  const CudaDetail::CudaGaussianPlan      gradient = CudaDetail::MakeGradientPlan(parameters);
  CudaDetail::CudaPartitionedGaussianPlan partitioned;
  partitioned.Passes = { { 0, 1.0, 1, 1 } };
  const auto threader = MultiThreaderBase::New();
  using ImageType = VectorImage<float, 2>;
  const auto makeView = [](const ImageType * image) {
    return CudaDetail::MakeCudaImageView(image, image->GetBufferedRegion());
  };
  const auto input = MakeComponentImage<ImageType>(2);
  for (const unsigned int components : { 1, 3, 5 })
  {
    const auto output = MakeComponentImage<ImageType>(components);
    const auto run = [&](const CudaDetail::CudaOperation & operation) {
      return GetException(
        [&] { CudaDetail::CudaRunOnHost(operation, makeView(input), makeView(output), threader, nullptr); });
    };
    ExpectBothNumbers(run(gradient), components, 4);
    ExpectBothNumbers(run(partitioned), components, 2);
  }
}

/** What the GPU does not know runs on the host with Backend Automatic, Backend Cuda refuses it, and both say why. */
template <typename TFilter>
void
ExpectHostIsUsedFor(TFilter * filter, const std::string & word)
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
    ExpectContains(error.GetDescription(), word);
  }
  filter->SetBackend(BackendEnum::Automatic);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  ExpectContains(filter->GetBackendReason(), word);
}

using ComplexImage = Image<std::complex<float>, 2>;

ComplexImage::Pointer
MakeComplexImage()
{
  const auto image = MakeImage<ComplexImage>(MakeRegion<2>({ { 33, 31 } }));
  for (size_t i = 0; i < 33 * 31; ++i)
  {
    image->GetBufferPointer()[i] = { static_cast<float>(UniformRandom(2 * i)),
                                     static_cast<float>(UniformRandom(2 * i + 1)) };
  }
  return image;
}

TEST(CudaGaussianPixelTypes, ComplexPixelsRunOnTheHost)
{
  const auto input = MakeComplexImage();
  const auto filter = CudaRecursiveGaussianImageFilter<ComplexImage>::New();
  filter->SetInput(input);
  ExpectHostIsUsedFor(filter.GetPointer(), "type");
  const auto itkFilter = RecursiveGaussianImageFilter<ComplexImage>::New();
  itkFilter->SetInput(input);
  itkFilter->Update();
  EXPECT_TRUE(HasSameBits<ComplexImage>(filter->GetOutput(), itkFilter->GetOutput()));
}

// An image adaptor has no pixels in memory: the plan's run cannot read it, and the superclass knows no Accurate.
TEST(CudaGaussianPixelTypes, ImageAdaptorsRunOnTheHost)
{
  using RealImage = Image<float, 2>;
  using AdaptorType = ComplexToRealImageAdaptor<ComplexImage, float>;
  const auto input = MakeComplexImage();
  const auto adaptor = AdaptorType::New();
  adaptor->SetImage(input);
  const auto filter = CudaRecursiveGaussianImageFilter<AdaptorType, RealImage>::New();
  filter->SetInput(adaptor);
  ExpectHostIsUsedFor(filter.GetPointer(), "adaptor");
  Volume real{ { { 33, 31, 1, 1 } }, {} };
  for (size_t i = 0; i < 33 * 31; ++i)
  {
    real.Pixels.push_back(input->GetBufferPointer()[i].real());
  }
  ExpectResult<float>(ExtractComponent(filter->GetOutput(), 0), real, { { 0, 0, 1.0 } }, Approximation::Deriche);

  filter->SetApproximation("accurate");
  const std::string error = GetException([&filter] { filter->Update(); });
  ExpectContains(error, "Approximation::Accurate");
  ExpectContains(error, "image adaptors");
  filter->SetApproximation("deriche");
  EXPECT_NO_THROW(filter->Update());
}
} // namespace
} // namespace itk::cuda::test
