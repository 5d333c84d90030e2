// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_PinnedTransfer_h
#define CudaFilters_runtime_transfer_PinnedTransfer_h

#include "CudaFiltersExport.h"
#include "runtime/transfer/StridedBytes.h"
#include "runtime/transfer/TransferJob.h"

#include <cstddef>

namespace itk::cuda
{
/** Returns whether a host image is in page-locked memory and its runs are long enough for the copy engine. */
CudaFilters_EXPORT bool
CanCopyDirectly(const StridedBytes & image);

/** Queues the copy of bytes `begin` to `end` of a transfer directly between page-locked host memory and the device.
 * \exception CudaError */
void
CopyDirectly(const TransferJob & job, size_t begin, size_t end);
} // namespace itk::cuda

#endif
