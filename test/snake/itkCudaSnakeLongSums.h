// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeLongSums_h
#define itkCudaSnakeLongSums_h

#include "region/Samples.h"
#include "region/Threads.h"
#include "snake/itkCudaSnakeImageTestCase.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

// Snakes on images whose sums of squares exceed 64 bits. Small images have such sums if their samples are far larger
// than any that the library makes: a constant of 2^27 is added to them. A larger one would make the rounding
// of tangents decide between moves that gain nearly the same.
namespace itk::cuda
{
__extension__ using LongUnsigned = unsigned __int128; // the reference, which the library does not use

/** The samples of an image, all larger by the same number. */
struct ShiftedSamples
{
  std::vector<uint32_t> Values;
  region::Samples       Result; // refers to Values

  ShiftedSamples(const TypedCase & image, uint32_t shift, bool squaresWrap)
    : Result(image.WithInput([&](const CudaRegionSnakeInput & input) {
      return region::Samples(input, image.Parameters, region::Threads(2));
    }))
  {
    const auto * const row = static_cast<const uint32_t *>(Result.Data);
    for (size_t i = 0; i < image.Width * image.Height; ++i)
    {
      Values.push_back(image.Valid.empty() || image.Valid[i] != 0 ? row[i] + shift : 0);
    }
    Result.Data = Values.data();
    Result.SquaresWrap = squaresWrap;
  }
};

/** Expects that the statistics of a region are the sums of its samples, one by one, in 128 bits. */
inline void
ExpectExactSums(const CudaRegionSnakeStatistics & found,
                const TypedCase &                 image,
                const std::vector<uint32_t> &     values,
                const CudaSnakePolygon &          polygon,
                bool                              inside,
                const std::string &               name)
{
  std::vector<char>       isInside(values.size(), 0);
  const CudaSnakeRowSpans spans = ComputeCudaSnakeRowSpans(polygon, static_cast<int32_t>(image.Height));
  for (size_t y = 0; y < image.Height; ++y)
  {
    for (size_t i = spans.First[y]; i < spans.First[y + 1]; i += 2)
    {
      std::fill(isInside.begin() + static_cast<ptrdiff_t>(y * image.Width) + spans.Columns[i],
                isInside.begin() + static_cast<ptrdiff_t>(y * image.Width) + spans.Columns[i + 1],
                char{ 1 });
    }
  }
  uint64_t     count = 0;
  uint64_t     sum = 0;
  LongUnsigned squares = 0;
  for (size_t i = 0; i < values.size(); ++i)
  {
    if ((isInside[i] != 0) == inside && (image.Valid.empty() || image.Valid[i] != 0))
    {
      ++count;
      sum += values[i];
      squares += static_cast<LongUnsigned>(values[i]) * values[i];
    }
  }
  EXPECT_EQ(found.NumberOfPixels, count) << name;
  EXPECT_EQ(found.Sum, sum) << name;
  EXPECT_EQ(found.SumOfSquares, static_cast<uint64_t>(squares)) << name;
  EXPECT_EQ(found.SumOfSquaresHigh, static_cast<uint64_t>(squares >> 64)) << name;
}

/** Runs snakes on samples whose sums of squares are below 2^63, on the same ones as if they were not, and on larger
 * ones. `run(samples, image, snakeRun)` runs a snake. The bits of the first two are equal. Gaussian laws do not see the
 * shift of the third, whose sums are compared with those of the pixels one by one. */
template <typename TRun>
void
CompareLongSums(const TRun & run, uint64_t firstSeed)
{
  using Law = CudaFiltersEnums::NoiseLaw;
  using region::operator==;
  std::cout << "seeds from " << firstSeed << std::endl;
  uint64_t seed = firstSeed;
  int      wrapped = 0;
  for (const Law law : { Law::Gaussian, Law::GaussianCommonVariance, Law::Rayleigh })
  {
    for (const int32_t side : { 100, 300, 560, 560 })
    {
      ++seed;
      const TypedCase  image = RandomTypedCase(seed, law, CudaComponentType::Float, seed % 2 == 0, side);
      const RandomRuns runs(image.Parameters, image.Width, image.Height);
      const std::vector<snake::SnakeRun> all = runs.Get();
      for (size_t i = 0; i < all.size(); ++i)
      {
        const std::string           name = image.Name + ", run " + std::to_string(i);
        ShiftedSamples              plain(image, 0, false);
        const double                step = plain.Result.Step;
        const CudaRegionSnakeResult expected = run(std::move(plain.Result), image, all[i]);
        ExpectExactSums(expected.Inside, image, plain.Values, expected.Polygon, true, name);
        ShiftedSamples marked(image, 0, true);
        ExpectSameResults(expected, run(std::move(marked.Result), image, all[i]), name + ", marked");

        ShiftedSamples              shifted(image, 1u << 27, true);
        const CudaRegionSnakeResult result = run(std::move(shifted.Result), image, all[i]);
        ExpectExactSums(result.Inside, image, shifted.Values, result.Polygon, true, name);
        ExpectExactSums(result.Outside, image, shifted.Values, result.Polygon, false, name);
        wrapped += result.Inside.SumOfSquaresHigh > 0 && result.Outside.SumOfSquaresHigh > 0 ? 1 : 0;
        if (law != Law::Rayleigh)
        {
          ASSERT_EQ(result.Polygon.size(), expected.Polygon.size()) << name;
          for (size_t node = 0; node < result.Polygon.size(); ++node)
          {
            ASSERT_TRUE(result.Polygon[node] == expected.Polygon[node]) << name << " node " << node;
          }
          ASSERT_EQ(result.Criterion, expected.Criterion) << name;
          ASSERT_EQ(result.Inside.Variance, expected.Inside.Variance) << name;
        }
        else
        {
          // J = looks * (n log of the mean square, for both regions), the samples in steps of their grid.
          const auto part = [](const CudaRegionSnakeStatistics & s) {
            const long double squares =
              std::ldexp(static_cast<long double>(s.SumOfSquaresHigh), 64) + static_cast<long double>(s.SumOfSquares);
            const auto n = static_cast<long double>(s.NumberOfPixels);
            return n * std::log(squares / n);
          };
          const long double n = static_cast<long double>(result.Inside.NumberOfPixels + result.Outside.NumberOfPixels);
          const long double j = image.Parameters.NumberOfLooks * (part(result.Inside) + part(result.Outside) +
                                                                  2 * n * std::log(static_cast<long double>(step)));
          ASSERT_NEAR(result.Criterion, static_cast<double>(j), 1e-12 * 60 * static_cast<double>(n)) << name;
        }
      }
    }
  }
  EXPECT_GT(wrapped, 20);
}
} // namespace itk::cuda

#endif
