// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaGaussianPipelineProperties.h"

namespace itk::cuda::test
{
namespace
{
constexpr double AllSigmas[] = { 0.5, 1.0, 4.0, 20.0, 50.0, 100.0, 200.0, 500.0 };

/** Around the widths of warps, segments and tiles, and lengths that are no multiple of anything. */
const std::vector<SizeValueType> ShortLengths = { 4, 5, 31, 33, 255, 256, 257, 511, 512, 513, 1031 };
/** Lines longer than a block can hold. */
const std::vector<SizeValueType> LongLengths = { 4099, 8191, 8193, 16383, 16384, 16385, 32769, 100000 };

class CudaRecursiveGaussianImageFilterTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaRecursiveGaussianImageFilterTest);

class CudaRecursiveGaussianGpuTest : public GpuTest
{};

template <typename TInput, typename TOutput = TInput>
typename CudaRecursiveGaussianImageFilter<TInput, TOutput>::Pointer
MakeRecursive(const TInput * input, const GaussianParameters & parameters)
{
  auto filter = CudaRecursiveGaussianImageFilter<TInput, TOutput>::New();
  filter->SetInput(input);
  filter->SetDirection(parameters.Axis);
  filter->SetOrder(static_cast<GaussianOrderEnum>(parameters.Order));
  filter->SetSigma(parameters.Sigma);
  filter->SetNormalizeAcrossScale(parameters.NormalizeAcrossScale);
  return filter;
}

template <typename TInput, typename TOutput>
typename TOutput::Pointer
FilterByITK(const TInput * input, const GaussianParameters & parameters)
{
  auto filter = RecursiveGaussianImageFilter<TInput, TOutput>::New();
  filter->SetInput(input);
  filter->SetDirection(parameters.Axis);
  filter->SetOrder(static_cast<GaussianOrderEnum>(parameters.Order));
  filter->SetSigma(parameters.Sigma);
  filter->Update();
  return filter->GetOutput();
}

template <typename TImage>
void
Expect_accurate(BackendEnum                backend,
                const TImage *             input,
                const GaussianParameters & parameters,
                AccuracyRecord &           record)
{
  auto filter = MakeRecursive<TImage>(input, parameters);
  EXPECT_TRUE(IsAccurate(RunPoisoned(filter.GetPointer(), backend).GetPointer(), input, { parameters }, &record))
    << "size " << input->GetLargestPossibleRegion().GetSize() << ", axis " << parameters.Axis;
}

/** All orders and sigmas on images of these sizes along `axis`; `others` are the sizes along the other axes. */
template <unsigned int VDimension>
void
Expect_accurate_for_all_parameters(BackendEnum                        backend,
                                   unsigned int                       axis,
                                   const std::vector<SizeValueType> & lengths,
                                   Size<VDimension>                   others,
                                   const std::vector<DataKind> &      kinds)
{
  using ImageType = Image<float, VDimension>;
  std::vector<typename ImageType::Pointer> images;
  for (const SizeValueType length : lengths)
  {
    others[axis] = length;
    for (const DataKind kind : kinds)
    {
      images.push_back(MakeDataImage<ImageType>(MakeRegion<VDimension>(others), kind));
    }
  }
  for (unsigned int order = 0; order < 3; ++order)
  {
    for (const double sigma : AllSigmas)
    {
      AccuracyRecord record("axis " + std::to_string(axis) + " of " + std::to_string(VDimension) + ", order " +
                            std::to_string(order) + ", sigma " + std::to_string(sigma));
      for (const auto & image : images)
      {
        Expect_accurate(backend, image.GetPointer(), { axis, order, sigma, 1.0, false }, record);
      }
    }
  }
}

const std::vector<DataKind> AllKinds(std::begin(AllDataKinds), std::end(AllDataKinds));

TEST_P(CudaRecursiveGaussianImageFilterTest, ErrorOneDimension)
{
  Expect_accurate_for_all_parameters<1>(GetParam(), 0, ShortLengths, { { 0 } }, AllKinds);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ErrorTwoDimensionsContiguous)
{
  Expect_accurate_for_all_parameters<2>(GetParam(), 0, ShortLengths, { { 0, 33 } }, AllKinds);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ErrorTwoDimensionsStrided)
{
  Expect_accurate_for_all_parameters<2>(GetParam(), 1, ShortLengths, { { 33, 0 } }, AllKinds);
  Expect_accurate_for_all_parameters<2>(GetParam(), 1, { 31, 513 }, { { 65, 0 } }, { DataKind::SmallOffset });
  Expect_accurate_for_all_parameters<2>(GetParam(), 1, { 4, 257 }, { { 1, 0 } }, { DataKind::SmallOffset });
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ErrorThreeDimensions)
{
  const std::vector<DataKind> kinds = { DataKind::Uniform, DataKind::LargeOffset };
  Expect_accurate_for_all_parameters<3>(GetParam(), 0, { 4, 33, 257 }, { { 0, 5, 3 } }, kinds);
  Expect_accurate_for_all_parameters<3>(GetParam(), 1, { 5, 31, 511 }, { { 33, 0, 3 } }, kinds);
  Expect_accurate_for_all_parameters<3>(GetParam(), 2, { 4, 33, 1031 }, { { 3, 5, 0 } }, kinds);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ErrorFourDimensions)
{
  const std::vector<DataKind> kinds = { DataKind::SmallOffset, DataKind::Impulse };
  Expect_accurate_for_all_parameters<4>(GetParam(), 0, { 5, 65 }, { { 0, 3, 5, 3 } }, kinds);
  Expect_accurate_for_all_parameters<4>(GetParam(), 1, { 4, 65 }, { { 33, 0, 1, 3 } }, kinds);
  Expect_accurate_for_all_parameters<4>(GetParam(), 2, { 31, 33 }, { { 3, 5, 0, 3 } }, kinds);
  Expect_accurate_for_all_parameters<4>(GetParam(), 3, { 4, 255 }, { { 1, 5, 3, 0 } }, kinds);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ErrorLongLinesContiguousSlow)
{
  Expect_accurate_for_all_parameters<2>(GetParam(), 0, LongLengths, { { 0, 3 } }, AllKinds);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ErrorLongLinesStridedSlow)
{
  Expect_accurate_for_all_parameters<2>(GetParam(), 1, LongLengths, { { 3, 0 } }, AllKinds);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, NegativeAndAnisotropicSpacing)
{
  using ImageType = Image<float, 2>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 65, 33 } }), DataKind::SmallOffset);
  try
  {
    SetSpacing(input.GetPointer(), { { -0.5, 2.0 } });
  }
  catch (const ExceptionObject & refusal)
  {
    GTEST_SKIP() << "this ITK refuses negative spacing: " << refusal.GetDescription();
  }
  AccuracyRecord record("spacing -0.5 x 2");
  for (unsigned int order = 0; order < 3; ++order)
  {
    Expect_accurate(GetParam(), input.GetPointer(), { 0, order, 1.5, -0.5, false }, record);
    Expect_accurate(GetParam(), input.GetPointer(), { 1, order, 1.5, 2.0, true }, record);
  }
}

