// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianOverride_h
#define itkCudaGaussianOverride_h

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

/** All of them, in the order in which the factory registers them. */
constexpr GaussianOverrides (*OverrideMakers[])() = { MakeRecursiveGaussianOverrides,
                                                      MakeSmoothingRecursiveGaussianOverrides,
                                                      MakeGradientRecursiveGaussianOverrides,
                                                      MakeGradientMagnitudeRecursiveGaussianOverrides,
                                                      MakeLaplacianRecursiveGaussianOverrides,
                                                      MakeHessianRecursiveGaussianOverrides,
                                                      MakeDiscreteGaussianOverrides };
} // namespace itk::cuda

#endif
