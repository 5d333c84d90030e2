// SPDX-License-Identifier: Apache-2.0

// Measures the tables of Lee, Ko and Choe, "Two-way partitioning of a recursive Gaussian filter in CUDA" (EURASIP J.
// Image Video Process. 2014:33): PSNR of the one-way and two-way filters and of the convolution they approximate, and
// process time by lines per block and intermediate storage. The published figures are printed with the measured ones.

#include "two_way_paper_times.h"

#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkImage.h"
#include "itkImageFileReader.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <random>

namespace
{
using namespace benchmark_two_way;

using ImageType = itk::Image<float, 2>;
using FilterType = itk::CudaPartitionedRecursiveGaussianImageFilter<ImageType>;
using Partition = itk::CudaFiltersEnums::Partition;
using Storage = itk::CudaFiltersEnums::IntermediateStorage;

struct Format
{
  const char * Name;
  size_t       Width;
  size_t       Height;
};
constexpr Format Formats[] = { { "SD", 720, 480 }, { "HD", 1280, 720 }, { "Full HD", 1920, 1080 } };
constexpr int    Windows[] = { 3, 30, 90 };

/** Published PSNR in dB, Table 2: one-way/two-way, FIR/one-way, FIR/two-way. */
constexpr double PublishedPsnr[3][3][3] = { { { 29.4, 26.2, 29.7 }, { 31.1, 32.8, 31.4 }, { 29.5, 33.4, 29.4 } },
                                            { { 33.0, 30.9, 33.6 }, { 30.6, 39.7, 30.8 }, { 24.7, 33.0, 26.3 } },
                                            { { 30.5, 26.6, 29.2 }, { 32.9, 36.7, 33.2 }, { 30.1, 34.8, 31.4 } } };

/** Published process time in ms of the two-way filter, 512 x 512, GTX 670, Table 3. */
const std::map<unsigned int, std::pair<double, double>> PublishedTimes = { { 4, { 15.2, 15.1 } },
                                                                           { 8, { 8.4, 8.9 } },
                                                                           { 16, { 5.1, 5.9 } },
                                                                           { 32, { 4.9, 8.4 } },
                                                                           { 64, { 5.1, 8.5 } } };

ImageType::Pointer
MakeImage(size_t width, size_t height)
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { width, height } });
  image->Allocate();
  return image;
}

/** Reads an image with grey values from 0 to 255. */
ImageType::Pointer
ReadImage(const std::string & name)
{
  using ByteImageType = itk::Image<unsigned char, 2>;
  const ByteImageType::Pointer bytes = itk::ReadImage<ByteImageType>(name);
  const auto                   size = bytes->GetLargestPossibleRegion().GetSize();
  const auto                   image = MakeImage(size[0], size[1]);
  std::copy_n(bytes->GetBufferPointer(), size[0] * size[1], image->GetBufferPointer());
  return image;
}

/** Resizes an image by bilinear interpolation and rounds it to 8 bits, as a photograph of that size would be. */
ImageType::Pointer
Resize(const ImageType * image, size_t width, size_t height)
{
  const auto from = image->GetLargestPossibleRegion().GetSize();
  const auto resized = MakeImage(width, height);
  const auto get = [&](size_t x, size_t y) {
    return image->GetBufferPointer()[std::min(y, from[1] - 1) * from[0] + std::min(x, from[0] - 1)];
  };
  for (size_t y = 0; y < height; ++y)
  {
    const double v =
      std::max(0.0, (static_cast<double>(y) + 0.5) * static_cast<double>(from[1]) / static_cast<double>(height) - 0.5);
    const auto   y0 = static_cast<size_t>(v);
    const double fy = v - static_cast<double>(y0);
    for (size_t x = 0; x < width; ++x)
    {
      const double u =
        std::max(0.0, (static_cast<double>(x) + 0.5) * static_cast<double>(from[0]) / static_cast<double>(width) - 0.5);
      const auto   x0 = static_cast<size_t>(u);
      const double fx = u - static_cast<double>(x0);
      const double top = (1.0 - fx) * get(x0, y0) + fx * get(x0 + 1, y0);
      const double bottom = (1.0 - fx) * get(x0, y0 + 1) + fx * get(x0 + 1, y0 + 1);
      resized->GetBufferPointer()[y * width + x] = static_cast<float>(std::round((1.0 - fy) * top + fy * bottom));
    }
  }
  return resized;
}

/** Makes an image with detail at all scales, as in a photograph: octaves of random values, each with half the amplitude
 * of the octave that is twice as coarse. */
