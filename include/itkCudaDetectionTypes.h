// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDetectionTypes_h
#define itkCudaDetectionTypes_h

#include "itkCudaRegionSnakeTypes.h"

#include <array>
#include <cstdint>
#include <vector>

namespace itk
{
/** \struct CudaDetection
 * \brief A detected target: connected pixels above the threshold, and the windows around the most significant one.
 *
 * Pixels are counted from the first pixel of the image.
 * \ingroup CudaFilters
 */
struct CudaDetection
{
  uint64_t               NumberOfPixels{ 0 };           // above the threshold
  std::array<int32_t, 4> BoundingBox{ { 0, 0, 0, 0 } }; // smallest x, y, largest x, y, as corners of pixels
  std::array<double, 2>  Centroid{ { 0.0, 0.0 } };      // of the pixels' centres
  std::array<int32_t, 2> Peak{ { 0, 0 } };              // the most significant pixel, the first one of several
  double                 Significance{ 0.0 };           // of the peak: -log10 of its probability by noise alone
  double                 Statistic{ 0.0 }; // of the peak: logarithm of the likelihood ratio of target and ring, in nats
  CudaRegionSnakeStatistics Target;        // of the peak's target window
  CudaRegionSnakeStatistics Background;    // of the peak's background window without the guard window
};

/** \struct CudaDetectionResult
 * \brief The targets of an image.
 * \ingroup CudaFilters
 */
struct CudaDetectionResult
{
  std::vector<CudaDetection> Detections; // number i + 1 in the label image, in the order of their first pixels
  uint64_t                   NumberOfTestedPixels{ 0 }; // valid pixels with enough valid pixels in their windows
  uint64_t                   NumberOfPixelsAboveThreshold{ 0 }; // with those of components of other sizes
};
} // end namespace itk

#endif
