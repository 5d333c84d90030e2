// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides itk::GradientRecursiveGaussianImageFilter.

namespace itk::cuda
{
GaussianOverrides
MakeGradientRecursiveGaussianOverrides()
{
  OverrideList<GradientRecursiveGaussianImageFilter, CudaGradientRecursiveGaussianImageFilter> list(
    "GradientRecursiveGaussianImageFilter");
  // There are no overrides in four dimensions, where ITK's Python package only has vectors of two components.
  list.AddDerivativeOutputs<CovariantVector, 2>(InputComponents());
  list.AddDerivativeOutputs<CovariantVector, 3>(InputComponents());
  return list.Get();
}
} // namespace itk::cuda
