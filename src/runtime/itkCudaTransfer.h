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

/** Tells when rows of the device image are on their way, so that work on them can begin before the others are. */
struct RowGroups
{
  size_t RowsPerGroup;
  /** Called once for each group, rows `first` to `end` - 1, when the stream's work up to here copies them; from any of
   * the threads that transfer, in any order. It may throw to abort the transfer. */
  std::function<void(size_t first, size_t end)> Sent;
};

/** Copies and converts a region of a host image to device memory of the same size and number of components, in the
 * order of the stream's work. The device image has elements of float or double, or of the host image's type. On return
 * the host memory has been read; the last copies and the last conversion may still run on the stream.
 *
 * Ordinary memory goes through page-locked chunks that several threads fill
 * (CudaFiltersConfiguration::GetNumberOfTransferThreads()); page-locked memory is copied as it is. With one thread the
 * sequence of CUDA calls is always the same. \exception CudaError, or what `progress` throws; nothing is in flight any
 * more then. */
CudaFilters_EXPORT void
Upload(const CudaImageView & host, const DeviceView & device, StreamLease & stream, const TransferProgress & progress);

/** As Upload(), of an image of the device image's type with one component to a pixel and dense rows. */
CudaFilters_EXPORT void
UploadRows(const CudaImageView & host, const DeviceView & device, StreamLease & stream, const RowGroups & groups);

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
