// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/StagingMemory.h"

#include "runtime/device/Call.h"
#include "runtime/Process.h"
#include "runtime/device/Stream.h"

#include <utility>

// Implements StagingMemory, which keeps page-locked chunks until the work of a stream has used them.

namespace itk::cuda
{
StagingMemory::StagingMemory(const Context & context)
  : m_Context(context)
{}

StagingMemory::~StagingMemory()
{
  if ((!m_Chunks.empty() || !m_Slots.empty()) && !IsForkedProcess())
  {
    this->Drain();
  }
}

void
StagingMemory::Keep(PinnedBuffer && chunk)
{
  m_Chunks.push_back(std::move(chunk));
}

PinnedBuffer
StagingMemory::Take()
{
  if (m_Chunks.empty())
  {
    return PinnedBuffer::Take();
  }
  PinnedBuffer chunk = std::move(m_Chunks.back());
  m_Chunks.pop_back();
  return chunk;
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
