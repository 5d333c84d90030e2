// SPDX-License-Identifier: Apache-2.0

// Statistics of images of the host against sums in long double and bins by their definition; threads; regions with
// gaps; pixels that are not finite; refusals.

#include "itkCudaImageStatistics.h"

#include "support/itkCudaTestSeed.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace
{
template <typename T>
std::vector<T>
MakePixels(size_t count, double offset, double amplitude)
{
  std::mt19937_64                        random(itk::cuda::test::GetSeed() + count);
  std::uniform_real_distribution<double> uniform(offset - amplitude, offset + amplitude);
  std::vector<T>                         pixels(count);
  for (T & pixel : pixels)
  {
    pixel = static_cast<T>(uniform(random));
  }
  return pixels;
}

template <typename T>
typename itk::Image<T, 2>::Pointer
MakeImage(const std::vector<T> & pixels, size_t width)
{
  const auto image = itk::Image<T, 2>::New();
  image->SetRegions(itk::Size<2>{ { width, pixels.size() / width } });
  image->Allocate();
  std::copy(pixels.begin(), pixels.end(), image->GetBufferPointer());
  return image;
}

template <typename T>
void
CheckAgainstSums(size_t width, size_t height, double offset, double amplitude)
{
  const std::vector<T> pixels = MakePixels<T>(width * height, offset, amplitude);
  long double          sum = 0.0L, squares = 0.0L;
  for (const T pixel : pixels)
  {
    sum += static_cast<long double>(pixel);
  }
  const long double mean = sum / static_cast<long double>(pixels.size());
  for (const T pixel : pixels)
  {
    squares += (static_cast<long double>(pixel) - mean) * (static_cast<long double>(pixel) - mean);
  }
  const double lower = offset - 0.7 * amplitude;
  const double upper = offset + 0.9 * amplitude;
  const auto   found = itk::CudaComputeStatistics(MakeImage<T>(pixels, width).GetPointer(), { 50, lower, upper });
  const auto   variance =
    static_cast<double>(pixels.size() > 1 ? squares / static_cast<long double>(pixels.size() - 1) : 0.0L);
  EXPECT_EQ(found.NumberOfPixels, pixels.size());
  EXPECT_EQ(found.Minimum, static_cast<double>(*std::min_element(pixels.begin(), pixels.end())));
  EXPECT_EQ(found.Maximum, static_cast<double>(*std::max_element(pixels.begin(), pixels.end())));
  EXPECT_NEAR(found.Mean, static_cast<double>(mean), 1e-13 * (std::fabs(offset) + amplitude));
  EXPECT_NEAR(found.Sum, static_cast<double>(sum), 1e-13 * (std::fabs(offset) + amplitude) * pixels.size());
  EXPECT_NEAR(found.Variance, variance, 1e-12 * amplitude * amplitude);

  std::vector<uint64_t> histogram(50);
  for (const T pixel : pixels)
  {
    const auto value = static_cast<double>(pixel);
    if (value >= lower && value <= upper)
    {
      ++histogram[std::min(49, static_cast<int>((value - lower) * (50.0 / (upper - lower))))];
    }
  }
  EXPECT_EQ(found.Histogram, histogram);
}

template <typename T>
void
CheckAgainstSums(double offset, double amplitude)
{
  for (const size_t width : { size_t{ 1 }, size_t{ 7 }, size_t{ 255 }, size_t{ 1025 } })
  {
    for (const size_t height : { size_t{ 1 }, size_t{ 3 }, size_t{ 131 } })
    {
      CheckAgainstSums<T>(width, height, offset, amplitude);
    }
  }
}
} // namespace

TEST(CudaImageStatisticsTest, SumsAreThoseOfLongDouble)
{
  CheckAgainstSums<float>(0.0, 1.0);
  CheckAgainstSums<float>(1e6, 100.0);
  CheckAgainstSums<double>(-5.0, 1e-3);
  CheckAgainstSums<short>(100.0, 20000.0);
  CheckAgainstSums<unsigned char>(128.0, 127.0);
  CheckAgainstSums<int>(0.0, 2e9);
}

// Chunks are of 16,384 pixels, and 256 lanes add them.
TEST(CudaImageStatisticsTest, SumsOfMoreChunksThanLanes)
{
  CheckAgainstSums<float>(4099, 1025, 1e6, 100.0);
}

