// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaThreadStream_h
#define itkCudaThreadStream_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"

namespace itk::cuda
{
/** The calling thread's own stream on a device, for work that is queued and left to run. Each call of a thread returns
 * the same stream, so its work is in order without events.
 *
 * When the thread ends, another thread may get the stream. Its work then comes after the work still queued. Nothing
 * waits for the stream or destroys it. \exception CudaError if the device cannot be used */
CudaFilters_EXPORT Context
GetThreadContext(int device);
} // namespace itk::cuda

#endif
