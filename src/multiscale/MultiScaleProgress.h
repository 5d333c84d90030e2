// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_multiscale_MultiScaleProgress_h
#define CudaFilters_multiscale_MultiScaleProgress_h

#include "itkCudaDetailGaussianEngine.h"
#include "runtime/DetailNames.h"

#include <cstddef>

namespace itk::cuda::multiscale
{
/** Returns a progress function for one of several scales. All scales together are the part from `begin` to `end` of the
 * run's progress. */
inline CudaProgressFunction
GetScaleProgress(const CudaProgressFunction & progress, size_t scale, size_t numberOfScales, float begin, float end)
{
  return [&progress, scale, numberOfScales, begin, end](float done) {
    if (progress)
    {
      progress(begin + (end - begin) * (static_cast<float>(scale) + done) / static_cast<float>(numberOfScales));
    }
  };
}
} // namespace itk::cuda::multiscale

#endif
