// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianHost_h
#define itkCudaGaussianHost_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailNames.h"

#include <cstddef>

namespace itk::cuda::gaussian
{
/** Filters one line in T, double or float, pixel after pixel; in double it is the reference of the device's kernels.
 * `output` may be `input`.
 *
 * The line continues beyond its ends as `boundary` says. The line's first value is subtracted before the sweeps, so
 * that an offset costs no accuracy and constants come out exactly. */
template <typename T>
CudaFilters_EXPORT void
FilterLine(const CudaGaussianImpulseResponse & kernel,
           const T *                           input,
           T *                                 output,
           size_t                              length,
           const CudaGaussianBoundary &        boundary = {});
} // namespace itk::cuda::gaussian

#endif
