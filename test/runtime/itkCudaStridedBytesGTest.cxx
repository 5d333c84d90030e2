// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/StridedBytes.h"

#include "support/itkCudaHostImage.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::test;

/** Returns the bytes of the view, gathered pixel by pixel. Rows start at multiples of `pitch`, with zeros between them,
 * unless `pitch` is 0. */
std::vector<char>
GatherByPixel(const CudaImageView & view, size_t pitch)
{
  const size_t      pixelSize = view.NumberOfComponents * CudaComponentSize(view.ComponentType);
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
          const char * pixel = static_cast<const char *>(view.Data) + offset * CudaComponentSize(view.ComponentType);
          bytes.insert(bytes.end(), pixel, pixel + pixelSize);
        }
      }
  return bytes;
}

} // namespace

/** A run is what one copy can move. Rows of a pitch, and runs of equal distance, are one copy for the device. */
TEST(CudaStridedReader, Runs_are_as_long_as_the_region_allows)
{
  struct Row
  {
    Extent Start, Size; // in an image of 5 x 4 x 3 x 2 pixels of two bytes
    size_t Pitch, RunSize, EquidistantRuns, Bytes;
  };
  for (const Row & row : { Row{ { 0, 0, 0, 0 }, { 5, 4, 3, 2 }, 0, 240, 1, 240 }, // the whole
                           Row{ { 0, 1, 0, 0 }, { 5, 2, 3, 1 }, 0, 20, 3, 60 },   // full rows
                           Row{ { 0, 0, 0, 0 }, { 5, 4, 3, 1 }, 16, 10, 12, 11 * 16 + 10 },
                           Row{ { 0, 0, 0, 0 }, { 5, 0, 3, 1 }, 0, 0, 0, 0 } })
  {
    HostImage<short>   image({ 5, 4, 3, 2 }, 1, row.Start, row.Size);
    const StridedBytes runs(image.View, row.Pitch);
    ASSERT_EQ(runs.GetNumberOfBytes(), row.Bytes);
    if (row.Bytes > 0)
    {
      EXPECT_EQ(runs.GetRunSize(), row.RunSize);
      EXPECT_EQ(runs.GetNumberOfEquidistantRuns(0), row.EquidistantRuns);
      EXPECT_EQ(runs.GetNumberOfEquidistantRuns(row.EquidistantRuns - 1), 1u);
      const short * const end =
        &image.At(0, 0, row.Size[2] - 1, row.Size[3] - 1, 0) + 5 * (row.Size[1] - 1) + row.Size[0];
      EXPECT_EQ(runs.GetLastByte(), reinterpret_cast<const char *>(end) - 1);
    }
  }
}

namespace
{
/** Compares a region of an image with copies by pixel. */
template <typename T, typename TDraw>
void
CheckRandomRegion(const TDraw & draw)
{
  Extent imageSize{};
  Extent start{};
  Extent size{};
  for (unsigned int axis = 0; axis < 4; ++axis)
  {
    imageSize[axis] = draw(1, 6);
    size[axis] = draw(0, 2) == 0 ? draw(1, imageSize[axis]) : imageSize[axis];
    start[axis] = draw(0, imageSize[axis] - size[axis]);
  }
  const size_t components = draw(1, 4);
  HostImage<T> image(imageSize, components, start, size);
  FillRandomly(image.Pixels, static_cast<unsigned int>(draw(0, 1000)));
  const size_t            pitch = draw(0, 1) == 0 ? 0 : (size[0] * components * sizeof(T) + 15) / 16 * 16;
  const StridedBytes      runs(image.View, pitch);
  const std::vector<char> expected = GatherByPixel(image.View, pitch);
  ASSERT_EQ(runs.GetNumberOfBytes(), expected.size());

  // Any cut of the stream into two gives the same bytes.
  const size_t      cut = draw(0, expected.size());
  std::vector<char> gathered(expected.size(), 'x');
  runs.Gather(gathered.data(), 0, cut);
  runs.Gather(gathered.data() + cut, cut, expected.size());
  ASSERT_EQ(gathered, expected);

  // Where the bytes are scattered to another image, only its region changes.
  HostImage<T> target(imageSize, components, start, size);
  HostImage<T> wanted(imageSize, components, start, size);
  FillRandomly(target.Pixels, 2000);
  wanted.Pixels = target.Pixels;
  CopyRegion(image, wanted);
  const StridedBytes targetRuns(target.View, pitch);
  targetRuns.Scatter(expected.data() + cut, cut, expected.size());
  targetRuns.Scatter(expected.data(), 0, cut);
  ExpectSamePixels(target.Pixels, wanted.Pixels, "scattered");
}
} // namespace

TEST(CudaStridedReader, Random_regions_agree_with_copies_by_pixel)
{
  std::mt19937 random(seed);
  const auto   draw = [&random](size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random);
  };
  for (unsigned int trial = 0; trial < 170; ++trial)
  {
    SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed));
    CheckRandomRegion<unsigned char>(draw);
    CheckRandomRegion<short>(draw);
    CheckRandomRegion<double>(draw);
  }
}

TEST(CudaStridedReader, Gathered_past_the_caches_the_bytes_are_the_same)
{
  std::mt19937 random(seed);
  const auto   draw = [&random](size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random);
  };
  for (unsigned int trial = 0; trial < 300; ++trial)
  {
    // Lengths around the minimum from which rows bypass the caches, and around multiples of a cache line. Some rows
    // have several pages.
    const size_t             lines = draw(0, 3) == 0 ? draw(64, 300) : draw(16, 40);
    const size_t             width = draw(0, 1) == 0 ? draw(900, 1300) : 64 * lines + draw(0, 2) - 1;
    const size_t             height = draw(1, 9);
    const size_t             pitch = draw(0, 1) == 0 ? 0 : width + draw(0, 70);
    HostImage<unsigned char> image({ width + 3, height, 1, 1 }, 1, {}, { width, height, 1, 1 });
    FillRandomly(image.Pixels, trial);
    const std::string  what = "trial " + std::to_string(trial) + ", seed " + std::to_string(seed);
    const StridedBytes runs(image.View, pitch);
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
      std::vector<char> target(image.Pixels.size(), 'y');
      auto              targetView = image.View;
      targetView.Data = target.data();
      const StridedBytes targetRuns(targetView, pitch);
      targetRuns.Scatter(to + cut, cut, expected.size(), bypassCache);
      targetRuns.Scatter(to, 0, cut, bypassCache);
      return target;
    };
    ASSERT_TRUE(scatter(true) == scatter(false)) << what;
  }
}
