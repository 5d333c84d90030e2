// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_DownloadSequence_h
#define CudaFilters_runtime_transfer_DownloadSequence_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingMemory.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>

namespace itk::cuda
{
/** \class DownloadSequence
 * \brief Downloads to ordinary memory that follow each other without a gap.
 *
 * Copies of a download are queued right behind those of the previous one, as long as there is page-locked memory for
 * them. Each thread empties the page-locked memory of one copy after the other, regardless of the download that it
 * belongs to. The virtual functions are called from any of these threads.
 */
class CudaFilters_EXPORT DownloadSequence
{
public:
  virtual ~DownloadSequence() = default;

  /** Returns whether downloads to an image's memory can form a sequence, which requires that the memory is not
   * page-locked. */
  static bool
  Suits(const CudaImageView & host);

  /** Runs all downloads (none may be empty) on the stream of `staging`, through its slots and with its helper threads.
   * All data is on the host on return. If the sequence was stopped, no thread writes to the host's memory or calls a
   * function any longer, but copies into the slots may still run. */
  void
  Run(StagingMemory & staging);

  /** Allows Open() to be called for the next download. It must be called once per download, in their order, from any
   * thread. */
  void
  MarkReady();

  /** Makes all threads end their work, so that Run() returns soon. */
  void
  Cancel() noexcept;

private:
  class Downloads;

  virtual size_t
  GetNumber() const = 0;

  virtual CudaImageView
  GetHost(size_t index) const = 0;

  /** Returns the source of the download. */
  virtual DeviceView
  GetDevice(size_t index) const = 0;

  /** Called once before the copies of a download are queued. It makes the stream wait for the pixels, and may throw to
   * end the sequence. */
  virtual void
  Open(size_t index) = 0;

  /** Called once when a download is complete on the host. It may throw to end the sequence. */
  virtual void
  MarkDone(size_t index) = 0;

  /** Called with the exception that ended a thread's work, which is a CudaError or comes from these functions. */
  virtual void
  Stop(std::exception_ptr error) noexcept = 0;

  /** Returns whether most downloads write to memory that nothing has touched yet. */
  bool
  FillsNewPages() const;

  /** Wakes the threads so that they check their conditions again. The caller holds the mutex. */
  void
  NotifyAll();

  std::mutex                m_Mutex;
  std::condition_variable   m_Changed;
  std::atomic<unsigned int> m_Changes{ 0 }; // counter that spinning threads watch
  size_t                    m_Ready{ 0 };   // number of downloads that MarkReady() has allowed
  bool                      m_IsCancelled{ false };
};
} // namespace itk::cuda

#endif
