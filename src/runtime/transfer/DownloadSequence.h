// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_DownloadSequence_h
#define CudaFilters_runtime_transfer_DownloadSequence_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingChunks.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>

namespace itk::cuda
{
/** \class DownloadSequence
 * \brief Downloads to ordinary memory that follow each other without a break.
 *
 * Copies of a download are queued behind those of the one before, as far as there is page-locked memory for them. Each
 * thread empties one copy's memory after the other, of whichever download. The virtual functions are called from any of
 * these threads.
 */
class CudaFilters_EXPORT DownloadSequence
{
public:
  virtual ~DownloadSequence() = default;

  /** Whether downloads to an image's memory can be a sequence: it is not page-locked. */
  static bool
  Suits(const CudaImageView & host);

  /** Makes the downloads, of which none is empty, on the stream of `staging`, with its helpers, by way of its slots. On
   * return all are on the host. If the sequence was stopped, no thread writes to the host's memory or calls a function;
   * copies into the slots may still run. */
  void
  Run(StagingChunks & staging);

  /** To be called from any thread, once for each download, in their order, when Open() may be called for it. */
  void
  MarkReady();

  /** Ends all threads' work. Run() returns soon. */
  void
  Cancel() noexcept;

private:
  class Downloads;

  virtual size_t
  GetNumber() const = 0;

  virtual CudaImageView
  GetHost(size_t index) const = 0;

  /** Where it comes from. */
  virtual DeviceView
  GetDevice(size_t index) const = 0;

  /** Called once before the copies of a download are queued: makes the stream wait for its pixels. It may throw to end
   * all. */
  virtual void
  Open(size_t index) = 0;

  /** Called once when a download is on the host. It may throw to end all. */
  virtual void
  MarkDone(size_t index) = 0;

  /** Called with what has ended a thread's work: a CudaError, or what these functions throw. */
  virtual void
  Stop(std::exception_ptr error) noexcept = 0;

  /** Whether most downloads go to memory that nothing has touched yet. */
  bool
  FillsNewPages() const;

  /** Lets threads look again. The caller has the mutex. */
  void
  NotifyAll();

  std::mutex                m_Mutex;
  std::condition_variable   m_Changed;
  std::atomic<unsigned int> m_Changes{ 0 }; // for threads that do not sleep
  size_t                    m_Ready{ 0 };   // downloads
  bool                      m_IsCancelled{ false };
};
} // namespace itk::cuda

#endif