TEST_P(CudaRecursiveGaussianImageFilterTest, NormalizeAcrossScale)
{
  using ImageType = Image<float, 2>;
  const auto input = MakeDataImage<ImageType>(MakeRegion<2>({ { 257, 33 } }), DataKind::SmallOffset);
  SetSpacing(input.GetPointer(), { { 0.25, 1.5 } });
  AccuracyRecord record("normalised across scale");
  for (unsigned int order = 0; order < 3; ++order)
  {
    for (const double sigma : { 0.75, 8.0 })
    {
      Expect_accurate(GetParam(), input.GetPointer(), { 0, order, sigma, 0.25, true }, record);
      Expect_accurate(GetParam(), input.GetPointer(), { 1, order, sigma, 1.5, true }, record);
    }
  }
}

/** Values that a constant of this type may have. On the host not the extremes: ITK's last bits may carry them out of
 * range. */
template <typename T>
std::vector<T>
ConstantsToTry(BackendEnum backend)
{
  if constexpr (std::is_integral_v<T>)
  {
    std::vector<T> values = { 0, 1, 37, 99, 100, 101 };
    if (backend == BackendEnum::Cuda)
    {
      values.push_back(std::numeric_limits<T>::lowest());
      values.push_back(std::numeric_limits<T>::max());
      values.push_back(std::numeric_limits<T>::max() - 1);
    }
    return values;
  }
  return { T(0), T(0.1), T(-3.7), T(16777217), T(1e30), T(-1e-30) };
}

