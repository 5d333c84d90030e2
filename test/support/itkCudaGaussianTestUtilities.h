// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTestUtilities_h
#define itkCudaGaussianTestUtilities_h

#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaGaussianTestReference.h"
#include "support/itkCudaGaussianTolerances.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "support/itkCudaTestSeed.h"
#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkRGBAPixel.h"
#include "itkRGBPixel.h"
#include "itkVectorImage.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace itk::cuda::test
{
using BackendEnum = CudaFiltersEnums::Backend;

// ----------------------------------------------------------------------------------------------------------------
// backends

/** Fixture for tests that require the GPU. Such suites have "Gpu" in their name, from which the test label is derived.
 */
class GpuTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << "no GPU: " << reason;
    }
  }
};

/** Fixture for tests that run once per backend. The test on the GPU is skipped if no GPU can be used. */
class BackendTest : public ::testing::TestWithParam<BackendEnum>
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (GetParam() == BackendEnum::Cuda && !CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      GTEST_SKIP() << "no GPU: " << reason;
    }
  }
};

/** Returns the name of a test, in which "Gpu" sets its label. */
inline std::string
BackendTestName(const ::testing::TestParamInfo<BackendEnum> & info)
{
  return info.param == BackendEnum::Cuda ? "Gpu" : "Host";
}

/** Runs the tests of a suite derived from BackendTest on both backends. */
#define ITK_CUDA_INSTANTIATE_BACKEND_TESTS(suite)                                                                     \
  INSTANTIATE_TEST_SUITE_P(Backend,                                                                                   \
                           suite,                                                                                     \
                           ::testing::Values(itk::cuda::test::BackendEnum::Host, itk::cuda::test::BackendEnum::Cuda), \
                           itk::cuda::test::BackendTestName)

/** Runs the filter on the backend and verifies that this backend was used. */
template <typename TFilter>
void
UpdateOn(TFilter * filter, BackendEnum backend)
{
  filter->SetBackend(backend);
  filter->UpdateLargestPossibleRegion();
  EXPECT_EQ(filter->GetBackendUsed(), backend) << filter->GetBackendReason();
}

// -------------------------------------------------------------------------------------------------------------------
// images

/** Returns a uniformly distributed number in [0, 1) that depends only on the pixel's number (splitmix64), so that
 * threads and streamed pieces agree. */
