// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides itk::GradientMagnitudeRecursiveGaussianImageFilter.

namespace itk::cuda
{
GaussianOverrides
MakeGradientMagnitudeRecursiveGaussianOverrides()
{
  OverrideList<GradientMagnitudeRecursiveGaussianImageFilter, CudaGradientMagnitudeRecursiveGaussianImageFilter> list(
    "GradientMagnitudeRecursiveGaussianImageFilter");
  list.AddScalarOutputs();
  return list.Get();
}
} // namespace itk::cuda
