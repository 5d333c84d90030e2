// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceFilter_h
#define itkCudaDetailDeviceFilter_h

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDeviceImage.h"

#include <functional>

// A filter's run where its input or its output is a device image, or both.

namespace itk::CudaDetail
{
/** The decision of such a filter: it runs where the input lies, or where it uploads the input to. Throws if the input
 * does not hold the pixels that the output is asked for. The output is told where it will lie.
 * \return the device
 * \exception CudaError of kind NotUsable, in words, if the filter asks for another place or the device cannot be used
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

/** Memory on `device` for the pixels of a host image. */
inline CudaDeviceImageView
CudaAllocateBeside(const CudaImageView & pixels, int device)
{
  const auto & size = pixels.Size;
  return CudaAllocateDeviceImage(
    { { size[0], size[1], size[2], size[3], pixels.NumberOfComponents } }, pixels.ComponentType, device, false);
}

/** The pixels of a device image, or a copy on `device` of those of a host image. `finishUpload` becomes what
 * CudaQueueUpload() returns, if it was called. */
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

/** Runs the plan for the output's requested region. The output, which has been allocated, is what CudaRunOnDevice()
 * would give for the same images of the host, to the bit. A device image is queued, an image of the host is complete on
 * return. `progress` is called while pixels cross the link.
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
