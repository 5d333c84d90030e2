// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailImageView.h"
#include "itkMacro.h"
#include "itkCudaDetailDeviceTransfer.h"

// Verifies the views of images that filters pass to the engines.

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

void
CudaVerifyDeviceImageView(const CudaDeviceImageView & view)
{
  if (view.GetNumberOfElements() == 0)
  {
    return;
  }
  size_t end = view.Offset + 1;
  for (unsigned int axis = 0; axis < CudaDeviceImageView::NumberOfAxes; ++axis)
  {
    end += (view.Size[axis] - 1) * view.Stride[axis];
  }
  const size_t held = view.Memory ? view.Memory->GetSize() / CudaComponentSize(view.ComponentType) : 0;
  if (end > held)
  {
    itkGenericExceptionMacro("The view of device memory ends at element " << end << "; its memory holds " << held);
  }
  if (view.Stride[0] != 1)
  {
    itkGenericExceptionMacro("The pixels of a row are " << view.Stride[0]
                                                        << " elements apart in device memory; they must be adjacent");
  }
}
} // end namespace itk::CudaDetail