TEST(CudaImageStatisticsTest, TheBitsAreTheSameInEveryRun)
{
  const auto image = MakeImage<float>(MakePixels<float>(300 * 1000, 3.0, 1.0), 300);
  const auto first = itk::CudaComputeStatistics(image.GetPointer(), { 100, 2.0, 4.0 });
  const auto view = itk::CudaDetail::MakeCudaImageView(image.GetPointer(), image->GetBufferedRegion());
  for (const unsigned int workUnits : { 1u, 2u, 5u, 16u })
  {
    const auto threader = itk::MultiThreaderBase::New();
    threader->SetNumberOfWorkUnits(workUnits);
    const auto again = itk::CudaDetail::CudaComputeStatisticsOnHost(view, { 100, 2.0, 4.0 }, threader);
    EXPECT_EQ(again.Sum, first.Sum);
    EXPECT_EQ(again.Variance, first.Variance);
    EXPECT_EQ(again.Histogram, first.Histogram);
  }
}

TEST(CudaImageStatisticsTest, ARegionIsThatOfItsPixels)
{
  const auto                image = MakeImage<float>(MakePixels<float>(400 * 300, 0.0, 1.0), 400);
  const itk::ImageRegion<2> region({ { 13, 40 } }, { { 351, 222 } });
  const auto                part = itk::Image<float, 2>::New();
  part->SetRegions(region.GetSize());
  part->Allocate();
  for (itk::IndexValueType y = 0; y < 222; ++y)
  {
    for (itk::IndexValueType x = 0; x < 351; ++x)
    {
      part->SetPixel({ { x, y } }, image->GetPixel({ { x + 13, y + 40 } }));
    }
  }
  const auto expected = itk::CudaComputeStatistics(part.GetPointer());
  const auto found = itk::CudaDetail::CudaComputeStatisticsOnHost(
    itk::CudaDetail::MakeCudaImageView(image.GetPointer(), region), {}, itk::MultiThreaderBase::New());
  EXPECT_EQ(found.Sum, expected.Sum);
  EXPECT_EQ(found.Variance, expected.Variance);
  EXPECT_EQ(found.Maximum, expected.Maximum);
}

TEST(CudaImageStatisticsTest, PixelsThatAreNotFinite)
{
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto  compute = [](const std::vector<float> & pixels) {
    return itk::CudaComputeStatistics(MakeImage<float>(pixels, pixels.size()).GetPointer(), { 4, 0.0, 4.0 });
  };
  const auto some = compute({ nan, 1.0f, 3.0f, nan, 4.0f });
  EXPECT_EQ(some.Minimum, 1.0);
  EXPECT_EQ(some.Maximum, 4.0);
  EXPECT_TRUE(std::isnan(some.Mean));
  EXPECT_TRUE(std::isnan(some.Variance));
  EXPECT_EQ(some.Histogram, (std::vector<uint64_t>{ 0, 1, 0, 2 }));
  const auto none = compute({ nan, nan });
  EXPECT_TRUE(std::isnan(none.Minimum));
  EXPECT_TRUE(std::isnan(none.Maximum));
  const auto infinite = compute({ 1.0f, infinity, 2.0f });
  EXPECT_TRUE(std::isinf(infinite.Maximum));
  EXPECT_EQ(infinite.Minimum, 1.0);
  EXPECT_TRUE(std::isinf(infinite.Mean));
}

TEST(CudaImageStatisticsTest, BadBinsEndInExceptions)
{
  const auto   image = MakeImage<float>(std::vector<float>(8, 1.0f), 4);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto   compute = [&image](const itk::CudaHistogramBins & bins) {
    return itk::CudaComputeStatistics(image.GetPointer(), bins);
  };
  EXPECT_THROW(compute({ 10, 1.0, 1.0 }), itk::ExceptionObject);
  EXPECT_THROW(compute({ 10, 2.0, 1.0 }), itk::ExceptionObject);
  EXPECT_THROW(compute({ 10, nan, 1.0 }), itk::ExceptionObject);
  EXPECT_THROW(compute({ 10, -1e308, 1e308 }), itk::ExceptionObject);
  EXPECT_THROW(compute({ itk::CudaHistogramBins::MaximumNumber + 1, 0.0, 1.0 }), itk::ExceptionObject);
  const auto empty = itk::Image<float, 2>::New();
  EXPECT_THROW(itk::CudaComputeStatistics(empty.GetPointer()), itk::ExceptionObject);
}
