// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianImageFilterFactory.h"

#include <cstdlib>
#include <cstring>

// This file is an object of its own, CudaFilters::Override. A linker would drop it from a library if the program uses
// nothing else of the library.
namespace
{
[[maybe_unused]] const bool isRegistered = [] {
  const char * const value = std::getenv("ITK_CUDAFILTERS_OVERRIDE");
  const bool         active = value && std::strcmp(value, "1") == 0;
  if (active)
  {
    // Unlike RegisterFactory() this may run before main(): it loads no library and outlives ReHash().
    itk::ObjectFactoryBase::RegisterFactoryInternal(itk::CudaGaussianImageFilterFactory::New());
  }
  return active;
}();
} // namespace
