// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTransferCounts_h
#define itkCudaTransferCounts_h

#include "CudaFiltersExport.h"
#include "itkCudaTransferDirection.h"

#include <cstddef>

namespace itk::cuda
{
/** How many transfers there were in this process, and of how many bytes of host images, for tests. */
struct TransferCounts
{
  unsigned long Uploads;
  unsigned long Downloads;
  unsigned long UploadedBytes;
  unsigned long DownloadedBytes;
};

CudaFilters_EXPORT TransferCounts
GetTransferCounts();

/** Called by each transfer. */
void
CountTransfer(TransferDirection direction, size_t bytes);
} // namespace itk::cuda

#endif
