// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMemoryQuery_h
#define itkCudaMemoryQuery_h

#include "CudaFiltersExport.h"

#include <cstddef>

// What the rest of the module asks of the memory of devices and of page-locked memory, with or without CUDA:
// itkCudaMemoryQuery.cxx answers in a build with CUDA, itkCudaDeviceDisabled.cxx in one without.
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
