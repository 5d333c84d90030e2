// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverride.h"

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
