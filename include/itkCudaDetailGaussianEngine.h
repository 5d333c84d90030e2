// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailGaussianEngine_h
#define itkCudaDetailGaussianEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"

#include <cstddef>
#include <functional>
#include <string>

namespace itk
{
class MultiThreaderBase;
}

namespace itk::CudaDetail
{
class CudaFilterBackend;

/** Called from the thread that runs the engine with the share of the work done, 0 to 1. It may throw to abort. */
using CudaProgressFunction = std::function<void(float)>;

/** Device memory in bytes that RunGaussianPlanOnDevice() needs for these views, at most. */
CudaFilters_EXPORT size_t
CudaGaussianWorkingSet(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output);

/** Runs the plan's passes over `input` on the host, by the threads of `threader`, and stores the results in `output`:
 * as RunGaussianPlanOnDevice() does on the device, but lines are filtered in double, and only what lies between passes
 * is of the type that the device computes in. Every line is filtered by one thread, so the result does not depend on
 * their number.
 *
 * Input and output may be the same memory if no pass but the first reads the plan's input; so it is in plans of
 * MakeGaussianPlan() for two axes or more whose terms have the same sigmas, and of MakeGaussianLinePlan(). Memory
 * beside input and output: an image of one component for each image of the plan that is written before the last pass
 * and cannot lie in the output. */
CudaFilters_EXPORT void
RunGaussianPlanOnHost(const CudaGaussianPlan &     plan,
                      const CudaImageView &        input,
                      const CudaImageView &        output,
                      MultiThreaderBase *          threader,
                      const CudaProgressFunction & progress);

/** Uploads `input`, runs the plan's passes on the device and downloads the results to `output`; complete on return.
 * Input and output have the same size and may be the same memory. For each component of the input the output has as
 * many components as the plan has results.
 *
 * Passes are computed in float, or in double if either component type is double, int or unsigned int. Results that
 * leave the range of an integer output are clamped to it, others truncated toward zero.
 *
 * \exception CudaError */
CudaFilters_EXPORT void
RunGaussianPlanOnDevice(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        int                          deviceIndex,
                        const CudaProgressFunction & progress);

/** RunGaussianPlanOnDevice() on the device that `backend` selected.
 *
 * \return false if the device ran out of memory and the backend lets the filter take the host, which it then says that
 * it used
 *
 * \exception CudaError that a device ran out of memory if the backend demands it, and all others */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaGaussianPlan &     plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress);

/** Why upload, one pass along `axis` and download take longer than ITK's filter on the host, by measured times for
 * images of so many values (pixels times components); empty if they do not. */
CudaFilters_EXPORT std::string
                   CudaGaussianHostPreference(unsigned int axis, size_t numberOfValues);
} // end namespace itk::CudaDetail

#endif
