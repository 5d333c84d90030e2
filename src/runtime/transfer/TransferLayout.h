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
 * \brief How the bytes of a host image lie on the device.
 *
 * Either they lie in the rows of the device image, or they are dense pixels that a kernel converts. Dense pixels come
 * in batches, which take turns in the same buffer.
 */
struct TransferLayout
{
  static constexpr size_t MaximumBatchSize = size_t{ 256 } << 20;
  /** More bytes go through the same page-locked memory so often that it stays in the caches. */
  static constexpr size_t LargestSmallSize = size_t{ 64 } << 20;

  bool   Direct;
  size_t Pitch; // bytes from row to row, if direct and padded; else 0
  size_t NumberOfBytes;
  size_t BatchSize; // bytes of a batch of the conversion; all of them if direct
  size_t PixelsPerBatch;

  bool
  IsLarge() const
  {
    return NumberOfBytes > LargestSmallSize;
  }

  size_t
  GetNumberOfBatches() const
  {
    return (NumberOfBytes + BatchSize - 1) / BatchSize;
  }

  /** Position behind the last byte of a batch. */
  size_t
  GetBatchEnd(size_t batch) const
  {
    return std::min((batch + 1) * BatchSize, NumberOfBytes);
  }
};

/** Whether images can be converted from and to the type. */
inline bool
IsComputeType(CudaComponentType type)
{
  return type == CudaComponentType::Float || type == CudaComponentType::Double;
}

/** The layout of a host image in a device image of a type, whose rows are `pitch` bytes apart; `uniformRows`: also from
 * slice to slice. */
TransferLayout
MakeTransferLayout(const CudaImageView & host, CudaComponentType deviceType, size_t pitch, bool uniformRows);

TransferLayout
MakeTransferLayout(const CudaImageView & host, const DeviceView & device);
} // namespace itk::cuda

#endif
