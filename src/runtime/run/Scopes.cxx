// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailWorkScope.h"

#include <utility>

// Implements CudaHostScope, which sends filters of a thread to the host, and CudaWorkScope, which calls the hooks of
// an interpreter.

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

namespace
{
CudaWorkHooks workHooks;
}

void
CudaSetWorkHooks(const CudaWorkHooks & hooks)
{
  workHooks = hooks;
}

CudaWorkScope::CudaWorkScope()
{
  this->Begin();
}

CudaWorkScope::~CudaWorkScope() noexcept(false)
{
  this->End();
}

void
CudaWorkScope::Begin()
{
  m_State = workHooks.Begin ? workHooks.Begin() : nullptr;
}

void
CudaWorkScope::End()
{
  if (m_State)
  {
    workHooks.End(std::exchange(m_State, nullptr));
  }
}
} // end namespace itk::CudaDetail
