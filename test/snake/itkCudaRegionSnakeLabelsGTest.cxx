// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"

#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <random>
#include <vector>

namespace
{
using itk::CudaSnakePoint;
using itk::CudaSnakePolygon;

/** Whether the centre of pixel (x, y) is inside, by the number of edges that it is not strictly left of. */
bool
IsInside(const CudaSnakePolygon & polygon, int64_t x, int64_t y)
{
  bool inside = false;
  for (size_t i = 0; i < polygon.size(); ++i)
  {
    CudaSnakePoint p = polygon[i];
    CudaSnakePoint q = polygon[(i + 1) % polygon.size()];
    if (q.Y < p.Y)
    {
      std::swap(p, q);
    }
    const int64_t dX = q.X - p.X;
    const int64_t dY = q.Y - p.Y;
    inside ^= p.Y <= y && y < q.Y && (2 * x + 1 - 2 * p.X) * dY >= (2 * (y - p.Y) + 1) * dX;
  }
  return inside;
}

/** Corners anywhere in some of the rows, so that others have no spans. */
CudaSnakePolygon
RandomPolygon(std::mt19937 & random, int32_t width, int32_t height)
{
  const auto number = [&random](int32_t lower, int32_t upper) {
    return lower + static_cast<int32_t>(random() % static_cast<unsigned int>(upper - lower + 1));
  };
  const int32_t    first = number(0, height);
  const int32_t    last = number(first, height);
  CudaSnakePolygon polygon(random() % 8 == 0 ? 0u : static_cast<size_t>(number(3, 9)));
  for (CudaSnakePoint & corner : polygon)
  {
    corner = { number(0, width), number(first, last) };
  }
  return polygon;
}

template <typename TPixel>
class CudaRegionSnakeLabels : public ::testing::Test
{};
using LabelTypes = ::testing::Types<bool,
                                    char,
                                    signed char,
                                    unsigned char,
                                    short,
                                    unsigned short,
                                    int,
                                    unsigned int,
                                    long,
                                    unsigned long,
                                    long long,
                                    unsigned long long>;
TYPED_TEST_SUITE(CudaRegionSnakeLabels, LabelTypes);
} // namespace

TYPED_TEST(CudaRegionSnakeLabels, AreThoseOfOnePixelAfterTheOther)
{
  constexpr unsigned int seed = 7;
  std::cout << "seed " << seed << std::endl;
  std::mt19937      random(seed);
  const TypeParam   inside = static_cast<TypeParam>(77);
  const TypeParam   outside = static_cast<TypeParam>(0);
  constexpr int32_t sides[][2] = { { 1, 1 }, { 1, 60 }, { 60, 1 }, { 2, 3 }, { 40, 33 }, { 129, 70 } };
  constexpr size_t  guard = 64;
  for (unsigned int threads = 1; threads <= 8; ++threads)
  {
    const auto threader = itk::MultiThreaderBase::New();
    threader->SetMaximumNumberOfThreads(threads);
    threader->SetNumberOfWorkUnits(threads);
    for (int trial = 0; trial < 60; ++trial)
    {
      const auto [width, height] = sides[trial % 6];
      const CudaSnakePolygon                   polygon = RandomPolygon(random, width, height);
      const itk::CudaDetail::CudaSnakeRowSpans spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(polygon, height);
      const auto                               number = static_cast<size_t>(width) * static_cast<size_t>(height);
      // Memory in which every byte would be seen that is not written, or written beyond the image.
      const auto poison = static_cast<TypeParam>(0x55);
      const auto pixels = std::make_unique<TypeParam[]>(number + 2 * guard);
      std::fill_n(pixels.get(), number + 2 * guard, poison);
      const bool      swapped = trial % 2 == 1; // so that the poison of bool is seen as well
      const TypeParam in = swapped ? outside : inside;
      const TypeParam out = swapped ? inside : outside;
      const itk::CudaDetail::CudaSnakeLabels<TypeParam> labels{ spans, static_cast<size_t>(width), in, out };
      labels.Write(pixels.get() + guard, *threader);
      for (size_t i = 0; i < number; ++i)
      {
        const bool expected = IsInside(polygon, static_cast<int64_t>(i) % width, static_cast<int64_t>(i) / width);
        ASSERT_EQ(pixels[guard + i], expected ? in : out)
          << "pixel " << i << " of " << width << " x " << height << ", trial " << trial << ", threads " << threads;
      }
      const auto isPoison = [poison](TypeParam value) { return value == poison; };
      EXPECT_TRUE(std::all_of(pixels.get(), pixels.get() + guard, isPoison));
      EXPECT_TRUE(std::all_of(pixels.get() + guard + number, pixels.get() + number + 2 * guard, isPoison));
    }
  }
}