ImageType::Pointer
MakeOctaves(size_t width, size_t height)
{
  std::mt19937                          generator(7);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  const auto                            image = MakeImage(width, height);
  float * const                         pixels = image->GetBufferPointer();
  std::fill_n(pixels, width * height, 128.0f);
  float amplitude = 64.0f;
  for (size_t cell = 256; cell > 0; cell /= 2, amplitude *= 0.6f)
  {
    const size_t       across = width / cell + 2;
    std::vector<float> values(across * (height / cell + 2));
    std::generate(values.begin(), values.end(), [&] { return uniform(generator); });
    for (size_t y = 0; y < height; ++y)
    {
      const float fy = static_cast<float>(y % cell) / static_cast<float>(cell);
      for (size_t x = 0; x < width; ++x)
      {
        const float         fx = static_cast<float>(x % cell) / static_cast<float>(cell);
        const float * const at = &values[y / cell * across + x / cell];
        pixels[y * width + x] += amplitude * ((1.0f - fy) * ((1.0f - fx) * at[0] + fx * at[1]) +
                                              fy * ((1.0f - fx) * at[across] + fx * at[across + 1]));
      }
    }
  }
  std::for_each(
    pixels, pixels + width * height, [](float & p) { p = std::round(std::min(255.0f, std::max(0.0f, p))); });
  return image;
}

/** Makes an image of overlapping discs with random grey values, which has flat parts and sharp edges. */
ImageType::Pointer
MakeDiscs(size_t width, size_t height)
{
  std::mt19937                           generator(8);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto                             image = MakeImage(width, height);
  image->FillBuffer(128.0f);
  for (int i = 0; i < 400; ++i)
  {
    const double cx = uniform(generator) * static_cast<double>(width);
    const double cy = uniform(generator) * static_cast<double>(height);
    const double radius = 0.1 * static_cast<double>(height) * std::pow(uniform(generator), 2.0) + 2.0;
    const float  grey = static_cast<float>(std::round(255.0 * uniform(generator)));
    for (size_t y = 0; y < height; ++y)
    {
      const double dy = static_cast<double>(y) - cy;
      for (size_t x = 0; std::abs(dy) < radius && x < width; ++x)
      {
        if (std::hypot(static_cast<double>(x) - cx, dy) < radius)
        {
          image->GetBufferPointer()[y * width + x] = grey;
        }
      }
    }
  }
  return image;
}

std::vector<float>
GetPixels(const ImageType * image)
{
  return std::vector<float>(image->GetBufferPointer(),
                            image->GetBufferPointer() + image->GetLargestPossibleRegion().GetNumberOfPixels());
}

/** Convolves along both axes with a Gaussian truncated at half of the window. Lines are continued by their end values.
 */
std::vector<float>
Convolve(const ImageType * image, double sigma, int radius)
{
  std::vector<double> weights;
  double              sum = 0.0;
  for (int k = -radius; k <= radius; ++k)
  {
    weights.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
    sum += weights.back();
  }
  const auto          size = image->GetLargestPossibleRegion().GetSize();
  const auto          width = static_cast<ptrdiff_t>(size[0]);
  const auto          height = static_cast<ptrdiff_t>(size[1]);
  std::vector<double> rows(size[0] * size[1]);
  std::vector<float>  result(rows.size());
  for (ptrdiff_t y = 0; y < height; ++y)
  {
    for (ptrdiff_t x = 0; x < width; ++x)
    {
      double value = 0.0;
      for (int k = -radius; k <= radius; ++k)
      {
        const ptrdiff_t from = std::clamp<ptrdiff_t>(x + k, 0, width - 1);
        value += weights[static_cast<size_t>(k + radius)] * image->GetBufferPointer()[y * width + from];
      }
      rows[static_cast<size_t>(y * width + x)] = value / sum;
    }
  }
  std::vector<double> line(size[0]);
  for (ptrdiff_t y = 0; y < height; ++y)
  {
    std::fill(line.begin(), line.end(), 0.0);
    for (int k = -radius; k <= radius; ++k)
    {
      const double * const from = &rows[static_cast<size_t>(std::clamp<ptrdiff_t>(y + k, 0, height - 1) * width)];
      const double         weight = weights[static_cast<size_t>(k + radius)] / sum;
      for (size_t x = 0; x < size[0]; ++x)
      {
        line[x] += weight * from[x];
      }
    }
    std::transform(
      line.begin(), line.end(), result.begin() + y * width, [](double v) { return static_cast<float>(v); });
  }
  return result;
}

std::vector<float>
Filter(const ImageType * image, Partition partition, double window, double windowToSigma, const std::string & borders)
{
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->SetPartition(partition);
  filter->SetLineBorders(borders);
  filter->SetWindowToSigmaRatio(windowToSigma);
  filter->SetFilterWindow(window);
  filter->Update();
  return GetPixels(filter->GetOutput());
}

