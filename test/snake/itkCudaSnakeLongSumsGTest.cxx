// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersConfiguration.h"
#include "region/HostSums.h"
#include "region/Laws.h"
#include "region/SampleMaker.h"
#include "region/Sums.h"
#include "snake/host/Host.h"
#include "snake/itkCudaSnakeLongSums.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

// Sums of squares that exceed 64 bits, beside sums in 128 bits; which images have them, and which are refused.
namespace
{
using namespace itk::cuda;
using namespace itk::cuda::region;
using NoiseLaw = itk::cuda::region::NoiseLaw;

/** The sums of many pixels: modulo 2^64, and in 128 bits. */
struct PixelSums
{
  Moments      Wrapped;
  LongUnsigned Squares{ 0 };

  void
  Add(uint64_t pixels, uint64_t value)
  {
    Wrapped += { static_cast<int64_t>(pixels), pixels * value, pixels * value * value };
    Squares += static_cast<LongUnsigned>(pixels) * value * value;
  }

  PixelSums
  operator+(const PixelSums & other) const
  {
    return { Wrapped + other.Wrapped, Squares + other.Squares };
  }

  LongUnsigned
  GetScaledVariance() const
  {
    return static_cast<LongUnsigned>(Wrapped.Count) * Squares - static_cast<LongUnsigned>(Wrapped.Sum) * Wrapped.Sum;
  }
};

LongUnsigned
Join(const UInt128 & x)
{
  return (static_cast<LongUnsigned>(x.High) << 64) | x.Low;
}

UInt128
Divide(LongUnsigned x)
{
  return { static_cast<uint64_t>(x >> 64), static_cast<uint64_t>(x) };
}

/** Sums of up to `pixels` pixels of a few values in a range below `end`. */
PixelSums
RandomSums(uint64_t pixels, uint64_t end, uint64_t range, std::mt19937_64 & engine)
{
  PixelSums      sums;
  const int      values = 1 + static_cast<int>(engine() % 4);
  const uint64_t first = engine() % 3 == 0 ? end - 1 - range : engine() % (end - range);
  for (int i = 0; i < values; ++i)
  {
    const uint64_t kind = engine() % 3;
    const uint64_t value = first + (kind == 0 ? 0 : kind == 1 ? range : engine() % (range + 1));
    const uint64_t most = pixels / static_cast<uint64_t>(values);
    sums.Add(1 + (engine() % 4 == 0 ? engine() % 3 : engine() % 4 == 0 ? most - 1 : engine() % most), value);
  }
  return sums;
}

/** The source of SampleMaker for an image that is not there. */
template <typename TPixel>
struct AbsentImage
{
  using PixelType = TPixel;
  double Minimum;
  double Maximum;
  int    NumberOfSurveys{ 0 };

  template <typename TAllowed>
  ValueSurvey
  Survey(const TAllowed &)
  {
    ++NumberOfSurveys;
    ValueSurvey survey;
    survey.Accept(Minimum);
    survey.Accept(Maximum);
    return survey;
  }
  template <typename TFunction>
  void
  Copy(const TFunction &)
  {}
  bool
  UseInPlace()
  {
    return true;
  }
};

/** The description of the samples of an image with this number of pixels. */
template <typename TPixel>
SamplesDescription
Describe(NoiseLaw law, size_t pixels, AbsentImage<TPixel> & image)
{
  itk::CudaDetail::CudaRegionSnakeParameters parameters;
  parameters.NoiseLaw = law;
  SamplesDescription samples = DescribeImage(size_t{ 1 } << 20, size_t{ 1 } << 20);
  samples.NumberOfValidPixels = pixels;
  SampleMaker<AbsentImage<TPixel>>(samples, image, { { 0, 0 } }, parameters).Make();
  return samples;
}

template <typename TPixel>
bool
SquaresWrap(NoiseLaw law, size_t pixels, double minimum = 0.0, double maximum = 65535.0)
{
  AbsentImage<TPixel> image{ minimum, maximum };
  return Describe(law, pixels, image).SquaresWrap;
}

template <typename TPixel>
std::string
Refusal(NoiseLaw law, size_t pixels, double minimum = 0.0, double maximum = 65535.0)
{
  return test::GetException([&] { SquaresWrap<TPixel>(law, pixels, minimum, maximum); });
}
} // namespace

