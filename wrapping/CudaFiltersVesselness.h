// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersVesselness_h
#define CudaFiltersVesselness_h

// Extends itk::CudaVesselnessImageFilter for Python by directions as an array, and by input arrays in GPU memory.

#include "CudaFiltersArrays.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailTensorEngine.h"
#include "itkCudaVesselnessImageFilter.h"

#include <algorithm>
#include <cstddef>

namespace cudafilters
{
/** Stores the unit vectors along the lines, computed from the filter's Hessian output, as adjacent elements at
 * `output`. */
template <typename TFilter>
void
StoreDirections(TFilter & filter, unsigned long long output, bool lastAxisFirst)
{
  constexpr unsigned int         dimension = TFilter::ImageDimension;
  const auto * const             hessians = filter.GetHessianOutput();
  const auto                     input = itk::CudaDetail::MakeCudaImageView(hessians, hessians->GetBufferedRegion());
  itk::CudaDetail::CudaImageView directions = input;
  directions.Data = reinterpret_cast<void *>(output);
  directions.NumberOfComponents = dimension;
  size_t stride = dimension;
  for (unsigned int axis = 0; axis < directions.MaximumDimension; ++axis)
  {
    directions.Stride[axis] = stride;
    stride *= directions.Size[axis];
  }
  const WithoutLock without;
  itk::CudaDetail::CudaRunOnHost(itk::CudaDetail::CudaLineDirectionPlan{ dimension, lastAxisFirst },
                                 input,
                                 directions,
                                 filter.GetMultiThreader(),
                                 nullptr);
}

/** For tests: does the work of QueueOnStream() in host memory. */
template <typename TFilter>
void
RunOnHostAsDevice(TFilter &                                     filter,
                  const itk::CudaDetail::CudaArrayImage &       input,
                  const itk::CudaDetail::CudaMultiScaleArrays & outputs)
{
  using ImageType = typename TFilter::InputImageType;
  using PixelType = typename ImageType::PixelType;
  const auto image = ImageType::New();
  image->CopyInformation(filter.GetInput());
  image->SetRegions(filter.GetInput()->GetLargestPossibleRegion());
  image->Allocate();
  const auto * const pixels = static_cast<const PixelType *>(input.Memory.Data);
  PixelType *        pixel = image->GetBufferPointer();
  for (size_t z = 0; z < input.Size[2]; ++z)
  {
    for (size_t y = 0; y < input.Size[1]; ++y)
    {
      pixel = std::copy_n(pixels + z * input.Stride[2] + y * input.Stride[1], input.Size[0], pixel);
    }
  }
  filter.SetInput(image);
  filter.SetBackend("host");
  filter.SetGenerateScaleOutput(outputs.Scale != nullptr);
  filter.SetGenerateHessianOutput(outputs.Directions != nullptr);
  filter.Update();
  const auto copy = [](const auto * output, void * array) {
    const auto * const buffer = output->GetBufferPointer();
    std::copy_n(buffer, output->GetBufferedRegion().GetNumberOfPixels(), static_cast<PixelType *>(array));
  };
  copy(filter.GetOutput(), outputs.Response);
  if (outputs.Scale)
  {
    copy(filter.GetScaleOutput(), outputs.Scale);
  }
}

/** Calls itk::CudaVesselnessImageFilter::QueueOnStream() for an array of the filter's pixel type, whose rows hold
 * adjacent pixels. \param strides tuple of the strides in pixels along each axis, x first */
template <typename TFilter>
void
QueueOnStream(TFilter &                                     filter,
              unsigned long long                            pixels,
              PyObject *                                    strides,
              const itk::CudaDetail::CudaMultiScaleArrays & outputs,
              int                                           device,
              unsigned long long                            stream)
{
  using PixelType = typename TFilter::RealType;
  itk::CudaDetail::CudaArrayImage input{
    { reinterpret_cast<void *>(pixels), itk::CudaDetail::CudaComponentTraits<PixelType>::Type, device, stream }, {}, {}
  };
  input.Size.fill(1);
  const auto size = filter.GetInput()->GetLargestPossibleRegion().GetSize();
  std::copy_n(size.begin(), TFilter::ImageDimension, input.Size.begin());
  for (unsigned int axis = 0; axis < input.Size.size(); ++axis)
  {
    input.Stride[axis] = axis < TFilter::ImageDimension ? PyLong_AsSize_t(PyTuple_GetItem(strides, axis))
                                                        : input.Stride[axis - 1] * input.Size[axis - 1];
  }
  if (!cudafilters_is_host_used_as_device())
  {
    const WithoutLock without;
    filter.QueueOnStream(input, outputs);
    return;
  }
  {
    const WithoutLock without;
    RunOnHostAsDevice(filter, input, outputs);
  }
  if (outputs.Directions)
  {
    StoreDirections(
      filter, reinterpret_cast<unsigned long long>(outputs.Directions), outputs.DirectionPlan.LastAxisFirst);
  }
}
} // namespace cudafilters

#endif
