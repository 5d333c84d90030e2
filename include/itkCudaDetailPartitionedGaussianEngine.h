// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPartitionedGaussianEngine_h
#define itkCudaDetailPartitionedGaussianEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailPartitionedGaussianPlan.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>
#include <functional>

namespace itk
{
class MultiThreaderBase;
}

namespace itk::CudaDetail
{
class CudaFilterBackend;

/** Largest number of bytes of device memory that RunPartitionedGaussianPlanOnDevice() needs for these views. */
CudaFilters_EXPORT size_t
CudaPartitionedGaussianWorkingSet(const CudaPartitionedGaussianPlan & plan,
                                  const CudaImageView &               input,
                                  const CudaImageView &               output);

/** Uploads `input`, runs the plan's passes on the device and downloads the result to `output`. The output is complete
 * on return. Input and output have the same size and number of components and are different memory.
 *
 * Passes are computed in float, or in double if either component type is double, int or unsigned int. For integer
 * outputs, results are truncated toward zero and clamped to the type's range, and NaN becomes 0. `progress` is called
 * from the calling thread with the share of the work done, 0 to 1, and may throw to abort.
 * \exception CudaError */
CudaFilters_EXPORT void
RunPartitionedGaussianPlanOnDevice(const CudaPartitionedGaussianPlan & plan,
                                   const CudaImageView &               input,
                                   const CudaImageView &               output,
                                   int                                 deviceIndex,
                                   const std::function<void(float)> &  progress);

/** As CudaRunOnDevice() of the recursive filters' plans. */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaPartitionedGaussianPlan & plan,
                const CudaImageView &               input,
                const CudaImageView &               output,
                CudaFilterBackend &                 backend,
                const std::function<void(float)> &  progress);

/** As CudaQueueOnDevice() of the recursive filters' plans, for a plan that keeps its input. */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaPartitionedGaussianPlan & plan,
                  const CudaDeviceImageView &         input,
                  const CudaDeviceImageView &         output);

/** The same on the host, by the threads of `threader`. Every line is filtered by one thread, so the result does not
 * depend on their number. */
CudaFilters_EXPORT void
RunPartitionedGaussianPlanOnHost(const CudaPartitionedGaussianPlan & plan,
                                 const CudaImageView &               input,
                                 const CudaImageView &               output,
                                 MultiThreaderBase *                 threader,
                                 const std::function<void(float)> &  progress);
} // end namespace itk::CudaDetail

#endif
