// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferQueue.h"

#include "runtime/device/Device.h"
#include "runtime/device/Spin.h"
#include "runtime/image/Math.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/transfer/HelperThreads.h"
#include "runtime/transfer/TransferJob.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

// Implements TransferQueue. Its threads fill or empty slots of page-locked memory while the device copies others.

namespace itk::cuda
{
namespace
{
using FreeSlots = std::deque<StagingSlot *>;

/** The bytes of a transfer that a single copy moves. */
struct Chunk
{
  Chunk(size_t index, const TransferJob & job, size_t begin, size_t end, StagingSlot & slot, FreeSlots & freeSlots)
    : Index(index)
    , Job(job)
    , Begin(begin)
    , End(end)
    , Slot(slot)
    , OwnersFreeSlots(freeSlots)
    , BytesLeft(end - begin)
  {}

  const size_t        Index; // of the transfer
  const TransferJob & Job;
  const size_t        Begin; // bytes from the start of the transfer
  const size_t        End;
  StagingSlot &       Slot;
  FreeSlots &         OwnersFreeSlots; // where the slot returns to
  std::atomic<size_t> NextSlice{ 0 };
  std::atomic<size_t> BytesLeft; // bytes that the threads have not copied yet
};

/** A part of a chunk that one thread copies between the host image and the slot. */
struct ChunkSlice
{
  Chunk * Whole{ nullptr };
  size_t  Begin{ 0 };
  size_t  End{ 0 };
};
} // namespace

/** The state of the transfers during Run(). The queue's mutex protects it, except for the members that say otherwise.
 */
class TransferQueue::RunState
{
public:
  RunState(TransferQueue & queue, StagingMemory & staging, const TransferPolicy & policy)
    : m_Queue(queue)
    , m_Staging(staging)
    , m_Policy(policy)
    , m_IsUpload(queue.m_Direction == TransferDirection::Upload)
    , m_Number(queue.GetNumberOfTransfers())
    , m_FreeSlots(policy.ThreadsHaveSlots ? policy.Threads : 1)
  {
    std::deque<StagingSlot> & slots = staging.GetSlots();
    while (slots.size() < policy.Slots)
    {
      slots.emplace_back();
    }
    for (size_t i = 0; i < policy.Slots; ++i)
    {
      m_FreeSlots[i % m_FreeSlots.size()].push_back(&slots[i]);
    }
  }

  /** Does one thread's part of all transfers. Worker 0 is the thread of Run(). */
  void
  TakePart(unsigned int worker) noexcept
  {
    try
    {
      const DeviceGuard guard(m_Staging.GetContext().GetDevice());
      for (ChunkSlice slice; this->TakeSlice(worker, slice);)
      {
        m_IsUpload ? this->Fill(slice) : this->Empty(slice);
        const size_t bytes = slice.End - slice.Begin;
        const size_t done = m_BytesDone += bytes;
        if (worker == 0)
        {
          m_Queue.Report(done);
        }
        if ((slice.Whole->BytesLeft -= bytes) == 0 && !m_IsUpload)
        {
          this->FinishDownload(*slice.Whole);
        }
      }
    }
    catch (...)
    {
      this->Fail(std::current_exception());
    }
  }

  std::exception_ptr
  GetError() const
  {
    return m_Error;
  }

private:
  /** Takes the next slice of the same chunk, or waits for another chunk. Returns false if there are no more slices or
   * the queue has ended. */
  bool
  TakeSlice(unsigned int worker, ChunkSlice & slice)
  {
    if (slice.Whole && this->TakeSliceOf(*slice.Whole, slice))
    {
      return true;
    }
    std::unique_lock<std::mutex> lock = this->Lock();
    for (;;)
    {
      this->QueueCopies(worker, lock);
      if (m_Queue.m_IsStopped)
      {
        return false;
      }
      for (; m_First < (m_IsUpload ? m_Chunks.size() : m_Queued); ++m_First)
      {
        if (this->TakeSliceOf(m_Chunks[m_First], slice))
        {
          return true;
        }
      }
      if (m_IsUpload && this->CanAddChunk(worker))
      {
        this->AddChunk(worker);
      }
      else if (m_First == m_Chunks.size() && m_Transfer == m_Number)
      {
        return false;
      }
      else
      {
        this->WaitForChange(lock);
      }
    }
  }

