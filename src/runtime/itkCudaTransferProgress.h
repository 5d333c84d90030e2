// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTransferProgress_h
#define itkCudaTransferProgress_h

#include <cstddef>
#include <functional>

namespace itk::cuda
{
/** Called from the thread that transfers, with the share done, 0 to 1. It may throw to abort the transfer. */
using TransferProgress = std::function<void(float)>;

/** Tells when rows of the device image are on their way. Work on them can then begin before the other rows are. The
 * functions are called from any of the threads that transfer. They may throw to abort the transfer. */
struct RowGroups
{
  size_t RowsPerGroup;
  /** Called once for each group, rows `first` to `end` - 1, in any order, when the stream's work up to here copies
   * them. */
  std::function<void(size_t first, size_t end)> Sent;
  /** Called before each copy of an upload that is one of a sequence: it returns when the device's memory may be
   * written. */
  std::function<void()> Open{};
};
} // namespace itk::cuda

#endif
