// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/DownloadSequence.h"

#include "runtime/device/Device.h"
#include "runtime/transfer/HelperThreads.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/transfer/PinnedTransfer.h"
#include "runtime/image/Math.h"
#include "runtime/device/Spin.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/transfer/TransferJob.h"
#include "runtime/transfer/TransferLayout.h"
#include "runtime/transfer/TransferPolicy.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

// Implements DownloadSequence. Its threads empty slots of page-locked memory while the device fills others.

namespace itk::cuda
{
namespace
{
// One slot is emptied while the link fills the other two.
constexpr size_t slotsPerWorker = 3;
} // namespace

/** The state of the downloads during Run(). */
class DownloadSequence::Downloads
{
public:
  Downloads(DownloadSequence & sequence, StagingMemory & staging, size_t workers)
    : m_Sequence(sequence)
    , m_Staging(staging)
    , m_Workers(workers)
    , m_Downloads(sequence.GetNumber())
  {
    std::deque<StagingSlot> & slots = staging.GetSlots();
    while (slots.size() < slotsPerWorker * workers)
    {
      slots.emplace_back();
    }
    for (StagingSlot & slot : slots)
    {
      m_FreeSlots.push_back(&slot);
    }
  }

  /** Does one thread's part of all downloads. */
  void
  TakePart() noexcept
  {
    try
    {
      const DeviceGuard guard(m_Staging.GetContext().GetDevice());
      Copy              copy;
      while (this->TakeCopy(copy))
      {
        this->Empty(copy);
      }
    }
    catch (...)
    {
      m_Sequence.Cancel();
      m_Sequence.Stop(std::current_exception());
    }
  }

private:
  struct Download
  {
    Download(DownloadSequence & sequence, size_t index, StagingMemory & staging, DeviceBuffer raw)
      : Host(sequence.GetHost(index))
      , Device(sequence.GetDevice(index))
      , Job(TransferDirection::Download, Host, Device, staging, Progress, NoCallbacks, std::move(raw))
      , BytesLeft(Job.GetLayout().NumberOfBytes)
    {}

    const CudaImageView    Host;
    const DeviceView       Device;
    const TransferProgress Progress;
    const UploadCallbacks  NoCallbacks{};
    TransferJob            Job;
    std::atomic<size_t>    BytesLeft; // bytes that are not on the host yet
  };

  /** The bytes of a download that are on their way through a slot. */
  struct Copy
  {
    size_t        Index;
    size_t        Begin;
    size_t        End;
    StagingSlot * Slot;
  };

  /** Blocks until there is a queued copy that no thread has taken, and takes it. Returns false if there are no more
   * copies or the sequence was stopped. */
  bool
  TakeCopy(Copy & copy)
  {
    std::unique_lock<std::mutex> lock(m_Sequence.m_Mutex);
    for (;;)
    {
      this->QueueCopies(lock);
      if (m_Sequence.m_IsCancelled)
      {
        return false;
      }
      if (!m_Queued.empty())
      {
        copy = m_Queued.front();
        m_Queued.pop_front();
        return true;
      }
      if (m_Next == m_Downloads.size() && !m_IsQueueing)
      {
        return false;
      }
      this->WaitForChange(lock);
    }
  }

  void
  WaitForChange(std::unique_lock<std::mutex> & lock)
  {
    const unsigned int seen = m_Sequence.m_Changes;
    const auto         isChanged = [&] { return m_Sequence.m_Changes != seen; };
    lock.unlock();
    const bool isSoon = SpinUntil(isChanged);
    lock.lock();
    if (!isSoon)
    {
      m_Sequence.m_Changed.wait(lock, isChanged);
    }
  }

  /** Queues the next copies as long as there are free slots and ready pixels, unless another thread is already
   * queueing. */
  void
  QueueCopies(std::unique_lock<std::mutex> & lock)
  {
    while (!m_IsQueueing && !m_Sequence.m_IsCancelled && !m_FreeSlots.empty() && m_Next < m_Downloads.size() &&
           m_Next < m_Sequence.m_Ready)
    {
      StagingSlot & slot = *m_FreeSlots.back();
      m_FreeSlots.pop_back();
      m_IsQueueing = true;
      lock.unlock();
      const Copy copy = this->QueueCopy(slot);
      lock.lock();
      m_IsQueueing = false;
      m_Queued.push_back(copy);
      const bool isLast = copy.End == m_Downloads[copy.Index]->Job.GetLayout().NumberOfBytes;
      m_Next += isLast ? 1 : 0;
      m_Begin = isLast ? 0 : copy.End;
      m_Sequence.NotifyAll();
    }
  }

