// SPDX-License-Identifier: Apache-2.0
#include "smooth_image.h"

#include "files.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

// The image is read and written directly through the ImageIO of its format, so that the file keeps its pixel type
// (grey, colour, vector, tensor) and trailing axes of one pixel. Each component of the pixels is smoothed as an image
// of float or double, the types in which the filter computes, so that only four filters are compiled instead of one for
// each type of file.
namespace
{
using command::SmoothJob;
using command::SmoothOutcome;

/** The type in which the filter computes. */
template <typename TComponent>
using RealOf =
  std::conditional_t<std::is_same_v<TComponent, double> || (std::is_integral_v<TComponent> && sizeof(TComponent) > 2),
                     double,
                     float>;

/** Converts a value as the filter does: truncated and clamped to the range of the type. */
template <typename TComponent, typename TReal>
TComponent
ConvertTo(TReal value)
{
  if constexpr (std::is_integral_v<TComponent>)
  {
    using Limits = std::numeric_limits<TComponent>;
    return std::isnan(value) ? TComponent{}
                             : static_cast<TComponent>(std::clamp(
                                 value, static_cast<TReal>(Limits::min()), static_cast<TReal>(Limits::max())));
  }
  else
  {
    return value;
  }
}

itk::ImageIORegion
GetRegion(const itk::ImageIOBase & io)
{
  itk::ImageIORegion region(io.GetNumberOfDimensions());
  for (unsigned int axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
  {
    region.SetSize(axis, io.GetDimensions(axis));
  }
  return region;
}

template <typename TImage>
typename TImage::Pointer
MakeImage(const itk::ImageIOBase & io)
{
  typename TImage::SizeType    size;
  typename TImage::SpacingType spacing; // the only part of the geometry that the filter needs
  for (unsigned int axis = 0; axis < TImage::ImageDimension; ++axis)
  {
    size[axis] = io.GetDimensions(axis);
    spacing[axis] = io.GetSpacing(axis);
  }
  const auto image = TImage::New();
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->Allocate();
  return image;
}

template <typename TImage>
typename TImage::Pointer
Smooth(const SmoothJob & job, TImage * image, SmoothOutcome & outcome)
{
  using FilterType = itk::CudaSmoothingRecursiveGaussianImageFilter<TImage, TImage>;
  typename FilterType::SigmaArrayType sigma;
  std::copy_n(job.Sigma.begin(), TImage::ImageDimension, sigma.begin());
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->SetSigmaArray(sigma);
  filter->SetApproximation(job.Approximation);
  filter->SetBoundaryMode(job.BoundaryMode);
  filter->SetBoundaryValue(job.BoundaryValue);
  filter->SetBackend(job.Backend);
  filter->SetDeviceIndex(job.DeviceIndex);
  filter->SetStreaming(job.Streaming);
  filter->SetDeviceMemoryLimit(job.DeviceMemoryLimit);
  command::ShowProgress(filter, "smoothing");
  outcome.FilterSeconds += command::Seconds([&] { filter->Update(); });
  outcome.BackendUsed = itk::CudaBackendToString(filter->GetBackendUsed());
  outcome.BackendReason = filter->GetBackendReason();
  outcome.Report = filter->GetSlabReport();
  return filter->GetOutput();
}

/** Smooths one component of interleaved pixels in place. */
template <typename TComponent, unsigned int VDimension>
void
SmoothComponent(const SmoothJob &        job,
                const itk::ImageIOBase & io,
                TComponent *             pixels,
                unsigned int             component,
                SmoothOutcome &          outcome)
{
  using ImageType = itk::Image<RealOf<TComponent>, VDimension>;
  const size_t step = io.GetNumberOfComponents();
  const auto   image = MakeImage<ImageType>(io);
  const size_t count = image->GetBufferedRegion().GetNumberOfPixels();
  for (size_t i = 0; i < count; ++i)
  {
    image->GetBufferPointer()[i] = static_cast<RealOf<TComponent>>(pixels[i * step + component]);
  }
  const auto smoothed = Smooth(job, image.GetPointer(), outcome);
  for (size_t i = 0; i < count; ++i)
  {
    pixels[i * step + component] = ConvertTo<TComponent>(smoothed->GetBufferPointer()[i]);
  }
}

/** Writes pixels with the type, geometry and metadata of `description`. */
void
WritePixels(const std::string & fileName, itk::ImageIOBase & description, const void * pixels)
{
  const auto io = command::MakeWriter(fileName);
  command::Describe(*io, description);
  io->SetFileName(fileName);
  io->SetIORegion(GetRegion(description));
  command::WriteOrRemove(fileName, [&] {
    io->WriteImageInformation();
    io->Write(pixels);
  });
}

template <typename TComponent>
SmoothOutcome
ReadSmoothWrite(const SmoothJob & job, itk::ImageIOBase & io)
{
  SmoothOutcome           outcome;
  std::vector<TComponent> pixels(io.GetImageSizeInComponents());
  outcome.ReadSeconds = command::Seconds([&] {
    io.SetIORegion(GetRegion(io));
    io.Read(pixels.data());
  });
  for (unsigned int component = 0; component < io.GetNumberOfComponents(); ++component)
  {
    if (job.Sigma.size() == 2)
    {
      SmoothComponent<TComponent, 2>(job, io, pixels.data(), component, outcome);
    }
    else
    {
      SmoothComponent<TComponent, 3>(job, io, pixels.data(), component, outcome);
    }
  }
  outcome.WriteSeconds = command::Seconds([&] { WritePixels(job.Output, io, pixels.data()); });
  return outcome;
}
} // namespace

command::SmoothOutcome
command::SmoothImage(const SmoothJob & job, itk::ImageIOBase & io)
{
  using IOComponent = itk::IOComponentEnum;
  switch (io.GetComponentType())
  {
    case IOComponent::UCHAR:
      return ReadSmoothWrite<unsigned char>(job, io);
    case IOComponent::CHAR:
      return ReadSmoothWrite<signed char>(job, io);
    case IOComponent::USHORT:
      return ReadSmoothWrite<unsigned short>(job, io);
    case IOComponent::SHORT:
      return ReadSmoothWrite<short>(job, io);
    case IOComponent::UINT:
      return ReadSmoothWrite<unsigned int>(job, io);
    case IOComponent::INT:
      return ReadSmoothWrite<int>(job, io);
    case IOComponent::FLOAT:
      return ReadSmoothWrite<float>(job, io);
    case IOComponent::DOUBLE:
      return ReadSmoothWrite<double>(job, io);
    default:
      throw std::runtime_error(
        "pixels of type '" + GetComponentName(io) +
        "' are not supported; convert the image to integers of at most 32 bits, float or double");
  }
}
