// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMemoryQuery_h
#define itkCudaMemoryQuery_h

#include "CudaFiltersExport.h"

#include <cstddef>

// Questions about device memory and page-locked memory for the rest of the module, with or without CUDA.
// itkCudaMemoryQuery.cxx answers in a build with CUDA, itkCudaDeviceDisabled.cxx in a build without.
namespace itk::cuda
{
/** Bytes that can be allocated now on a usable device; see DeviceBuffer::GetAvailable().
 * \exception CudaError */
CudaFilters_EXPORT size_t
GetAvailableDeviceMemory(int device);

/** Gives back device and page-locked memory that is not in use. */
void
ReleaseUnusedMemory();
} // namespace itk::cuda

#endif
