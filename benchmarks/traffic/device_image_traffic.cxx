// SPDX-License-Identifier: Apache-2.0

// Runs filters from an image of the host to an image of the host, and prints as JSON what should cross the link, and
// what the module counted. device_image_traffic.py runs it under CUPTI and compares.
//
// A chain of five filters has the images between them on the device or on the host. An image that is smoothed, rescaled
// to the range of unsigned char and converted comes back as a quarter of its bytes.

#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaImageStatistics.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "runtime/transfer/TransferPolicy.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace
{
using HostImage = itk::Image<float, 3>;
using DeviceImage = itk::CudaDeviceImage<float, 3>;

constexpr int          NumberOfFilters = 5;
constexpr int          ExitSkipped = 77;
constexpr unsigned int Seed = 20261123;

HostImage::Pointer
MakeRandomImage(const std::vector<itk::SizeValueType> & sides)
{
  const auto image = HostImage::New();
  image->SetRegions(HostImage::SizeType{ { sides[0], sides[1], sides[2] } });
  image->Allocate();
  std::mt19937                          generator(Seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  const size_t                          pixels = image->GetBufferedRegion().GetNumberOfPixels();
  std::generate_n(image->GetBufferPointer(), pixels, [&] { return uniform(generator); });
  return image;
}

template <typename TFilter, typename TInput>
typename TFilter::Pointer
MakeFilter(const TInput * input)
{
  const auto filter = TFilter::New();
  filter->SetBackend(itk::CudaFiltersEnums::Backend::Cuda);
  filter->SetInput(input);
  return filter;
}

/** Smoothing, one axis, the discrete and the partitioned filter, magnitude. TBetween is the type of the images between
 * them. */
template <typename TBetween>
void
RunChain(const HostImage * image)
{
  const auto first = MakeFilter<itk::CudaSmoothingRecursiveGaussianImageFilter<HostImage, TBetween>>(image);
  const auto second = MakeFilter<itk::CudaRecursiveGaussianImageFilter<TBetween>>(first->GetOutput());
  const auto third = MakeFilter<itk::CudaDiscreteGaussianImageFilter<TBetween>>(second->GetOutput());
  const auto fourth = MakeFilter<itk::CudaPartitionedRecursiveGaussianImageFilter<TBetween>>(third->GetOutput());
  const auto last =
    MakeFilter<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<TBetween, HostImage>>(fourth->GetOutput());
  last->Update();
}

/** Smoothing, and the range of the result mapped to that of unsigned char. */
void
RunRescaled(const HostImage * image)
{
  using ByteImage = itk::Image<unsigned char, 3>;
  const auto smoothing = MakeFilter<itk::CudaSmoothingRecursiveGaussianImageFilter<HostImage, DeviceImage>>(image);
  smoothing->Update();
  const itk::CudaImageStatistics statistics = itk::CudaComputeStatistics(smoothing->GetOutput());
  const auto                     download = itk::CudaDownloadImageFilter<DeviceImage, ByteImage>::New();
  download->SetInput(smoothing->GetOutput());
  download->UseWindowOn();
  download->SetWindowMinimum(static_cast<float>(statistics.Minimum));
  download->SetWindowMaximum(static_cast<float>(statistics.Maximum));
  download->SetOutputMinimum(0);
  download->SetOutputMaximum(255);
  download->Update();
}

void
Run(const std::string & between, const HostImage * image)
{
  if (between == "device")
  {
    RunChain<DeviceImage>(image);
  }
  else if (between == "host")
  {
    RunChain<HostImage>(image);
  }
  else
  {
    RunRescaled(image);
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  std::vector<itk::SizeValueType> sides{ 256, 256, 256 };
  std::string                     between = "device";
  CLI::App                        app{ "Runs filters and prints what should cross the link." };
  app.add_option("--sides", sides, "of the image in pixels: x y z")->expected(3)->check(CLI::Range(8, 4096));
  app
    .add_option("--between",
                between,
                "where the images between five filters lie; rescaled: smoothing alone, to unsigned char on the host")
    ->check(CLI::IsMember({ "device", "host", "rescaled" }));
  CLI11_PARSE(app, argc, argv);
  std::string reason;
  if (!itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    std::cerr << "skipped: " << reason << std::endl;
    return ExitSkipped;
  }
  try
  {
    const auto image = MakeRandomImage(sides);
    Run(between, image);
  }
  catch (const std::exception & error)
  {
    std::cerr << "error: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
  const uint64_t imageBytes = uint64_t{ sizeof(float) } * sides[0] * sides[1] * sides[2];
  const int      crossings = between == "host" ? NumberOfFilters : 1; // each way
  const uint64_t bytesUp = imageBytes * crossings;
  const auto     counts = itk::cuda::GetTransferCounts();
  std::cout << nlohmann::json{ { "sides", sides },
                               { "filters", between == "rescaled" ? 1 : NumberOfFilters },
                               { "between", between },
                               { "image_bytes", imageBytes },
                               { "expected_images_each_way", crossings },
                               { "expected_bytes_up", bytesUp },
                               { "expected_bytes_down", between == "rescaled" ? bytesUp / sizeof(float) : bytesUp },
                               { "uploads", counts.Uploads },
                               { "downloads", counts.Downloads } }
            << std::endl;
  return EXIT_SUCCESS;
}
