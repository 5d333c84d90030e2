// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_Transfer_h
#define CudaFilters_runtime_transfer_Transfer_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/transfer/TransferPolicy.h"
#include "runtime/memory/DeviceImage.h"

#include <cstddef>

// Uploads host images to device memory and downloads them, in the order of a stream.

namespace itk::cuda
{
/** Copies and converts a region of a host image to device memory of the same size and number of components, in stream
 * order. The device image has elements of float or double, or of the host image's type. On return the host memory has
 * been read. The last copies, which use `staging`, and the last conversion may still run on the stream of its context.
 *
 * Ordinary memory goes through page-locked chunks that several threads fill
 * (CudaFiltersConfiguration::GetNumberOfTransferThreads()). Page-locked memory is copied directly. With one thread the
 * sequence of CUDA calls is always the same.
 * \exception CudaError, or any exception that `progress` throws; in both cases nothing is in flight */
CudaFilters_EXPORT void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       StagingMemory &          staging,
       const TransferProgress & progress);

/** Copies a host image of the device image's type, with one component per pixel and dense rows, as Upload() does. Calls
 * UploadCallbacks::RowsQueued for each group of rows whose copies have been queued. */
CudaFilters_EXPORT void
UploadRows(const CudaImageView &   host,
           const DeviceView &      device,
           StagingMemory &         staging,
           const UploadCallbacks & callbacks);

/** Copies and converts device memory to a host image, which is complete on return. Integer components are truncated
 * toward zero and clamped to their type's range. */
CudaFilters_EXPORT void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         StagingMemory &          staging,
         const TransferProgress & progress);

/** Run one of the transfers above through page-locked memory of its own. All work on the stream is done on return. */
CudaFilters_EXPORT void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       const Context &          context,
       const TransferProgress & progress);
CudaFilters_EXPORT void
UploadRows(const CudaImageView &   host,
           const DeviceView &      device,
           const Context &         context,
           const UploadCallbacks & callbacks);
CudaFilters_EXPORT void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         const Context &          context,
         const TransferProgress & progress);

/** Returns the bytes of device memory that Upload() or Download() allocates for a transfer between this host image and
 * a DeviceImage of `computeType`. */
CudaFilters_EXPORT size_t
GetTransferWorkspace(const CudaImageView & host, CudaComponentType computeType);
} // namespace itk::cuda

#endif
