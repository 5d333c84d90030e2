// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Engine_h
#define CudaFilters_young_van_vliet_Engine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"
#include "young_van_vliet/Passes.h"

#include <cstddef>

// Queues all passes of a plan of Young and van Vliet's filter on images in device memory.

namespace itk::cuda::young_van_vliet
{
/** Returns the bytes of the workspace that RunYoungVanVliet() needs. */
CudaFilters_EXPORT size_t
GetYoungVanVlietWorkspace(const CudaPartitionedGaussianPlan & plan, const DeviceView & input);

/** Queues a plan's passes. The output has the input's size, strides and type. If the plan allows the input to be
 * overwritten and its number of passes is even, the output is the input. The function never allocates or transfers. It
 * waits only where the driver's watchdog ends long kernels. `progress` is called as by RunPass(), with the completed
 * share of all passes.
 * \exception CudaError */
CudaFilters_EXPORT void
RunYoungVanVliet(const CudaPartitionedGaussianPlan & plan,
                 const DeviceView &                  input,
                 const DeviceView &                  output,
                 Workspace                           workspace,
                 const Context &                     context,
                 const PassProgress &                progress = {});
} // namespace itk::cuda::young_van_vliet

#endif