TEST(CudaSnakeLongSums, RegionsHaveTheSumsOf128Bits)
{
  std::mt19937_64 engine(test::GetSeed());
  int             wrapped = 0;
  int             decreasing = 0;
  for (int trial = 0; trial < 100000; ++trial)
  {
    // Samples of 16 bits; and such that the range is smaller, and the number of pixels larger.
    const int      bits = trial % 2 == 0 ? 16 : 1 + static_cast<int>(engine() % 16);
    const uint64_t range = (uint64_t{ 1 } << bits) - 1;
    const uint64_t pixels = uint64_t{ 1 } << std::min(66 - 2 * bits, 46);
    const auto     first = RandomSums(pixels / 2, 65536, range, engine);
    const auto     second = RandomSums(pixels / 2, 65536, range, engine);
    wrapped += first.Squares >> 64 != 0 ? 1 : 0;
    ASSERT_TRUE(Join(SumOfSquaresOf(first.Wrapped)) == first.Squares) << "trial " << trial;
    ASSERT_EQ(ScaledVariance(first.Wrapped), ToDouble(Divide(first.GetScaledVariance()))) << "trial " << trial;

    const auto        n = static_cast<long double>(first.Wrapped.Count);
    const long double meanSquare = static_cast<long double>(first.Squares) / n;
    const long double bounded = std::max(meanSquare, 0.25L);
    ASSERT_NEAR((RayleighRegion{ 1.0, true }.Criterion(first.Wrapped)),
                static_cast<double>(n * (std::log(bounded) + meanSquare / bounded - 1)),
                1e-14 * 30 * static_cast<double>(n))
      << "trial " << trial;

    // A region that changes into another one; the range is that of both.
    if (trial % 2 == 0)
    {
      const LinearForm form{ 0.5, -3.0, 0.125 };
      const bool       isLess = second.Squares < first.Squares;
      const double squares = ToDouble(Divide(isLess ? first.Squares - second.Squares : second.Squares - first.Squares));
      const Moments change = second.Wrapped - first.Wrapped;
      decreasing += isLess && squares > 0x1p63 ? 1 : 0;
      ASSERT_EQ(EvaluateChange(form, first.Wrapped, change),
                0.5 * static_cast<double>(change.Count) - 3.0 * static_cast<double>(static_cast<int64_t>(change.Sum)) +
                  0.125 * (isLess ? -squares : squares))
        << "trial " << trial;
    }
  }
  EXPECT_GT(wrapped, 10000);
  EXPECT_GT(decreasing, 1000);

  // The largest variance of 2^34 pixels of 16 bits.
  PixelSums halves;
  halves.Add(uint64_t{ 1 } << 33, 0);
  halves.Add(uint64_t{ 1 } << 33, 65535);
  EXPECT_TRUE(Join(SumOfSquaresOf(halves.Wrapped)) == halves.Squares);
  EXPECT_EQ(ScaledVariance(halves.Wrapped), std::ldexp(65535.0 * 65535.0, 66));
  // 2^32 + 1 pixels of 65535: in 64 bits little would be left of the sum of their squares.
  PixelSums bright;
  bright.Add((uint64_t{ 1 } << 32) + 1, 65535);
  EXPECT_TRUE(Join(SumOfSquaresOf(bright.Wrapped)) == bright.Squares);
  EXPECT_EQ(ScaledVariance(bright.Wrapped), 0.0);
  EXPECT_EQ(ScaledVariance({}), 0.0);
}

// Prefix sums of cells wrap around, as do the contributions of edges. Each cell has 2^17 pixels, 10^10 in all.
TEST(CudaSnakeLongSums, PolygonsHaveTheSumsOf128Bits)
{
  constexpr int32_t      side = 280;
  constexpr uint64_t     pixelsOfCell = uint64_t{ 1 } << 17;
  std::mt19937_64        engine(test::GetSeed());
  std::vector<uint64_t>  values;
  std::vector<Moments>   prefixes;
  std::vector<PixelSums> cells;
  for (int32_t y = 0; y < side; ++y)
  {
    PixelSums row;
    prefixes.push_back(row.Wrapped);
    for (int32_t x = 0; x < side; ++x)
    {
      const uint64_t value = engine() % 8 == 0 ? engine() % 65536 : 65535;
      PixelSums      cell;
      cell.Add(pixelsOfCell, value);
      cells.push_back(cell);
      row = row + cell;
      prefixes.push_back(row.Wrapped);
    }
  }
  const BlockLevel level{ prefixes.data(), side, side };
  for (int trial = 0; trial < 50; ++trial)
  {
    const auto corner = [&engine](int32_t low) { return low + static_cast<int32_t>(engine() % (side / 2)); };
    const itk::CudaSnakePolygon polygon{ { corner(0), corner(0) },
                                         { corner(side / 2), corner(0) },
                                         { corner(side / 2), corner(side / 2) },
                                         { corner(0), corner(side / 2) } };
    Moments                     sums;
    PixelSums                   expected;
    for (int i = 0; i < 4; ++i)
    {
      sums += SumEdge(level, polygon[i], polygon[(i + 1) % 4]);
    }
    const itk::CudaDetail::CudaSnakeRowSpans spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(polygon, side);
    for (int32_t y = 0; y < side; ++y)
    {
      for (size_t i = spans.First[y]; i < spans.First[y + 1]; i += 2)
      {
        for (int32_t x = spans.Columns[i]; x < spans.Columns[i + 1]; ++x)
        {
          expected = expected + cells[static_cast<size_t>(y) * side + x];
        }
      }
    }
    ASSERT_TRUE(sums == expected.Wrapped) << "trial " << trial;
    ASSERT_TRUE(Join(SumOfSquaresOf(sums)) == expected.Squares) << "trial " << trial;
    ASSERT_EQ(ScaledVariance(sums), ToDouble(Divide(expected.GetScaledVariance()))) << "trial " << trial;
  }
}

