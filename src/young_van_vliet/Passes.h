// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Passes_h
#define CudaFilters_young_van_vliet_Passes_h

#include "CudaFiltersExport.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>
#include <functional>

// Queues one pass of Young and van Vliet's filter on the device.

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
} // namespace itk::cuda::young_van_vliet

#endif
