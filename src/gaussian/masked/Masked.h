// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_masked_Masked_h
#define CudaFilters_gaussian_masked_Masked_h

#include "itkCudaDetailGaussianEngine.h"
#include "runtime/DetailNames.h"

namespace itk::cuda::gaussian
{
/** Verifies the plan and the mask of smoothing with a mask. Only the size of `image` is used.
 * \exception ExceptionObject if the plan does not smooth, if the mask is of the wrong type, or if its size differs from
 * the image's */
void
VerifyPlanAndMask(const CudaGaussianPlan & plan, const CudaImageView & image, const CudaGaussianMask & mask);

/** Runs a plan that has a mask on the host (CudaGaussianMask). */
void
RunMaskedOnHost(const CudaGaussianPlan &     plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                MultiThreaderBase *          threader,
                const CudaProgressFunction & progress);
} // namespace itk::cuda::gaussian

#endif
