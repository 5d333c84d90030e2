// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/StagedTransfer.h"

#include "runtime/device/Device.h"
#include "runtime/image/Math.h"

#include <algorithm>
#include <utility>

// Implements the steps that both staged transfers share: chunks and their slots, batches, progress and errors.

namespace itk::cuda
{
namespace
{
constexpr size_t mebibyte = size_t{ 1 } << 20;
constexpr size_t progressStep = 64 * mebibyte;

// Measured on one H200 with 16 cores. From 2 to 64 MB it is faster if the link reads from memory than if it snoops the
// caches of several cores: 30 MB take 0.9 to 1.1 ms instead of 1.6 ms. Smaller images take longer if they bypass the
// caches (smoothing 256^2: 0.11 ms instead of 0.08 ms), unless the link is also used in the other direction. Larger
// images reuse the same slots so often that the caches save the way to memory: copies of 200 MB alone take 4.2 ms with
// the caches and 4.6 ms without. 512 MiB in each direction at the same time take 12 to 15 ms with them and 16 to 20 ms
// without.
constexpr size_t minimumBypassingCache = 2 * mebibyte;
} // namespace

void
StagedTransfer::Begin()
{
  if (!m_Job.IsUpload())
  {
    m_Job.Convert(0);
  }
  this->Prepare();
}

void
StagedTransfer::Run(HelperThreads & helpers, unsigned int number)
{
  helpers.Start(number, [this](unsigned int worker) { this->TakePart(worker); });
  this->TakePart(0);
  helpers.Join();
  this->ThrowIfFailed();
  for (StagingSlot & slot : m_OwnSlots)
  {
    if (m_Job.IsUpload() && slot.Memory.GetPointer())
    {
      m_Job.GetStaging().Keep(std::move(slot.Memory)); // the last copies may still be running
    }
  }
}

void
StagedTransfer::TakePart(unsigned int worker) noexcept
{
  try
  {
    const DeviceGuard guard(m_Job.GetContext().GetDevice());
    this->Transfer(worker);
  }
  catch (...)
  {
    this->Fail(std::current_exception());
  }
}

void
StagedTransfer::ThrowIfFailed()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  if (m_Error)
  {
    std::rethrow_exception(m_Error);
  }
}

void
StagedTransfer::MakeChunks(size_t workers, size_t least, size_t most)
{
  const TransferLayout & layout = m_Job.GetLayout();
  for (size_t batch = 0; batch < layout.GetNumberOfBatches(); ++batch)
  {
    const size_t before = m_Chunks.size();
    for (size_t begin = batch * layout.BatchSize; begin < layout.GetBatchEnd(batch); begin = m_Chunks.back().End)
    {
      const size_t size = std::clamp(RoundUp((layout.NumberOfBytes - begin) / workers, Chunk::PageSize), least, most);
      m_Chunks.push_back({ batch, begin, std::min(begin + size, layout.GetBatchEnd(batch)) });
    }
    m_ChunksOfBatch.push_back(m_Chunks.size() - before);
  }
}

void
StagedTransfer::PrepareSlot(StagingSlot & slot)
{
  if (!slot.Memory.GetPointer())
  {
    // An upload fills the memory immediately, while work on the stream may still use the chunks that were kept. It
    // therefore takes a new one.
    const std::lock_guard<std::mutex> lock(m_Mutex);
    slot.Memory = m_Job.IsUpload() ? PinnedBuffer::Take() : m_Job.GetStaging().Take();
  }
}

void
StagedTransfer::Gather(const StagingSlot & slot, const Chunk & chunk, size_t begin, size_t end) const
{
  const TransferLayout & layout = m_Job.GetLayout();
  const bool             bypassCache = !ReusesSlots(m_Job) && !layout.IsLarge() &&
                           (m_Job.GetStaging().IsBidirectional() || layout.NumberOfBytes >= minimumBypassingCache);
  m_Job.GetHostBytes().Gather(
    static_cast<char *>(slot.Memory.GetPointer()) + (begin - chunk.Begin), begin, end, bypassCache);
}

void
StagedTransfer::Send(StagingSlot & slot, const Chunk & chunk, bool isAwaited)
{
  m_Job.Copy(slot.Memory.GetPointer(), m_Job.GetDeviceAddress(chunk.Batch, chunk.Begin), chunk.End - chunk.Begin);
  if (isAwaited)
  {
    if (!slot.Copied)
    {
      slot.Copied.emplace();
    }
    slot.Copied->Record(m_Job.GetContext());
    slot.Pending = chunk;
  }
  if (m_Job.IsUpload())
  {
    m_Job.CountSent(chunk.Begin, chunk.End);
  }
  this->FinishChunk(chunk.Batch);
}

bool
StagedTransfer::WaitForBatch(size_t batch)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  m_BatchOpened.wait(lock, [&] { return m_OpenBatch >= batch || m_Stop; });
  return !m_Stop;
}

/** Counts a chunk whose copy was queued. The last chunk of a batch queues the conversion and opens the next batch. */
void
StagedTransfer::FinishChunk(size_t batch)
{
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (++m_ChunksFinished < m_ChunksOfBatch[batch])
    {
      return;
    }
  }
  if (m_Job.IsUpload())
  {
    m_Job.Convert(batch);
  }
  else if (batch + 1 < m_Job.GetLayout().GetNumberOfBatches())
  {
    m_Job.Convert(batch + 1);
  }
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_ChunksFinished = 0;
    m_OpenBatch = batch + 1;
  }
  m_BatchOpened.notify_all();
}

/** Adds bytes to those that are done, and reports progress if the caller is the calling thread (worker 0). */
void
StagedTransfer::CountDone(unsigned int worker, size_t bytes)
{
  const size_t done = m_BytesDone += bytes;
  if (worker == 0 && done - m_BytesReported >= progressStep && done < m_Job.GetLayout().NumberOfBytes)
  {
    m_BytesReported = done;
    m_Job.ReportBytes(done);
  }
}

/** Keeps the first error and ends the other threads' work. */
void
StagedTransfer::Fail(std::exception_ptr error)
{
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (!m_Error)
    {
      m_Error = std::move(error);
    }
    m_Stop = true;
  }
  m_BatchOpened.notify_all();
}
} // namespace itk::cuda
