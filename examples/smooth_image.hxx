// SPDX-License-Identifier: Apache-2.0
#ifndef smooth_image_hxx
#define smooth_image_hxx

#include "smooth_image.h"

#include "itkCommand.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkRGBAPixel.h"
#include "itkRGBPixel.h"
#include "itkTimeProbe.h"
#include "itkVectorImage.h"

#include <iostream>
#include <unistd.h>

namespace example
{
/** Draws the filter's progress on a terminal; a file or a pipe gets nothing. */
inline void
ShowProgress(itk::ProcessObject * filter)
{
  if (isatty(STDERR_FILENO) == 0)
  {
    return;
  }
  filter->AddObserver(itk::ProgressEvent(), [filter](const itk::EventObject &) {
    constexpr int width = 40;
    const auto    done = static_cast<int>(filter->GetProgress() * width);
    std::cerr << "\rsmoothing [" << std::string(done, '#') << std::string(width - done, ' ') << "]" << std::flush;
  });
  filter->AddObserver(itk::EndEvent(), [](const itk::EventObject &) { std::cerr << '\n'; });
}

template <typename TImage>
typename TImage::Pointer
Smooth(const Job & job, const TImage * input, Outcome & outcome)
{
  using FilterType = itk::CudaSmoothingRecursiveGaussianImageFilter<TImage, TImage>;
  typename FilterType::SigmaArrayType sigma;
  for (unsigned int axis = 0; axis < TImage::ImageDimension; ++axis)
  {
    sigma[axis] = job.Sigma[axis];
  }
  const auto filter = FilterType::New();
  filter->SetInput(input);
  filter->SetSigmaArray(sigma);
  filter->SetBackend(job.Backend);
  filter->SetDeviceIndex(job.DeviceIndex);
  ShowProgress(filter);

  itk::TimeProbe clock;
  clock.Start();
  filter->Update();
  clock.Stop();
  outcome.FilterSeconds = clock.GetTotal();
  outcome.BackendUsed = itk::CudaBackendToString(filter->GetBackendUsed());
  outcome.BackendReason = filter->GetBackendReason();
  const typename TImage::Pointer output = filter->GetOutput();
  output->DisconnectPipeline();
  return output;
}

template <typename TImage>
typename TImage::Pointer
Read(const Job & job, Outcome & outcome)
{
  itk::TimeProbe clock;
  clock.Start();
  const auto reader = itk::ImageFileReader<TImage>::New();
  reader->SetFileName(job.Input);
  reader->Update();
  clock.Stop();
  outcome.ReadSeconds = clock.GetTotal();
  return reader->GetOutput();
}

template <typename TImage>
void
Write(const Job & job, const TImage * image, Outcome & outcome)
{
  itk::TimeProbe clock;
  clock.Start();
  const auto writer = itk::ImageFileWriter<TImage>::New();
  writer->SetFileName(job.Output);
  writer->SetInput(image);
  writer->Update();
  clock.Stop();
  outcome.WriteSeconds = clock.GetTotal();
}

template <typename TImage>
Outcome
ReadSmoothWrite(const Job & job)
{
  Outcome    outcome;
  const auto input = Read<TImage>(job, outcome);
  const auto output = Smooth<TImage>(job, input, outcome);
  output->SetMetaDataDictionary(input->GetMetaDataDictionary());
  Write<TImage>(job, output, outcome);
  return outcome;
}

/** Filters the one slice as an image of two dimensions that shares its pixels. */
template <typename TVolume, typename TSlice>
Outcome
ReadSmoothWriteSlice(const Job & job)
{
  Outcome    outcome;
  const auto volume = Read<TVolume>(job, outcome);
  const auto size = volume->GetLargestPossibleRegion().GetSize();

  const auto                   slice = TSlice::New();
  typename TSlice::SpacingType spacing;
  spacing[0] = volume->GetSpacing()[0];
  spacing[1] = volume->GetSpacing()[1];
  slice->SetRegions(typename TSlice::SizeType{ { size[0], size[1] } });
  slice->SetSpacing(spacing);
  slice->SetNumberOfComponentsPerPixel(volume->GetNumberOfComponentsPerPixel());
  slice->SetPixelContainer(volume->GetPixelContainer());

  const auto smoothed = Smooth<TSlice>(job, slice, outcome);
  const auto output = TVolume::New();
  output->CopyInformation(volume);
  output->SetRegions(volume->GetLargestPossibleRegion());
  output->SetPixelContainer(smoothed->GetPixelContainer());
  output->SetMetaDataDictionary(volume->GetMetaDataDictionary());
  Write<TVolume>(job, output, outcome);
  return outcome;
}

/** Calls `run` with a value of the file's component type. */
template <typename TRun>
Outcome
DispatchComponent(const itk::ImageIOBase & io, TRun && run)
{
  using IOComponent = itk::IOComponentEnum;
  switch (io.GetComponentType())
  {
    case IOComponent::UCHAR:
      return run(static_cast<unsigned char>(0));
    case IOComponent::CHAR:
      return run(static_cast<signed char>(0));
    case IOComponent::USHORT:
      return run(static_cast<unsigned short>(0));
    case IOComponent::SHORT:
      return run(static_cast<short>(0));
    case IOComponent::UINT:
      return run(static_cast<unsigned int>(0));
    case IOComponent::INT:
      return run(0);
    case IOComponent::FLOAT:
      return run(0.0F);
    case IOComponent::DOUBLE:
      return run(0.0);
    default:
      itkGenericExceptionMacro("pixels of type '"
                               << itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType())
                               << "' are not supported; convert the image to integers of at most 32 bits, float or double");
  }
}

