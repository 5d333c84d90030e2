// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_MemoryQuery_h
#define CudaFilters_runtime_memory_MemoryQuery_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceMemoryResource.h"

#include <cstddef>

// Queries about device memory and page-locked memory for the rest of the module, available with or without CUDA. They
// are defined in runtime/memory/DeviceMemory.cxx in a build with CUDA and in WithoutCuda.cxx in a build
// without it. This header includes no CUDA header, because sources of both builds include it.
namespace itk::cuda
{
/** Returns the bytes that can be allocated on a usable device. These are the free bytes of the device plus the unused
 * bytes of the module's pool, within the configured limit. If memory comes from the caller's functions, it is the limit
 * minus the bytes in use, or the largest number if there is no limit.
 * \exception CudaError */
CudaFilters_EXPORT size_t
GetAvailableDeviceMemory(int device);

/** Returns the resource that CudaFiltersConfiguration::SetDeviceMemoryResource() set last, or nullptr for the module's
 * own pool. The resource stays valid because buffers remember where their memory came from. It is defined in
 * runtime/run/Configuration.cxx. */
const CudaDeviceMemoryResource *
GetDeviceMemoryResource();

/** Releases device memory and page-locked memory that is not in use. */
void
ReleaseUnusedMemory();
} // namespace itk::cuda

#endif
