// SPDX-License-Identifier: Apache-2.0

// Times the snake on a scene of 8 bits that is larger than the memory that it may use on the GPU, beside the same
// snake with all of the GPU's memory. The scene is a bright star-shaped region in noise, in ordinary memory. Prints one
// object of JSON: milliseconds of the first and the second Update(), those of the engine's phases in the second, the
// region's error, and whether all polygons are equal.

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkImage.h"
#include "itkMultiThreaderBase.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace
{
using ImageType = itk::Image<unsigned char, 2>;
using FilterType = itk::CudaRegionSnakeImageFilter<ImageType, ImageType>;
using itk::CudaFiltersConfiguration;

/** A star: the distance of its boundary from the centre of the image is a wave around a third of the side. */
struct Star
{
  double Side;

  bool
  Contains(double x, double y) const
  {
    const double dx = x - 0.5 * Side;
    const double dy = y - 0.5 * Side;
    const double radius = Side * (0.3 + 0.05 * std::cos(5.0 * std::atan2(dy, dx)));
    return dx * dx + dy * dy < radius * radius;
  }
};

/** Returns the scene, and counts the pixels in its region. */
ImageType::Pointer
MakeScene(itk::SizeValueType side, uint64_t & pixelsInside)
{
  auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { side, side } });
  image->Allocate();
  std::vector<uint64_t> counts(side);
  unsigned char * const pixels = image->GetBufferPointer();
  const Star            star{ static_cast<double>(side) };
  itk::MultiThreaderBase::New()->ParallelizeArray(
    0,
    side,
    [&](itk::SizeValueType y) {
      uint64_t        state = 0x9e3779b97f4a7c15u * (y + 1); // xorshift64*, Vigna 2016
      unsigned char * row = pixels + y * side;
      // The region is tested every 8 pixels: its boundary has steps of 8 pixels, much smaller than its waves.
      for (itk::SizeValueType x = 0; x < side; x += 8)
      {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        const uint64_t random = state * 0x2545f4914f6cdd1du;
        const auto     end = std::min<itk::SizeValueType>(x + 8, side);
        const bool     inside = star.Contains(static_cast<double>(x) + 4.0, static_cast<double>(y) + 0.5);
        counts[y] += inside ? end - x : 0;
        for (itk::SizeValueType i = x; i < end; ++i)
        {
          row[i] = static_cast<unsigned char>((random >> (8 * (i - x)) & 127u) + (inside ? 40u : 0u));
        }
      }
    },
    nullptr);
  pixelsInside = 0;
  for (const uint64_t count : counts)
  {
    pixelsInside += count;
  }
  return image;
}

nlohmann::json
TimeSnake(const ImageType * scene, uint64_t pixelsInside, size_t limit, itk::CudaSnakePolygon & polygon)
{
  CudaFiltersConfiguration::SetDeviceMemoryLimit(limit);
  const auto filter = FilterType::New();
  filter->SetInput(scene);
  filter->SetBackend("cuda");
  filter->SetNoiseLaw("gaussian");
  filter->MakeLabelImageOff();
  nlohmann::json      row{ { "limit_bytes", limit } };
  std::vector<double> milliseconds;
  for (int run = 0; run < 2; ++run)
  {
    const auto start = std::chrono::steady_clock::now();
    filter->Modified();
    filter->Update();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  const itk::CudaRegionSnakeResult & result = filter->GetResult();
  polygon = result.Polygon;
  row["milliseconds"] = milliseconds;
  row["milliseconds_of_sums"] = 1e3 * (result.SecondsOfSamples + result.SecondsOfSums);
  row["milliseconds_of_moves"] = 1e3 * (result.SecondsOfStart + result.SecondsOfMoves + result.SecondsOfRemoval);
  row["reason"] = filter->GetBackendReason();
  row["nodes"] = result.Polygon.size();
  row["relative_error_of_area"] =
    static_cast<double>(result.Inside.NumberOfPixels) / static_cast<double>(pixelsInside) - 1.0;
  CudaFiltersConfiguration::ReleaseMemory();
  return row;
}
} // namespace

int
main(int argc, char * argv[])
{
  CLI::App           app{ "Times the snake on a scene that is larger than the memory that it may use on the GPU." };
  itk::SizeValueType side = 100000;
  double             limit = 8.0;
  bool               onlyLimited = false;
  app.add_option("--side", side, "pixels of a side")->capture_default_str()->check(CLI::Range(64, 1000000));
  app.add_option("--limit", limit, "GB of the GPU's memory")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag("--only-limited", onlyLimited, "do not run with all of the memory");
  CLI11_PARSE(app, argc, argv);
  try
  {
    uint64_t                           pixelsInside = 0;
    const auto                         scene = MakeScene(side, pixelsInside);
    std::vector<itk::CudaSnakePolygon> polygons;
    nlohmann::json                     report{ { "side", side }, { "rows", nlohmann::json::array() } };
    for (const size_t bytes : { static_cast<size_t>(limit * 1e9), size_t{ 0 } })
    {
      if (bytes > 0 || !onlyLimited)
      {
        report["rows"].push_back(TimeSnake(scene, pixelsInside, bytes, polygons.emplace_back()));
      }
    }
    report["polygons_are_equal"] =
      std::equal(polygons.front().begin(),
                 polygons.front().end(),
                 polygons.back().begin(),
                 polygons.back().end(),
                 [](const itk::CudaSnakePoint & p, const itk::CudaSnakePoint & q) { return p.X == q.X && p.Y == q.Y; });
    std::cout << report.dump(1) << std::endl;
  }
  catch (const std::exception & error)
  {
    std::cerr << "large_scene_times: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
