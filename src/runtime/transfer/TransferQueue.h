// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferQueue_h
#define CudaFilters_runtime_transfer_TransferQueue_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/transfer/TransferPolicy.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>

namespace itk::cuda
{
/** \class TransferQueue
 * \brief Runs transfers in one direction between ordinary host memory and the device, without gaps between them.
 *
 * The transfers are divided into chunks, which go through slots of page-locked memory in turn. Several threads fill the
 * slots of an upload or empty those of a download in slices, regardless of the transfer that a chunk belongs to, while
 * the device copies other chunks. The copies are queued in the order of the chunks, by one thread at a time.
 *
 * An object runs once. The virtual functions are called from any of these threads, but those that say so are called in
 * order, one at a time.
 */
class CudaFilters_EXPORT TransferQueue
{
public:
  explicit TransferQueue(TransferDirection direction)
    : m_Direction(direction)
  {}
  virtual ~TransferQueue() = default;

  TransferQueue(const TransferQueue &) = delete;
  TransferQueue &
  operator=(const TransferQueue &) = delete;

  /** Returns whether an image can be transferred by a queue. Its memory must not be page-locked. */
  static bool
  Suits(const CudaImageView & host);

  /** Runs all transfers (none may be empty) on the stream of `staging`, through its slots. On return no thread uses the
   * host's memory or calls a function. The last copies of an upload may still run, and downloads are complete unless
   * the queue failed.
   * \return the exception that ended the queue, if any; copies into or from the slots may then still run */
  std::exception_ptr
  Run(StagingMemory & staging);

  /** Allows the copies of the next download to be queued. It must be called once per download, in their order, from any
   * thread. */
  void
  MarkReady();

  /** Makes all threads end their work, so that Run() returns soon. */
  void
  Cancel() noexcept;

private:
  class RunState;

  virtual size_t
  GetNumberOfTransfers() const = 0;

  virtual CudaImageView
  GetHostImage(size_t index) const = 0;

  /** Returns the pixels on the device. The memory of an upload may be in use until Open() returns. */
  virtual DeviceView
  GetDeviceImage(size_t index) const = 0;

  /** Called in order, before the first copy of a transfer is queued. It makes the stream wait for the device memory,
   * and may block. It may throw to end the queue. */
  virtual void
  Open(size_t /*index*/)
  {}

  /** Called in order, after the copy up to a position in a transfer was queued. It may throw to end the queue. */
  virtual void
  MarkQueued(size_t /*index*/, size_t /*endByte*/)
  {}

  /** Called when all copies of an upload are queued, in order, or when a download is complete on the host. It may throw
   * to end the queue. */
  virtual void
  MarkDone(size_t /*index*/)
  {}

  /** Called from the thread of Run(), with the number of bytes that all threads have moved. It may throw to end the
   * queue. */
  virtual void
  Report(size_t /*bytesDone*/)
  {}

  /** Called with the exception that ended the queue, which is a CudaError or comes from these functions. From then on
   * Open() must not block. */
  virtual void
  OnError(std::exception_ptr) noexcept
  {}

  /** Returns whether most downloads write to memory that nothing has touched yet. */
  bool
  FillsNewPages() const;

  /** Makes waiting threads check their conditions again. The caller holds the mutex. */
  void
  NotifyAll();

  const TransferDirection   m_Direction;
  std::mutex                m_Mutex;
  std::condition_variable   m_Changed;
  std::atomic<unsigned int> m_Changes{ 0 }; // counter that spinning threads watch
  size_t                    m_Ready{ 0 };   // number of downloads that MarkReady() has allowed
  std::atomic<bool>         m_IsStopped{ false };
};
} // namespace itk::cuda

#endif
