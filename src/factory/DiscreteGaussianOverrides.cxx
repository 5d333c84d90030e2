// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides itk::DiscreteGaussianImageFilter.

namespace itk::cuda
{
GaussianOverrides
MakeDiscreteGaussianOverrides()
{
  OverrideList<DiscreteGaussianImageFilter, CudaDiscreteGaussianImageFilter> list("DiscreteGaussianImageFilter");
  list.AddScalarOutputs();
  return list.Get();
}
} // namespace itk::cuda
