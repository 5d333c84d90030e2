// SPDX-License-Identifier: Apache-2.0
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides itk::LaplacianRecursiveGaussianImageFilter.

namespace itk::cuda
{
GaussianOverrides
MakeLaplacianRecursiveGaussianOverrides()
{
  OverrideList<LaplacianRecursiveGaussianImageFilter, CudaLaplacianRecursiveGaussianImageFilter> list(
    "LaplacianRecursiveGaussianImageFilter");
  list.AddScalarOutputs();
  return list.Get();
}
} // namespace itk::cuda
