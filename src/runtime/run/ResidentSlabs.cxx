// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/ResidentSlabs.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"

#include <utility>

// Queues the work on slabs that lie on devices (ResidentSlabs).

namespace itk::cuda
{
ResidentSlabs::Queue::Queue(const ResidentPart & part)
  : Stream(GetThreadContext(GetMemory(part.Input).GetDevice()))
  , Input(GetDeviceView(part.Input))
  , Output(GetDeviceView(part.Output))
  , Reading(part.Input, Stream)
  , Writing(part.Output, Stream)
{}

ResidentSlabs::ResidentSlabs(const std::vector<ResidentPart> & parts)
{
  for (const ResidentPart & part : parts)
  {
    const DeviceGuard guard(GetMemory(part.Input).GetDevice());
    m_Queues.emplace_back(part);
  }
}

const Context &
ResidentSlabs::GetContext(size_t queue) const
{
  return m_Queues[queue].Stream;
}

void
ResidentSlabs::Drain() noexcept
{
  for (const Queue & queue : m_Queues)
  {
    DrainStream(queue.Stream);
  }
}

void
ResidentSlabs::Start(const std::vector<InputSlab> & slabs,
                     SlabAlgorithm &                algorithm,
                     std::function<void(float)>     progress)
{
  m_Slabs = slabs;
  m_Algorithm = &algorithm;
  m_Progress = std::move(progress);
}

SlabPlanes
ResidentSlabs::Next()
{
  for (size_t slab = 0; slab < m_Slabs.size(); ++slab)
  {
    const DeviceGuard guard(m_Queues[slab].Stream.GetDevice());
    m_Algorithm->OnUploaded(slab, slab, m_Queues[slab].Input);
  }
  const auto forEachResult = [this](const auto & function) {
    for (size_t slab = 0; slab < m_Slabs.size(); ++slab)
    {
      if (m_Slabs[slab].HasResult)
      {
        const DeviceGuard guard(m_Queues[slab].Stream.GetDevice());
        function(slab, m_Queues[slab]);
      }
    }
  };
  forEachResult(
    [this](size_t slab, const Queue & queue) { m_Algorithm->Compute(slab, slab, queue.Input, 0, queue.Output); });
  forEachResult([](size_t, const Queue & queue) { ITK_CUDA_CALL(cudaStreamSynchronize(queue.Stream.GetStream())); });
  if (m_Progress)
  {
    m_Progress(1.0f);
  }
  return {};
}
} // namespace itk::cuda