/** Returns the PSNR in dB relative to 255, of values that are not rounded to 8 bits. */
double
GetPsnr(const std::vector<float> & a, const std::vector<float> & b)
{
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i)
  {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum == 0.0 ? std::numeric_limits<double>::infinity()
                    : 10.0 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / sum);
}

struct Psnr
{
  double OneWayTwoWay;
  double FirOneWay;
  double FirTwoWay;
  double OneWayExact;
};

Psnr
Compare(const ImageType * image, int window, double windowToSigma, const std::string & borders)
{
  const auto oneWay = Filter(image, Partition::OneWay, window, windowToSigma, borders);
  const auto twoWay = Filter(image, Partition::TwoWay, window, windowToSigma, borders);
  const auto exact = Filter(image, Partition::Exact, window, windowToSigma, borders);
  const auto fir = Convolve(image, window / windowToSigma, std::max(1, window / 2));
  return { GetPsnr(oneWay, twoWay), GetPsnr(fir, oneWay), GetPsnr(fir, twoWay), GetPsnr(oneWay, exact) };
}

void
PrintPsnrTable(const std::vector<std::string> & files, const std::string & borders, nlohmann::json & record)
{
  std::printf(
    "PSNR in dB of 255, float results.  ours at sigma = N/2 | at sigma = N/6 | published\n"
    "1-2: one-way against two-way, F-1: FIR against one-way, F-2: FIR against two-way, 1-E: one-way against Exact\n"
    "The FIR filter is cut at +-N/2. Borders of the one-way filter: %s.\n\n"
    "%-10s%-18s%4s |%6s%6s%6s%7s |%6s%6s%6s%7s |%6s%6s%6s\n",
    borders.c_str(),
    "size",
    "image",
    "N",
    "1-2",
    "F-1",
    "F-2",
    "1-E",
    "1-2",
    "F-1",
    "F-2",
    "1-E",
    "1-2",
    "F-1",
    "F-2");
  std::vector<std::pair<std::string, ImageType::Pointer>> originals;
  for (const std::string & file : files)
  {
    originals.emplace_back(file.substr(file.find_last_of('/') + 1), ReadImage(file));
  }
  for (size_t f = 0; f < 3; ++f)
  {
    const Format &                                          format = Formats[f];
    std::vector<std::pair<std::string, ImageType::Pointer>> images;
    for (const auto & original : originals)
    {
      images.emplace_back(original.first, Resize(original.second, format.Width, format.Height));
    }
    images.emplace_back("octaves", MakeOctaves(format.Width, format.Height));
    images.emplace_back("discs", MakeDiscs(format.Width, format.Height));
    for (size_t w = 0; w < 3; ++w)
    {
      for (const auto & image : images)
      {
        const Psnr   half = Compare(image.second, Windows[w], 2.0, borders);
        const Psnr   sixth = Compare(image.second, Windows[w], 6.0, borders);
        const auto & published = PublishedPsnr[f][w];
        std::printf("%-10s%-18.17s%4d |%6.1f%6.1f%6.1f%7.1f |%6.1f%6.1f%6.1f%7.1f |%6.1f%6.1f%6.1f\n",
                    format.Name,
                    image.first.c_str(),
                    Windows[w],
                    half.OneWayTwoWay,
                    half.FirOneWay,
                    half.FirTwoWay,
                    half.OneWayExact,
                    sixth.OneWayTwoWay,
                    sixth.FirOneWay,
                    sixth.FirTwoWay,
                    sixth.OneWayExact,
                    published[0],
                    published[1],
                    published[2]);
        std::fflush(stdout);
        for (const auto & entry : { std::make_pair(2, half), std::make_pair(6, sixth) })
        {
          record.push_back({ { "size", format.Name },
                             { "image", image.first },
                             { "borders", borders },
                             { "window", Windows[w] },
                             { "window_to_sigma", entry.first },
                             { "one_way_two_way", entry.second.OneWayTwoWay },
                             { "fir_one_way", entry.second.FirOneWay },
                             { "fir_two_way", entry.second.FirTwoWay },
                             { "one_way_exact", entry.second.OneWayExact },
                             { "published", { published[0], published[1], published[2] } } });
        }
      }
    }
  }
}

const char *
GetName(Partition partition)
{
  return partition == Partition::OneWay ? "OneWay" : (partition == Partition::TwoWay ? "TwoWay" : "Exact");
}

const char *
GetName(Storage storage)
{
  return storage == Storage::Local ? "Local" : "Global";
}

