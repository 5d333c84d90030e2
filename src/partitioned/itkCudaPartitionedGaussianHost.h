// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionedGaussianHost_h
#define itkCudaPartitionedGaussianHost_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailNames.h"
#include "itkCudaDetailPartitionedGaussianPlan.h"

#include <cstddef>

namespace itk::cuda::partitioned
{
/** Filters one line in float or double, as `pass` says, with the partition, borders and storage of `plan`. `input` and
 * `output` are different memory. */
template <typename T>
CudaFilters_EXPORT void
FilterLine(const CudaPartitionedGaussianPlan & plan,
           const CudaPartitionedGaussianPass & pass,
           const T *                           input,
           T *                                 output,
           size_t                              length);
} // namespace itk::cuda::partitioned

#endif