template <typename T>
void
Expect_all_pixels_are(const Image<T, 2> * output, double expected, double tolerance)
{
  const size_t count = output->GetBufferedRegion().GetNumberOfPixels();
  size_t       wrong = 0;
  double       last = expected;
  for (size_t i = 0; i < count; ++i)
  {
    const auto value = static_cast<double>(output->GetBufferPointer()[i]);
    if (!(std::abs(value - expected) <= tolerance))
    {
      ++wrong;
      last = value;
    }
  }
  EXPECT_EQ(wrong, 0u) << "of " << count << " pixels; one is " << last << " instead of " << expected;
}

/** Nothing on the GPU. */
template <typename T>
double
ConstantTolerance(BackendEnum backend, T constant, const GaussianParameters & parameters)
{
  if (backend == BackendEnum::Cuda)
  {
    return 0.0;
  }
  return std::abs(static_cast<double>(constant)) * FloatAccuracy(parameters.SigmaInPixels()) +
         (std::is_integral_v<T> ? HostConstantIntegerSteps : 0.0);
}

template <typename T>
void
Expect_constants_are_kept(BackendEnum backend, const Size<2> & size)
{
  using ImageType = Image<T, 2>;
  for (const T constant : ConstantsToTry<T>(backend))
  {
    const auto input = MakeConstantImage<ImageType>(size, constant);
    for (unsigned int i = 0; i < 6 * std::size(AllSigmas); ++i)
    {
      const GaussianParameters parameters{ i % 2, (i / 2) % 3, AllSigmas[i / 6], 1.0, false };
      SCOPED_TRACE("constant " + std::to_string(constant) + ", axis " + std::to_string(parameters.Axis) + ", order " +
                   std::to_string(parameters.Order) + ", sigma " + std::to_string(parameters.Sigma));
      auto       filter = MakeRecursive<ImageType>(input, parameters);
      const auto output = RunPoisoned(filter.GetPointer(), backend);
      Expect_all_pixels_are<T>(output,
                               parameters.Order == 0 ? static_cast<double>(constant) : 0.0,
                               ConstantTolerance<T>(backend, constant, parameters));
    }
  }
}

template <typename T>
void
Expect_constants_are_kept_by_all_paths(BackendEnum backend)
{
  SCOPED_TRACE(typeid(T).name());
  Expect_constants_are_kept<T>(backend, { { 33, 5 } });
  Expect_constants_are_kept<T>(backend, { { 5, 1031 } });
  if (backend == BackendEnum::Cuda)
  {
    Expect_constants_are_kept<T>(backend, { { 16385, 4 } });
    Expect_constants_are_kept<T>(backend, { { 4, 16385 } });
  }
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ConstantsAreKeptByteTypes)
{
  Expect_constants_are_kept_by_all_paths<unsigned char>(GetParam());
  Expect_constants_are_kept_by_all_paths<char>(GetParam());
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ConstantsAreKeptShortTypes)
{
  Expect_constants_are_kept_by_all_paths<unsigned short>(GetParam());
  Expect_constants_are_kept_by_all_paths<short>(GetParam());
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ConstantsAreKeptIntegerTypes)
{
  Expect_constants_are_kept_by_all_paths<unsigned int>(GetParam());
  Expect_constants_are_kept_by_all_paths<int>(GetParam());
}

TEST_P(CudaRecursiveGaussianImageFilterTest, ConstantsAreKeptRealTypes)
{
  Expect_constants_are_kept_by_all_paths<float>(GetParam());
  Expect_constants_are_kept_by_all_paths<double>(GetParam());
}

/** An upper end of test data of which no result leaves the type's range. */
template <typename T>
constexpr double
UpperValue()
{
  if (std::is_same_v<T, unsigned int>)
  {
    return 4e9; // more than int has
  }
  return sizeof(T) == 1 ? 110.0 : sizeof(T) == 2 ? 30000.0 : 2e7;
}

