// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

namespace itk::cuda
{
GaussianOverrides
MakeGradientRecursiveGaussianOverrides()
{
  OverrideList<GradientRecursiveGaussianImageFilter, CudaGradientRecursiveGaussianImageFilter> list(
    "GradientRecursiveGaussianImageFilter");
  // In four dimensions ITK's Python package has vectors of two components only, which are no gradients.
  list.AddDerivativeOutputs<CovariantVector, 2>(InputComponents());
  list.AddDerivativeOutputs<CovariantVector, 3>(InputComponents());
  return list.Get();
}
} // namespace itk::cuda
