// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaEarlierFailure_h
#define itkCudaEarlierFailure_h

#include "itkCudaError.h"

namespace itk::cuda
{
/** Calls a function that waits for queued work or comes after it. Its failure may be that of a kernel queued long
 * before; the exception says so. */
template <typename TFunction>
void
WithEarlierFailures(const TFunction & function)
{
  try
  {
    function();
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() != CudaError::Kind::CallFailed)
    {
      throw;
    }
    throw CudaError(error.GetFile(),
                    error.GetLine(),
                    error.GetKind(),
                    error.GetDescription() + std::string("; an earlier kernel may have failed: with "
                                                         "ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the filter "
                                                         "whose kernel it was reports it"));
  }
}
} // namespace itk::cuda

#endif
