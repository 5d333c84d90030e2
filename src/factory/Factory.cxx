// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianImageFilterFactory.h"

#include "factory/GaussianOverride.h"
#include "itkVersion.h"

#include <algorithm>
#include <mutex>

// Implements CudaGaussianImageFilterFactory. A lock keeps calls of several threads from registering it twice.

namespace itk
{
namespace
{
std::mutex &
GetMutex()
{
  static std::mutex mutex;
  return mutex;
}

bool
IsGaussianFactory(const ObjectFactoryBase * factory)
{
  return dynamic_cast<const CudaGaussianImageFilterFactory *>(factory) != nullptr;
}
} // namespace

CudaGaussianImageFilterFactory::CudaGaussianImageFilterFactory()
{
  for (const cuda::GaussianOverrides & overrides : cuda::MakeAllOverrides())
  {
    for (const cuda::GaussianOverride & override : overrides)
    {
      this->RegisterOverride(
        override.Class, override.Subclass, override.Description.c_str(), true, override.Create.GetPointer());
    }
  }
}

const char *
CudaGaussianImageFilterFactory::GetITKSourceVersion() const
{
  return ITK_SOURCE_VERSION;
}

const char *
CudaGaussianImageFilterFactory::GetDescription() const
{
  return "Gaussian filters on NVIDIA GPUs in the place of ITK's";
}

void
CudaGaussianImageFilterFactory::RegisterFactories()
{
  const std::lock_guard<std::mutex> lock(GetMutex());
  if (!IsRegistered())
  {
    const auto factory = New();
    if (factory->GetClassOverrideNames().empty())
    {
      itkGenericExceptionMacro("CudaGaussianImageFilterFactory overrides nothing: this build of CudaFilters has "
                               "CudaFilters_BUILD_OVERRIDES off");
    }
    ObjectFactoryBase::RegisterFactory(factory, ObjectFactoryEnums::InsertionPosition::INSERT_AT_FRONT);
  }
}

void
CudaGaussianImageFilterFactory::UnRegisterFactories()
{
  const std::lock_guard<std::mutex> lock(GetMutex());
  for (ObjectFactoryBase * const factory : ObjectFactoryBase::GetRegisteredFactories())
  {
    if (IsGaussianFactory(factory))
    {
      ObjectFactoryBase::UnRegisterFactory(factory);
    }
  }
}

bool
CudaGaussianImageFilterFactory::IsRegistered()
{
  const auto factories = ObjectFactoryBase::GetRegisteredFactories();
  return std::any_of(factories.begin(), factories.end(), IsGaussianFactory);
}
} // end namespace itk
