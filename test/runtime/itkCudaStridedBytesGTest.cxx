// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/StridedBytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace
{
using itk::CudaComponentType;
using itk::CudaDetail::CudaImageView;
using itk::cuda::StridedBytes;

/** Returns a view of a region of an image that starts at `data`. */
CudaImageView
MakeView(void *                        data,
         CudaComponentType             type,
         size_t                        components,
         const std::array<size_t, 4> & imageSize,
         const std::array<size_t, 4> & start,
         const std::array<size_t, 4> & size)
{
  CudaImageView view;
  view.ComponentType = type;
  view.NumberOfComponents = components;
  view.Size = size;
  size_t stride = components;
  size_t offset = 0;
  for (unsigned int axis = 0; axis < 4; ++axis)
  {
    view.Stride[axis] = stride;
    offset += start[axis] * stride;
    stride *= imageSize[axis];
  }
  view.Data = static_cast<char *>(data) + offset * itk::CudaComponentSize(type);
  return view;
}

/** Returns the bytes of the view, gathered pixel by pixel. Rows start at multiples of `pitch`, with zeros between them,
 * unless `pitch` is 0. */
std::vector<char>
GatherByPixel(const CudaImageView & view, size_t pitch)
{
  const size_t      pixelSize = view.NumberOfComponents * itk::CudaComponentSize(view.ComponentType);
  std::vector<char> bytes;
  for (size_t t = 0; t < view.Size[3]; ++t)
    for (size_t z = 0; z < view.Size[2]; ++z)
      for (size_t y = 0; y < view.Size[1]; ++y)
      {
        if (pitch != 0)
        {
          bytes.resize((bytes.size() + pitch - 1) / pitch * pitch, 0);
        }
        for (size_t x = 0; x < view.Size[0]; ++x)
        {
          const size_t offset = x * view.Stride[0] + y * view.Stride[1] + z * view.Stride[2] + t * view.Stride[3];
          const char * pixel =
            static_cast<const char *>(view.Data) + offset * itk::CudaComponentSize(view.ComponentType);
          bytes.insert(bytes.end(), pixel, pixel + pixelSize);
        }
      }
  return bytes;
}

std::vector<char>
MakeRandomBytes(size_t number, std::mt19937 & random)
{
  std::vector<char> bytes(number);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
  return bytes;
}
} // namespace

TEST(CudaStridedReader, Whole_image_is_one_run)
{
  std::vector<float>  image(5 * 4 * 3 * 2);
  const CudaImageView view =
    MakeView(image.data(), CudaComponentType::Float, 1, { 5, 4, 3, 2 }, { 0, 0, 0, 0 }, { 5, 4, 3, 2 });
  const StridedBytes runs(view, 0);
  EXPECT_EQ(runs.GetRunSize(), image.size() * sizeof(float));
  EXPECT_EQ(runs.GetNumberOfBytes(), image.size() * sizeof(float));
  EXPECT_EQ(runs.GetLastByte(), reinterpret_cast<char *>(image.data() + image.size()) - 1);
}

TEST(CudaStridedReader, Region_of_full_rows_has_a_run_per_slice)
{
  std::vector<short>  image(5 * 4 * 3);
  const CudaImageView view =
    MakeView(image.data(), CudaComponentType::Short, 1, { 5, 4, 3, 1 }, { 0, 1, 0, 0 }, { 5, 2, 3, 1 });
  const StridedBytes runs(view, 0);
  EXPECT_EQ(runs.GetRunSize(), 5 * 2 * sizeof(short));
  EXPECT_EQ(runs.GetFirstStride(), 5 * 4 * sizeof(short));
  EXPECT_EQ(runs.GetNumberOfEquidistantRuns(0), 3u);
  EXPECT_EQ(runs.GetNumberOfEquidistantRuns(2), 1u);
}

TEST(CudaStridedReader, Padded_rows_of_a_whole_image_are_equidistant)
{
  std::vector<float>  image(5 * 4 * 3);
  const CudaImageView view =
    MakeView(image.data(), CudaComponentType::Float, 1, { 5, 4, 3, 1 }, { 0, 0, 0, 0 }, { 5, 4, 3, 1 });
  const StridedBytes runs(view, 32);
  EXPECT_EQ(runs.GetRunSize(), 20u);
  EXPECT_EQ(runs.GetStep(), 32u);
  EXPECT_EQ(runs.GetNumberOfEquidistantRuns(0), 12u);
  EXPECT_EQ(runs.GetNumberOfBytes(), 11u * 32 + 20);
}

TEST(CudaStridedReader, Empty_region_has_no_bytes)
{
  float               pixel = 0.0f;
  const CudaImageView view =
    MakeView(&pixel, CudaComponentType::Float, 1, { 1, 1, 1, 1 }, { 0, 0, 0, 0 }, { 1, 0, 1, 1 });
  EXPECT_EQ(StridedBytes(view, 0).GetNumberOfBytes(), 0u);
}

