// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaImageStatistics_h
#define itkCudaImageStatistics_h

#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailStatisticsEngine.h"
#include "itkCudaDeviceImage.h"
#include "itkMultiThreaderBase.h"

namespace itk
{
/** Computes minimum, maximum, mean, variance and, on request, the histogram of an image's buffered pixels in one pass.
 * A CudaDeviceImage is processed on its device, a host image on ITK's threads. The function waits for the result.
 *
 * The order in which sums are added depends only on the number of pixels, so the host and every GPU give the same bits
 * for any number of threads. The terms are differences from the first pixel, summed in double.
 *
 * \code
 * const itk::CudaImageStatistics statistics =
 *   itk::CudaComputeStatistics(deviceImage.GetPointer(), { 256, 0.0, 255.0 });
 * \endcode
 *
 * \exception ExceptionObject if the image has no pixels or does not hold them, if there are more than
 * CudaHistogramBins::MaximumNumber bins, or if Lower is not below Upper or one of them is not finite
 * \exception CudaError if the device fails
 * \ingroup CudaFilters */
template <typename TImage>
CudaImageStatistics
CudaComputeStatistics(const TImage * image, const CudaHistogramBins & bins = {})
{
  static_assert(CudaDetail::CudaDevicePixelTraits<typename TImage::PixelType>::Length == 1, "Pixels must be numbers");
  const auto region = image->GetBufferedRegion();
  if constexpr (CudaIsDeviceImage<TImage>::value)
  {
    return CudaDetail::CudaComputeStatisticsOnDevice(image->GetDeviceView(region), bins);
  }
  else
  {
    static_assert(CudaDetail::CudaImageTraits<TImage>::IsSupported, "The module must support the pixels");
    return CudaDetail::CudaComputeStatisticsOnHost(
      CudaDetail::MakeCudaImageView(image, region), bins, MultiThreaderBase::New());
  }
}
} // end namespace itk

#endif
