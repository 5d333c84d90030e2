// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionSnakeEngine_h
#define itkCudaDetailRegionSnakeEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailRegionSnakeGeometry.h"
#include "itkCudaDetailRegionSnakeParameters.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>
#include <cstdint>

namespace itk::CudaDetail
{
/** \exception ExceptionObject that names a parameter out of range, its value and what would be right. */
CudaFilters_EXPORT void
VerifyCudaRegionSnakeParameters(const CudaRegionSnakeParameters & parameters);

/** Segments the image on the host by at most `numberOfThreads` threads. The result does not depend on the number of
 * threads.
 * \exception ExceptionObject that says why the input cannot be segmented, and what would be right. */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOnHost(const CudaRegionSnakeInput &      input,
                      const CudaRegionSnakeParameters & parameters,
                      unsigned int                      numberOfThreads,
                      const CudaRegionSnakeObserver &   observer);

/** Why the device cannot do it, in words; nullptr if it can. */
CudaFilters_EXPORT const char *
CudaRegionSnakeUnsupportedReason(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters);

/** Device memory in bytes that CudaRegionSnakeOnDevice() needs. */
CudaFilters_EXPORT size_t
CudaRegionSnakeWorkingSet(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters);

/** As CudaRegionSnakeOnHost(), with the same result bit for bit, on a device. `numberOfThreads` check and convert the
 * input. \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOnDevice(const CudaRegionSnakeInput &      input,
                        const CudaRegionSnakeParameters & parameters,
                        int                               deviceIndex,
                        unsigned int                      numberOfThreads,
                        const CudaRegionSnakeObserver &   observer);

/** As CudaRegionSnakeOnDevice(), of an image in device memory, where it lies. The image is read after all work that
 * wrote it, and no more when this returns. `input.Image` is not looked at; masks are in host memory.
 * SecondsOfSums is the time of the samples and sums.
 * \exception ExceptionObject as CudaRegionSnakeOnHost() \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOfDeviceImage(const CudaDeviceImageView &       image,
                             const CudaRegionSnakeInput &      input,
                             const CudaRegionSnakeParameters & parameters,
                             const CudaRegionSnakeObserver &   observer);

/** Queues a label image on the calling thread's stream: `inside` in the polygon, `outside` elsewhere.
 * \param polygon in the image's rows; may be empty \param labels of UChar or UShort
 * \exception ExceptionObject for other images, or labels that their type does not hold \exception CudaError */
CudaFilters_EXPORT void
CudaQueueRegionSnakeLabels(const CudaSnakePolygon &    polygon,
                           uint32_t                    inside,
                           uint32_t                    outside,
                           const CudaDeviceImageView & labels);
} // end namespace itk::CudaDetail

#endif
