// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTransferThreads_h
#define itkCudaTransferThreads_h

#include "itkCudaTransferDirection.h"

#include <cstddef>

namespace itk::cuda
{
/** Threads that a transfer of ordinary memory is worth, the calling one included; `sharesHost`: another one runs in the
 * other direction at the same time; `fillsNewPages`: a download is the first to write to its pages. */
unsigned int
GetUsefulThreads(TransferDirection direction, size_t bytes, bool sharesHost, bool fillsNewPages = false);
} // namespace itk::cuda

#endif
