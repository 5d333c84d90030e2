// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianDevice_h
#define itkCudaGaussianDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceView.h"
#include "itkCudaGaussianPlan.h"
#include "itkCudaGaussianSchedule.h"

#include <cstddef>
#include <vector>

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::gaussian
{
/** The kind of axis that a pass along `axis` meets in an image of rows. */
inline AxisKind
GetAxisKind(unsigned int axis)
{
  return axis == 0 ? AxisKind::Contiguous : AxisKind::Strided;
}

/** The schedule that RunLinePass() takes on the device. */
CudaFilters_EXPORT LineSchedule
GetLineSchedule(const CudaGaussianLinePass & pass, const std::vector<DeviceView> & images, int device);

/** Bytes of device memory that a pass needs beside source and destination. */
CudaFilters_EXPORT size_t
GetLinePassWorkspace(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Queues one pass on the stream. `images` are those of the plan; they have the same size, strides and type, rows
 * follow each other at Stride[1], and each further axis where the one before ends. Destinations' padding may be
 * written.
 *
 * \exception CudaError */
CudaFilters_EXPORT void
RunLinePass(const CudaGaussianLinePass &    pass,
            const LineSchedule &            schedule,
            const std::vector<DeviceView> & images,
            const Context &                 context);

/** Queues a plan's passes, and then its rotation, on device-resident images. */
CudaFilters_EXPORT void
RunPlan(const CudaGaussianPlan & plan, const std::vector<DeviceView> & images, const Context & context);
} // namespace itk::cuda::gaussian

#endif
