// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_StagedTransfer_h
#define CudaFilters_runtime_transfer_StagedTransfer_h

#include "runtime/transfer/HelperThreads.h"
#include "runtime/transfer/StagingChunks.h"
#include "runtime/transfer/TransferJob.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

namespace itk::cuda
{
/** \class StagedTransfer
 * \brief A transfer of a host image in ordinary memory, by way of page-locked memory that several threads fill or
 * empty.
 *
 * The job is divided into chunks. A chunk is copied between page-locked memory and the device in one go. Chunks of one
 * batch of the conversion are copied in any order. The subclasses say which thread fills or empties what. An object
 * must live until the copies that it began are done, also if Run() throws.
 */
class StagedTransfer
{
public:
  virtual ~StagedTransfer() = default;

  StagedTransfer(const StagedTransfer &) = delete;
  StagedTransfer &
  operator=(const StagedTransfer &) = delete;

  /** Queues what needs no thread. \exception CudaError; copies may be in flight then */
  void
  Begin();

  /** Transfers the rest with the calling thread and so many of the helpers. Uploads leave the page-locked memory of
   * their last copies to the job's StagingChunks. \exception CudaError, or what progress or groups of rows throw;
   * copies may be in flight then */
  void
  Run(HelperThreads & helpers, unsigned int number);

  /** A thread's part of what Begin() left; 0 is the calling thread. For a transfer that Run() does not run. */
  void
  TakePart(unsigned int worker) noexcept;

  /** Throws what has ended a thread's part. */
  void
  ThrowIfFailed();

protected:
  using Chunk = StagingChunk;

  explicit StagedTransfer(TransferJob & job)
    : m_Job(job)
    , m_Slots(KeepsSlots(job) ? job.GetStaging().GetSlots() : m_OwnSlots)
  {}

  /** Whether the slots are those of the transfer before, whose copies may be under way, and are left to the next one.
   */
  static bool
  KeepsSlots(const TransferJob & job)
  {
    return job.IsUpload() && job.GetStaging().KeepsSlots() && (job.GetLayout().IsLarge() || job.IsInSequence());
  }

  /** Called by Begin(). */
  virtual void
  Prepare()
  {}

  /** The share of a thread: 0 is the calling one. */
  virtual void
  Transfer(unsigned int worker) = 0;

  /** Divides the batches into chunks. A chunk's size is one worker's share of the remaining bytes, within the
   * limits. */
  void
  MakeChunks(size_t workers, size_t least, size_t most);

  const std::vector<Chunk> &
  GetChunks() const
  {
    return m_Chunks;
  }

  /** Makes sure that a slot has its memory. */
  void
  PrepareSlot(StagingSlot & slot);

  /** Fills a chunk's slot with bytes `begin` to `end`. */
  void
  Gather(const StagingSlot & slot, const Chunk & chunk, size_t begin, size_t end) const;

  /** Starts the copy of a chunk between its slot and the device. */
  void
  Send(StagingSlot & slot, const Chunk & chunk, bool isAwaited);

  /** Blocks until the chunks of a batch may be copied; false if the transfer has failed. */
  bool
  WaitForBatch(size_t batch);

  /** Notes bytes that a thread is done with. */
  void
  CountDone(unsigned int worker, size_t bytes);

  /** Whether a thread has failed. The other threads must then end. */
  bool
  IsStopped() const
  {
    return m_Stop;
  }

  TransferJob &             m_Job;
  std::deque<StagingSlot> & m_Slots; // of the subclass

private:
  void
  FinishChunk(size_t batch);
  void
  Fail(std::exception_ptr error);

  std::deque<StagingSlot> m_OwnSlots;

  std::vector<Chunk>  m_Chunks;
  std::vector<size_t> m_ChunksOfBatch;
  std::atomic<size_t> m_BytesDone{ 0 };
  size_t              m_BytesReported{ 0 };

  std::mutex              m_Mutex;
  std::condition_variable m_BatchOpened;
  size_t                  m_OpenBatch{ 0 };      // the batch whose chunks may be copied
  size_t                  m_ChunksFinished{ 0 }; // in that batch
  std::atomic<bool>       m_Stop{ false };
  std::exception_ptr      m_Error;
};

/** \class StagedInSlices
 * \brief A staged transfer in which all threads work on the same chunk, each on a slice of it at a time, and then on
 * the next chunk.
 *
 * Every chunk has a slot. The link gets work sooner than with chunks for each thread, and less work is left for the
 * host at the end.
 */
class StagedInSlices : public StagedTransfer
{
public:
  /** Whether this way is faster than StagedPerThread for so many bytes and threads. */
  static bool
  Suits(size_t bytes, size_t workers);

  StagedInSlices(TransferJob & job, size_t workers);

protected:
  void
  Prepare() override;
  void
  Transfer(unsigned int worker) override;

private:
  /** What one thread copies between host image and slot. */
  struct Slice
  {
    size_t ChunkIndex;
    size_t Begin; // bytes from the start of all
    size_t End;
  };

  void
  Upload(unsigned int worker);
  void
  Download(unsigned int worker);
  bool
  TakeSlice(Slice & slice);

  std::atomic<size_t> m_NextSlice{ 0 };
};

/** \class StagedPerThread
 * \brief A staged transfer in which each thread fills or empties chunks of its own.
 *
 * Each thread of an upload has two slots, maybe from the upload before. It fills one while the other is on the link. A
 * download has two slots for each thread. They take turns: the first copies are started before any thread begins. The
 * thread that has emptied a slot starts the next copy into it.
 */
class StagedPerThread : public StagedTransfer
{
public:
  StagedPerThread(TransferJob & job, size_t workers);

protected:
  void
  Prepare() override;
  void
  Transfer(unsigned int worker) override;

private:
  void
  Upload(unsigned int worker);
  void
  Download(unsigned int worker);
  StagingSlot &
  GetNextSlot(unsigned int worker);
  bool
  TakeChunk(size_t & index);
  void
  StartCopy(size_t index);
  bool
  WaitForCopy(const StagingSlot & slot, size_t turn) const;
  void
  Empty(StagingSlot & slot);

  std::atomic<size_t> m_NextChunk{ 0 };
  size_t              m_SlotsInTurns{ 0 }; // of a download
};
} // namespace itk::cuda

#endif
