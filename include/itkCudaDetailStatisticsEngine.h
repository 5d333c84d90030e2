// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailStatisticsEngine_h
#define itkCudaDetailStatisticsEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk
{
class MultiThreaderBase;

/** \struct CudaHistogramBins
 * \brief Describes a histogram: `Number` bins of equal width from Lower to Upper, which belongs to the last bin. With 0
 * there is no histogram.
 * \ingroup CudaFilters
 */
struct CudaHistogramBins
{
  static constexpr size_t MaximumNumber = 8192; // the largest Number

  size_t Number{ 0 };  // number of bins
  double Lower{ 0.0 }; // lower end of the first bin
  double Upper{ 1.0 }; // upper end of the last bin
};

/** \struct CudaImageStatistics
 * \brief The results of CudaComputeStatistics().
 *
 * Minimum and Maximum ignore NaN pixels; they are NaN if there are no other pixels. Mean and Variance are not finite if
 * a pixel is not. The histogram counts only the pixels from Lower to Upper.
 * \ingroup CudaFilters
 */
struct CudaImageStatistics
{
  size_t                NumberOfPixels{ 0 }; // NaN included
  double                Minimum{ 0.0 };      // of the pixels that are not NaN
  double                Maximum{ 0.0 };      // of the pixels that are not NaN
  double                Sum{ 0.0 };          // in double
  double                Mean{ 0.0 };         // Sum divided by NumberOfPixels
  double                Variance{ 0.0 };     // divided by the number of pixels minus 1; 0 for one pixel
  std::vector<uint64_t> Histogram;           // number of pixels of each bin
};
} // end namespace itk

namespace itk::CudaDetail
{
/** Return the statistics of an image with one component per pixel. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT CudaImageStatistics
CudaComputeStatisticsOnDevice(const CudaDeviceImageView & image, const CudaHistogramBins & bins);
CudaFilters_EXPORT CudaImageStatistics
CudaComputeStatisticsOnHost(const CudaImageView & image, const CudaHistogramBins & bins, MultiThreaderBase * threader);
} // end namespace itk::CudaDetail

#endif
