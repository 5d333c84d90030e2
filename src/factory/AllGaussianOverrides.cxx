// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverride.h"

// Collects the overrides of all classes in a build with CudaFilters_BUILD_OVERRIDES.

namespace itk::cuda
{
std::vector<GaussianOverrides>
MakeAllOverrides()
{
  return { MakeRecursiveGaussianOverrides(),          MakeSmoothingRecursiveGaussianOverrides(),
           MakeGradientRecursiveGaussianOverrides(),  MakeGradientMagnitudeRecursiveGaussianOverrides(),
           MakeLaplacianRecursiveGaussianOverrides(), MakeHessianRecursiveGaussianOverrides(),
           MakeDiscreteGaussianOverrides(),           MakeTensorOverrides() };
}
} // namespace itk::cuda