/** Random values for an input and output of these types. */
template <typename TInput, typename TOutput>
typename Image<TInput, 2>::Pointer
MakeImageOfRange(const Size<2> & size)
{
  const double low = std::is_signed_v<TInput> && std::is_signed_v<TOutput> ? -100.0 : 1.0;
  const double high = std::min(UpperValue<TInput>(), UpperValue<TOutput>());
  return MakeDataImage<Image<TInput, 2>>(MakeShiftedRegion<2>(size), DataKind::Uniform, high - low, low);
}

/** Images of double, int and unsigned int are computed in double. */
template <typename TInput, typename TOutput>
constexpr bool
IsComputedInDouble()
{
  return std::is_same_v<TInput, double> || std::is_same_v<TOutput, double> ||
         (std::is_integral_v<TInput> && sizeof(TInput) == 4) || (std::is_integral_v<TOutput> && sizeof(TOutput) == 4);
}

/** The bound for real outputs. On the host ITK's direct form in double is not as accurate as the modal form. */
template <typename TInput, typename TOutput>
double
AccuracyOf(BackendEnum backend, double sigma)
{
  constexpr bool realDouble = IsComputedInDouble<TInput, TOutput>() && std::is_same_v<TOutput, double>;
  return realDouble && backend == BackendEnum::Cuda ? DoubleAccuracy : FloatAccuracy(sigma);
}

/** How far from a step an integer output may fall on its other side; ITK's own, in double, among the errors. */
template <typename TInput, typename TOutput>
double
StepAccuracyOf(double sigma)
{
  return IsComputedInDouble<TInput, TOutput>() ? ModalAgainstITK : FloatAccuracy(sigma);
}

template <typename TInput, typename TOutput>
void
Expect_type_is_filtered(BackendEnum backend, const GaussianParameters & parameters)
{
  using InputImageType = Image<TInput, 2>;
  using OutputImageType = Image<TOutput, 2>;
  const auto   input = MakeImageOfRange<TInput, TOutput>({ { 257, 65 } });
  const auto   exactInput = ToDouble(input.GetPointer());
  const double scale = MaximumMagnitude(exactInput.GetPointer()) * KernelL1Norm(parameters);
  auto         filter = MakeRecursive<InputImageType, OutputImageType>(input, parameters);
  const auto   output = RunPoisoned(filter.GetPointer(), backend);
  ModalFilter<2>(exactInput, parameters);
  if constexpr (std::is_integral_v<TOutput>)
  {
    const auto itkOutput = FilterByITK<InputImageType, OutputImageType>(input, parameters);
    EXPECT_TRUE(IsTruncatedAsITKs(output.GetPointer(),
                                  itkOutput.GetPointer(),
                                  exactInput.GetPointer(),
                                  scale * StepAccuracyOf<TInput, TOutput>(parameters.SigmaInPixels())));
  }
  else
  {
    const double bound = AccuracyOf<TInput, TOutput>(backend, parameters.SigmaInPixels());
    EXPECT_TRUE(IsWithin(output.GetPointer(), exactInput.GetPointer(), scale, bound));
  }
}

/** Along both axes; orders 1 and 2 only where their negative values have a place in the output. */
template <typename TInput, typename TOutput = TInput>
void
Expect_types_are_filtered(BackendEnum backend)
{
  for (unsigned int order = 0; order < (std::is_signed_v<TOutput> ? 3u : 1u); ++order)
  {
    for (const double sigma : { 1.0, 6.0, 70.0 })
    {
      for (unsigned int axis = 0; axis < 2; ++axis)
      {
        SCOPED_TRACE(std::string(typeid(TInput).name()) + " to " + typeid(TOutput).name() + ", order " +
                     std::to_string(order) + ", sigma " + std::to_string(sigma) + ", axis " + std::to_string(axis));
        Expect_type_is_filtered<TInput, TOutput>(backend, { axis, order, sigma, 1.0, false });
      }
    }
  }
}

TEST_P(CudaRecursiveGaussianImageFilterTest, SmallIntegerTypes)
{
  Expect_types_are_filtered<unsigned char>(GetParam());
  Expect_types_are_filtered<char>(GetParam());
  Expect_types_are_filtered<unsigned short>(GetParam());
  Expect_types_are_filtered<short>(GetParam());
}

TEST_P(CudaRecursiveGaussianImageFilterTest, LargeTypes)
{
  Expect_types_are_filtered<unsigned int>(GetParam());
  Expect_types_are_filtered<int>(GetParam());
  Expect_types_are_filtered<float>(GetParam());
  Expect_types_are_filtered<double>(GetParam());
}

