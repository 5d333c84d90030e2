// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_masked_Masked_h
#define CudaFilters_gaussian_masked_Masked_h

#include "itkCudaDetailGaussianEngine.h"
#include "runtime/DetailNames.h"

namespace itk::cuda::gaussian
{
/** \exception ExceptionObject if the plan is none of smoothing, or the mask has another type, or another size than the
 * image, of which only the size counts */
void
VerifyPlanAndMask(const CudaGaussianPlan & plan, const CudaImageView & image, const CudaGaussianMask & mask);
} // namespace itk::cuda::gaussian

#endif
