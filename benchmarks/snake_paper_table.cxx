// SPDX-License-Identifier: Apache-2.0
// Measures and prints the table of Perrot, Domas and Couturier (2011): the region snake on images of 15, 100 and 150
// megapixels.
// Usage: snake_paper_table [--sizes 15,100,150] [--on gpu,thread,threads] [--repetitions 5] [--json FILE]
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSnakeScene.h"
#include "itkMultiThreaderBase.h"
#include "snake_paper_parameters.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using itk::CudaFiltersEnums;
using itk::CudaDetail::CudaRegionSnakeInput;
using itk::CudaDetail::CudaRegionSnakeParameters;
using itk::CudaRegionSnakeResult;
using itk::cuda::SnakeScene;

struct PublishedRow
{
  int Megapixels;
  int Side;
  // seconds: sums and segmentation on their CPU, then on their GPU
  double HostSums, HostSegmentation, DeviceSums, DeviceSegmentation;
};

// Table I of the paper; CPU: one thread of a Xeon E5530, GPU: C2050.
constexpr PublishedRow PublishedRows[] = { { 15, 3900, 0.13, 0.46, 0.02, 0.04 },
                                           { 100, 10000, 0.91, 3.17, 0.13, 0.46 },
                                           { 150, 12247, 1.4, 4.3, 0.20, 0.59 } };

enum class Execution
{
  Device,
  Thread, // one
  Threads // all
};

struct Options
{
  std::vector<int>       Sizes{ 15, 100, 150 };
  std::vector<Execution> Executions{ Execution::Device, Execution::Thread, Execution::Threads };
  int                    Repetitions{ 5 };
  std::string            Json;
};

void
AddOptions(CLI::App & app, Options & options)
{
  const std::map<std::string, Execution> executions{ { "gpu", Execution::Device },
                                                     { "thread", Execution::Thread },
                                                     { "threads", Execution::Threads } };
  app.add_option("--sizes", options.Sizes, "megapixels: some of 15,100,150")
    ->delimiter(',')
    ->check(CLI::IsMember(std::vector<int>{ 15, 100, 150 }))
    ->capture_default_str();
  app.add_option("--on", options.Executions, "some of gpu, thread (one) and threads (all); default: all three")
    ->delimiter(',')
    ->transform(CLI::CheckedTransformer(executions, CLI::ignore_case));
  app.add_option("--repetitions", options.Repetitions, "runs of which the median is taken")
    ->check(CLI::PositiveNumber)
    ->capture_default_str();
  app.add_option("--json", options.Json, "writes the table to this file as well, for records.py");
}

/** Median times of several runs in seconds, and the result of a run. */
struct Measurement
{
  CudaRegionSnakeResult Result;
  double                Sums;
  double                Start;
  double                Segmentation;
};

Measurement
Measure(const CudaRegionSnakeInput &      input,
        const CudaRegionSnakeParameters & parameters,
        Execution                         execution,
        int                               repetitions)
{
  const unsigned int threads =
    execution == Execution::Thread ? 1 : itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  const auto run = [&]() {
    return execution == Execution::Device
             ? itk::CudaDetail::CudaRegionSnakeOnDevice(
                 input, parameters, itk::CudaFiltersConfiguration::GetDeviceIndex(), threads, {})
             : itk::CudaDetail::CudaRegionSnakeOnHost(input, parameters, threads, {});
  };
  std::vector<double> times[3];
  Measurement         measurement;
  // The first run on the device fills its pools of memory.
  for (int i = execution == Execution::Device ? -1 : 0; i < repetitions; ++i)
  {
    measurement.Result = run();
    if (i >= 0)
    {
      const CudaRegionSnakeResult & result = measurement.Result;
      times[0].push_back(result.SecondsOfSamples + result.SecondsOfSums);
      times[1].push_back(result.SecondsOfStart);
      times[2].push_back(result.SecondsOfMoves + result.SecondsOfRemoval);
    }
  }
  const auto median = [](std::vector<double> & values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  };
  measurement.Sums = median(times[0]);
  measurement.Start = median(times[1]);
  measurement.Segmentation = median(times[2]);
  return measurement;
}