TEST(CudaSnakeLongSums, ImagesAreRefusedOnlyWhereTheirSumsAreNotKnown)
{
  // 2^63 / 65535^2, 2^66 / 65535^2 and 2^66 / 4095^2 are 2147549185.5, 17180393484.0002 and 4400194781440.1.
  for (const NoiseLaw law : { NoiseLaw::Gaussian, NoiseLaw::GaussianCommonVariance, NoiseLaw::Rayleigh })
  {
    SCOPED_TRACE(GetTraits(law).Name);
    EXPECT_FALSE(SquaresWrap<uint16_t>(law, 2147549185));
    EXPECT_TRUE(SquaresWrap<uint16_t>(law, 2147549186));
    EXPECT_TRUE(SquaresWrap<uint16_t>(law, 17180393484));
    test::ExpectContains(Refusal<uint16_t>(law, 17180393485),
                         "17180393485 valid pixels in a range of 65535 grey levels");
    EXPECT_TRUE(SquaresWrap<uint16_t>(law, 17180393485, 100.0, 4195.0));
    EXPECT_TRUE(SquaresWrap<uint16_t>(law, 4400194781440, 100.0, 4195.0));
    test::ExpectContains(Refusal<uint16_t>(law, 4400194781441, 100.0, 4195.0), "in a range of 4095 grey levels");
    EXPECT_TRUE(SquaresWrap<uint16_t>(law, size_t{ 1 } << 40, 7.0, 7.0));
    EXPECT_FALSE(SquaresWrap<uint8_t>(law, size_t{ 1 } << 40, 0.0, 255.0));
    EXPECT_FALSE(SquaresWrap<float>(law, size_t{ 1 } << 40, 0.0, 1e9)) << "the grid is coarser";
  }
  EXPECT_TRUE(SquaresWrap<int16_t>(NoiseLaw::Gaussian, 17180393485, -2048.0, 2047.0));
  EXPECT_TRUE(SquaresWrap<uint16_t>(NoiseLaw::LogNormal, 2147549186, 1.0, 65535.0));
  test::ExpectContains(Refusal<uint16_t>(NoiseLaw::LogNormal, 17180393485, 1.0, 100.0), "LogNormal takes fewer than");
  for (const NoiseLaw law : { NoiseLaw::Gamma, NoiseLaw::Poisson })
  {
    EXPECT_FALSE(SquaresWrap<uint16_t>(law, size_t{ 1 } << 40)) << "there are no squares";
    test::ExpectContains(Refusal<uint16_t>(law, size_t{ 1 } << 48), "sums of 63 bits");
  }
  AbsentImage<uint16_t> image{ 0.0, 65535.0 };
  Describe(NoiseLaw::Gaussian, 17180393484, image);
  EXPECT_EQ(image.NumberOfSurveys, 0) << "integers are only read for their range where it decides";
}

TEST(CudaSnakeLongSums, SnakesAreThoseOfShorterSums)
{
  CompareLongSums(
    [](Samples && samples, const TypedCase & image, const snake::SnakeRun & run) {
      return snake::RunOnHost(snake::HostSnakeImage(std::move(samples), image.Parameters, Threads(2)), run, Threads(1));
    },
    57000);
}

