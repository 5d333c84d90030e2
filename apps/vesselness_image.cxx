// SPDX-License-Identifier: Apache-2.0
#include "vesselness_image.h"

#include "itkCudaVesselnessImageFilter.h"
#include "itkImageRegionConstIterator.h"
#include "itkMaximumProjectionImageFilter.h"
#include "overlay.h"
#include "region_image.h"

#include <algorithm>
#include <stdexcept>

namespace
{
using command::VesselnessJob;
using command::VesselnessOutcome;

template <typename TImage>
void
SetParameters(itk::CudaVesselnessImageFilter<TImage, TImage> & filter, const VesselnessJob & job)
{
  filter.SetSigmas(job.Sigmas);
  filter.SetHessianMeasure(job.Measure);
  filter.SetObjectDimension(job.ObjectDimension);
  filter.SetBrightObject(job.Bright);
  filter.SetNormalizeAcrossScale(job.Normalize);
  filter.SetAlpha(job.Alpha);
  filter.SetBeta(job.Beta);
  filter.SetGamma(job.Gamma);
  filter.SetTau(job.Tau);
  filter.SetApproximation(job.Approximation);
  filter.SetBoundaryMode(job.BoundaryMode);
  filter.SetBoundaryValue(job.BoundaryValue);
  filter.SetGenerateScaleOutput(!job.ScaleFile.empty());
  filter.SetBackend(job.Backend);
  filter.SetDeviceIndex(job.DeviceIndex);
}

/** Computes the largest value along the last axis of a volume. For a two-dimensional image it uses the image itself. */
template <typename TReal, unsigned int VDimension>
void
WriteProjection(const std::string & fileName, const itk::Image<TReal, VDimension> * image)
{
  if constexpr (VDimension == 2)
  {
    command::WriteGrey(fileName, image);
  }
  else
  {
    using FilterType = itk::MaximumProjectionImageFilter<itk::Image<TReal, VDimension>, itk::Image<TReal, 2>>;
    const auto projection = FilterType::New();
    projection->SetInput(image);
    projection->SetProjectionDimension(VDimension - 1);
    projection->Update();
    command::WriteGrey<TReal>(fileName, projection->GetOutput());
  }
}

template <typename TImage>
double
GetLargest(const TImage * image)
{
  const auto * const pixels = image->GetBufferPointer();
  return static_cast<double>(*std::max_element(pixels, pixels + image->GetBufferedRegion().GetNumberOfPixels()));
}

template <typename TReal, unsigned int VDimension>
VesselnessOutcome
Enhance(const VesselnessJob & job)
{
  using ImageType = itk::Image<TReal, VDimension>;
  VesselnessOutcome           outcome;
  typename ImageType::Pointer image;
  outcome.ReadSeconds = command::Seconds([&] { image = command::ReadImage<ImageType>(job.Input); });

  const auto filter = itk::CudaVesselnessImageFilter<ImageType, ImageType>::New();
  filter->SetInput(image);
  SetParameters(*filter, job);
  command::ShowProgress(filter, "enhancing");
  outcome.FilterSeconds = command::Seconds([&] { filter->Update(); });
  outcome.BackendUsed = itk::CudaBackendToString(filter->GetBackendUsed());
  outcome.BackendReason = filter->GetBackendReason();
  outcome.LargestResponse = GetLargest(filter->GetOutput());

  outcome.WriteSeconds = command::Seconds([&] {
    command::WriteImage<ImageType>(job.Output, filter->GetOutput());
    if (!job.ScaleFile.empty())
    {
      command::WriteImage<ImageType>(job.ScaleFile, filter->GetScaleOutput());
    }
    if (!job.MipFile.empty())
    {
      WriteProjection<TReal, VDimension>(job.MipFile, filter->GetOutput());
    }
  });
  return outcome;
}

template <typename TReal>
VesselnessOutcome
EnhanceAs(const VesselnessJob & job, unsigned int axes)
{
  return axes == 2 ? Enhance<TReal, 2>(job) : Enhance<TReal, 3>(job);
}
} // namespace

command::VesselnessOutcome
command::EnhanceVessels(const VesselnessJob & job, const itk::ImageIOBase & io, unsigned int axes)
{
  using IOComponent = itk::IOComponentEnum;
  switch (io.GetComponentType())
  {
    case IOComponent::UCHAR:
    case IOComponent::CHAR:
    case IOComponent::USHORT:
    case IOComponent::SHORT:
    case IOComponent::FLOAT:
      return EnhanceAs<float>(job, axes);
    case IOComponent::UINT:
    case IOComponent::INT:
    case IOComponent::DOUBLE:
      return EnhanceAs<double>(job, axes);
    default:
      throw std::runtime_error(
        "pixels of type '" + GetComponentName(io) +
        "' are not supported; convert the image to integers of at most 32 bits, float or double");
  }
}
