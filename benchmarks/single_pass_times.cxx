// SPDX-License-Identifier: Apache-2.0

// Times one recursive pass over a float image with sigma 4: ITK's filter on all cores, and upload, pass and download
// with the GPU. src/gaussian/plan/Tuning.h is based on these times. Each run allocates a new output, as inside a
// pipeline. Prints JSON with medians in milliseconds.

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <vector>

namespace
{
using Clock = std::chrono::steady_clock;

constexpr double Sigma = 4.0;
constexpr double SecondsPerFigure = 0.4;
constexpr size_t LeastRuns = 7;

/** Returns the median milliseconds of one run. */
template <typename TFilter>
double
GetMedian(TFilter * filter)
{
  std::vector<double> samples;
  const auto          begin = Clock::now();
  for (size_t run = 0;
       samples.size() < LeastRuns || Clock::now() - begin < std::chrono::duration<double>(SecondsPerFigure);
       ++run)
  {
    filter->GetOutput()->ReleaseData();
    filter->Modified();
    const auto start = Clock::now();
    filter->Update();
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    if (run >= 2) // the first ones load kernels and fill pools
    {
      samples.push_back(elapsed.count());
    }
  }
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

template <typename TImage>
typename TImage::Pointer
MakeRandomImage(itk::SizeValueType side)
{
  typename TImage::SizeType size;
  size.Fill(side);
  const auto image = TImage::New();
  image->SetRegions(size);
  image->Allocate();
  std::mt19937                          generator(1);
  std::uniform_real_distribution<float> uniform(0.0F, 1000.0F);
  std::generate_n(
    image->GetBufferPointer(), image->GetBufferedRegion().GetNumberOfPixels(), [&] { return uniform(generator); });
  return image;
}

template <typename TFilter, typename TImage>
typename TFilter::Pointer
MakePass(const TImage * image, unsigned int axis)
{
  const auto filter = TFilter::New();
  filter->SetInput(image);
  filter->SetSigma(Sigma);
  filter->SetDirection(axis);
  return filter;
}

template <unsigned int VDimension>
void
PrintRows(std::initializer_list<itk::SizeValueType> sides, bool & first)
{
  using ImageType = itk::Image<float, VDimension>;
  for (const auto side : sides)
  {
    const auto image = MakeRandomImage<ImageType>(side);
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      const auto host = MakePass<itk::RecursiveGaussianImageFilter<ImageType>>(image.GetPointer(), axis);
      const auto device = MakePass<itk::CudaRecursiveGaussianImageFilter<ImageType>>(image.GetPointer(), axis);
      device->SetBackend("cuda");
      std::cout << (first ? "" : ",") << "\n  { \"dimension\": " << VDimension << ", \"side\": " << side
                << ", \"axis\": " << axis << ", \"values\": " << image->GetBufferedRegion().GetNumberOfPixels()
                << ", \"host_ms\": " << GetMedian(host.GetPointer())
                << ", \"device_ms\": " << GetMedian(device.GetPointer()) << " }" << std::flush;
      first = false;
    }
  }
}
} // namespace

int
main()
{
  try
  {
    const auto devices = itk::CudaFiltersConfiguration::GetDevices();
    std::cout << "{ \"device\": \"" << (devices.empty() ? "none" : devices.front().Name)
              << "\", \"threads\": " << itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads() << ", \"rows\": [";
    bool first = true;
    PrintRows<2>({ 16, 32, 64, 128, 256, 512, 1024, 2048, 4096 }, first);
    PrintRows<3>({ 16, 32, 64, 128, 256 }, first);
    std::cout << "\n] }\n";
  }
  catch (const std::exception & exception)
  {
    std::cerr << "single_pass_times: " << exception.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
