// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaITKClass_h
#define itkCudaITKClass_h

#include "itkCudaDetailFilterRun.h"
#include "runtime/DetailNames.h"
#include "itkCudaGaussianImageFilterBase.h"

namespace itk::cuda::test
{
template <typename TSuperclass>
struct SuperclassOfITK
{
  using Type = TSuperclass;
};

template <typename TSuperclass>
struct SuperclassOfITK<CudaGaussianImageFilterBase<TSuperclass>>
{
  using Type = TSuperclass;
};

/** The ITK class from which a filter is derived, created without the object factory. */
template <typename TFilter>
using ITKClassOf = CudaHostFilter<typename SuperclassOfITK<typename TFilter::Superclass>::Type>;
} // namespace itk::cuda::test

#endif
