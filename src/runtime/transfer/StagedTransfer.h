// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_StagedTransfer_h
#define CudaFilters_runtime_transfer_StagedTransfer_h

#include "runtime/transfer/HelperThreads.h"
#include "runtime/transfer/StagingMemory.h"
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
 * \brief A transfer of a host image in ordinary memory through page-locked memory that several threads fill or empty.
 *
 * The job is divided into chunks. Each chunk is a single copy between page-locked memory and the device. The chunks of
 * one batch of the conversion are copied in any order. The subclasses decide which thread fills or empties which
 * memory. An object must live until the copies that it began are done, even if Run() throws.
 */
class StagedTransfer
{
public:
  virtual ~StagedTransfer() = default;

  StagedTransfer(const StagedTransfer &) = delete;
  StagedTransfer &
  operator=(const StagedTransfer &) = delete;

  /** Queues the work that needs no thread.
   * \exception CudaError in which case copies may be in flight */
  void
  Begin();

  /** Transfers the rest with the calling thread and `number` of the helper threads. Uploads leave the page-locked
   * memory of their last copies to the job's StagingMemory.
   * \exception CudaError, or any exception from progress or groups of rows, in which case copies may be in flight */
  void
  Run(HelperThreads & helpers, unsigned int number);

  /** Does one thread's part of the work that Begin() left. Worker 0 is the calling thread. It is called directly only
   * for a transfer that Run() does not run. */
  void
  TakePart(unsigned int worker) noexcept;

  /** Rethrows the exception that ended a thread's part, if any. */
  void
  ThrowIfFailed();

protected:
  using Chunk = TransferChunk;

  explicit StagedTransfer(TransferJob & job)
    : m_Job(job)
    , m_Slots(ReusesSlots(job) ? job.GetStaging().GetSlots() : m_OwnSlots)
  {}

  /** Returns whether the transfer uses the slots of the previous transfer, whose copies may still be running, and
   * leaves them to the next one. */
  static bool
  ReusesSlots(const TransferJob & job)
  {
    return job.IsUpload() && job.GetStaging().ReusesSlots() && (job.GetLayout().IsLarge() || job.IsInSequence());
  }

  /** Queues the work that needs no thread, for Begin(). Does nothing by default. */
  virtual void
  Prepare()
  {}

  /** Does the share of one thread. Worker 0 is the calling thread. */
  virtual void
  Transfer(unsigned int worker) = 0;

  /** Divides the batches into chunks. The size of a chunk is one worker's share of the remaining bytes, clamped to the
   * range from `least` to `most`. */
  void
  MakeChunks(size_t workers, size_t least, size_t most);

  const std::vector<Chunk> &
  GetChunks() const
  {
    return m_Chunks;
  }

  /** Makes sure that a slot has memory. */
  void
  PrepareSlot(StagingSlot & slot);

  /** Fills the slot of a chunk with bytes `begin` to `end` of the stream. */
  void
  Gather(const StagingSlot & slot, const Chunk & chunk, size_t begin, size_t end) const;

  /** Queues the copy of a chunk between its slot and the device. If `isAwaited`, an event is recorded for waiting for
   * it. */
  void
  Send(StagingSlot & slot, const Chunk & chunk, bool isAwaited);

  /** Blocks until the chunks of a batch may be copied. Returns false if the transfer has failed. */
  bool
  WaitForBatch(size_t batch);

  /** Adds bytes that a thread has finished to the progress. */
  void
  CountDone(unsigned int worker, size_t bytes);

  /** Returns whether a thread has failed, in which case the other threads must end. */
  bool
  IsStopped() const
  {
    return m_Stop;
  }

  TransferJob &             m_Job;
  std::deque<StagingSlot> & m_Slots; // used by the subclass

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
  size_t                  m_ChunksFinished{ 0 }; // of that batch
  std::atomic<bool>       m_Stop{ false };
  std::exception_ptr      m_Error;
};

/** \class StagedInSlices
 * \brief A staged transfer in which all threads work on slices of the same chunk, and then on the next chunk.
 *
 * Every chunk has a slot. The link gets its first work sooner than with one chunk per thread, and less work remains for
 * the host at the end.
 */
class StagedInSlices : public StagedTransfer
{
public:
  /** Returns whether this is faster than StagedPerThread for the given bytes and threads. */
  static bool
  Suits(size_t bytes, size_t workers);

  StagedInSlices(TransferJob & job, size_t workers);

protected:
  void
  Prepare() override;
  void
  Transfer(unsigned int worker) override;

private:
  /** The bytes that one thread copies between the host image and a slot. */
  struct Slice
  {
    size_t ChunkIndex;
    size_t Begin; // bytes from the start of the transfer
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
 * \brief A staged transfer in which each thread fills or empties its own chunks.
 *
 * In an upload each thread has two slots, possibly from the previous upload, and fills one while the other is being
 * copied. A download has two slots per thread, which take turns. The first copies are started before any thread begins,
 * and the thread that has emptied a slot starts the next copy into it.
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
  size_t              m_SlotsInTurns{ 0 }; // slots that a download uses in turn
};
} // namespace itk::cuda

#endif
