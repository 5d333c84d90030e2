// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianFirDevice_h
#define itkCudaGaussianFirDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianFirPlan.h"
#include "itkCudaDetailNames.h"
#include "itkCudaDeviceView.h"
#include "itkCudaWorkspace.h"

#include <cstddef>

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::gaussian
{
/** Bytes of device memory that a pass needs beside source and destination. */
CudaFilters_EXPORT size_t
GetFirWorkspace(const CudaGaussianFirPass & pass, CudaComponentType type);

/** Queues one pass. Source and destination are different memory and have the same size, strides and type; rows follow
 * each other at Stride[1], and each further axis where the one before ends. The destination's padding may be written.
 * `workspace` has GetFirWorkspace() bytes. \exception CudaError */
CudaFilters_EXPORT void
RunFirPass(const CudaGaussianFirPass & pass,
           bool                        truncate,
           const DeviceView &          source,
           const DeviceView &          destination,
           Workspace                   workspace,
           const Context &             context);

/** Bytes of the workspace that RunFir() needs. */
CudaFilters_EXPORT size_t
GetFirWorkspace(const CudaGaussianFirPlan & plan, const DeviceView & input);

/** Queues a plan's passes. The output has the input's size, strides and type. If the plan allows the input to be
 * overwritten and its number of passes is even, the output is the input. The function ignores OutputOffset, which is
 * for the reader of the output. It never waits, allocates or transfers images. \exception CudaError */
CudaFilters_EXPORT void
RunFir(const CudaGaussianFirPlan & plan,
       const DeviceView &          input,
       const DeviceView &          output,
       Workspace                   workspace,
       const Context &             context);
} // namespace itk::cuda::gaussian

#endif
