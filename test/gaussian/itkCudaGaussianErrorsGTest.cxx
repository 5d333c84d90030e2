// SPDX-License-Identifier: Apache-2.0
// Bad input and bad settings: the exceptions of ITK's classes, and the same object runs correctly afterwards.
#include "itkCudaError.h"
#include "support/itkCudaGaussianTestUtilities.h"

namespace itk::cuda::test
{
namespace
{
using ImageType = Image<float, 2>;

class CudaGaussianErrorsTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianErrorsTest);

class CudaGaussianErrorsGpuTest : public GpuTest
{
protected:
  void
  TearDown() override
  {
    CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  }
};

ImageType::Pointer
MakeGoodImage(const Size<2> & size = { { 65, 33 } })
{
  return MakeDataImage<ImageType>(MakeRegion<2>(size), DataKind::SmallOffset);
}

/** Gives the filter good input and parameters and checks what it computes from them. */
template <typename TKind, typename TFilter>
void
Expect_runs_correctly(TFilter * filter, BackendEnum backend)
{
  const auto input = MakeGoodImage();
  TKind::SetParameters(filter, 0);
  filter->SetInput(input);
  ASSERT_NO_THROW(UpdateOn(filter, backend));
  ASSERT_EQ(filter->GetOutput()->GetBufferedRegion(), input->GetBufferedRegion()) << "the output was not computed";
  EXPECT_TRUE(IsAccurate(filter->GetOutput(), input.GetPointer(), TKind::Passes(input.GetPointer(), 0)));
}

/** The class of the exception that an update ends with; "none". */
std::string
OutcomeOf(ProcessObject * filter)
{
  try
  {
    filter->Update();
  }
  catch (const ExceptionObject & exception)
  {
    return exception.GetNameOfClass();
  }
  return "none";
}

/** Both classes, after `spoil(filter)`, end an update in the same way; the CUDA class runs again afterwards.
 * \return that outcome */
template <typename TKind, typename TSpoil>
std::string
Expect_outcome_of_ITKs_class(BackendEnum backend, TSpoil spoil)
{
  SCOPED_TRACE(TKind::Name);
  const auto input = MakeGoodImage();
  auto       itkFilter = TKind::template ITKFilter<ImageType>::New();
  auto       filter = TKind::template CudaFilter<ImageType>::New();
  TKind::SetParameters(itkFilter.GetPointer(), 0);
  TKind::SetParameters(filter.GetPointer(), 0);
  itkFilter->SetInput(input);
  filter->SetInput(input);
  filter->SetBackend(backend);
  spoil(itkFilter.GetPointer());
  spoil(filter.GetPointer());
  const std::string expected = OutcomeOf(itkFilter);
  EXPECT_EQ(OutcomeOf(filter), expected);
  Expect_runs_correctly<TKind>(filter.GetPointer(), backend);
  return expected;
}

TEST_P(CudaGaussianErrorsTest, SigmaMustBePositiveAlongEachAxis)
{
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    const auto spoil = [axis](auto * filter) {
      auto sigmas = filter->GetSigmaArray();
      sigmas[axis] = 0.0;
      filter->SetSigmaArray(sigmas);
    };
    EXPECT_EQ(Expect_outcome_of_ITKs_class<SmoothingKind>(GetParam(), spoil), "ExceptionObject");
  }
}

TEST_P(CudaGaussianErrorsTest, EmptyRequestedRegion)
{
  for (const Size<2> & size : { Size<2>{ { 0, 0 } }, Size<2>{ { 8, 0 } }, Size<2>{ { 0, 8 } } })
  {
    const auto spoil = [&](auto * filter) { filter->GetOutput()->SetRequestedRegion(ImageType::RegionType(size)); };
    Expect_outcome_of_ITKs_class<RecursiveKind>(GetParam(), spoil);
    Expect_outcome_of_ITKs_class<SmoothingKind>(GetParam(), spoil);
  }
}

