// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_Engine_h
#define CudaFilters_gaussian_Engine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"
#include "gaussian/device/LinePasses.h"

#include <cstddef>
#include <vector>

// Runs whole plans of the recursive Gaussian filters on images in device memory.

namespace itk::cuda::gaussian
{
/** Returns the bytes of the workspace that RunGaussian() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetGaussianWorkspace(const CudaGaussianPlan &     plan,
                     const DeviceView &           input,
                     const DeviceView &           output,
                     int                          device,
                     const std::vector<LineCut> & cuts = {});

/** Queues a plan's work on the device. The output has the input's rows and, for each of its components, as many planes
 * as the plan has results. If the plan's only result is image 0, the output is the input. The input is overwritten
 * unless the plan was made with KeepInput. The function never waits, allocates or transfers.
 *
 * `cuts` are as for RunPlan().
 * \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunGaussian(const CudaGaussianPlan &     plan,
            const DeviceView &           input,
            const DeviceView &           output,
            Workspace                    workspace,
            const Context &              context,
            const std::vector<LineCut> & cuts = {});

/** Queues the passes of an array in the caller's memory, as CudaQueueOnStream() does, on the array's stream. `context`
 * was opened for this stream. \exception CudaError */
void
QueuePasses(const std::vector<CudaArrayPass> & passes,
            const CudaArrayMemory &            input,
            void *                             output,
            const Context &                    context);
} // namespace itk::cuda::gaussian

#endif
