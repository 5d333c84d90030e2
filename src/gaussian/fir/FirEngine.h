// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_fir_FirEngine_h
#define CudaFilters_gaussian_fir_FirEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>

// Queues all passes of a plan of convolutions on images in device memory.

namespace itk::cuda::gaussian
{
/** Returns the bytes of the workspace that RunFir() needs. */
CudaFilters_EXPORT size_t
GetFirWorkspace(const CudaGaussianFirPlan & plan, const DeviceView & input);

/** Queues a plan's passes. The output has the input's size, strides and type. If the plan allows the input to be
 * overwritten and has an even number of passes, the output is the input. OutputOffset is ignored here; it is for the
 * reader of the output. The function never waits, allocates or transfers images. \exception CudaError */
CudaFilters_EXPORT void
RunFir(const CudaGaussianFirPlan & plan,
       const DeviceView &          input,
       const DeviceView &          output,
       Workspace                   workspace,
       const Context &             context);
} // namespace itk::cuda::gaussian

#endif
