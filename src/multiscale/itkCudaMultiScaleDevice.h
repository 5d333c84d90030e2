// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMultiScaleDevice_h
#define itkCudaMultiScaleDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDetailNames.h"
#include "itkCudaDeviceView.h"
#include "itkCudaTensorDevice.h"
#include "itkCudaWorkspace.h"

#include <cstddef>

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::multiscale
{
/** Bytes of the workspace that RunMultiScale() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetMultiScaleWorkspace(const CudaMultiScalePlan & plan, const DeviceView & input, int device);

/** Queues all scales. The images of `best` have the input's rows and type; its Lowest is set by the plan. The input is
 * kept. Calls `progress` between scales. The function never waits, allocates or transfers. \exception CudaError, or
 * what `progress` throws */
CudaFilters_EXPORT void
RunMultiScale(const CudaMultiScalePlan &   plan,
              const DeviceView &           input,
              pointwise::BestScale         best,
              Workspace                    workspace,
              const Context &              context,
              const CudaProgressFunction & progress);
} // namespace itk::cuda::multiscale

#endif