inline double
UniformRandom(uint64_t number)
{
  uint64_t z = GetSeed() + (number + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

enum class DataKind
{
  Uniform,     // U(0, 1)
  SmallOffset, // 1000 +- 50, uniform
  LargeOffset, // 30000, a wave of +- 20 and noise of +- 2
  Ramp,        // the sum of the position along all axes
  Impulse      // zero except for one pixel in each line, at a different position in each
};

constexpr DataKind AllDataKinds[] = { DataKind::Uniform,
                                      DataKind::SmallOffset,
                                      DataKind::LargeOffset,
                                      DataKind::Ramp,
                                      DataKind::Impulse };

inline std::string
DataKindToString(DataKind kind)
{
  static const char * const names[] = { "Uniform", "SmallOffset", "LargeOffset", "Ramp", "Impulse" };
  return names[static_cast<int>(kind)];
}

/** Returns the value at a position, relative to the region's first pixel, in a region of the given size. */
template <unsigned int VDimension>
double
GetDataValue(DataKind kind, const Offset<VDimension> & position, const Size<VDimension> & size, uint64_t number)
{
  OffsetValueType sum = 0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    sum += position[d];
  }
  switch (kind)
  {
    case DataKind::Uniform:
      return UniformRandom(number);
    case DataKind::SmallOffset:
      return 950.0 + 100.0 * UniformRandom(number);
    case DataKind::LargeOffset:
      return 30000.0 + 20.0 * std::sin(0.05 * static_cast<double>(sum)) + 4.0 * UniformRandom(number) - 2.0;
    case DataKind::Ramp:
      return static_cast<double>(sum);
    case DataKind::Impulse: {
      // One pixel in each line along the longest axis, because the period is the size of that axis.
      const auto period = static_cast<OffsetValueType>(*std::max_element(size.begin(), size.end()));
      return sum % period == period / 3 ? 100.0 : 0.0;
    }
  }
  return 0.0;
}

template <unsigned int VDimension>
ImageRegion<VDimension>
MakeRegion(const Size<VDimension> & size)
{
  return ImageRegion<VDimension>(size);
}

/** Returns an image with that region in memory, not initialised. */
template <typename TImage>
typename TImage::Pointer
MakeImage(const typename TImage::RegionType & region)
{
  auto image = TImage::New();
  image->SetRegions(region);
  image->Allocate();
  return image;
}

template <typename TImage>
typename TImage::Pointer
MakeConstantImage(const typename TImage::SizeType & size, typename TImage::PixelType value)
{
  auto image = MakeImage<TImage>(typename TImage::RegionType(size));
  image->FillBuffer(value);
  return image;
}

/** Returns an image of scalar pixels with the values `offset + scale * data`. */
template <typename TImage>
typename TImage::Pointer
MakeDataImage(const typename TImage::RegionType & region, DataKind kind, double scale = 1.0, double offset = 0.0)
{
  auto                                 image = MakeImage<TImage>(region);
  ImageRegionIteratorWithIndex<TImage> it(image, region);
  for (uint64_t number = 0; !it.IsAtEnd(); ++it, ++number)
  {
    const double value = GetDataValue(kind, it.GetIndex() - region.GetIndex(), region.GetSize(), number);
    it.Set(static_cast<typename TImage::PixelType>(offset + scale * value));
  }
  return image;
}

template <typename TImage>
void
SetSpacing(TImage * image, const std::array<double, TImage::ImageDimension> & values)
{
  image->SetSpacing(values.data());
}

/** Returns the image converted to double, with the same geometry. */
template <typename TImage>
typename Image<double, TImage::ImageDimension>::Pointer
ToDouble(const TImage * image)
{
  using DoubleImageType = Image<double, TImage::ImageDimension>;
  auto result = MakeImage<DoubleImageType>(image->GetBufferedRegion());
  result->CopyInformation(image);
  std::copy_n(image->GetBufferPointer(), image->GetBufferedRegion().GetNumberOfPixels(), result->GetBufferPointer());
  return result;
}

/** Returns a copy with its own memory and without a source. */
template <typename TImage>
typename TImage::Pointer
Duplicate(const TImage * image)
{
  auto result = TImage::New();
  result->CopyInformation(image);
  result->SetRegions(image->GetLargestPossibleRegion());
  result->SetBufferedRegion(image->GetBufferedRegion());
  result->SetNumberOfComponentsPerPixel(image->GetNumberOfComponentsPerPixel());
  result->Allocate();
  std::copy_n(image->GetBufferPointer(), image->GetPixelContainer()->Size(), result->GetBufferPointer());
  return result;
}

template <unsigned int VDimension>
double
MaximumMagnitude(const Image<double, VDimension> * image)
{
  const double * const begin = image->GetBufferPointer();
  const size_t         count = image->GetBufferedRegion().GetNumberOfPixels();
  return std::accumulate(begin, begin + count, 0.0, [](double m, double v) { return std::max(m, std::abs(v)); });
}

/** Returns the passes of a filter on this image, with sigma and spacing for each. */
template <typename TImage>
std::vector<GaussianParameters>
SmoothingPasses(const TImage * image, const std::vector<double> & sigma)
{
  std::vector<GaussianParameters> passes;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    passes.push_back({ d, 0, sigma[d], image->GetSpacing()[d], false });
  }
  return passes;
}

// -------------------------------------------------------------------------------------------------------------------
// poison

