// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_Progress_h
#define CudaFilters_runtime_run_Progress_h

#include "itkCudaDetailOperation.h"
#include "runtime/DetailNames.h"

#include <cstddef>

namespace itk::cuda
{
/** Returns the progress function of one of several equal parts, counted from 0. All parts together are the share from
 * `begin` to `end` of `progress`, which may be empty and must exist as long as the result. */
inline CudaProgressFunction
GetPartOfProgress(const CudaProgressFunction & progress,
                  float                        begin,
                  float                        end,
                  size_t                       part = 0,
                  size_t                       numberOfParts = 1)
{
  return [&progress, begin, end, part, numberOfParts](float done) {
    if (progress)
    {
      progress(begin + (end - begin) * (static_cast<float>(part) + done) / static_cast<float>(numberOfParts));
    }
  };
}
} // namespace itk::cuda

#endif
