// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_multiscale_MultiScaleProgress_h
#define CudaFilters_multiscale_MultiScaleProgress_h

#include "itkCudaDetailGaussianEngine.h"
#include "runtime/DetailNames.h"

#include <cstddef>

namespace itk::cuda::multiscale
{
/** The progress of one scale of several, which together are the part of the run from `begin` to `end`. */
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