void
Expect_text_names(const std::string & text, std::initializer_list<std::string> words)
{
  for (const std::string & word : words)
  {
    EXPECT_NE(text.find(word), std::string::npos) << '"' << word << "\" is missing in: " << text;
  }
}

template <typename TKind>
typename TKind::template CudaFilter<ImageType>::Pointer
MakeGoodFilter(const Size<2> & size = { { 65, 33 } })
{
  auto filter = TKind::template CudaFilter<ImageType>::New();
  TKind::SetParameters(filter.GetPointer(), 0);
  filter->SetInput(MakeGoodImage(size));
  return filter;
}

/** With too low a limit: Cuda throws and names the three numbers, Automatic takes the host and says why. */
template <typename TKind>
void
Expect_memory_limit_is_respected()
{
  constexpr size_t limit = 1 << 20;
  auto             filter = MakeGoodFilter<TKind>({ { 1024, 1024 } }); // 4 MiB
  CudaFiltersConfiguration::SetDeviceMemoryLimit(limit);
  filter->SetBackend(BackendEnum::Cuda);
  filter->SetStreaming("off"); // slabs may fit
  try
  {
    filter->Update();
    ADD_FAILURE() << "no exception";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
    Expect_text_names(error.GetDescription(), { "asked", "free", "limit", std::to_string(limit) });
  }
  filter->SetBackend(BackendEnum::Automatic);
  EXPECT_NO_THROW(filter->Update());
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  Expect_text_names(filter->GetBackendReason(), { "asked", "free", "limit", std::to_string(limit) });
  EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u);
  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  Expect_runs_correctly<TKind>(filter.GetPointer(), BackendEnum::Cuda);
}

TEST_F(CudaGaussianErrorsGpuTest, DeviceMemoryLimitTooLow)
{
  Expect_memory_limit_is_respected<RecursiveKind>();
  Expect_memory_limit_is_respected<SmoothingKind>();
}

constexpr double BadValues[] = { std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity() };

/** What a pixel may be, given the pixel's distance from the bad one in standard deviations. */
template <typename T>
bool
IsAllowed(T value, T clean, double distance, double tolerance)
{
  if (distance <= NonFiniteReach)
  {
    return !std::isfinite(value);
  }
  return std::isnan(value) || std::abs(static_cast<double>(value) - static_cast<double>(clean)) <= tolerance;
}

template <typename T>
typename Image<T, 2>::Pointer
FilterWith(const Image<T, 2> * input, BackendEnum backend, const GaussianParameters & parameters)
{
  auto filter = CudaRecursiveGaussianImageFilter<Image<T, 2>>::New();
  filter->SetInput(input);
  filter->SetDirection(parameters.Axis);
  filter->SetOrder(static_cast<GaussianOrderEnum>(parameters.Order));
  filter->SetSigma(parameters.Sigma);
  return RunPoisoned(filter.GetPointer(), backend);
}

/** One bad pixel: its line is bad around it, no other line has changed by a bit. */
template <typename T>
void
Expect_bad_pixel_stays_on_its_line(BackendEnum                backend,
                                   const Image<T, 2> *        input,
                                   const Index<2> &           place,
                                   double                     badValue,
                                   const GaussianParameters & parameters)
{
  const auto spoiled = Duplicate(input);
  spoiled->SetPixel(place, static_cast<T>(badValue));
  const auto   clean = FilterWith<T>(input, backend, parameters);
  const auto   output = FilterWith<T>(spoiled, backend, parameters);
  const double scale = 1.0 * KernelL1Norm(parameters); // U(0, 1)
  const double tolerance = 2.0 * scale * (FloatAccuracy(parameters.Sigma) + TailBeyondReach);
  size_t       wrongOnLine = 0;
  size_t       wrongElsewhere = 0;
  ImageRegionConstIteratorWithIndex<Image<T, 2>> it(output, output->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    const T    expected = clean->GetPixel(it.GetIndex());
    const auto offset = it.GetIndex() - place;
    const auto distance = static_cast<double>(std::abs(offset[parameters.Axis])) / parameters.Sigma;
    const bool onLine = offset[1 - parameters.Axis] == 0;
    wrongOnLine += onLine && !IsAllowed(it.Get(), expected, distance, tolerance);
    wrongElsewhere += !onLine && !(it.Get() == expected);
  }
  EXPECT_EQ(wrongOnLine, 0u);
  EXPECT_EQ(wrongElsewhere, 0u);
}

