// SPDX-License-Identifier: Apache-2.0
#include "CudaFiltersExport.h"
#include "itkCudaGaussianImageFilterFactory.h"

/** The factory for ITK_AUTOLOAD_PATH. factory/Autoload.cxx looks the function up by its name. */
extern "C" CudaFilters_EXPORT itk::ObjectFactoryBase *
                              itkCudaFiltersLoad()
{
  // ITK takes a reference of its own to what it gets.
  static const itk::CudaGaussianImageFilterFactory::Pointer factory = itk::CudaGaussianImageFilterFactory::New();
  return factory;
}