/** Returns a value that no correct output has, which is NaN or the largest value of an integer type. */
template <typename T>
constexpr T
Poison()
{
  return std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::max();
}

/** Gives an output image its own memory, filled with poison and longer than needed. Pixels that a filter does not write
 * remain poison, and writes behind the end destroy the poison there. */
template <typename TImage>
class PoisonedOutput
{
public:
  using ElementType = typename TImage::PixelContainer::Element;
  static constexpr size_t GuardLength = 64;

  PoisonedOutput(TImage * output, size_t length)
    : m_Length(length)
    , m_Buffer(new ElementType[length + GuardLength])
    , m_Output(output)
    , m_Container(output->GetPixelContainer())
  {
    std::memset(static_cast<void *>(m_Buffer), 0, (length + GuardLength) * sizeof(ElementType));
    Fill(m_Buffer, m_Buffer + length + GuardLength);
    m_Container->SetImportPointer(m_Buffer, length, true);
  }

  /** Returns whether nothing was written behind the end. */
  ::testing::AssertionResult
  IsIntact() const
  {
    if (!this->IsUsed())
    {
      return ::testing::AssertionSuccess() << "the filter has replaced the output's memory";
    }
    std::unique_ptr<ElementType[]> guard(new ElementType[GuardLength]);
    std::memset(static_cast<void *>(guard.get()), 0, GuardLength * sizeof(ElementType));
    Fill(guard.get(), guard.get() + GuardLength);
    if (std::memcmp(guard.get(), m_Buffer + m_Length, GuardLength * sizeof(ElementType)) != 0)
    {
      return ::testing::AssertionFailure() << "memory behind the output's end was written";
    }
    return ::testing::AssertionSuccess();
  }
  /** Returns whether the output's pixels are still in this memory. */
  bool
  IsUsed() const
  {
    return m_Output->GetPixelContainer() == m_Container && m_Container->GetBufferPointer() == m_Buffer;
  }

private:
  static void
  Fill(ElementType * begin, ElementType * end)
  {
    using ValueType = typename NumericTraits<ElementType>::ValueType;
    std::fill(reinterpret_cast<ValueType *>(begin), reinterpret_cast<ValueType *>(end), Poison<ValueType>());
  }

  size_t        m_Length;
  ElementType * m_Buffer; // owned by the container
  TImage *      m_Output;

  typename TImage::PixelContainerPointer m_Container;
};

/** Runs the filter on the backend with poisoned output memory. Its input must be in memory. */
template <typename TFilter>
typename TFilter::OutputImageType::Pointer
RunPoisoned(TFilter * filter, BackendEnum backend)
{
  using OutputImageType = typename TFilter::OutputImageType;
  typename OutputImageType::Pointer output = filter->GetOutput();
  filter->UpdateOutputInformation();
  const PoisonedOutput<OutputImageType> poisoned(output,
                                                 output->GetLargestPossibleRegion().GetNumberOfPixels() *
                                                   filter->GetInput()->GetPixelContainer()->Size() /
                                                   filter->GetInput()->GetBufferedRegion().GetNumberOfPixels());
  UpdateOn(filter, backend);
  EXPECT_TRUE(poisoned.IsIntact());
  output->DisconnectPipeline();
  return output;
}

// ---------------------------------------------------------------------------------------------------------------
// comparison

/** The result of a comparison with a float64 reference. */
struct ErrorStatistics
{
  size_t      Compared{ 0 };
  size_t      Beyond{ 0 };       // pixels beyond the bound
  double      WorstError{ 0.0 }; // infinity for a value that is not finite
  double      Output{ 0.0 };     // at the worst pixel
  double      Reference{ 0.0 };
  std::string Index;
  double      Scale{ 1.0 };         // max|x| * ||h||_1
  double      MaximumOutput{ 0.0 }; // of the reference

