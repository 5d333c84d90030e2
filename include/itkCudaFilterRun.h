// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFilterRun_h
#define itkCudaFilterRun_h

#include "itkCudaGaussianEngine.h"
#include "itkCudaImageTraits.h"
#include "itkCudaPixelContainer.h"
#include "itkProcessObject.h"

#include <string>

namespace itk
{
/** Reports the engine's progress as the filter's, and throws ProcessAborted once the filter is asked to abort.
 * \ingroup CudaFilters */
inline CudaProgressFunction
MakeCudaProgressFunction(ProcessObject * filter)
{
  return [filter](float done) {
    filter->UpdateProgress(done);
    if (filter->GetAbortGenerateData())
    {
      ProcessAborted aborted(__FILE__, __LINE__);
      aborted.SetDescription(std::string(filter->GetNameOfClass()) + ": AbortGenerateData was set");
      throw aborted;
    }
  };
}

/** Lets the output's pixels, if they are to be allocated, come from the module's pool of host memory.
 * \ingroup CudaFilters */
template <typename TImage>
void
CudaUsePooledOutput(TImage * output)
{
  if constexpr (CudaImageTraits<TImage>::IsSupported)
  {
    CudaUsePooledPixelContainer(output, output->GetRequestedRegion());
  }
}
} // end namespace itk

#endif
