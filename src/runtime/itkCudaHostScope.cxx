// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailHostScope.h"

namespace itk::CudaDetail
{
namespace
{
thread_local unsigned int depth = 0;
}

CudaHostScope::CudaHostScope() noexcept
{
  ++depth;
}

CudaHostScope::~CudaHostScope()
{
  --depth;
}

bool
CudaHostScope::IsActive() noexcept
{
  return depth > 0;
}
} // end namespace itk::CudaDetail
