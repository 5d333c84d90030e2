// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianDevice_h
#define itkCudaGaussianDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceView.h"
#include "itkCudaGaussianPlan.h"
#include "itkCudaGaussianSchedule.h"

#include <cstddef>

namespace itk::cuda
{
class StreamLease;
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
GetLineSchedule(const CudaGaussianLinePass & pass, const DeviceView & source, int device);

/** Bytes of device memory that a pass needs beside source and destination. */
CudaFilters_EXPORT size_t
GetLinePassWorkspace(const LineSchedule & schedule, const DeviceView & source, unsigned int axis);

/** Queues one pass on the stream. Source and destination are different memory and have the same size, strides and type;
 * rows follow each other at Stride[1], and each further axis where the one before ends. Destination's padding may be
 * written. \exception CudaError */
CudaFilters_EXPORT void
RunLinePass(const CudaGaussianLinePass & pass,
            const LineSchedule &         schedule,
            const DeviceView &           source,
            const DeviceView &           destination,
            const StreamLease &          stream);

/** Queues a whole plan on device-resident images. `scratch` is needed for plans of two passes or more. The source is
 * kept. */
CudaFilters_EXPORT void
RunPlan(const CudaGaussianPlan & plan,
        const DeviceView &       source,
        const DeviceView &       destination,
        const DeviceView &       scratch,
        const StreamLease &      stream);
} // namespace itk::cuda::gaussian

#endif
