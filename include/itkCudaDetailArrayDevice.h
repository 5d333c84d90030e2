// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailArrayDevice_h
#define itkCudaDetailArrayDevice_h

#include "CudaFiltersExport.h"

namespace itk::CudaDetail
{
/** The device on which memory of a caller lies.
 * \exception CudaError of kind NotUsable if it lies on none, or no device can be used */
CudaFilters_EXPORT int
CudaFindDeviceOfMemory(const void * data);
} // end namespace itk::CudaDetail

#endif
