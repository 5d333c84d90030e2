// SPDX-License-Identifier: Apache-2.0
#ifndef smooth_image_hxx
#define smooth_image_hxx

#include "smooth_image.h"

#include "example_tools.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"
#include "itkVectorImage.h"

#include <algorithm>
#include <stdexcept>

namespace example
{
/** The image is read and written through the format's ImageIO itself: the file keeps its own pixel type (grey, colour,
 * vector, tensor), and axes of one pixel beyond the image's dimension. Of the geometry, the filter needs only the
 * spacing. */
template <typename TImage>
Outcome
ReadSmoothWrite(const Job & job, itk::ImageIOBase & io)
{
  constexpr unsigned int       dimension = TImage::ImageDimension;
  typename TImage::SizeType    size;
  typename TImage::SpacingType spacing;
  itk::ImageIORegion           region(io.GetNumberOfDimensions());
  for (unsigned int axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
  {
    region.SetSize(axis, io.GetDimensions(axis));
    if (axis < dimension)
    {
      size[axis] = io.GetDimensions(axis);
      spacing[axis] = io.GetSpacing(axis);
    }
  }
  const auto image = TImage::New();
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetNumberOfComponentsPerPixel(io.GetNumberOfComponents());
  image->Allocate();
  Outcome outcome;
  outcome.ReadSeconds = Seconds([&] {
    io.SetIORegion(region);
    io.Read(image->GetBufferPointer());
  });

  using FilterType = itk::CudaSmoothingRecursiveGaussianImageFilter<TImage, TImage>;
  typename FilterType::SigmaArrayType sigma;
  std::copy_n(job.Sigma.begin(), dimension, sigma.begin());
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->SetSigmaArray(sigma);
  filter->SetBackend(job.Backend);
  filter->SetDeviceIndex(job.DeviceIndex);
  ShowProgress(filter, "smoothing");
  outcome.FilterSeconds = Seconds([&] { filter->Update(); });
  outcome.BackendUsed = itk::CudaBackendToString(filter->GetBackendUsed());
  outcome.BackendReason = filter->GetBackendReason();

  outcome.WriteSeconds = Seconds([&] { WriteImage(job, io, filter->GetOutput()->GetBufferPointer()); });
  return outcome;
}

template <typename TComponent, unsigned int VDimension>
Outcome
DispatchPixel(const Job & job, itk::ImageIOBase & io)
{
  if (io.GetNumberOfComponents() == 1)
  {
    return ReadSmoothWrite<itk::Image<TComponent, VDimension>>(job, io);
  }
  return ReadSmoothWrite<itk::VectorImage<TComponent, VDimension>>(job, io);
}

template <unsigned int VDimension>
Outcome
DispatchComponent(const Job & job, itk::ImageIOBase & io)
{
  using IOComponent = itk::IOComponentEnum;
  switch (io.GetComponentType())
  {
    case IOComponent::UCHAR:
      return DispatchPixel<unsigned char, VDimension>(job, io);
    case IOComponent::CHAR:
      return DispatchPixel<signed char, VDimension>(job, io);
    case IOComponent::USHORT:
      return DispatchPixel<unsigned short, VDimension>(job, io);
    case IOComponent::SHORT:
      return DispatchPixel<short, VDimension>(job, io);
    case IOComponent::UINT:
      return DispatchPixel<unsigned int, VDimension>(job, io);
    case IOComponent::INT:
      return DispatchPixel<int, VDimension>(job, io);
    case IOComponent::FLOAT:
      return DispatchPixel<float, VDimension>(job, io);
    case IOComponent::DOUBLE:
      return DispatchPixel<double, VDimension>(job, io);
    default:
      throw std::runtime_error(
        std::string("pixels of type '") + itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType()) +
        "' are not supported; convert the image to integers of at most 32 bits, float or double");
  }
}
} // namespace example

#endif
