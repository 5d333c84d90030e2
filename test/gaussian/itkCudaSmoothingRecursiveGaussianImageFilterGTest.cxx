// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaGaussianPipelineProperties.h"

namespace itk::cuda::test
{
namespace
{
class CudaSmoothingRecursiveGaussianImageFilterTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaSmoothingRecursiveGaussianImageFilterTest);

class CudaSmoothingRecursiveGaussianGpuTest : public GpuTest
{};

/** Sigma along each axis: `sigma` along the first, less along the others. */
template <unsigned int VDimension>
std::vector<double>
FallingSigmas(double sigma)
{
  std::vector<double> sigmas;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    sigmas.push_back(sigma / (1.0 + 0.5 * d));
  }
  return sigmas;
}

template <typename TInput, typename TOutput = TInput>
typename CudaSmoothingRecursiveGaussianImageFilter<TInput, TOutput>::Pointer
MakeSmoothing(const TInput * input, const std::vector<double> & sigmas)
{
  auto filter = CudaSmoothingRecursiveGaussianImageFilter<TInput, TOutput>::New();
  typename CudaSmoothingRecursiveGaussianImageFilter<TInput, TOutput>::SigmaArrayType array;
  std::copy(sigmas.begin(), sigmas.end(), array.Begin());
  filter->SetInput(input);
  filter->SetSigmaArray(array);
  return filter;
}

template <unsigned int VDimension>
void
Expect_accurate_for_all_data(BackendEnum backend, const Size<VDimension> & size, const std::vector<double> & sigmas)
{
  using ImageType = Image<float, VDimension>;
  std::ostringstream what;
  what << "size " << size << ", largest sigma " << *std::max_element(sigmas.begin(), sigmas.end());
  SCOPED_TRACE(what.str());
  AccuracyRecord record(what.str());
  for (const DataKind kind : AllDataKinds)
  {
    const auto input = MakeDataImage<ImageType>(MakeRegion<VDimension>(size), kind);
    auto       filter = MakeSmoothing<ImageType>(input, sigmas);
    const auto output = RunPoisoned(filter.GetPointer(), backend);
    EXPECT_TRUE(
      IsAccurate(output.GetPointer(), input.GetPointer(), SmoothingPasses(input.GetPointer(), sigmas), &record))
      << DataKindToString(kind);
  }
}

template <unsigned int VDimension>
void
Expect_accurate_for_all_sigmas(BackendEnum backend, const std::vector<Size<VDimension>> & sizes)
{
  for (const Size<VDimension> & size : sizes)
  {
    for (const double sigma : { 0.5, 1.0, 4.0, 20.0, 50.0, 100.0, 200.0, 500.0 })
    {
      Expect_accurate_for_all_data<VDimension>(backend, size, FallingSigmas<VDimension>(sigma));
    }
  }
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, ErrorTwoDimensions)
{
  Expect_accurate_for_all_sigmas<2>(GetParam(),
                                    { { { 4, 4 } },
                                      { { 5, 31 } },
                                      { { 31, 5 } },
                                      { { 33, 65 } },
                                      { { 255, 257 } },
                                      { { 513, 33 } },
                                      { { 65, 1031 } } });
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, ErrorThreeDimensions)
{
  Expect_accurate_for_all_sigmas<3>(GetParam(),
                                    { { { 4, 5, 4 } }, { { 31, 33, 5 } }, { { 65, 9, 33 } }, { { 5, 17, 257 } } });
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, ErrorFourDimensions)
{
  Expect_accurate_for_all_sigmas<4>(GetParam(), { { { 4, 5, 4, 5 } }, { { 17, 9, 5, 31 } }, { { 33, 5, 11, 4 } } });
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, ErrorLongLinesSlow)
{
  Expect_accurate_for_all_sigmas<2>(GetParam(),
                                    { { { 4099, 33 } },
                                      { { 33, 4099 } },
                                      { { 8193, 5 } },
                                      { { 5, 8193 } },
                                      { { 16385, 5 } },
                                      { { 5, 32769 } },
                                      { { 100000, 4 } },
                                      { { 4, 100000 } } });
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, AnotherSigmaAlongEachAxis)
{
  Expect_accurate_for_all_data<3>(GetParam(), { { 65, 33, 31 } }, { 0.5, 12.0, 3.0 });
  Expect_accurate_for_all_data<3>(GetParam(), { { 65, 33, 31 } }, { 30.0, 0.7, 100.0 });
  Expect_accurate_for_all_data<4>(GetParam(), { { 9, 17, 5, 13 } }, { 1.0, 2.0, 3.0, 4.0 });
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, SpacingDividesSigma)
{
  using ImageType = Image<float, 3>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<3>({ { 65, 33, 31 } }), DataKind::SmallOffset);
  SetSpacing(input.GetPointer(), { { 0.3, 0.7, 5.0 } });
  const std::vector<double> sigmas = { 2.0, 1.0, 4.0 };
  auto                      filter = MakeSmoothing<ImageType>(input, sigmas);
  EXPECT_TRUE(IsAccurate(RunPoisoned(filter.GetPointer(), GetParam()).GetPointer(),
                         input.GetPointer(),
                         SmoothingPasses(input.GetPointer(), sigmas)));
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, NormalizeAcrossScaleDoesNotMatter)
{
  using ImageType = Image<float, 2>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 65, 33 } }), DataKind::SmallOffset);
  const auto expected = FilterWhole<SmoothingKind>(input.GetPointer(), GetParam(), 0);
  auto       filter = MakeFilter<SmoothingKind>(input.GetPointer(), GetParam(), 0);
  filter->SetNormalizeAcrossScale(true);
  UpdateOn(filter.GetPointer(), GetParam());
  EXPECT_TRUE(HasSameBits<ImageType>(filter->GetOutput(), expected));
}