/** The table as JSON: times in milliseconds, null where a row has no time, and the quality where it was measured. */
class Record
{
public:
  void
  Add(int megapixels, const std::string & what, double sums, double segmentation, double total)
  {
    m_Rows.push_back({ { "image", std::to_string(megapixels) + " MP" },
                       { "what", what },
                       { "sums_ms", 1e3 * sums },
                       { "segmentation_ms", 1e3 * segmentation },
                       { "total_ms", 1e3 * total } });
  }
  /** Adds the quality to the last row. */
  void
  AddQuality(double overlap, size_t nodes, unsigned int iterations, bool significant)
  {
    m_Rows.back().update(
      { { "overlap", overlap }, { "nodes", nodes }, { "iterations", iterations }, { "significant", significant } });
  }
  void
  Write(const Options & options) const
  {
    if (options.Json.empty())
    {
      return;
    }
    std::ofstream file(options.Json);
    file << nlohmann::json{ { "status", itk::CudaFiltersConfiguration::GetStatus() },
                            { "repetitions", options.Repetitions },
                            { "rows", m_Rows } }
              .dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
         << std::endl;
    if (!file)
    {
      throw std::runtime_error("cannot write " + options.Json);
    }
  }

private:
  nlohmann::json m_Rows = nlohmann::json::array();
};

/** Prints a row of the table, with times in milliseconds. */
void
PrintRow(Record &            record,
         int                 megapixels,
         const std::string & what,
         double              sums,
         double              segmentation,
         const std::string & quality)
{
  record.Add(megapixels, what, sums, segmentation, sums + segmentation);
  std::printf("%3d MP  %-42s %9.2f %9.2f %9.2f  %s\n",
              megapixels,
              what.c_str(),
              1e3 * sums,
              1e3 * segmentation,
              1e3 * (sums + segmentation),
              quality.c_str());
  std::fflush(stdout);
}

std::string
NameOf(Execution execution)
{
  switch (execution)
  {
    case Execution::Device:
      return "GPU";
    case Execution::Thread:
      return "CPU, 1 thread";
    default:
      return "CPU, " + std::to_string(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads()) + " threads";
  }
}

/** A scene of the published sizes with its pixels. */
struct Image
{
  int                   Megapixels;
  SnakeScene            Scene;
  std::vector<uint16_t> Pixels;

