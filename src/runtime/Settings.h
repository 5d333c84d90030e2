// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_Settings_h
#define CudaFilters_runtime_Settings_h

#include "itkCudaDeviceMemoryResource.h"

#include <cstddef>

// Settings of CudaFiltersConfiguration that the components of src/runtime use. They are stored at a lower level than
// these components because the configuration itself calls the components. They are not protected by a lock, because
// another thread might hold it while the process is forked, and the child would then wait forever.
namespace itk::cuda
{
/** Set and return the bytes of device memory that the module may use, as CudaFiltersConfiguration describes. */
void
SetDeviceMemoryLimit(size_t bytes);
size_t
GetDeviceMemoryLimit();

/** Sets the functions that device memory comes from (CudaFiltersConfiguration::SetDeviceMemoryResource()). A resource
 * without functions selects the module's own pool. */
void
SetDeviceMemoryResource(const CudaDeviceMemoryResource & resource);

/** Returns the resource that was set last, or nullptr for the module's own pool. The resource stays valid because
 * buffers remember where their memory came from. */
const CudaDeviceMemoryResource *
GetDeviceMemoryResource();

void
SetHostCacheLimit(size_t bytes);
size_t
GetHostCacheLimit();

void
SetNumberOfTransferThreads(unsigned int number);
unsigned int
GetNumberOfTransferThreads();
} // namespace itk::cuda

#endif