  double
  RelativeToScale() const
  {
    return Scale > 0 ? WorstError / Scale : WorstError;
  }
  double
  RelativeToOutput() const
  {
    return MaximumOutput > 0 ? WorstError / MaximumOutput : WorstError;
  }
};

inline std::ostream &
operator<<(std::ostream & os, const ErrorStatistics & s)
{
  return os << s.Beyond << " of " << s.Compared << " pixels beyond the bound; worst at " << s.Index << ": " << s.Output
            << ", reference " << s.Reference << ", error " << s.WorstError << ", error/(max|x| |h|_1) "
            << s.RelativeToScale() << ", error/max|output| " << s.RelativeToOutput();
}

/** Compares all pixels of a scalar image with a reference that contains at least its buffered region. */
template <typename TImage>
ErrorStatistics
CompareWithReference(const TImage *                                image,
                     const Image<double, TImage::ImageDimension> * reference,
                     double                                        scale,
                     double                                        bound)
{
  ErrorStatistics statistics;
  statistics.Scale = scale;
  ImageRegionConstIteratorWithIndex<TImage> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    const double expected = reference->GetPixel(it.GetIndex());
    const auto   value = static_cast<double>(it.Get());
    const double error = std::isfinite(value) ? std::abs(value - expected) : std::numeric_limits<double>::infinity();
    ++statistics.Compared;
    statistics.Beyond += !(error <= bound * scale);
    statistics.MaximumOutput = std::max(statistics.MaximumOutput, std::abs(expected));
    if (error > statistics.WorstError || statistics.Compared == 1)
    {
      std::ostringstream index;
      index << it.GetIndex();
      statistics.Index = index.str();
      statistics.WorstError = error;
      statistics.Output = value;
      statistics.Reference = expected;
    }
  }
  return statistics;
}

/** Returns whether all pixels are within `bound`, relative to `scale`. */
template <typename TImage>
::testing::AssertionResult
IsWithin(const TImage * image, const Image<double, TImage::ImageDimension> * reference, double scale, double bound)
{
  const ErrorStatistics statistics = CompareWithReference(image, reference, scale, bound);
  if (statistics.Beyond > 0 || statistics.Compared == 0)
  {
    return ::testing::AssertionFailure() << statistics << ", bound " << bound;
  }
  return ::testing::AssertionSuccess() << statistics;
}

/** Returns whether two images have the same buffered region and the same bits in it. */
template <typename TImage>
::testing::AssertionResult
HasSameBits(const TImage * image, const TImage * expected)
{
  if (image->GetBufferedRegion() != expected->GetBufferedRegion())
  {
    return ::testing::AssertionFailure() << "buffered region " << image->GetBufferedRegion() << " instead of "
                                         << expected->GetBufferedRegion();
  }
  const size_t count = expected->GetPixelContainer()->Size();
  const auto * a = image->GetBufferPointer();
  const auto * b = expected->GetBufferPointer();
  if (image->GetPixelContainer()->Size() != count || a == nullptr)
  {
    return ::testing::AssertionFailure() << image->GetPixelContainer()->Size() << " elements instead of " << count;
  }
  size_t different = 0;
  size_t first = count;
  for (size_t i = 0; i < count; ++i)
  {
    if (std::memcmp(a + i, b + i, sizeof(*a)) != 0)
    {
      first = std::min(first, i);
      ++different;
    }
  }
  if (different > 0)
  {
    return ::testing::AssertionFailure() << different << " of " << count << " elements differ, first number " << first
                                         << ": " << a[first] << " instead of " << b[first];
  }
  return ::testing::AssertionSuccess();
}

/** Returns whether values within `error` of `reference` may be truncated to different integers. Truncation toward zero
 * has a step at every integer except zero. */
inline bool
IsNearIntegerStep(double reference, double error)
{
  const double nearest = std::round(reference);
  return nearest != 0.0 && std::abs(reference - nearest) <= error;
}

