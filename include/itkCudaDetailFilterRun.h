// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailFilterRun_h
#define itkCudaDetailFilterRun_h

#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailPixelContainer.h"
#include "itkCudaDetailWorkScope.h"
#include "itkProcessObject.h"

#include <string>

namespace itk::CudaDetail
{
/** Reports the engine's progress as the filter's, and throws ProcessAborted once the filter is asked to abort. */
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

/** Lets the output allocate its pixels in the module's pool of host memory. */
template <typename TImage>
void
CudaUsePooledOutput(TImage * output)
{
  if constexpr (CudaImageTraits<TImage>::IsSupported)
  {
    CudaUsePooledPixelContainer(output, output->GetRequestedRegion());
  }
}
} // end namespace itk::CudaDetail

#endif