  /** Takes the next slice of a chunk without the mutex. Returns false if the chunk has no more slices. */
  bool
  TakeSliceOf(Chunk & chunk, ChunkSlice & slice) const
  {
    const size_t begin = chunk.Begin + m_Policy.SliceBytes * chunk.NextSlice++;
    slice = { &chunk, begin, std::min(begin + m_Policy.SliceBytes, chunk.End) };
    return begin < chunk.End && !m_Queue.m_IsStopped;
  }

  /** Returns the free slots for chunks that a thread adds. */
  FreeSlots &
  GetFreeSlots(unsigned int worker)
  {
    return m_FreeSlots[worker % m_FreeSlots.size()];
  }

  /** Returns whether there is another chunk and a slot for it. The slot of an upload is free again when its copy is
   * queued, and that of a download when it is empty. */
  bool
  CanAddChunk(unsigned int worker)
  {
    return m_Transfer < m_Number && (m_IsUpload || m_Transfer < m_Queue.m_Ready) && !this->GetFreeSlots(worker).empty();
  }

  /** Takes the slot of an upload that became free first, because its copy is done first. The slot of a download is the
   * one that became free last, because it is most likely still in the caches. */
  StagingSlot &
  TakeSlot(FreeSlots & slots) const
  {
    StagingSlot & slot = m_IsUpload ? *slots.front() : *slots.back();
    m_IsUpload ? slots.pop_front() : slots.pop_back();
    if (!slot.Memory.GetPointer())
    {
      slot.Memory = PinnedBuffer::Take();
    }
    return slot;
  }

  /** Adds the next chunk, which is the beginning of a transfer if the previous transfer has no more. */
  void
  AddChunk(unsigned int worker)
  {
    if (m_Position == 0)
    {
      m_Jobs.emplace_back(m_Queue.m_Direction,
                          m_Queue.GetHostImage(m_Transfer),
                          m_Queue.GetDeviceImage(m_Transfer),
                          m_Staging.GetContext());
      this->ProvideConversionBuffer(m_Jobs.back());
    }
    const TransferJob &    job = m_Jobs.back();
    const TransferLayout & layout = job.GetLayout();
    const bool             isLast = m_Transfer + 1 == m_Number;
    const size_t end = std::min(m_Position + m_Policy.GetChunkBytes(layout.NumberOfBytes - m_Position, isLast),
                                layout.GetBatchEnd(layout.GetBatch(m_Position)));
    FreeSlots &  freeSlots = this->GetFreeSlots(worker);
    m_Chunks.emplace_back(m_Transfer, job, m_Position, end, this->TakeSlot(freeSlots), freeSlots);
    const bool isComplete = end == layout.NumberOfBytes;
    m_Position = isComplete ? 0 : end;
    m_Transfer += isComplete ? 1 : 0;
  }

  /** Gives a transfer the memory of the previous conversions, or larger memory. The transfers use it in stream order.
   */
  void
  ProvideConversionBuffer(TransferJob & job)
  {
    const size_t bytes = job.GetConversionBytes();
    if (bytes > 0 && (m_ConversionBuffers.empty() || m_ConversionBuffers.back().GetSize() < bytes))
    {
      m_ConversionBuffers.emplace_back(bytes, m_Staging.GetContext());
    }
    job.SetConversionBuffer(bytes > 0 ? m_ConversionBuffers.back().GetPointer() : nullptr);
  }

