// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_PinnedTransfer_h
#define CudaFilters_runtime_transfer_PinnedTransfer_h

#include "runtime/transfer/TransferJob.h"

#include <cstddef>

namespace itk::cuda
{
/** Whether a host image is in page-locked memory, in runs that are long enough for the copy engine. */
CudaFilters_EXPORT bool
IsPageLocked(const StridedByteStream & image);

/** \class PinnedTransfer
 * \brief A transfer of a host image in page-locked memory, straight between it and the device.
 */
class PinnedTransfer
{
public:
  explicit PinnedTransfer(TransferJob & job)
    : m_Job(job)
  {}

  /** Whether the job's host image is in page-locked memory, in runs that are long enough for the copy engine. */
  static bool
  Suits(const TransferJob & job);

  /** The transfer is complete on return. \exception CudaError, or what progress or groups of rows throw; copies may
   * then be in flight */
  void
  Run();

private:
  void
  CopyBytes(size_t batch, size_t begin, size_t end);
  void
  CopyRuns(char * host, char * device, size_t numberOfRuns);

  TransferJob & m_Job;
};
} // namespace itk::cuda

#endif
