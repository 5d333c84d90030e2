// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaThreadStream_h
#define itkCudaThreadStream_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"

namespace itk::cuda
{
/** The calling thread's own stream on a device, for work that is queued and left to run. It is the same at each call,
 * so that work of one thread is in order without events.
 *
 * When the thread ends another one may get the stream, whose work then comes after what is still queued. Nothing ever
 * waits for the stream or destroys it. \exception CudaError if the device cannot be used */
CudaFilters_EXPORT Context
GetThreadContext(int device);
} // namespace itk::cuda

#endif
