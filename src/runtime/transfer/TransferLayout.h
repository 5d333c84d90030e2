// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferLayout_h
#define CudaFilters_runtime_transfer_TransferLayout_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"

#include <algorithm>
#include <cstddef>

namespace itk::cuda
{
/** \struct TransferLayout
 * \brief The layout of a host image's bytes on the device.
 *
 * The bytes are either copied directly to the rows of the device image, or they are dense pixels that a kernel
 * converts. Dense pixels are transferred in batches that take turns in the same buffer.
 */
struct TransferLayout
{
  static constexpr size_t MaximumBatchSize = size_t{ 256 } << 20;

  bool   Direct;
  size_t Pitch; // distance between rows in bytes if direct and padded, otherwise 0
  size_t NumberOfBytes;
  size_t BatchSize; // bytes of a batch of the conversion, or all bytes if direct
  size_t PixelsPerBatch;

  /** Returns the batch of the byte at a position. */
  size_t
  GetBatch(size_t position) const
  {
    return position / BatchSize;
  }

  /** Returns the position behind the last byte of a batch. */
  size_t
  GetBatchEnd(size_t batch) const
  {
    return std::min((batch + 1) * BatchSize, NumberOfBytes);
  }
};

/** Returns the layout of a host image in a device image of a type whose rows are `pitch` bytes apart. `uniformRows`
 * says that this also holds from slice to slice. */
TransferLayout
MakeTransferLayout(const CudaImageView & host, CudaComponentType deviceType, size_t pitch, bool uniformRows);

TransferLayout
MakeTransferLayout(const CudaImageView & host, const DeviceView & device);
} // namespace itk::cuda

#endif
