// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Device_h
#define CudaFilters_young_van_vliet_Device_h

#include "CudaFiltersExport.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>
#include <functional>

// Queues Young and van Vliet's filter on the device, one pass (RunPass()) or all passes of a plan
// (RunPartitioned()).

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::young_van_vliet
{
/** Returns the maximum number of bytes of device memory that a pass needs in addition to its two images of `size`. */
CudaFilters_EXPORT size_t
GetPassWorkspace(const CudaPartitionedGaussianPlan & plan,
                 const CudaPartitionedGaussianPass & pass,
                 const DeviceView::SizeType &        size,
                 CudaComponentType                   type);

/** Callback for the completed share of a pass, from 0 to 1. */
using PassProgress = std::function<void(float)>;

/** Queues one pass. The result is in `destination`, and the contents of `source` are lost. The two images must have the
 * same size, strides and type, and must not overlap. There may be gaps only at the end of rows. `workspace` must have
 * GetPassWorkspace() bytes. Where the driver's watchdog ends long kernels, large images and long lines of the one-way
 * partition take several launches. The function then waits for each launch and calls `progress`, which may throw to
 * abort. \exception CudaError */
CudaFilters_EXPORT void
RunPass(const CudaPartitionedGaussianPlan & plan,
        const CudaPartitionedGaussianPass & pass,
        const DeviceView &                  source,
        const DeviceView &                  destination,
        Workspace                           workspace,
        const Context &                     context,
        const PassProgress &                progress = {});

/** Returns the bytes of the workspace that RunPartitioned() needs. */
CudaFilters_EXPORT size_t
GetPartitionedWorkspace(const CudaPartitionedGaussianPlan & plan, const DeviceView & input);

/** Queues a plan's passes. The output has the input's size, strides and type. If the plan allows the input to be
 * overwritten and its number of passes is even, the output is the input. The function never allocates or transfers. It
 * waits only where the driver's watchdog ends long kernels. `progress` is called as by RunPass(), with the completed
 * share of all passes.
 * \exception CudaError */
CudaFilters_EXPORT void
RunPartitioned(const CudaPartitionedGaussianPlan & plan,
               const DeviceView &                  input,
               const DeviceView &                  output,
               Workspace                           workspace,
               const Context &                     context,
               const PassProgress &                progress = {});
} // namespace itk::cuda::young_van_vliet

#endif