  /** Queues copies as long as there is one that can be queued, unless another thread does. */
  void
  QueueCopies(unsigned int worker, std::unique_lock<std::mutex> & lock)
  {
    while (!m_IsQueueing && !m_Queue.m_IsStopped && this->FindCopy(worker))
    {
      Chunk & chunk = m_Chunks[m_Queued];
      m_IsQueueing = true;
      lock.unlock();
      this->QueueCopy(chunk);
      lock = this->Lock();
      m_IsQueueing = false;
      ++m_Queued;
      if (m_IsUpload)
      {
        chunk.OwnersFreeSlots.push_back(&chunk.Slot);
      }
      m_Queue.NotifyAll();
    }
  }

  /** Returns whether the copy of the next chunk can be queued. An upload's slot must be full. */
  bool
  FindCopy(unsigned int worker)
  {
    if (m_IsUpload)
    {
      return m_Queued < m_Chunks.size() && m_Chunks[m_Queued].BytesLeft == 0;
    }
    if (this->CanAddChunk(worker))
    {
      this->AddChunk(worker);
    }
    return m_Queued < m_Chunks.size();
  }

  void
  QueueCopy(const Chunk & chunk)
  {
    const TransferJob &    job = chunk.Job;
    const TransferLayout & layout = job.GetLayout();
    const size_t           batch = layout.GetBatch(chunk.Begin);
    if (chunk.Begin == 0)
    {
      m_Queue.Open(chunk.Index);
    }
    if (!m_IsUpload && chunk.Begin == batch * layout.BatchSize)
    {
      job.Convert(batch);
    }
    job.Copy(chunk.Slot.Memory.GetPointer(), job.GetDeviceAddress(chunk.Begin), chunk.End - chunk.Begin);
    if (!chunk.Slot.Copied)
    {
      chunk.Slot.Copied.emplace();
    }
    chunk.Slot.Copied->Record(m_Staging.GetContext());
    if (m_IsUpload && chunk.End == layout.GetBatchEnd(batch))
    {
      job.Convert(batch);
    }
    m_Queue.MarkQueued(chunk.Index, chunk.End);
    if (m_IsUpload && chunk.End == layout.NumberOfBytes)
    {
      m_Queue.MarkDone(chunk.Index);
    }
  }

  /** Copies a slice to the chunk's slot when the slot's previous copy is done. */
  void
  Fill(const ChunkSlice & slice) const
  {
    const StagingSlot & slot = slice.Whole->Slot;
    if (slot.Copied)
    {
      slot.Copied->Synchronize();
    }
    slice.Whole->Job.GetHostBytes().Gather(static_cast<char *>(slot.Memory.GetPointer()) +
                                             (slice.Begin - slice.Whole->Begin),
                                           slice.Begin,
                                           slice.End,
                                           m_Policy.BypassesCaches);
  }

  /** Copies a slice to the host image when the chunk is in its slot. */
  void
  Empty(const ChunkSlice & slice) const
  {
    const StagingSlot & slot = slice.Whole->Slot;
    slot.Copied->Synchronize();
    slice.Whole->Job.GetHostBytes().Scatter(static_cast<const char *>(slot.Memory.GetPointer()) +
                                              (slice.Begin - slice.Whole->Begin),
                                            slice.Begin,
                                            slice.End,
                                            m_Policy.BypassesCaches);
  }

  /** Frees the slot of a download's chunk that is on the host. */
  void
  FinishDownload(const Chunk & chunk)
  {
    if (chunk.Job.AddToHost(chunk.End - chunk.Begin))
    {
      m_Queue.MarkDone(chunk.Index);
    }
    const std::unique_lock<std::mutex> lock = this->Lock();
    chunk.OwnersFreeSlots.push_back(&chunk.Slot);
    m_Queue.NotifyAll();
  }

