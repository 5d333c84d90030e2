// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_Settings_h
#define CudaFilters_runtime_run_Settings_h

#include "itkCudaDeviceMemoryResource.h"

#include <cstddef>

// The settings of CudaFiltersConfiguration that the components of this folder follow. They are kept below these
// components, because the configuration asks the components in turn. No lock guards them: another thread might hold it
// while the process is forked, and the child would wait for ever.
namespace itk::cuda
{
/** As in CudaFiltersConfiguration. */
void
SetDeviceMemoryLimit(size_t bytes);
size_t
GetDeviceMemoryLimit();

/** As CudaFiltersConfiguration::SetDeviceMemoryResource(); without functions: the module's pool. */
void
SetDeviceMemoryResource(const CudaDeviceMemoryResource & resource);

/** The resource set last; nullptr: the module's pool. The resource stays valid, because buffers remember where they
 * came from. */
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
