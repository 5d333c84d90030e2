// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailBorrowedMemory_h
#define itkCudaDetailBorrowedMemory_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceImageMemory.h"

namespace itk::CudaDetail
{
/** Memory of a caller, `bytes` at `data` on `device`, who uses it on `stream` and keeps it. Work of the module comes
 * after all work that is on the stream when it is queued. What the caller queues on the stream afterwards comes after
 * that work, and may free the memory in the stream's order. Nothing waits on the host, and nothing is released.
 *
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used, or if the stream is recorded for
 * a CUDA graph
 * \exception ExceptionObject if `data` is null and `bytes` is not 0 */
CudaFilters_EXPORT CudaDeviceImageMemory::Pointer
CudaBorrowDeviceMemory(void * data, size_t bytes, int device, CudaDeviceImageMemory::StreamType stream);
} // end namespace itk::CudaDetail

#endif
