// SPDX-License-Identifier: Apache-2.0
#include "CudaFiltersExport.h"
#include "itkCudaGaussianImageFilterFactory.h"

/** Returns the factory for ITK_AUTOLOAD_PATH. factory/Autoload.cxx looks up this function by its name. */
extern "C" CudaFilters_EXPORT itk::ObjectFactoryBase *
                              itkCudaFiltersLoad()
{
  // ITK holds its own reference to the returned factory.
  static const itk::CudaGaussianImageFilterFactory::Pointer factory = itk::CudaGaussianImageFilterFactory::New();
  return factory;
}
