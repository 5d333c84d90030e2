// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianImageFilterFactory.h"

/** Called by ITK for each library in the folders of ITK_AUTOLOAD_PATH, before it makes its first object. */
extern "C" __attribute__((visibility("default"))) itk::ObjectFactoryBase *
itkLoad()
{
  // ITK takes a reference of its own to what it gets.
  static const itk::CudaGaussianImageFilterFactory::Pointer factory = itk::CudaGaussianImageFilterFactory::New();
  return factory;
}
