// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceFilter_h
#define itkCudaDetailDeviceFilter_h

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDeviceImage.h"

#include <functional>

// Functions for running a filter whose input or output is a device image, or both.

namespace itk::CudaDetail
{
/** Selects the device of such a filter: the device of the input, or the one to which the input is uploaded. Checks that
 * the input holds the pixels that the output's requested region needs, and sets the device of an output that is a
 * device image.
 * \return the device
 * \exception CudaError of kind NotUsable with a reason in words if the filter's settings name another place or the
 * device cannot be used
 * \exception ExceptionObject if the input lacks pixels */
template <typename TInputImage, typename TOutputImage>
int
CudaPrepareDeviceRun(CudaFilterBackend & backend, const TInputImage * input, TOutputImage * output)
{
  const auto region = output->GetRequestedRegion();
  int        device = -1;
  if constexpr (CudaIsDeviceImage<TInputImage>::value)
  {
    input->GetDeviceView(region, "The input");
    device = input->GetDeviceIndex();
    CudaSelectDeviceOfImage(backend, device);
  }
  else
  {
    CudaVerifyBufferedRegion(input, region, "The input");
    device = CudaSelectDeviceOfOutput(backend);
  }
  if constexpr (CudaIsDeviceImage<TOutputImage>::value)
  {
    output->SetDeviceIndex(device);
  }
  else
  {
    CudaUsePooledOutput(output);
  }
  return device;
}

/** Allocates memory on `device` for the pixels of a host image. */
inline CudaDeviceImageView
CudaAllocateBeside(const CudaImageView & pixels, int device)
{
  const auto & size = pixels.Size;
  return CudaAllocateDeviceImage(
    { { size[0], size[1], size[2], size[3], pixels.NumberOfComponents } }, pixels.ComponentType, device, false);
}

/** Returns the pixels of a device image, or a copy on `device` of the pixels of a host image. If CudaQueueUpload() was
 * called, `finishUpload` is set to the function that it returned. */
template <typename TImage>
CudaDeviceImageView
CudaGetOnDevice(const TImage *                           image,
                const typename TImage::RegionType &      region,
                int                                      device,
                const CudaProgressFunction &             progress,
                [[maybe_unused]] std::function<void()> & finishUpload)
{
  if constexpr (CudaIsDeviceImage<TImage>::value)
  {
    return image->GetDeviceView(region, "The input");
  }
  else
  {
    const CudaImageView       pixels = MakeCudaImageView(image, region, "The input");
    const CudaDeviceImageView copy = CudaAllocateBeside(pixels, device);
    finishUpload = CudaQueueUpload(pixels, copy, progress);
    return copy;
  }
}

/** Runs the plan for the output's requested region. The output, which must be allocated, becomes bit-identical to the
 * result of CudaRunOnDevice() for the same images on the host. For a device image the work is only queued; a host image
 * is complete on return. `progress` is called while pixels cross the link.
 * \exception CudaError, or what `progress` throws */
template <typename TPlan, typename TInputImage, typename TOutputImage>
void
CudaRunOnDeviceImages(const TPlan &                plan,
                      const TInputImage *          input,
                      TOutputImage *               output,
                      int                          device,
                      const CudaProgressFunction & progress)
{
  const auto                region = output->GetRequestedRegion();
  std::function<void()>     finishUpload = [] {};
  const CudaDeviceImageView source = CudaGetOnDevice(input, region, device, progress, finishUpload);
  if constexpr (CudaIsDeviceImage<TOutputImage>::value)
  {
    CudaQueueOnDevice(plan, source, output->GetDeviceView(region));
    finishUpload();
  }
  else
  {
    const CudaImageView       pixels = MakeCudaImageView(static_cast<const TOutputImage *>(output), region);
    const CudaDeviceImageView result = CudaAllocateBeside(pixels, device);
    CudaQueueOnDevice(plan, source, result);
    finishUpload();
    CudaDownloadFromDevice(result, pixels, {}, progress);
  }
}
} // end namespace itk::CudaDetail

#endif