/** Counts of a comparison of integer outputs. */
struct IntegerStatistics
{
  size_t      Compared{ 0 };
  size_t      Different{ 0 }; // from ITK's, by one, near a step
  size_t      Wrong{ 0 };     // by more, or not near a step
  std::string Worst;
};

/** Compares an integer output with ITK's output and with the float64 result. The two outputs may differ only where the
 * float64 result is within `error` of a step. */
template <typename TImage>
IntegerStatistics
CompareIntegers(const TImage *                                image,
                const TImage *                                itkImage,
                const Image<double, TImage::ImageDimension> * reference,
                double                                        error)
{
  IntegerStatistics                         statistics;
  ImageRegionConstIteratorWithIndex<TImage> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    const auto   value = static_cast<double>(it.Get());
    const auto   itkValue = static_cast<double>(itkImage->GetPixel(it.GetIndex()));
    const double exact = reference->GetPixel(it.GetIndex());
    const bool   nearStep = IsNearIntegerStep(exact, error);
    const double toITK = std::abs(value - itkValue);
    const double toReference = std::abs(value - std::trunc(exact));
    ++statistics.Compared;
    statistics.Different += toITK != 0.0;
    if (std::max(toITK, toReference) > (nearStep ? IntegerSteps : 0.0))
    {
      ++statistics.Wrong;
      std::ostringstream text;
      text << "at " << it.GetIndex() << " " << value << ", ITK " << itkValue << ", float64 " << exact;
      statistics.Worst = text.str();
    }
  }
  return statistics;
}

/** Returns whether an integer output differs from ITK's by at most one, and only near a step. Prints the count. */
template <typename TImage>
::testing::AssertionResult
IsTruncatedAsITKs(const TImage *                                image,
                  const TImage *                                itkImage,
                  const Image<double, TImage::ImageDimension> * reference,
                  double                                        error)
{
  const IntegerStatistics statistics = CompareIntegers(image, itkImage, reference, error);
  std::cout << "[ integers ] " << statistics.Different << " of " << statistics.Compared << " pixels differ from ITK's, "
            << statistics.Wrong << " of them wrongly" << std::endl;
  if (statistics.Wrong > 0 || statistics.Compared == 0)
  {
    return ::testing::AssertionFailure() << statistics.Wrong << " of " << statistics.Compared
                                         << " pixels are wrong, the last " << statistics.Worst << "; steps within "
                                         << error << " may fall on either side";
  }
  return ::testing::AssertionSuccess();
}

/** Records the worst of many comparisons and prints it when the test ends. */
class AccuracyRecord
{
public:
  explicit AccuracyRecord(std::string what)
    : m_What(std::move(what))
  {}
  ~AccuracyRecord()
  {
    std::cout << "[ accuracy ] " << m_What << ", " << m_Count << " images: worst error/(max|x| |h|_1) " << m_Scale
              << ", error/max|output| " << m_Output << std::endl;
  }
  AccuracyRecord(const AccuracyRecord &) = delete;
  AccuracyRecord &
  operator=(const AccuracyRecord &) = delete;

  void
  Add(const ErrorStatistics & statistics)
  {
    ++m_Count;
    m_Scale = std::max(m_Scale, statistics.RelativeToScale());
    m_Output = std::max(m_Output, statistics.RelativeToOutput());
  }

private:
  std::string m_What;
  size_t      m_Count{ 0 };
  double      m_Scale{ 0.0 };
  double      m_Output{ 0.0 };
};

// -------------------------------------------------------------------------------------------------------------- filter
// kinds

/** The properties of each filter that the tests common to both filters need. */
struct RecursiveKind
{
  template <typename TInput, typename TOutput = TInput>
  using CudaFilter = CudaRecursiveGaussianImageFilter<TInput, TOutput>;
  template <typename TInput, typename TOutput = TInput>
  using ITKFilter = RecursiveGaussianImageFilter<TInput, TOutput>;

