// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailTensorEngine_h
#define itkCudaDetailTensorEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailTensorPlan.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>

// Eigenvalues and measures of images of tensors. Pixels are computed in float, or in double if either component type is
// double, int or unsigned int. Integer outputs are truncated toward zero and clamped to the type's range. The host and
// the device give the same bits. A pixel with an element that is not finite gives NaN, and 0 in integer outputs.

namespace itk::CudaDetail
{
/** Throws unless tensors and output have the plan's components.
 * \exception ExceptionObject that names the numbers */
CudaFilters_EXPORT void
CudaVerifyTensorComponents(unsigned int dimension, size_t results, size_t inputComponents, size_t outputComponents);

/** Largest number of bytes of device memory that CudaRunOnDevice() needs for these views. */
CudaFilters_EXPORT size_t
CudaTensorWorkingSet(const CudaEigenPlan & plan, const CudaImageView & input, const CudaImageView & output);
CudaFilters_EXPORT size_t
CudaTensorWorkingSet(const CudaHessianMeasure & plan, const CudaImageView & input, const CudaImageView & output);

/** Runs the plan over `input` on the host, by the threads of `threader`. Input and output are different memory. */
CudaFilters_EXPORT void
CudaRunOnHost(const CudaEigenPlan &        plan,
              const CudaImageView &        input,
              const CudaImageView &        output,
              MultiThreaderBase *          threader,
              const CudaProgressFunction & progress);
CudaFilters_EXPORT void
CudaRunOnHost(const CudaHessianMeasure &   plan,
              const CudaImageView &        input,
              const CudaImageView &        output,
              MultiThreaderBase *          threader,
              const CudaProgressFunction & progress);

CudaFilters_EXPORT void
CudaRunOnHost(const CudaLineDirectionPlan & plan,
              const CudaImageView &         input,
              const CudaImageView &         output,
              MultiThreaderBase *           threader,
              const CudaProgressFunction &  progress);

/** Uploads `input`, runs the plan on the device that `backend` selected and downloads the result to `output`.
 *
 * \return false if the device ran out of memory and the backend allows the host, which it then names as used
 *
 * \exception CudaError, or what `progress` throws */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaEigenPlan &        plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress);
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaHessianMeasure &   plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress);

/** Queues the plan on device images. \exception CudaError */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaEigenPlan & plan, const CudaDeviceImageView & input, const CudaDeviceImageView & output);
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaHessianMeasure &  plan,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output);
} // end namespace itk::CudaDetail

#endif
