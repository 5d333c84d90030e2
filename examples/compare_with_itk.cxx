// SPDX-License-Identifier: Apache-2.0
// Smooths an image with this module's filter and with ITK's own, and tells how far apart and how fast they are.
// The pixels are read as float; the reference is ITK's filter in float64.
#include "itkCastImageFilter.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"
#include "itkImageFileReader.h"
#include "itkImageRegionConstIterator.h"
#include "itkMultiThreaderBase.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace
{
constexpr unsigned int Dimension = 2;
using ImageType = itk::Image<float, Dimension>;
using ReferenceImageType = itk::Image<double, Dimension>;

struct Arguments
{
  std::string Input;
  std::string Backend{ "automatic" };
  std::string Prefix;
  double      Sigma{ 4.0 };
  int         Runs{ 21 };
};

template <typename TFilter>
double
SecondsOfOneRun(TFilter * filter)
{
  filter->Modified();
  const auto start = std::chrono::steady_clock::now();
  filter->Update();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double
Median(std::vector<double> values)
{
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/** Median seconds of both filters after a first run. Their runs alternate, so that whatever else the machine does slows
 * both. */
template <typename TFirst, typename TSecond>
std::pair<double, double>
MedianSeconds(TFirst * first, TSecond * second, int runs)
{
  first->Update();
  second->Update();
  std::vector<double> firstSeconds;
  std::vector<double> secondSeconds;
  for (int run = 0; run < runs; ++run)
  {
    firstSeconds.push_back(SecondsOfOneRun(first));
    secondSeconds.push_back(SecondsOfOneRun(second));
  }
  return { Median(firstSeconds), Median(secondSeconds) };
}

/** ITK's filter along one axis after the other: its filter for all axes keeps float between the axes, of images of
 * double too. */
ReferenceImageType::Pointer
SmoothInFloat64(const ImageType * image, double sigma)
{
  const auto cast = itk::CastImageFilter<ImageType, ReferenceImageType>::New();
  cast->SetInput(image);
  cast->Update();
  ReferenceImageType::Pointer smoothed = cast->GetOutput();
  for (unsigned int axis = 0; axis < Dimension; ++axis)
  {
    const auto filter = itk::RecursiveGaussianImageFilter<ReferenceImageType, ReferenceImageType>::New();
    filter->SetInput(smoothed);
    filter->SetDirection(axis);
    filter->SetSigma(sigma);
    filter->Update();
    smoothed = filter->GetOutput();
  }
  return smoothed;
}

/** first - second, pixel by pixel. */
template <typename TFirst, typename TSecond>
std::vector<float>
Difference(const TFirst * first, const TSecond * second)
{
  itk::ImageRegionConstIterator<TFirst>  a(first, first->GetLargestPossibleRegion());
  itk::ImageRegionConstIterator<TSecond> b(second, second->GetLargestPossibleRegion());
  std::vector<float>                     difference;
  difference.reserve(first->GetLargestPossibleRegion().GetNumberOfPixels());
  for (; !a.IsAtEnd(); ++a, ++b)
  {
    difference.push_back(static_cast<float>(static_cast<double>(a.Get()) - static_cast<double>(b.Get())));
  }
  return difference;
}

float
LargestMagnitude(const std::vector<float> & values)
{
  float largest = 0.0F;
  for (const float value : values)
  {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

/** Bare float32 values, row by row, in the machine's byte order. */
void
WriteRaw(const std::string & fileName, const float * values, size_t count)
{
  std::ofstream file(fileName, std::ios::binary);
  file.write(reinterpret_cast<const char *>(values), static_cast<std::streamsize>(count * sizeof(float)));
  if (!file.flush())
  {
    throw std::runtime_error("'" + fileName + "' could not be written");
  }
}

nlohmann::ordered_json
Compare(const Arguments & arguments)
{
  const auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetFileName(arguments.Input);
  reader->Update();
  const ImageType * const input = reader->GetOutput();

  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetInput(input);
  filter->SetSigma(arguments.Sigma);
  filter->SetBackend(arguments.Backend);

  const auto itkFilter = itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  itkFilter->SetInput(input);
  itkFilter->SetSigma(arguments.Sigma);
  const auto [seconds, itkSeconds] = MedianSeconds(filter.GetPointer(), itkFilter.GetPointer(), arguments.Runs);

  const auto reference = SmoothInFloat64(input, arguments.Sigma);

  const auto difference = Difference(filter->GetOutput(), reference.GetPointer());
  const auto itkDifference = Difference(filter->GetOutput(), itkFilter->GetOutput());
  const auto size = input->GetLargestPossibleRegion().GetSize();
  if (!arguments.Prefix.empty())
  {
    WriteRaw(arguments.Prefix + "input.raw", input->GetBufferPointer(), difference.size());
    WriteRaw(arguments.Prefix + "result.raw", filter->GetOutput()->GetBufferPointer(), difference.size());
    WriteRaw(arguments.Prefix + "difference.raw", difference.data(), difference.size());
  }

  std::string device;
  if (filter->GetBackendUsed() == itk::CudaFiltersEnums::Backend::Cuda)
  {
    device = itk::CudaFiltersConfiguration::GetDevices().at(itk::CudaFiltersConfiguration::GetDeviceIndex()).Name;
  }
  return { { "input", arguments.Input },
           { "size", { size[0], size[1] } },
           { "spacing", { input->GetSpacing()[0], input->GetSpacing()[1] } },
           { "sigma", arguments.Sigma },
           { "backend_used", itk::CudaBackendToString(filter->GetBackendUsed()) },
           { "backend_reason", filter->GetBackendReason() },
           { "device", device },
           { "host_threads", itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads() },
           { "milliseconds", seconds * 1e3 },
           { "itk_milliseconds", itkSeconds * 1e3 },
           { "largest_difference_from_float64", LargestMagnitude(difference) },
           { "largest_difference_from_float32", LargestMagnitude(itkDifference) } };
}
} // namespace

int
main(int argc, char * argv[])
{
  Arguments arguments;
  CLI::App  app(
    "Smooths an image of two dimensions, read as float, with this module's filter and with ITK's own. Prints, as\n"
     "JSON, the median times of both (from image to image in host memory, after a first run) and the largest\n"
     "differences from ITK's filter in float32 and in float64.");
  app.add_option("IN", arguments.Input, "image to read")->required()->check(CLI::ExistingFile);
  app.add_option("-s,--sigma", arguments.Sigma, "sigma in the units of the image's spacing")
    ->check(CLI::PositiveNumber)
    ->capture_default_str();
  app.add_option("--backend", arguments.Backend, "automatic, cuda or host")
    ->check(CLI::IsMember({ "automatic", "cuda", "host" }, CLI::ignore_case))
    ->capture_default_str();
  app.add_option("--runs", arguments.Runs, "timed runs")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--raw", arguments.Prefix, "write input, result and difference from float64 as PREFIXinput.raw, ...");
  CLI11_PARSE(app, argc, argv);
  try
  {
    std::cout << Compare(arguments).dump(2) << '\n';
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << "compare_with_itk: " << error.GetDescription() << '\n';
    return EXIT_FAILURE;
  }
  catch (const std::exception & error)
  {
    std::cerr << "compare_with_itk: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
