// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides itk::SmoothingRecursiveGaussianImageFilter.

namespace itk::cuda
{
GaussianOverrides
MakeSmoothingRecursiveGaussianOverrides()
{
  OverrideList<SmoothingRecursiveGaussianImageFilter, CudaSmoothingRecursiveGaussianImageFilter> list(
    "SmoothingRecursiveGaussianImageFilter");
  list.AddScalarOutputs();
  return list.Get();
}
} // namespace itk::cuda
