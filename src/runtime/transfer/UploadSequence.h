// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_UploadSequence_h
#define CudaFilters_runtime_transfer_UploadSequence_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingMemory.h"

#include <cstddef>
#include <exception>

namespace itk::cuda
{
/** \class UploadSequence
 * \brief Uploads of ordinary memory that follow each other without a gap.
 *
 * Each thread takes chunks of one upload after the other. It does not wait for threads that are still busy with the
 * previous upload, and continues in page-locked memory that is in its caches. The virtual functions are called from any
 * of these threads, also concurrently.
 */
class CudaFilters_EXPORT UploadSequence
{
public:
  virtual ~UploadSequence() = default;

  /** Returns whether an upload can be part of a sequence. This requires that the bytes on the device equal those on the
   * host, and that the host memory is not page-locked. */
  static bool
  Suits(const CudaImageView & host, const DeviceView & device);

  /** Runs `number` uploads, for which Suits() must hold, on the stream of `staging`, through the slots that it keeps
   * and with its helper threads. On return no thread reads the host's memory or calls a function, but the last copies
   * may still run. */
  void
  Run(size_t number, StagingMemory & staging);

private:
  class Uploads;

  virtual CudaImageView
  GetHost(size_t index) const = 0;

  /** Returns the destination of the upload. Its memory may be in use until Open() returns. */
  virtual DeviceView
  GetDevice(size_t index) const = 0;

  /** Called before each copy of an upload, possibly for a later upload first. It may block until the previous uploads
   * are sent, and may throw to end the sequence. */
  virtual void
  Open(size_t index) = 0;

  /** Called when the last copy of an upload has been queued. It may throw to end the sequence. */
  virtual void
  MarkSent(size_t index) = 0;

  /** Called with the exception that ended a thread's work, which is a CudaError or comes from these functions. From
   * then on Open() must not block. */
  virtual void
  Stop(std::exception_ptr error) noexcept = 0;
};
} // namespace itk::cuda

#endif
