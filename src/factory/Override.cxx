// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianImageFilterFactory.h"

#include <cstdlib>
#include <cstring>

// Registers the factory before main() if the environment has ITK_CUDAFILTERS_OVERRIDE=1.
//
// This file is an object library of its own, CudaFilters::Override, because a linker would drop it from a library from
// which the program uses nothing else.
namespace
{
[[maybe_unused]] const bool isRegistered = [] {
  const char * const value = std::getenv("ITK_CUDAFILTERS_OVERRIDE");
  const bool         active = value && std::strcmp(value, "1") == 0;
  if (active)
  {
    // Unlike RegisterFactory(), this function may be called before main(), because it loads no library, and its
    // registration survives ReHash().
    itk::ObjectFactoryBase::RegisterFactoryInternal(itk::CudaGaussianImageFilterFactory::New());
  }
  return active;
}();
} // namespace
