// SPDX-License-Identifier: Apache-2.0
#include "itkCudaStagedPerThread.h"

#include "itkCudaRoundUp.h"

#include <algorithm>

namespace itk::cuda
{
namespace
{
constexpr size_t slotsPerWorker = 2;
} // namespace

StagedPerThread::StagedPerThread(TransferJob & job, size_t workers)
  : StagedTransfer(job)
{
  const size_t slots = slotsPerWorker * workers;
  const size_t most =
    std::clamp(RoundUp(job.GetLayout().NumberOfBytes / slots, PageSize), MinimumChunkSize, MaximumChunkSize);
  // A download's last chunks are smaller, because a thread scatters a chunk after its copy: the caller then waits for
  // less.
  const size_t least = job.IsUpload() ? most : MinimumChunkSize;
  this->MakeChunks(workers, least, most);
  m_Slots = std::vector<StagingSlot>(slots);
}

void
StagedPerThread::Transfer(unsigned int worker)
{
  m_Job.IsUpload() ? this->Upload(worker) : this->Download(worker);
}

void
StagedPerThread::Upload(unsigned int worker)
{
  StagingSlot * const slots = &m_Slots[slotsPerWorker * worker];
  Chunk               chunk{};
  for (size_t turn = 0; this->TakeChunk(chunk); ++turn)
  {
    StagingSlot & slot = slots[turn % slotsPerWorker];
    this->PrepareSlot(slot);
    this->Empty(slot);
    this->Gather(slot, chunk, chunk.Begin, chunk.End);
    if (!this->WaitForBatch(chunk.Batch))
    {
      return;
    }
    const bool slotsAreUsedAgain = m_NextChunk < this->GetChunks().size();
    this->Send(slot, chunk, slotsAreUsedAgain);
    this->CountDone(worker, chunk.End - chunk.Begin);
  }
}

void
StagedPerThread::Download(unsigned int worker)
{
  StagingSlot * const slots = &m_Slots[slotsPerWorker * worker];
  Chunk               chunk{};
  size_t              turn = 0;
  for (; this->TakeChunk(chunk); ++turn)
  {
    StagingSlot & slot = slots[turn % slotsPerWorker];
    this->PrepareSlot(slot);
    this->Empty(slot);
    if (!this->WaitForBatch(chunk.Batch))
    {
      return;
    }
    this->Send(slot, chunk, true);
    this->CountDone(worker, chunk.End - chunk.Begin);
  }
  for (size_t older = 0; older < slotsPerWorker; ++older)
  {
    this->Empty(slots[(turn + older) % slotsPerWorker]);
  }
}

/** Takes the next free chunk. Returns false if there is none, or if the transfer has failed. */
bool
StagedPerThread::TakeChunk(Chunk & chunk)
{
  const size_t index = m_NextChunk++;
  if (this->IsStopped() || index >= this->GetChunks().size())
  {
    return false;
  }
  chunk = this->GetChunks()[index];
  return true;
}

/** Waits for the copy of a slot's chunk. A downloaded chunk is then scattered to the host image. */
void
StagedPerThread::Empty(StagingSlot & slot)
{
  if (!slot.Pending)
  {
    return;
  }
  slot.Copied->Synchronize();
  if (!m_Job.IsUpload())
  {
    m_Job.GetByteStream().Scatter(static_cast<const char *>(slot.Memory.GetPointer()),
                                  slot.Pending->Begin,
                                  slot.Pending->End,
                                  m_Job.GetStaging().SharesHost());
  }
  slot.Pending.reset();
}
} // namespace itk::cuda