template <typename T, unsigned int VDimension>
void
Expect_constant_is_kept(BackendEnum backend, const Size<VDimension> & size, T constant, double sigma)
{
  using ImageType = Image<T, VDimension>;
  const auto   input = MakeConstantImage<ImageType>(size, constant);
  auto         filter = MakeSmoothing<ImageType>(input, FallingSigmas<VDimension>(sigma));
  const auto   output = RunPoisoned(filter.GetPointer(), backend);
  const double hostTolerance = std::abs(static_cast<double>(constant)) * FloatAccuracy(sigma) +
                               (std::is_integral_v<T> ? HostConstantIntegerSteps : 0.0);
  const double tolerance = backend == BackendEnum::Cuda ? 0.0 : hostTolerance;
  size_t       wrong = 0;
  for (size_t i = 0; i < output->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    wrong +=
      !(std::abs(static_cast<double>(output->GetBufferPointer()[i]) - static_cast<double>(constant)) <= tolerance);
  }
  EXPECT_EQ(wrong, 0u) << "pixels; type " << typeid(T).name() << ", size " << size << ", constant " << +constant
                       << ", sigma " << sigma << ", first pixel " << +output->GetBufferPointer()[0];
}

template <typename T>
void
Expect_constants_are_kept(BackendEnum backend, std::initializer_list<double> constants)
{
  for (const double constant : constants)
  {
    for (const double sigma : { 0.5, 1.0, 4.0, 20.0, 50.0, 100.0, 200.0, 500.0 })
    {
      Expect_constant_is_kept<T, 2>(backend, { { 257, 33 } }, static_cast<T>(constant), sigma);
      Expect_constant_is_kept<T, 3>(backend, { { 17, 33, 5 } }, static_cast<T>(constant), sigma);
    }
  }
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, ConstantsAreKept)
{
  Expect_constants_are_kept<unsigned char>(GetParam(), { 0, 99, 100, 254 });
  Expect_constants_are_kept<char>(GetParam(), { -127, 99, 100 });
  Expect_constants_are_kept<unsigned short>(GetParam(), { 100, 65534 });
  Expect_constants_are_kept<short>(GetParam(), { -32767, 99 });
  Expect_constants_are_kept<unsigned int>(GetParam(), { 100, 4e9 });
  Expect_constants_are_kept<int>(GetParam(), { -2e9, 99 });
  Expect_constants_are_kept<float>(GetParam(), { 0.1, -1e30, 16777217 });
  Expect_constants_are_kept<double>(GetParam(), { 0.1, -1e30, 16777217 });
}