/** RGB and RGBA keep their own pixel types, so that the output file says the same as the input; other multi-component images
 * are read as images of vectors. */
template <typename TRun>
Outcome
DispatchPixel(const itk::ImageIOBase & io, TRun && run)
{
  using IOPixel = itk::IOPixelEnum;
  const auto pixelType = io.GetPixelType();
  if (pixelType == IOPixel::COMPLEX)
  {
    itkGenericExceptionMacro("images of complex numbers are not supported; filter the real and the imaginary part");
  }
  return DispatchComponent(io, [&](auto component) -> Outcome {
    using ComponentType = decltype(component);
    if (io.GetNumberOfComponents() == 1)
    {
      return run.template Scalar<ComponentType>();
    }
    if constexpr (sizeof(ComponentType) <= 2 && std::is_unsigned<ComponentType>::value)
    {
      if (pixelType == IOPixel::RGB)
      {
        return run.template Scalar<itk::RGBPixel<ComponentType>>();
      }
      if (pixelType == IOPixel::RGBA)
      {
        return run.template Scalar<itk::RGBAPixel<ComponentType>>();
      }
    }
    return run.template Vector<ComponentType>();
  });
}

template <unsigned int VDimension>
struct SmoothWhole
{
  const Job & m_Job;

  template <typename TPixel>
  Outcome
  Scalar() const
  {
    return ReadSmoothWrite<itk::Image<TPixel, VDimension>>(m_Job);
  }
  template <typename TComponent>
  Outcome
  Vector() const
  {
    return ReadSmoothWrite<itk::VectorImage<TComponent, VDimension>>(m_Job);
  }
};

struct SmoothOneSlice
{
  const Job & m_Job;

  template <typename TPixel>
  Outcome
  Scalar() const
  {
    return ReadSmoothWriteSlice<itk::Image<TPixel, 3>, itk::Image<TPixel, 2>>(m_Job);
  }
  template <typename TComponent>
  Outcome
  Vector() const
  {
    return ReadSmoothWriteSlice<itk::VectorImage<TComponent, 3>, itk::VectorImage<TComponent, 2>>(m_Job);
  }
};
} // namespace example

#endif