  /** Waits until another thread has changed the state. A change usually comes sooner than a thread can wake. */
  void
  WaitForChange(std::unique_lock<std::mutex> & lock)
  {
    const unsigned int seen = m_Queue.m_Changes;
    const auto         isChanged = [&] { return m_Queue.m_Changes != seen; };
    lock.unlock();
    const bool isSoon = SpinUntil(isChanged);
    lock = this->Lock();
    if (!isSoon)
    {
      m_Queue.m_Changed.wait(lock, isChanged);
    }
  }

  /** Locks the mutex, which other threads hold for a short time, without sleeping. */
  std::unique_lock<std::mutex>
  Lock() const
  {
    std::unique_lock<std::mutex> lock(m_Queue.m_Mutex, std::defer_lock);
    if (!SpinUntil([&lock] { return lock.try_lock(); }))
    {
      lock.lock();
    }
    return lock;
  }

  /** Keeps the first error and ends the queue. */
  void
  Fail(std::exception_ptr error) noexcept
  {
    m_Queue.Cancel();
    {
      const std::lock_guard<std::mutex> lock(m_Queue.m_Mutex);
      m_Error = m_Error ? m_Error : error;
    }
    m_Queue.OnError(std::move(error));
  }

  TransferQueue &      m_Queue;
  StagingMemory &      m_Staging;
  const TransferPolicy m_Policy;
  const bool           m_IsUpload;
  const size_t         m_Number; // number of transfers
  std::atomic<size_t>  m_BytesDone{ 0 };

  std::vector<FreeSlots>    m_FreeSlots; // of each thread, or of all
  std::deque<TransferJob>   m_Jobs;
  std::vector<DeviceBuffer> m_ConversionBuffers;
  std::deque<Chunk>         m_Chunks;
  size_t                    m_Transfer{ 0 }; // the transfer of the next chunk that is added
  size_t                    m_Position{ 0 }; // and the chunk's first byte
  size_t                    m_First{ 0 };    // first chunk that may have slices for the threads
  size_t                    m_Queued{ 0 };   // number of chunks whose copies are queued
  bool                      m_IsQueueing{ false };
  std::exception_ptr        m_Error;
};

bool
TransferQueue::Suits(const CudaImageView & host)
{
  return host.GetNumberOfBytes() > 0 && !CanCopyDirectly(StridedBytes(host, 0));
}

std::exception_ptr
TransferQueue::Run(StagingMemory & staging)
{
  const size_t number = this->GetNumberOfTransfers();
  if (number == 0)
  {
    return nullptr;
  }
  TransferWorkload workload{ m_Direction, this->GetHostImage(0).GetNumberOfBytes(), number, staging.IsBidirectional() };
  workload.NumberOfSharers = staging.GetNumberOfSharers();
  workload.FillsNewPages = m_Direction == TransferDirection::Download && number > 1 && this->FillsNewPages();
  HelperThreads      helpers;
  const unsigned int helping = helpers.Reserve(GetUsefulThreads(workload, helpers.GetNumberOfWaiting()) - 1);
  RunState           state(*this, staging, TransferPolicy(workload, helping + size_t{ 1 }));
  helpers.Start(helping, [&state](unsigned int worker) { state.TakePart(worker); });
  state.TakePart(0);
  helpers.Join();
  return state.GetError();
}

bool
TransferQueue::FillsNewPages() const
{
  constexpr size_t samples = 8;
  size_t           missing = 0;
  for (size_t i = 0; i < samples; ++i)
  {
    missing += IsPagePresent(this->GetHostImage(i * (this->GetNumberOfTransfers() - 1) / (samples - 1)).Data) ? 0 : 1;
  }
  return missing > samples / 2;
}

void
TransferQueue::MarkReady()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  ++m_Ready;
  this->NotifyAll();
}

void
TransferQueue::Cancel() noexcept
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_IsStopped = true;
  this->NotifyAll();
}

void
TransferQueue::NotifyAll()
{
  ++m_Changes;
  m_Changed.notify_all();
}
} // namespace itk::cuda
