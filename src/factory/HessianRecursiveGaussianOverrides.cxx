// SPDX-License-Identifier: Apache-2.0
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides itk::HessianRecursiveGaussianImageFilter.

namespace itk::cuda
{
GaussianOverrides
MakeHessianRecursiveGaussianOverrides()
{
  OverrideList<HessianRecursiveGaussianImageFilter, CudaHessianRecursiveGaussianImageFilter> list(
    "HessianRecursiveGaussianImageFilter");
  list.AddDerivativeOutputs<SymmetricSecondRankTensor, 2>(InputComponents());
  list.AddDerivativeOutputs<SymmetricSecondRankTensor, 3>(InputComponents());
  list.AddDerivativeOutputs<SymmetricSecondRankTensor, 4>(FourDimensionalComponents());
  return list.Get();
}
} // namespace itk::cuda
