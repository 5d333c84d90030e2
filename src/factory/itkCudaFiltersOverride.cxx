// SPDX-License-Identifier: Apache-2.0
#include "CudaFiltersExport.h"
#include "itkCudaGaussianImageFilterFactory.h"

#include <cstdlib>
#include <cstring>

/** Programs linked to the library refer to this variable by a linker option (see src/CMakeLists.txt), or else the
 * linker would drop this file, or the whole library, from a program that uses nothing else of it. */
extern "C"
{
  CudaFilters_EXPORT extern const bool itkCudaFiltersOverride;
  const bool                           itkCudaFiltersOverride = [] {
    const char * const value = std::getenv("ITK_CUDAFILTERS_OVERRIDE");
    const bool         active = value && std::strcmp(value, "1") == 0;
    if (active)
    {
      // Unlike RegisterFactory() this may run before main(): it loads no library and outlives ReHash().
      itk::ObjectFactoryBase::RegisterFactoryInternal(itk::CudaGaussianImageFilterFactory::New());
    }
    return active;
  }();
}
