// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTestUtilities_h
#define itkCudaGaussianTestUtilities_h

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaFiltersEnums.h"
#include "support/itkCudaGaussianTolerances.h"
#include "support/itkCudaTestSeed.h"
#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

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
} // namespace itk::cuda::test

#endif
