// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
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

/** Receives the share of the work done, 0 to 1. It is called from the thread that runs the engine, and may throw to
 * abort. */
using CudaProgressFunction = std::function<void(float)>;

/** Returns the largest number of bytes of device memory that RunGaussianPlanOnDevice() needs for these views. */
CudaFilters_EXPORT size_t
CudaGaussianWorkingSet(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output);

/** Runs the plan's passes over `input` on the host, on the threads of `threader`, and stores the results in `output`.
 * Lines are filtered in double. Images between passes have the type in which the device computes. One thread filters
 * each line, so the result does not depend on the number of threads.
 *
 * Input and output may be the same memory if only the first pass reads the plan's input. This holds for plans of
 * MakeGaussianLinePlan(), and for plans of MakeGaussianPlan() for two or more axes whose terms have the same sigmas.
 * Each image of the plan that is written before the last pass and cannot share the output's memory takes memory for one
 * component. */
CudaFilters_EXPORT void
RunGaussianPlanOnHost(const CudaGaussianPlan &     plan,
                      const CudaImageView &        input,
                      const CudaImageView &        output,
                      MultiThreaderBase *          threader,
                      const CudaProgressFunction & progress);

/** The valid pixels of an image, and the output value of pixels that have too few of them around. */
struct CudaGaussianMask
{
  CudaImageView Valid; // of the image's size, one component of type UChar; 0 is not valid
  double        FillValue{ 0.0 };
  double        MinimumWeight{ 0.0 };
};

/** Returns the smallest weight by which sums may be divided safely. The limit depends on the undershoot of the impulse
 * response, which is about one thousandth for Deriche and one millionth for Accurate. */
CudaFilters_EXPORT double
CudaGaussianMinimumWeight(CudaFiltersEnums::Approximation approximation);

/** Computes a normalised convolution on the host (Knutsson and Westin, CVPR 1993): the smoothing G of `plan` over the
 * valid pixels alone, G(m x) / G(m), with the mask m of ones and zeros. Where the weight G(m) is below MinimumWeight,
 * the output is FillValue.
 *
 * Pixels that are not valid enter no sum, so they may be NaN. The first valid pixel's value is subtracted before the
 * smoothing and added to the quotient, so that constant images are preserved exactly. With BoundaryMode Constant, the
 * lines continue beyond their ends with valid pixels of the boundary value. Images between passes, the numerator and
 * the weights have the type that RunGaussianPlanOnHost() uses between passes. Input and output may be the same memory.
 *
 * \exception ExceptionObject if the plan was not made by MakeSmoothingPlan(), or the mask and the image differ in
 * size */
CudaFilters_EXPORT void
RunMaskedGaussianPlanOnHost(const CudaGaussianPlan &     plan,
                            const CudaImageView &        input,
                            const CudaGaussianMask &     mask,
                            const CudaImageView &        output,
                            MultiThreaderBase *          threader,
                            const CudaProgressFunction & progress);

/** Uploads `input`, runs the plan's passes on the device and downloads the results to `output`. The output is complete
 * on return. Input and output have the same size and may be the same memory. For each component of the input, the
 * output has as many components as the plan has results.
 *
 * A plan with a Mask computes the same as RunMaskedGaussianPlanOnHost(), and uploads the mask.
 *
 * Passes are computed in float, or in double if either component type is double, int or unsigned int. For integer
 * outputs, results are truncated toward zero and clamped to the type's range.
 *
 * \exception CudaError */
CudaFilters_EXPORT void
RunGaussianPlanOnDevice(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        int                          deviceIndex,
                        const CudaProgressFunction & progress);

/** Does what RunGaussianPlanOnDevice() does, on the device that `backend` selected. Large images that fit into its
 * memory run in slabs instead, with the same bits, if this is expected to take less time and Streaming is not Off.
 *
 * \return false if the device ran out of memory and the backend allows the host, which it then names as used
 *
 * \exception CudaError if the device ran out of memory and the requested backend is Cuda, or for any other error */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaGaussianPlan &     plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress);

/** Returns why a single pass along `axis` is expected to be faster on the host than on the GPU with upload and
 * download, or an empty string if the GPU is expected to be faster. It compares measured times. `numberOfValues` is the
 * number of pixels times components. */
CudaFilters_EXPORT std::string
                   CudaGaussianHostPreference(unsigned int axis, size_t numberOfValues);
} // end namespace itk::CudaDetail

#endif