TEST_P(CudaRecursiveGaussianImageFilterTest, OutputOfAnotherType)
{
  Expect_types_are_filtered<unsigned char, float>(GetParam());
  Expect_types_are_filtered<float, short>(GetParam());
  Expect_types_are_filtered<short, double>(GetParam());
  Expect_types_are_filtered<double, float>(GetParam());
  Expect_types_are_filtered<float, unsigned char>(GetParam());
}

/** A ramp from below the output's range to above it. */
template <typename TOutput>
void
Expect_values_out_of_range_are_clamped(double step)
{
  using InputImageType = Image<float, 2>;
  using OutputImageType = Image<TOutput, 2>;
  using Limits = std::numeric_limits<TOutput>;
  const GaussianParameters parameters{ 0, 0, 2.0, 1.0, false };
  const auto input = MakeDataImage<InputImageType>(MakeRegion<2>({ { 129, 9 } }), DataKind::Ramp, step, -60.0 * step);
  auto       filter = MakeRecursive<InputImageType, OutputImageType>(input, parameters);
  const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
  const auto exact = Float64Reference<2>(ToDouble(input.GetPointer()), { parameters });
  size_t     below = 0;
  size_t     above = 0;
  for (ImageRegionConstIteratorWithIndex<OutputImageType> it(output, output->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const double value = exact->GetPixel(it.GetIndex());
    if (value < Limits::lowest() - 1.0)
    {
      EXPECT_EQ(it.Get(), Limits::lowest()) << value;
      ++below;
    }
    else if (value > Limits::max() + 2.0)
    {
      EXPECT_EQ(it.Get(), Limits::max()) << value;
      ++above;
    }
  }
  EXPECT_GT(below, 0u);
  EXPECT_GT(above, 0u);
}

// ITK's conversion of values out of range is undefined.
TEST_F(CudaRecursiveGaussianGpuTest, IntegersOutOfRangeAreClamped)
{
  Expect_values_out_of_range_are_clamped<unsigned char>(10.0);
  Expect_values_out_of_range_are_clamped<char>(10.0);
  Expect_values_out_of_range_are_clamped<unsigned short>(3e3);
  Expect_values_out_of_range_are_clamped<short>(3e3);
  Expect_values_out_of_range_are_clamped<unsigned int>(3e8);
  Expect_values_out_of_range_are_clamped<int>(3e8);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, StreamingGivesTheSameBits)
{
  using Volume = Image<float, 3>;
  using Plane = Image<float, 2>;
  using ByteVolume = Image<unsigned char, 3>;
  using DoublePlane = Image<double, 2>;
  Expect_streaming_gives_the_bits_of_the_whole<RecursiveKind, Volume>(GetParam(), { { 33, 29, 21 } }, 2.5);
  Expect_streaming_gives_the_bits_of_the_whole<RecursiveKind, ByteVolume>(GetParam(), { { 65, 31, 9 } }, 4.0);
  Expect_streaming_gives_the_bits_of_the_whole<RecursiveKind, Plane>(GetParam(), { { 1031, 257 } }, 20.0);
  Expect_streaming_gives_the_bits_of_the_whole<RecursiveKind, DoublePlane>(GetParam(), { { 513, 255 } }, 7.0);
  Expect_streaming_gives_the_bits_of_the_whole<RecursiveKind, Plane>(GetParam(), { { 8193, 35 } }, 100.0);
  Expect_streaming_gives_the_bits_of_the_whole<RecursiveKind, Plane>(GetParam(), { { 35, 8193 } }, 100.0);
}

TEST_P(CudaRecursiveGaussianImageFilterTest, RequestsTheRegionsOfITKsClass)
{
  Expect_requested_regions_are_those_of_ITKs_class<RecursiveKind>(GetParam());
}

TEST_P(CudaRecursiveGaussianImageFilterTest, AnInputBufferedInPartSuffices)
{
  Expect_an_input_buffered_in_part_suffices<RecursiveKind>(GetParam());
}

TEST(CudaRecursiveGaussianImageFilter, NamesAndPrinting)
{
  Expect_names_and_printing_are_its_own<RecursiveKind>();
}
} // namespace
} // namespace itk::cuda::test
