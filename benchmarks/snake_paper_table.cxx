// SPDX-License-Identifier: Apache-2.0
// Prints the table of Perrot, Domas and Couturier (2011), measured here: the region snake on images of 15, 100 and 150
// megapixels.
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRegionSnakeEngine.h"
#include "itkCudaSnakeScene.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace
{
using itk::CudaFiltersEnums;
using itk::CudaRegionSnakeInput;
using itk::CudaRegionSnakeParameters;
using itk::CudaRegionSnakeResult;

struct PublishedRow
{
  int          Side;
  const char * Name;
  // seconds: sums and segmentation on their CPU, then on their GPU
  double HostSums, HostSegmentation, DeviceSums, DeviceSegmentation;
};

// Table I of the paper; CPU: one thread of a Xeon E5530, GPU: C2050.
constexpr PublishedRow PublishedRows[] = { { 3900, "15 MP", 0.13, 0.46, 0.02, 0.04 },
                                           { 10000, "100 MP", 0.91, 3.17, 0.13, 0.46 },
                                           { 12247, "150 MP", 1.4, 4.3, 0.20, 0.59 } };

constexpr int Repetitions = 5;
constexpr int OnDevice = 0; // in place of a number of threads

void
PrintRow(const char * image, const std::string & what, double sums, double segmentation, const std::string & quality)
{
  std::printf("%-7s %-42s %10.4f %10.4f %10.4f  %s\n",
              image,
              what.c_str(),
              sums,
              segmentation,
              sums + segmentation,
              quality.c_str());
  std::fflush(stdout);
}

/** The run with the median time of segmentation. */
CudaRegionSnakeResult
RunMedian(const CudaRegionSnakeInput &      input,
          const CudaRegionSnakeParameters & parameters,
          int                               threads,
          unsigned int                      allThreads)
{
  std::vector<CudaRegionSnakeResult> results;
  for (int i = 0; i < Repetitions; ++i)
  {
    results.push_back(threads == OnDevice
                        ? itk::CudaRegionSnakeOnDevice(
                            input, parameters, itk::CudaFiltersConfiguration::GetDeviceIndex(), allThreads, {})
                        : itk::CudaRegionSnakeOnHost(input, parameters, static_cast<unsigned int>(threads), {}));
  }
  const auto middle = results.begin() + Repetitions / 2;
  std::nth_element(results.begin(), middle, results.end(), [](const auto & x, const auto & y) {
    return x.SecondsOfMoves + x.SecondsOfRemoval < y.SecondsOfMoves + y.SecondsOfRemoval;
  });
  return *middle;
}

void
PrintImage(const PublishedRow & row, bool deviceUsable, unsigned int allThreads)
{
  itk::cuda::SnakeScene scene;
  scene.Width = scene.Height = row.Side;
  const std::vector<uint16_t> pixels = scene.MakePixels(allThreads);
  CudaRegionSnakeInput        input;
  input.Image = itk::cuda::MakeImageView(pixels.data(), itk::CudaComponentType::UShort, row.Side, row.Side);

  PrintRow(row.Name, "published, CPU", row.HostSums, row.HostSegmentation, "");
  PrintRow(row.Name, "published, GPU", row.DeviceSums, row.DeviceSegmentation, "");
  std::vector<int> executions{ 1 };
  if (allThreads > 1)
  {
    executions.push_back(static_cast<int>(allThreads));
  }
  if (deviceUsable)
  {
    executions.push_back(OnDevice);
  }
  for (const bool coarseToFine : { false, true })
  {
    for (const bool removal : { false, true })
    {
      CudaRegionSnakeParameters parameters;
      parameters.Start = CudaFiltersEnums::Start::MarginRectangle;
      parameters.Schedule =
        coarseToFine ? CudaFiltersEnums::Schedule::CoarseToFine : CudaFiltersEnums::Schedule::AsPublished;
      parameters.MinimumEdgeLength = !coarseToFine ? 16.0 : (row.Side < 10000 ? 32.0 : 64.0);
      parameters.UseDescriptionLength = removal;
      for (const int threads : executions)
      {
        const CudaRegionSnakeResult result = RunMedian(input, parameters, threads, allThreads);
        const std::string           where = threads == OnDevice
                                              ? "GPU"
                                              : (threads == 1 ? "CPU, 1 thread" : "CPU, " + std::to_string(threads) + " threads");
        char                        quality[80];
        std::snprintf(quality,
                      sizeof(quality),
                      "%.5f %6zu %6u",
                      itk::cuda::IntersectionOverUnion({ result.Polygon }, scene.GetTruth(), row.Side),
                      result.Polygon.size(),
                      result.NumberOfIterations);
        PrintRow(row.Name,
                 std::string(coarseToFine ? "CoarseToFine" : "AsPublished") + (removal ? " + removal, " : ", ") + where,
                 result.SecondsOfSums,
                 result.SecondsOfMoves + result.SecondsOfRemoval,
                 quality);
      }
    }
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  try
  {
    const size_t       images = argc > 1 ? std::min<size_t>(3, std::strtoul(argv[1], nullptr, 10)) : 3;
    const unsigned int threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
    std::string        reason;
    const bool         deviceUsable = itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason);
    std::printf("%s\n", itk::CudaFiltersConfiguration::GetStatus().c_str());
    std::printf("Contrast 1, start from the margin rectangle; seconds, medians of %d runs. On the GPU the sums include "
                "the upload\n"
                "from ordinary host memory.\n\n",
                Repetitions);
    std::printf(
      "%-7s %-42s %10s %10s %10s  %-7s %6s %6s\n", "image", "", "sums", "segment.", "total", "IoU", "nodes", "iter.");
    for (size_t i = 0; i < images; ++i)
    {
      PrintImage(PublishedRows[i], deviceUsable, threads);
    }
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