  Image(const PublishedRow & row, double contrast)
    : Megapixels(row.Megapixels)
  {
    Scene.Width = Scene.Height = row.Side;
    Scene.Contrast = contrast;
    Pixels = Scene.MakePixels(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  }
  CudaRegionSnakeInput
  GetInput() const
  {
    CudaRegionSnakeInput input;
    input.Image = itk::cuda::MakeImageView(Pixels.data(),
                                           itk::CudaComponentType::UShort,
                                           static_cast<size_t>(Scene.Width),
                                           static_cast<size_t>(Scene.Height));
    return input;
  }
};

CudaRegionSnakeParameters
ParametersOf(const Image & image, bool coarseToFine, bool removal)
{
  using Schedule = CudaFiltersEnums::Schedule;
  return benchmark_filters::PaperSnakeParameters(static_cast<itk::SizeValueType>(image.Scene.Width),
                                                 coarseToFine ? Schedule::CoarseToFine : Schedule::AsPublished,
                                                 removal);
}

double
PrintMeasurement(Record &                          record,
                 const Image &                     image,
                 const std::string &               name,
                 const CudaRegionSnakeParameters & parameters,
                 Execution                         execution,
                 int                               repetitions)
{
  const Measurement             measurement = Measure(image.GetInput(), parameters, execution, repetitions);
  const CudaRegionSnakeResult & result = measurement.Result;
  const double                  overlap =
    itk::cuda::IntersectionOverUnion({ result.Polygon }, image.Scene.GetTruth(), image.Scene.Height);
  char quality[80];
  std::snprintf(quality,
                sizeof(quality),
                "%.5f %6zu %6u  %s",
                overlap,
                result.Polygon.size(),
                result.NumberOfIterations,
                result.SignificantBoundary ? "" : "not significant");
  PrintRow(record, image.Megapixels, name + NameOf(execution), measurement.Sums, measurement.Segmentation, quality);
  record.AddQuality(overlap, result.Polygon.size(), result.NumberOfIterations, result.SignificantBoundary);
  return measurement.Segmentation;
}

void
PrintTable(Record & record, const Image & image, const PublishedRow & row, const Options & options)
{
  PrintRow(record, row.Megapixels, "published, CPU", row.HostSums, row.HostSegmentation, "");
  PrintRow(record, row.Megapixels, "published, GPU", row.DeviceSums, row.DeviceSegmentation, "");
  for (const Execution execution : options.Executions)
  {
    for (const bool coarseToFine : { false, true })
    {
      for (const bool removal : { false, true })
      {
        PrintMeasurement(record,
                         image,
                         std::string(coarseToFine ? "CoarseToFine" : "AsPublished") + (removal ? " + removal, " : ", "),
                         ParametersOf(image, coarseToFine, removal),
                         execution,
                         options.Repetitions);
      }
    }
    CudaRegionSnakeParameters automatic = ParametersOf(image, true, false);
    automatic.Start = CudaFiltersEnums::Start::Automatic;
    const std::string search = "search of the rectangle, " + NameOf(execution);
    const double      seconds = Measure(image.GetInput(), automatic, execution, options.Repetitions).Start;
    const double      none = std::numeric_limits<double>::quiet_NaN(); // null in JSON
    record.Add(row.Megapixels, search, none, seconds, none);
    std::printf("%3d MP  %-42s %9s %9.2f\n", row.Megapixels, search.c_str(), "", 1e3 * seconds);
  }
}

/** Prints the time of a faint target, compared with a target of contrast 1. */
void
PrintContrasts(Record & record, const PublishedRow & row, const Options & options)
{
  const Image clear(row, 1.0);
  const Image faint(row, 0.1);
  for (const Execution execution : options.Executions)
  {
    const auto print = [&](const Image & image, const char * name) {
      return PrintMeasurement(record, image, name, ParametersOf(image, true, true), execution, options.Repetitions);
    };
    const double ofClear = print(clear, "contrast 1, ");
    const double ofFaint = print(faint, "contrast 0.1, ");
    std::printf("        contrast 0.1 takes %.2f times as long\n", ofFaint / ofClear);
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  CLI::App app(
    "Prints the region snake paper's table beside measured times, on the host and, if there is one, the GPU");
  Options options;
  AddOptions(app, options);
  CLI11_PARSE(app, argc, argv);
  try
  {
    std::string              reason;
    std::vector<Execution> & executions = options.Executions;
    if (!itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      executions.erase(std::remove(executions.begin(), executions.end(), Execution::Device), executions.end());
    }
    std::printf("%s\n", itk::CudaFiltersConfiguration::GetStatus().c_str());
    std::printf("Contrast 1, start from the margin rectangle; milliseconds, medians of %d runs. On the GPU the sums "
                "include the upload\n"
                "from ordinary host memory, and the segmentation is that of an image that is on the device.\n\n",
                options.Repetitions);
    std::printf(
      "%-7s %-42s %9s %9s %9s  %-7s %6s %6s\n", "image", "", "sums", "segment.", "total", "IoU", "nodes", "iter.");
    Record record;
    for (const PublishedRow & row : PublishedRows)
    {
      if (std::find(options.Sizes.begin(), options.Sizes.end(), row.Megapixels) != options.Sizes.end())
      {
        PrintTable(record, Image(row, 1.0), row, options);
      }
    }
    std::printf("\nA faint target; CoarseToFine + removal\n");
    PrintContrasts(record, PublishedRows[0], options);
    record.Write(options);
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