  static constexpr const char * Name = "CudaRecursiveGaussianImageFilter";

  /** Returns the number of ways to run the filter that treat axes differently. */
  static constexpr unsigned int
  NumberOfVariants(unsigned int dimension)
  {
    return dimension;
  }

  /** Selects the axis `variant` and an order that depends on it. Also works for ITK's class. */
  template <typename TInput, typename TOutput>
  static void
  SetParameters(RecursiveGaussianImageFilter<TInput, TOutput> * filter, unsigned int variant, double sigma = 2.5)
  {
    filter->SetDirection(variant);
    filter->SetOrder(static_cast<GaussianOrderEnum>(variant % 3));
    filter->SetSigma(sigma);
  }

  template <typename TImage>
  static std::vector<GaussianParameters>
  Passes(const TImage * image, unsigned int variant, double sigma = 2.5)
  {
    return { { variant, variant % 3, sigma, image->GetSpacing()[variant], false } };
  }
};

struct SmoothingKind
{
  template <typename TInput, typename TOutput = TInput>
  using CudaFilter = CudaSmoothingRecursiveGaussianImageFilter<TInput, TOutput>;
  template <typename TInput, typename TOutput = TInput>
  using ITKFilter = SmoothingRecursiveGaussianImageFilter<TInput, TOutput>;

  static constexpr const char * Name = "CudaSmoothingRecursiveGaussianImageFilter";

  static constexpr unsigned int
  NumberOfVariants(unsigned int)
  {
    return 1;
  }

  /** Sets a different sigma along each axis. */
  template <typename TInput, typename TOutput>
  static void
  SetParameters(SmoothingRecursiveGaussianImageFilter<TInput, TOutput> * filter, unsigned int, double sigma = 2.5)
  {
    typename SmoothingRecursiveGaussianImageFilter<TInput, TOutput>::SigmaArrayType sigmas;
    for (unsigned int d = 0; d < TInput::ImageDimension; ++d)
    {
      sigmas[d] = sigma * (1.0 + 0.25 * d);
    }
    filter->SetSigmaArray(sigmas);
  }

  template <typename TImage>
  static std::vector<GaussianParameters>
  Passes(const TImage * image, unsigned int, double sigma = 2.5)
  {
    std::vector<double> sigmas;
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      sigmas.push_back(sigma * (1.0 + 0.25 * d));
    }
    return SmoothingPasses(image, sigmas);
  }
};

/** Returns the largest sigma of the passes in pixels, which determines the bound. */
inline double
LargestSigmaInPixels(const std::vector<GaussianParameters> & passes)
{
  double largest = 0.0;
  for (const GaussianParameters & pass : passes)
  {
    largest = std::max(largest, pass.SigmaInPixels());
  }
  return largest;
}

/** Compares a float output with the float64 result of these passes, with the bound that belongs to them. */
template <typename TInput, typename TOutput>
::testing::AssertionResult
IsAccurate(const TOutput *                         output,
           const TInput *                          input,
           const std::vector<GaussianParameters> & passes,
           AccuracyRecord *                        record = nullptr)
{
  constexpr unsigned int Dimension = TInput::ImageDimension;
  const auto             exactInput = ToDouble(input);
  const double           scale = MaximumMagnitude(exactInput.GetPointer()) * KernelL1Norm(passes);
  const auto             reference = Float64Reference<Dimension>(exactInput, passes);
  const double           bound = FloatAccuracy(LargestSigmaInPixels(passes));
  const ErrorStatistics  statistics = CompareWithReference(output, reference.GetPointer(), scale, bound);
  if (record)
  {
    record->Add(statistics);
  }
  if (statistics.Beyond > 0 || statistics.Compared == 0)
  {
    return ::testing::AssertionFailure() << statistics << ", bound " << bound;
  }
  return ::testing::AssertionSuccess();
}
} // namespace itk::cuda::test

#endif