// An image of as many gigapixels as the environment variable ITK_CUDAFILTERS_TEST_GIGAPIXELS says, on the host and on
// the GPU if there is one. From 2.15 on the sums of squares exceed 63 bits. Takes 3.1 bytes a pixel.
TEST(CudaSnakeLongSums, SlowGigapixelsAreSummedExactly)
{
  const char * const text = std::getenv("ITK_CUDAFILTERS_TEST_GIGAPIXELS");
  if (text == nullptr)
  {
    GTEST_SKIP() << "ITK_CUDAFILTERS_TEST_GIGAPIXELS is not set";
  }
  const auto side = static_cast<int32_t>(std::ceil(std::sqrt(std::atof(text) * 1e9)));
  const auto isTarget = [side](int64_t x, int64_t y) {
    const int64_t dx = 2 * x - side;
    const int64_t dy = 3 * y - side;
    return dx * dx + dy * dy < static_cast<int64_t>(side) * side / 4;
  };
  const auto valueOf = [&](int32_t x, int32_t y) {
    const uint64_t noise = SplitMix64((static_cast<uint64_t>(y) << 32) | static_cast<uint32_t>(x)) % 4096;
    return static_cast<uint16_t>(65535 - noise - (isTarget(x, y) ? 2048 : 0));
  };
  const size_t                width = static_cast<size_t>(side);
  const Threads               threads(64);
  std::unique_ptr<uint16_t[]> pixels(new uint16_t[width * width]);
  threads.ForRanges(width, 16, [&](size_t begin, size_t end) {
    for (size_t y = begin; y < end; ++y)
    {
      for (int32_t x = 0; x < side; ++x)
      {
        pixels[y * width + static_cast<size_t>(x)] = valueOf(x, static_cast<int32_t>(y));
      }
    }
  });
  itk::CudaDetail::CudaRegionSnakeInput input;
  input.Image = MakeImageView(pixels.get(), itk::CudaComponentType::UShort, width, width);
  itk::CudaDetail::CudaRegionSnakeParameters parameters;
  parameters.NoiseLaw = NoiseLaw::Gaussian;
  const itk::CudaRegionSnakeResult result = itk::CudaDetail::CudaRegionSnakeOnHost(input, parameters, 64, {});

  const itk::CudaDetail::CudaSnakeRowSpans spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(result.Polygon, side);
  PixelSums                                inside;
  PixelSums                                outside;
  uint64_t                                 misplaced = 0;
  uint64_t                                 target = 0;
  std::mutex                               mutex;
  threads.ForRanges(width, 16, [&](size_t begin, size_t end) {
    PixelSums own[2];
    uint64_t  ownMisplaced = 0;
    uint64_t  ownTarget = 0;
    for (size_t y = begin; y < end; ++y)
    {
      size_t span = spans.First[y];
      for (int32_t x = 0; x < side; ++x)
      {
        span += span < spans.First[y + 1] && x >= spans.Columns[span + 1] ? 2 : 0;
        const bool isInside = span < spans.First[y + 1] && x >= spans.Columns[span];
        const bool expected = isTarget(x, static_cast<int64_t>(y));
        own[isInside ? 0 : 1].Add(1, pixels[y * width + static_cast<size_t>(x)]);
        ownMisplaced += isInside != expected ? 1 : 0;
        ownTarget += expected ? 1 : 0;
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    inside = inside + own[0];
    outside = outside + own[1];
    misplaced += ownMisplaced;
    target += ownTarget;
  });
  const auto expectSums = [](const PixelSums & expected, const itk::CudaRegionSnakeStatistics & found) {
    EXPECT_EQ(found.NumberOfPixels, static_cast<uint64_t>(expected.Wrapped.Count));
    EXPECT_EQ(found.Sum, expected.Wrapped.Sum);
    EXPECT_TRUE(Join({ found.SumOfSquaresHigh, found.SumOfSquares }) == expected.Squares);
    const auto n = static_cast<long double>(expected.Wrapped.Count);
    EXPECT_NEAR(
      found.Variance, static_cast<double>(static_cast<long double>(expected.GetScaledVariance()) / (n * n)), 1e-6);
  };
  expectSums(inside, result.Inside);
  expectSums(outside, result.Outside);
  EXPECT_LT(static_cast<double>(misplaced), 0.01 * static_cast<double>(target));
  std::cout << "host: " << width * width << " pixels, " << result.Polygon.size() << " nodes, " << misplaced << " of "
            << target << " pixels misplaced, sums " << result.SecondsOfSums << " s, moves " << result.SecondsOfMoves
            << " s, high words " << result.Inside.SumOfSquaresHigh << " and " << result.Outside.SumOfSquaresHigh
            << std::endl;

  std::string reason;
  if (itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    const itk::CudaRegionSnakeResult onDevice = itk::CudaDetail::CudaRegionSnakeOnDevice(
      input, parameters, itk::CudaFiltersConfiguration::GetDeviceIndex(), 64, {});
    ExpectSameResults(result, onDevice, "device");
    std::cout << "device: sums " << onDevice.SecondsOfSums << " s, moves " << onDevice.SecondsOfMoves << " s"
              << std::endl;
  }
}