/** Prints the fastest time of each partition, and its parameters. */
void
PrintSpeedUps(const std::vector<Time> & times)
{
  std::map<size_t, std::map<Partition, Time>> best;
  for (const Time & time : times)
  {
    auto & entries = best[time.Side];
    auto   found = entries.find(time.Plan.LinePartition);
    if (found == entries.end() || time.Milliseconds < found->second.Milliseconds)
    {
      entries.insert_or_assign(time.Plan.LinePartition, time);
    }
  }
  std::printf("\nFastest of each partition, and the speed-up over OneWay (published: 2 for TwoWay at 512)\n\n"
              "%-8s%-10s%12s%10s%8s%10s%8s\n",
              "side",
              "partition",
              "ms",
              "speed-up",
              "lines",
              "storage",
              "blocks");
  for (const auto & side : best)
  {
    for (const auto & entry : side.second)
    {
      const Time & time = entry.second;
      std::printf("%-8zu%-10s%12.4f%10.2f%8u%10s%8zu\n",
                  side.first,
                  GetName(entry.first),
                  time.Milliseconds,
                  side.second.at(Partition::OneWay).Milliseconds / time.Milliseconds,
                  time.Plan.LinesPerBlock,
                  GetName(time.Plan.IntermediateStorage),
                  time.Plan.Passes[0].NumberOfSections);
    }
  }
}

void
PrintTimeTable(size_t largestSide, nlohmann::json & record)
{
  std::vector<size_t> sides;
  for (size_t side = 512; side <= largestSide; side *= 2)
  {
    sides.push_back(side);
  }
  std::printf("\nProcess time in ms of both axes, float, window 30\n\n%-8s%-10s%8s%10s%8s%12s%12s\n",
              "side",
              "partition",
              "lines",
              "storage",
              "blocks",
              "ms",
              "published");
  std::vector<Time> times;
  const Report      report = [&](const Time & time) {
    times.push_back(time);
    const auto published = PublishedTimes.find(time.Plan.LinesPerBlock);
    const bool isLocal = time.Plan.IntermediateStorage == Storage::Local;
    std::printf("%-8zu%-10s%8u%10s%8zu%12.4f",
                time.Side,
                GetName(time.Plan.LinePartition),
                time.Plan.LinesPerBlock,
                GetName(time.Plan.IntermediateStorage),
                time.Plan.Passes[0].NumberOfSections,
                time.Milliseconds);
    if (time.Side == 512 && time.Plan.LinePartition == Partition::TwoWay && published != PublishedTimes.end())
    {
      std::printf("%12.1f", isLocal ? published->second.first : published->second.second);
    }
    std::printf("\n");
    std::fflush(stdout);
    record["rows"].push_back({ { "side", time.Side },
                               { "partition", GetName(time.Plan.LinePartition) },
                               { "lines_per_block", time.Plan.LinesPerBlock },
                               { "storage", GetName(time.Plan.IntermediateStorage) },
                               { "blocks", time.Plan.Passes[0].NumberOfSections },
                               { "ms", time.Milliseconds } });
  };
  std::string reason;
  std::string where = MeasureOnDevice(sides, reason, report);
  if (where.empty())
  {
    std::printf("(no GPU: %s; the host's times instead)\n", reason.c_str());
    while (!sides.empty() && sides.back() > 2048)
    {
      sides.pop_back();
    }
    where = MeasureOnHost(sides, report);
  }
  record["device"] = where;
  PrintSpeedUps(times);
  std::printf("\nmeasured on: %s; published on: GeForce GTX 670\n", where.c_str());
}
} // namespace

int
main(int argc, char * argv[])
{
  CLI::App app{ "Prints the tables of the two-way recursive Gaussian paper, published figures beside measured ones" };
  std::vector<std::string> files;
  std::string              json;
  size_t                   largestSide = 16384;
  std::string              borders = "Exact";
  bool                     skipPsnr = false;
  bool                     skipTimes = false;
  app.add_option("images", files, "photographs or slices, 8-bit, scaled to each size")->check(CLI::ExistingFile);
  app.add_option("--borders", borders, "AsPublished or Exact, of the one-way filter")->capture_default_str();
  app.add_option("--json", json, "writes all figures to this file, for records.py");
  app.add_option("--largest-side", largestSide, "of the images whose time is measured, from 512 on")
    ->capture_default_str();
  app.add_flag("--skip-psnr", skipPsnr, "only process times");
  app.add_flag("--skip-times", skipTimes, "only PSNR");
  CLI11_PARSE(app, argc, argv);
  try
  {
    nlohmann::json record;
    if (!skipPsnr)
    {
      PrintPsnrTable(files, borders, record["psnr"]);
    }
    if (!skipTimes)
    {
      PrintTimeTable(largestSide, record["times"]);
    }
    if (!json.empty())
    {
      std::ofstream file(json);
      file << record.dump(1) << '\n';
      if (!file)
      {
        throw std::runtime_error("cannot write " + json);
      }
    }
  }
  catch (const std::exception & error)
  {
    std::cerr << "two_way_paper_tables: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
