// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianFirEngine_h
#define itkCudaGaussianFirEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaGaussianEngine.h"
#include "itkCudaGaussianFirPlan.h"
#include "itkCudaImageView.h"

#include <cstddef>

namespace itk
{
/** Device memory in bytes that CudaGaussianFirFilter() needs for these views, at most. */
CudaFilters_EXPORT size_t
CudaGaussianFirWorkingSet(const CudaGaussianFirPlan & plan, const CudaImageView & input, const CudaImageView & output);

/** Uploads `input`, runs the plan's passes on the device and downloads the part of the result that `output` holds;
 * complete on return. Input and output are different memory.
 *
 * Passes are computed in float, or in double if either component type is double, int or unsigned int or the plan
 * truncates. \exception CudaError */
CudaFilters_EXPORT void
CudaGaussianFirFilter(const CudaGaussianFirPlan &  plan,
                      const CudaImageView &        input,
                      const CudaImageView &        output,
                      int                          deviceIndex,
                      const CudaProgressFunction & progress);

/** As CudaRunOnDevice() of the recursive filters' plans. */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaGaussianFirPlan &  plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress);
} // end namespace itk

#endif
