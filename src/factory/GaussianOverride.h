// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_factory_GaussianOverride_h
#define CudaFilters_factory_GaussianOverride_h

#include "itkCreateObjectFunction.h"

#include <string>
#include <vector>

// Declares the functions that list the overrides of ITK's classes, and the function that collects the lists for the
// factory.

namespace itk::cuda
{
/** The data that itk::ObjectFactoryBase needs to override one class. */
struct GaussianOverride
{
  const char *                      Class;       // typeid(ITK's class).name()
  const char *                      Subclass;    // typeid(this module's class).name()
  std::string                       Description; // ITK's class, as a program spells it
  CreateObjectFunctionBase::Pointer Create;
};

using GaussianOverrides = std::vector<GaussianOverride>;

/** Returns the overrides of all classes for input images of a dimension with pixels of these types. Each instantiation
 * has its own file, because these files take most of the compile time. The classes for the same images are in the same
 * file, because they share most of their code: superclasses, internal filters and images. */
template <unsigned int VDimension, typename... TInputs>
GaussianOverrides
MakeOverrides();

/** Returns the overrides that the factory registers. The list is empty in a build without CudaFilters_BUILD_OVERRIDES.
 */
std::vector<GaussianOverrides>
MakeAllOverrides();
} // namespace itk::cuda

#endif
