// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionSnakeEngine_h
#define itkCudaDetailRegionSnakeEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailRegionSnakeParameters.h"

#include <cstddef>

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
} // end namespace itk::CudaDetail

#endif
