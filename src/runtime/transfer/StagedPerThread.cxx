// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/StagedTransfer.h"

#include "runtime/image/Math.h"
#include "runtime/device/Spin.h"

#include <algorithm>

// Implements StagedPerThread, whose threads have chunks of their own.

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
  const size_t share = RoundUp(job.GetLayout().NumberOfBytes / slots, Chunk::PageSize);
  // In a sequence, chunks need not be divided evenly among threads, because a thread that gets no chunk of this upload
  // takes one of the next.
  const size_t most =
    job.IsInSequence() ? Chunk::LargestSize : std::clamp(share, Chunk::SmallestSize, Chunk::LargestSize);
  // The last chunks of a download are smaller, because a thread scatters a chunk only after its copy, and the caller
  // then waits for less.
  const size_t least = job.IsUpload() ? most : Chunk::SmallestSize;
  this->MakeChunks(workers, least, most);
  while (m_Slots.size() < slots)
  {
    m_Slots.emplace_back();
  }
}

/** Starts the first copies of a download. Copies of later batches must wait for their conversion. */
void
StagedPerThread::Prepare()
{
  const auto & chunks = this->GetChunks();
  if (!m_Job.IsUpload())
  {
    const auto isLater = [](const Chunk & chunk) { return chunk.Batch > 0; };
    const auto first = std::find_if(chunks.begin(), chunks.end(), isLater);
    m_SlotsInTurns = std::min(m_Slots.size(), static_cast<size_t>(first - chunks.begin()));
    for (size_t index = 0; index < m_SlotsInTurns; ++index)
    {
      this->StartCopy(index);
    }
  }
}

void
StagedPerThread::Transfer(unsigned int worker)
{
  m_Job.IsUpload() ? this->Upload(worker) : this->Download(worker);
}

void
StagedPerThread::Upload(unsigned int worker)
{
  size_t index = 0;
  while (this->TakeChunk(index))
  {
    const Chunk & chunk = this->GetChunks()[index];
    StagingSlot & slot = this->GetNextSlot(worker);
    this->PrepareSlot(slot);
    this->Empty(slot);
    this->Gather(slot, chunk, chunk.Begin, chunk.End);
    if (!this->WaitForBatch(chunk.Batch))
    {
      return;
    }
    m_Job.AwaitDevice();
    const bool slotsAreUsedAgain = ReusesSlots(m_Job) || m_NextChunk < this->GetChunks().size();
    this->Send(slot, chunk, slotsAreUsedAgain);
    this->CountDone(worker, chunk.End - chunk.Begin);
  }
}

/** Returns the slot of an upload's thread that has been used less often. This alternates between the thread's slots,
 * even if the previous upload ended with either of them. */
StagingSlot &
StagedPerThread::GetNextSlot(unsigned int worker)
{
  const auto first = m_Slots.begin() + slotsPerWorker * worker;
  const auto hadFewer = [](const StagingSlot & a, const StagingSlot & b) { return a.Turns < b.Turns; };
  const auto slot = std::min_element(first, first + slotsPerWorker, hadFewer);
  ++slot->Turns;
  return *slot;
}

void
StagedPerThread::Download(unsigned int worker)
{
  const auto & chunks = this->GetChunks();
  size_t       index = 0;
  while (this->TakeChunk(index))
  {
    StagingSlot & slot = m_Slots[index % m_SlotsInTurns];
    if (!this->WaitForCopy(slot, index / m_SlotsInTurns))
    {
      return;
    }
    this->Empty(slot);
    this->CountDone(worker, chunks[index].End - chunks[index].Begin);
    const size_t next = index + m_SlotsInTurns;
    if (next < chunks.size())
    {
      if (!this->WaitForBatch(chunks[next].Batch))
      {
        return;
      }
      this->StartCopy(next);
    }
  }
}

/** Takes the next free chunk. Returns false if there is no free chunk or the transfer has failed. */
bool
StagedPerThread::TakeChunk(size_t & index)
{
  index = m_NextChunk++;
  return !this->IsStopped() && index < this->GetChunks().size();
}

/** Queues the copy of a download's chunk into its slot. */
void
StagedPerThread::StartCopy(size_t index)
{
  StagingSlot & slot = m_Slots[index % m_SlotsInTurns];
  this->PrepareSlot(slot);
  this->Send(slot, this->GetChunks()[index], true);
  ++slot.Turns;
}

/** Waits until the copy of a chunk has been queued by the thread that empties the slot before it. Returns false if the
 * transfer has failed. */
bool
StagedPerThread::WaitForCopy(const StagingSlot & slot, size_t turn) const
{
  const auto isStarted = [&] { return slot.Turns > turn || this->IsStopped(); };
  while (!SpinUntil(isStarted))
  {}
  return !this->IsStopped();
}

/** Waits for the copy of the slot's chunk. In a download it then scatters the chunk to the host image. */
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
    m_Job.GetHostBytes().Scatter(static_cast<const char *>(slot.Memory.GetPointer()),
                                 slot.Pending->Begin,
                                 slot.Pending->End,
                                 m_Job.GetStaging().IsBidirectional());
  }
  slot.Pending.reset();
}
} // namespace itk::cuda
