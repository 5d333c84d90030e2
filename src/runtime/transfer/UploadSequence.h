// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_UploadSequence_h
#define CudaFilters_runtime_transfer_UploadSequence_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingChunks.h"

#include <cstddef>
#include <exception>

namespace itk::cuda
{
/** \class UploadSequence
 * \brief Uploads of ordinary memory that follow each other without a break.
 *
 * Each thread takes chunks of one upload after the other. It does not wait for threads that are still busy with the one
 * before, and goes on in page-locked memory that lies in its caches. The virtual functions are called from any of these
 * threads, also at the same time.
 */
class CudaFilters_EXPORT UploadSequence
{
public:
  virtual ~UploadSequence() = default;

  /** Whether an upload can be part of a sequence: the bytes on the device are those on the host, which are not
   * page-locked. */
  static bool
  Suits(const CudaImageView & host, const DeviceView & device);

  /** Makes `number` uploads, which suit, on the stream of `staging`, with its helpers, by way of the slots that it
   * keeps. On return no thread reads the host's memory or calls a function; the last copies may still run. */
  void
  Run(size_t number, StagingChunks & staging);

private:
  class Uploads;

  virtual CudaImageView
  GetHost(size_t index) const = 0;

  /** Where it goes. The memory may be in use until Open() returns. */
  virtual DeviceView
  GetDevice(size_t index) const = 0;

  /** Called before each copy of an upload, maybe of a later one first. It may block until the uploads before are sent,
   * and throw to end all. */
  virtual void
  Open(size_t index) = 0;

  /** Called when the last copy of an upload has been queued. It may throw to end all. */
  virtual void
  MarkSent(size_t index) = 0;

  /** Called with what has ended a thread's work: a CudaError, or what these functions throw. From then on Open() must
   * not block. */
  virtual void
  Stop(std::exception_ptr error) noexcept = 0;
};
} // namespace itk::cuda

#endif
