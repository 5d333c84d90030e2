// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailImageView.h"

#include "itkMacro.h"

namespace itk::CudaDetail
{
void
CudaVerifyComponents(size_t inputComponents, size_t results, size_t outputComponents)
{
  if (outputComponents != inputComponents * results)
  {
    itkGenericExceptionMacro("The output has " << outputComponents << " component(s) to a pixel; it must have "
                                               << inputComponents * results << ", " << results
                                               << " for each of the input's " << inputComponents);
  }
}
} // end namespace itk::CudaDetail