  /** Queues the next copy. Only one thread at a time may call it. */
  Copy
  QueueCopy(StagingSlot & slot)
  {
    if (m_Begin == 0)
    {
      this->OpenNext();
    }
    const TransferJob &    job = m_Downloads[m_Next]->Job;
    const TransferLayout & layout = job.GetLayout();
    const size_t           batch = m_Begin / layout.BatchSize;
    if (m_Begin == batch * layout.BatchSize)
    {
      job.Convert(batch);
    }
    const size_t end = std::min(m_Begin + this->GetChunkSize(layout), layout.GetBatchEnd(batch));
    const Copy   copy{ m_Next, m_Begin, end, &slot };
    if (!slot.Memory.GetPointer())
    {
      slot.Memory = PinnedBuffer::Take();
      slot.Copied.emplace();
    }
    job.Copy(slot.Memory.GetPointer(), job.GetDeviceAddress(batch, copy.Begin), copy.End - copy.Begin);
    slot.Copied->Record(job.GetContext());
    return copy;
  }

  /** Creates the next download. It takes over the previous one's memory for the conversion, which is safe because all
   * downloads run in stream order. */
  void
  OpenNext()
  {
    m_Sequence.Open(m_Next);
    DeviceBuffer raw = m_Next > 0 ? m_Downloads[m_Next - 1]->Job.TakeConversionBuffer() : DeviceBuffer();
    m_Downloads[m_Next] = std::make_unique<Download>(m_Sequence, m_Next, m_Staging, std::move(raw));
  }

  /** Returns the size of the next chunk. The chunks of the last download shrink toward its end, because a thread
   * empties a chunk only after its copy, and the caller then waits for less. */
  size_t
  GetChunkSize(const TransferLayout & layout) const
  {
    const bool   isLast = m_Next + 1 == m_Downloads.size();
    const size_t share = RoundUp((layout.NumberOfBytes - m_Begin) / m_Workers, TransferChunk::PageSize);
    return isLast ? std::clamp(share, TransferChunk::SmallestSize, TransferChunk::LargestSize)
                  : TransferChunk::LargestSize;
  }

  void
  Empty(const Copy & copy)
  {
    Download & download = *m_Downloads[copy.Index];
    copy.Slot->Copied->Synchronize();
    download.Job.GetHostBytes().Scatter(
      static_cast<const char *>(copy.Slot->Memory.GetPointer()), copy.Begin, copy.End, m_Staging.IsBidirectional());
    if ((download.BytesLeft -= copy.End - copy.Begin) == 0)
    {
      m_Sequence.MarkDone(copy.Index);
    }
    const std::lock_guard<std::mutex> lock(m_Sequence.m_Mutex);
    m_FreeSlots.push_back(copy.Slot);
    m_Sequence.NotifyAll();
  }

  DownloadSequence & m_Sequence;
  StagingMemory &    m_Staging;
  const size_t       m_Workers;

  // The sequence's mutex protects all members below.
  std::vector<std::unique_ptr<Download>> m_Downloads;
  std::vector<StagingSlot *>             m_FreeSlots;
  std::deque<Copy>                       m_Queued;
  bool   m_IsQueueing{ false }; // whether a thread is queueing; it then owns m_Next and m_Begin
  size_t m_Next{ 0 };           // the next download
  size_t m_Begin{ 0 };          // first byte of its next copy
};

bool
DownloadSequence::Suits(const CudaImageView & host)
{
  return host.GetNumberOfBytes() > 0 && !CanCopyDirectly(StridedBytes(host, 0));
}

void
DownloadSequence::Run(StagingMemory & staging)
{
  if (this->GetNumber() == 0)
  {
    return;
  }
  HelperThreads &    helpers = *staging.GetHelpers();
  const unsigned int useful = GetUsefulThreads(
    TransferDirection::Download, this->GetHost(0).GetNumberOfBytes(), staging.IsBidirectional(), this->FillsNewPages());
  const unsigned int helping = helpers.Reserve(useful - 1);
  Downloads          downloads(*this, staging, helping + size_t{ 1 });
  helpers.Start(helping, [&downloads](unsigned int) { downloads.TakePart(); });
  downloads.TakePart();
  helpers.Join();
}

bool
DownloadSequence::FillsNewPages() const
{
  constexpr size_t samples = 8;
  size_t           missing = 0;
  for (size_t i = 0; i < samples; ++i)
  {
    missing += IsPagePresent(this->GetHost(i * (this->GetNumber() - 1) / (samples - 1)).Data) ? 0 : 1;
  }
  return missing > samples / 2;
}

void
DownloadSequence::MarkReady()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  ++m_Ready;
  this->NotifyAll();
}

void
DownloadSequence::Cancel() noexcept
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_IsCancelled = true;
  this->NotifyAll();
}

void
DownloadSequence::NotifyAll()
{
  ++m_Changes;
  m_Changed.notify_all();
}
} // namespace itk::cuda