template <typename T>
void
Expect_bad_pixels_stay_on_their_lines(BackendEnum backend, unsigned int axis, SizeValueType length, double sigma)
{
  Size<2> size;
  size[axis] = length;
  size[1 - axis] = 9;
  const auto input = MakeDataImage<Image<T, 2>>(MakeRegion<2>(size), DataKind::Uniform);
  for (unsigned int i = 0; i < 9; ++i)
  {
    const GaussianParameters parameters{ axis, i / 3, sigma, 1.0, false };
    const double             badValue = BadValues[(i + axis) % 3];
    Index<2>                 place;
    place[axis] = static_cast<IndexValueType>((length - 1) * (i % 3) / 2); // first, middle, last
    place[1 - axis] = 4;
    std::ostringstream what;
    what << badValue << " at " << place << ", size " << size << ", axis " << axis << ", order " << parameters.Order;
    SCOPED_TRACE(what.str());
    Expect_bad_pixel_stays_on_its_line<T>(backend, input, place, badValue, parameters);
  }
}

TEST_P(CudaGaussianErrorsTest, NonFinitePixelsStayOnTheirLine)
{
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    Expect_bad_pixels_stay_on_their_lines<float>(GetParam(), axis, 33, 1.0);
    Expect_bad_pixels_stay_on_their_lines<float>(GetParam(), axis, 1031, 4.0);
    Expect_bad_pixels_stay_on_their_lines<float>(GetParam(), axis, 16385, 3.0);
    Expect_bad_pixels_stay_on_their_lines<float>(GetParam(), axis, 32769, 100.0);
    Expect_bad_pixels_stay_on_their_lines<double>(GetParam(), axis, 1031, 4.0);
  }
}

TEST_P(CudaGaussianErrorsTest, NonFinitePixelsWhenSmoothing)
{
  constexpr double sigma = 2.0;
  const Index<2>   place = { { 100, 60 } };
  const auto       input = MakeDataImage<ImageType>(MakeRegion<2>({ { 257, 129 } }), DataKind::Uniform);
  const auto       smooth = [&](const ImageType * image) {
    auto filter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
    filter->SetInput(image);
    filter->SetSigma(sigma);
    return RunPoisoned(filter.GetPointer(), GetParam());
  };
  const auto clean = smooth(input);
  for (const double badValue : BadValues)
  {
    const auto spoiled = Duplicate(input.GetPointer());
    spoiled->SetPixel(place, static_cast<float>(badValue));
    const auto output = smooth(spoiled);
    size_t     wrong = 0;
    for (ImageRegionConstIteratorWithIndex<ImageType> it(output, output->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      const auto   offset = it.GetIndex() - place;
      const auto   farthest = static_cast<double>(std::max(std::abs(offset[0]), std::abs(offset[1])));
      const double tolerance = 4.0 * (FloatAccuracy(sigma) + TailBeyondReach);
      wrong += !IsAllowed(it.Get(), clean->GetPixel(it.GetIndex()), farthest / sigma, tolerance);
    }
    EXPECT_EQ(wrong, 0u) << badValue;
  }
}

TEST_P(CudaGaussianErrorsTest, RunsCorrectlyAfterNonFinitePixels)
{
  const auto bad = MakeGoodImage();
  bad->FillBuffer(std::numeric_limits<float>::quiet_NaN());
  const auto spoil = [&](auto * filter) { filter->SetInput(bad); };
  EXPECT_EQ(Expect_outcome_of_ITKs_class<RecursiveKind>(GetParam(), spoil), "none");
  EXPECT_EQ(Expect_outcome_of_ITKs_class<SmoothingKind>(GetParam(), spoil), "none");
}
} // namespace
} // namespace itk::cuda::test
