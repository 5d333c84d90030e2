// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_PinnedTransfer_h
#define CudaFilters_runtime_transfer_PinnedTransfer_h

#include "runtime/transfer/TransferJob.h"

#include <cstddef>

namespace itk::cuda
{
/** Returns whether a host image is in page-locked memory and its runs are long enough for the copy engine. */
CudaFilters_EXPORT bool
CanCopyDirectly(const StridedBytes & image);

/** \class PinnedTransfer
 * \brief A transfer that copies directly between page-locked host memory and the device.
 */
class PinnedTransfer
{
public:
  explicit PinnedTransfer(TransferJob & job)
    : m_Job(job)
  {}

  /** Returns whether CanCopyDirectly() holds for the job's host image. */
  static bool
  Suits(const TransferJob & job);

  /** Runs the transfer, which is complete on return.
   * \exception CudaError, or any exception from progress or groups of rows, in which case copies may be in flight */
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