TEST(CudaStridedReader, Random_regions_agree_with_copies_by_pixel)
{
  const unsigned int seed = 20240611;
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
  const auto   draw = [&random](size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random);
  };
  constexpr std::array<CudaComponentType, 3> types{
    { CudaComponentType::UChar, CudaComponentType::Short, CudaComponentType::Double }
  };
  for (unsigned int trial = 0; trial < 500; ++trial)
  {
    std::array<size_t, 4> imageSize{};
    std::array<size_t, 4> start{};
    std::array<size_t, 4> size{};
    for (unsigned int axis = 0; axis < 4; ++axis)
    {
      imageSize[axis] = draw(1, 6);
      size[axis] = draw(0, 2) == 0 ? draw(1, imageSize[axis]) : imageSize[axis];
      start[axis] = draw(0, imageSize[axis] - size[axis]);
    }
    const CudaComponentType type = types[draw(0, 2)];
    const size_t            components = draw(1, 4);
    const size_t            pixelSize = components * itk::CudaComponentSize(type);
    const size_t            numberOfBytes = imageSize[0] * imageSize[1] * imageSize[2] * imageSize[3] * pixelSize;
    std::vector<char>       image = MakeRandomBytes(numberOfBytes, random);
    const CudaImageView     view = MakeView(image.data(), type, components, imageSize, start, size);
    const size_t            pitch = draw(0, 1) == 0 ? 0 : (size[0] * pixelSize + 15) / 16 * 16;

    const StridedBytes      runs(view, pitch);
    const std::vector<char> expected = GatherByPixel(view, pitch);
    ASSERT_EQ(runs.GetNumberOfBytes(), expected.size()) << "trial " << trial << ", seed " << seed;

    // Any cut of the stream into two gives the same bytes.
    const size_t      cut = draw(0, expected.size());
    std::vector<char> gathered(expected.size(), 'x');
    runs.Gather(gathered.data(), 0, cut);
    runs.Gather(gathered.data() + cut, cut, expected.size());
    ASSERT_EQ(gathered, expected) << "trial " << trial << ", seed " << seed;

    // When the bytes are scattered to an image of one value, only the region changes.
    std::vector<char>   other(numberOfBytes, 'y');
    const CudaImageView target = MakeView(other.data(), type, components, imageSize, start, size);
    const StridedBytes  targetRuns(target, pitch);
    targetRuns.Scatter(expected.data() + cut, cut, expected.size());
    targetRuns.Scatter(expected.data(), 0, cut);
    ASSERT_EQ(GatherByPixel(target, pitch), expected) << "trial " << trial << ", seed " << seed;
    const size_t kept = numberOfBytes - size[0] * size[1] * size[2] * size[3] * pixelSize;
    const size_t changed =
      static_cast<size_t>(std::count_if(other.begin(), other.end(), [](char c) { return c != 'y'; }));
    ASSERT_LE(changed, numberOfBytes - kept) << "trial " << trial << ", seed " << seed;
  }
}

TEST(CudaStridedReader, Gathered_past_the_caches_the_bytes_are_the_same)
{
  const unsigned int seed = 20261122;
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
  const auto   draw = [&random](size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random);
  };
  for (unsigned int trial = 0; trial < 300; ++trial)
  {
    // Lengths around the minimum from which rows bypass the caches, and around multiples of a cache line. Some rows
    // have several pages.
    const size_t      lines = draw(0, 3) == 0 ? draw(64, 300) : draw(16, 40);
    const size_t      width = draw(0, 1) == 0 ? draw(900, 1300) : 64 * lines + draw(0, 2) - 1;
    const size_t      height = draw(1, 9);
    const size_t      pitch = draw(0, 1) == 0 ? 0 : width + draw(0, 70);
    std::vector<char> image = MakeRandomBytes((width + 3) * height, random);
    const auto        view =
      MakeView(image.data(), CudaComponentType::UChar, 1, { width + 3, height, 1, 1 }, {}, { width, height, 1, 1 });
    const std::string  what = "trial " + std::to_string(trial) + ", seed " + std::to_string(seed);
    const StridedBytes runs(view, pitch);
    std::vector<char>  expected(runs.GetNumberOfBytes());
    runs.Gather(expected.data(), 0, expected.size());

    const size_t      cut = draw(0, expected.size());
    const size_t      offset = draw(0, 63);
    std::vector<char> gathered(expected.size() + 64, 'x');
    char * const      to = gathered.data() + offset;
    runs.Gather(to, 0, cut, true);
    runs.Gather(to + cut, cut, expected.size(), true);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to)) << what;
    ASSERT_EQ(std::count(gathered.data(), to, 'x'), static_cast<ptrdiff_t>(offset)) << what;
    ASSERT_EQ(std::count(to + expected.size(), gathered.data() + gathered.size(), 'x'),
              static_cast<ptrdiff_t>(64 - offset))
      << what;

    const auto scatter = [&](bool bypassCache) {
      std::vector<char> target(image.size(), 'y');
      auto              targetView = view;
      targetView.Data = target.data();
      const StridedBytes targetRuns(targetView, pitch);
      targetRuns.Scatter(to + cut, cut, expected.size(), bypassCache);
      targetRuns.Scatter(to, 0, cut, bypassCache);
      return target;
    };
    ASSERT_TRUE(scatter(true) == scatter(false)) << what;
  }
}
