// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTransfer_h
#define itkCudaTransfer_h

#include "CudaFiltersExport.h"
#include "itkCudaDevice.h"
#include "itkCudaDeviceView.h"
#include "itkCudaImageView.h"

#include <cstddef>
#include <functional>

namespace itk::cuda
{
/** Called from the thread that transfers, with the share done, 0 to 1. It may throw to abort the transfer. */
using TransferProgress = std::function<void(float)>;

/** Copies and converts a region of a host image to device memory of the same size and number of components, in the
 * order of the stream's work. On return the host memory has been read; the last conversion may still run on the stream.
 *
 * Ordinary memory goes through page-locked chunks that several threads fill
 * (CudaFiltersConfiguration::GetNumberOfTransferThreads()); page-locked memory is copied as it is. With one thread the
 * sequence of CUDA calls is always the same. \exception CudaError, or what `progress` throws; nothing is in flight any
 * more then. */
CudaFilters_EXPORT void
Upload(const CudaImageView & host, const DeviceView & device, StreamLease & stream, const TransferProgress & progress);

/** The reverse: complete on return. Integer components are truncated toward zero and clamped to their type's range. */
CudaFilters_EXPORT void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         StreamLease &            stream,
         const TransferProgress & progress);

/** How often Upload() and Download() were called in this process, for tests. */
struct TransferCounts
{
  unsigned long Uploads;
  unsigned long Downloads;
};

CudaFilters_EXPORT TransferCounts
GetTransferCounts();

/** Device memory in bytes that Upload() or Download() takes for itself, between this host image and a DeviceImage of
 * `computeType`. */
CudaFilters_EXPORT size_t
GetTransferWorkspace(const CudaImageView & host, CudaComponentType computeType);
} // namespace itk::cuda

#endif
