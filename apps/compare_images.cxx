// SPDX-License-Identifier: Apache-2.0
#include "compare_images.h"

#include "files.h"
#include "itkCastImageFilter.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImageFileReader.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>

namespace
{
using command::CompareJob;
using command::CompareOutcome;

template <unsigned int VDimension>
using ImageOf = itk::Image<float, VDimension>;
template <unsigned int VDimension>
using ReferenceOf = itk::Image<double, VDimension>;

double
SecondsOfOneRun(itk::ProcessObject * filter)
{
  filter->Modified();
  return command::Seconds([filter] { filter->Update(); });
}

double
Median(std::vector<double> values)
{
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/** Returns the median seconds of both filters, without their first runs. The runs alternate, so that other load on the
 * machine slows both filters. */
std::pair<double, double>
MedianSeconds(itk::ProcessObject * first, itk::ProcessObject * second, int runs)
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

/** Returns an image of random values that are the same on all machines. */
template <unsigned int VDimension>
typename ImageOf<VDimension>::Pointer
MakeCube(unsigned int side)
{
  typename ImageOf<VDimension>::SizeType size;
  size.Fill(side);
  const auto image = ImageOf<VDimension>::New();
  image->SetRegions(size);
  image->Allocate();
  std::mt19937 numbers(1);
  std::generate_n(image->GetBufferPointer(), image->GetBufferedRegion().GetNumberOfPixels(), [&numbers] {
    return static_cast<float>(numbers() >> 24);
  });
  return image;
}

template <unsigned int VDimension>
typename ImageOf<VDimension>::Pointer
MakeInput(const CompareJob & job)
{
  if (job.Input.empty())
  {
    return MakeCube<VDimension>(job.Size);
  }
  const auto reader = itk::ImageFileReader<ImageOf<VDimension>>::New();
  reader->SetFileName(job.Input);
  reader->Update();
  return reader->GetOutput();
}

/** Smooths an image with ITK's filter along one axis at a time, because ITK's filter for all axes stores float between
 * the axes, even for images of double. */
template <unsigned int VDimension>
typename ReferenceOf<VDimension>::Pointer
SmoothInFloat64(const ImageOf<VDimension> * image, const std::vector<double> & sigma)
{
  using ReferenceImage = ReferenceOf<VDimension>;
  const auto cast = itk::CastImageFilter<ImageOf<VDimension>, ReferenceImage>::New();
  cast->SetInput(image);
  cast->Update();
  typename ReferenceImage::Pointer smoothed = cast->GetOutput();
  for (unsigned int axis = 0; axis < VDimension; ++axis)
  {
    const auto filter = itk::RecursiveGaussianImageFilter<ReferenceImage, ReferenceImage>::New();
    filter->SetInput(smoothed);
    filter->SetDirection(axis);
    filter->SetSigma(sigma[axis]);
    filter->Update();
    smoothed = filter->GetOutput();
  }
  return smoothed;
}

/** Returns first - second for each pixel. */
template <typename TFirst, typename TSecond>
std::vector<float>
Difference(const TFirst * first, const TSecond * second)
{
  std::vector<float> difference(first->GetBufferedRegion().GetNumberOfPixels());
  std::transform(first->GetBufferPointer(),
                 first->GetBufferPointer() + difference.size(),
                 second->GetBufferPointer(),
                 difference.begin(),
                 [](double a, double b) { return static_cast<float>(a - b); });
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

/** Writes float32 values without a header, row by row, in the machine's byte order. */
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

template <typename TFilter>
void
SetParameters(TFilter & filter, const typename TFilter::InputImageType * input, const CompareJob & job)
{
  typename TFilter::SigmaArrayType sigma;
  std::copy_n(job.Sigma.begin(), sigma.Size(), sigma.begin());
  filter.SetInput(input);
  filter.SetSigmaArray(sigma);
}

template <unsigned int VDimension>
CompareOutcome
Describe(const ImageOf<VDimension> & input)
{
  CompareOutcome outcome;
  for (unsigned int axis = 0; axis < VDimension; ++axis)
  {
    outcome.Size.push_back(input.GetBufferedRegion().GetSize(axis));
    outcome.Spacing.push_back(input.GetSpacing()[axis]);
  }
  return outcome;
}

template <unsigned int VDimension>
CompareOutcome
Compare(const CompareJob & job)
{
  using ImageType = ImageOf<VDimension>;
  const auto     input = MakeInput<VDimension>(job);
  CompareOutcome outcome = Describe<VDimension>(*input);

  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  SetParameters(*filter, input.GetPointer(), job);
  filter->SetBackend(job.Backend);
  filter->SetDeviceIndex(job.DeviceIndex);
  const auto itkFilter = itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  SetParameters(*itkFilter, input.GetPointer(), job);
  const auto [seconds, itkSeconds] = MedianSeconds(filter, itkFilter, job.Runs);
  outcome.Milliseconds = 1e3 * seconds;
  outcome.ItkMilliseconds = 1e3 * itkSeconds;
  outcome.BackendUsed = itk::CudaBackendToString(filter->GetBackendUsed());
  outcome.BackendReason = filter->GetBackendReason();
  if (filter->GetBackendUsed() == itk::CudaFiltersEnums::Backend::Cuda)
  {
    using Configuration = itk::CudaFiltersConfiguration;
    const int index = job.DeviceIndex < 0 ? Configuration::GetDeviceIndex() : job.DeviceIndex;
    outcome.Device = Configuration::GetDevices().at(index).Name;
  }

  const auto * const result = filter->GetOutput();
  outcome.LargestDifferenceFromFloat32 = LargestMagnitude(Difference(result, itkFilter->GetOutput()));
  const auto difference = Difference(result, SmoothInFloat64<VDimension>(input, job.Sigma).GetPointer());
  outcome.LargestDifferenceFromFloat64 = LargestMagnitude(difference);
  if (!job.RawPrefix.empty())
  {
    WriteRaw(job.RawPrefix + "input.raw", input->GetBufferPointer(), difference.size());
    WriteRaw(job.RawPrefix + "result.raw", result->GetBufferPointer(), difference.size());
    WriteRaw(job.RawPrefix + "difference.raw", difference.data(), difference.size());
  }
  return outcome;
}
} // namespace

command::CompareOutcome
command::CompareImages(const CompareJob & job)
{
  return job.Sigma.size() == 2 ? Compare<2>(job) : Compare<3>(job);
}