template <typename TInput, typename TOutput>
void
Expect_types_are_smoothed(BackendEnum backend, double highest, double relativeStepError = FloatAccuracy(6.0))
{
  using InputImageType = Image<TInput, 3>;
  using OutputImageType = Image<TOutput, 3>;
  SCOPED_TRACE(std::string(typeid(TInput).name()) + " to " + typeid(TOutput).name());
  const auto input =
    MakeDataImage<InputImageType>(MakeShiftedRegion<3>({ { 65, 33, 17 } }), DataKind::Uniform, highest - 1.0, 1.0);
  auto         filter = MakeFilter<SmoothingKind, InputImageType, OutputImageType>(input.GetPointer(), backend, 0, 4.0);
  const auto   output = RunPoisoned(filter.GetPointer(), backend);
  const auto   passes = SmoothingKind::Passes(input.GetPointer(), 0, 4.0);
  const double scale = highest * KernelL1Norm(passes);
  const auto   reference = Float64Reference<3>(ToDouble(input.GetPointer()), passes);
  if constexpr (std::is_integral_v<TOutput>)
  {
    auto itkFilter = SmoothingRecursiveGaussianImageFilter<InputImageType, OutputImageType>::New();
    SmoothingKind::SetParameters(itkFilter.GetPointer(), 0, 4.0);
    itkFilter->SetInput(input);
    itkFilter->Update();
    EXPECT_TRUE(IsTruncatedAsITKs<OutputImageType>(
      output, itkFilter->GetOutput(), reference.GetPointer(), scale * relativeStepError));
  }
  else
  {
    EXPECT_TRUE(IsWithin(output.GetPointer(), reference.GetPointer(), scale, FloatAccuracy(6.0)));
  }
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, AllTypes)
{
  Expect_types_are_smoothed<unsigned char, unsigned char>(GetParam(), 255);
  Expect_types_are_smoothed<char, char>(GetParam(), 127);
  Expect_types_are_smoothed<unsigned short, unsigned short>(GetParam(), 60000);
  Expect_types_are_smoothed<short, short>(GetParam(), 30000);
  // ITK stores float between passes, so larger integers differ by more than one.
  Expect_types_are_smoothed<unsigned int, unsigned int>(GetParam(), 1e5);
  Expect_types_are_smoothed<int, int>(GetParam(), 1e5);
  Expect_types_are_smoothed<float, float>(GetParam(), 1e3);
  Expect_types_are_smoothed<double, double>(GetParam(), 1e3);
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, OutputOfAnotherType)
{
  Expect_types_are_smoothed<unsigned char, float>(GetParam(), 255);
  Expect_types_are_smoothed<float, short>(GetParam(), 30000);
  Expect_types_are_smoothed<short, double>(GetParam(), 30000);
  Expect_types_are_smoothed<unsigned short, unsigned char>(GetParam(), 255);
}

// ITK's class stores float between passes.
TEST_F(CudaSmoothingRecursiveGaussianGpuTest, DoubleImagesAreComputedInDouble)
{
  using ImageType = Image<double, 2>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 513, 257 } }), DataKind::SmallOffset);
  auto       filter = MakeFilter<SmoothingKind>(input.GetPointer(), BackendEnum::Cuda, 0, 9.0);
  const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
  const auto exact = Duplicate(input.GetPointer());
  const auto passes = SmoothingKind::Passes(input.GetPointer(), 0, 9.0);
  for (const GaussianParameters & pass : passes)
  {
    ModalFilter<2>(exact, pass);
  }
  EXPECT_TRUE(IsWithin(output.GetPointer(), exact.GetPointer(), 1050.0 * KernelL1Norm(passes), DoubleAccuracy));
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, StreamingGivesTheSameBits)
{
  Expect_streaming_gives_the_bits_of_the_whole<SmoothingKind, Image<float, 3>>(GetParam(), { { 33, 29, 21 } }, 2.5);
  Expect_streaming_gives_the_bits_of_the_whole<SmoothingKind, Image<short, 2>>(GetParam(), { { 1031, 257 } }, 20.0);
}

TEST_P(CudaSmoothingRecursiveGaussianImageFilterTest, RequestsTheRegionsOfITKsClass)
{
  Expect_requested_regions_are_those_of_ITKs_class<SmoothingKind>(GetParam());
}

TEST(CudaSmoothingRecursiveGaussianImageFilter, NamesAndPrinting)
{
  Expect_names_and_printing_are_its_own<SmoothingKind>();
}
} // namespace
} // namespace itk::cuda::test
