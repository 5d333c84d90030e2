// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianFirHost_h
#define itkCudaGaussianFirHost_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianFirPlan.h"
#include "itkCudaDetailNames.h"

#include <cstddef>

namespace itk::cuda::gaussian
{
/** Convolves one line in float or double: the reference of the device's kernels. `input` and `output` are different
 * memory. */
template <typename T>
CudaFilters_EXPORT void
ConvolveLine(const CudaGaussianFirPass & pass, bool truncate, const T * input, T * output, size_t length);
} // namespace itk::cuda::gaussian

#endif
