// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_factory_GaussianOverride_h
#define CudaFilters_factory_GaussianOverride_h

#include "itkCreateObjectFunction.h"

#include <string>
#include <vector>

namespace itk::cuda
{
/** What itk::ObjectFactoryBase wants to know of one class that is overridden. */
struct GaussianOverride
{
  const char *                      Class;       // typeid(ITK's class).name()
  const char *                      Subclass;    // typeid(this module's class).name()
  std::string                       Description; // ITK's class, as in a program
  CreateObjectFunctionBase::Pointer Create;
};

using GaussianOverrides = std::vector<GaussianOverride>;

// Each is in a file of its own, because these files take most of the compile time.
GaussianOverrides
MakeRecursiveGaussianOverrides();
GaussianOverrides
MakeSmoothingRecursiveGaussianOverrides();
GaussianOverrides
MakeGradientRecursiveGaussianOverrides();
GaussianOverrides
MakeGradientMagnitudeRecursiveGaussianOverrides();
GaussianOverrides
MakeLaplacianRecursiveGaussianOverrides();
GaussianOverrides
MakeHessianRecursiveGaussianOverrides();
GaussianOverrides
MakeDiscreteGaussianOverrides();
GaussianOverrides
MakeTensorOverrides();

/** The overrides in the order in which the factory registers them; none in a build without CudaFilters_BUILD_OVERRIDES.
 */
std::vector<GaussianOverrides>
MakeAllOverrides();
} // namespace itk::cuda

#endif
