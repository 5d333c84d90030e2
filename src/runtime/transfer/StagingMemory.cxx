// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/StagingMemory.h"

#include "runtime/device/Call.h"
#include "runtime/Process.h"
#include "runtime/device/Stream.h"

// Implements StagingMemory, which keeps slots of page-locked memory until the work of a stream has used them.

namespace itk::cuda
{
StagingMemory::StagingMemory(const Context & context)
  : m_Context(context)
{}

StagingMemory::~StagingMemory()
{
  if (!m_Slots.empty() && !IsForkedProcess())
  {
    this->Drain();
  }
}

void
StagingMemory::Synchronize()
{
  ITK_CUDA_CALL(cudaStreamSynchronize(m_Context.GetStream()));
  this->Forget();
}

void
StagingMemory::Drain() noexcept
{
  DrainStream(m_Context);
  this->Forget();
}
} // namespace itk::cuda
