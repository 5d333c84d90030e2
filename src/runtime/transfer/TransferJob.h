// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferJob_h
#define CudaFilters_runtime_transfer_TransferJob_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StridedBytes.h"
#include "runtime/transfer/TransferPolicy.h"

#include <algorithm>
#include <atomic>
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

/** \class TransferJob
 * \brief A transfer, and how its bytes get onto and off the device, independent of their path through the host.
 *
 * Positions are bytes from the start of the transfer. Batches of the conversion follow each other in stream order.
 */
class TransferJob
{
public:
  /** Counts the transfer. */
  TransferJob(TransferDirection     direction,
              const CudaImageView & host,
              const DeviceView &    device,
              const Context &       context);

  bool
  IsUpload() const
  {
    return m_IsUpload;
  }

  const TransferLayout &
  GetLayout() const
  {
    return m_Layout;
  }

  /** Returns the host image as a stream of bytes. */
  const StridedBytes &
  GetHostBytes() const
  {
    return m_HostBytes;
  }

  const Context &
  GetContext() const
  {
    return m_Context;
  }

  /** Returns the bytes of device memory that the conversion needs, or 0 if there is no conversion. */
  size_t
  GetConversionBytes() const
  {
    return m_Layout.Direct ? 0 : m_Layout.BatchSize;
  }

  /** Sets the memory of the conversion, which must live until the work on it is done. */
  void
  SetConversionBuffer(void * buffer)
  {
    m_ConversionBuffer = static_cast<char *>(buffer);
  }

  /** Returns the device address of the byte at a position. */
  char *
  GetDeviceAddress(size_t position) const
  {
    return m_Layout.Direct ? static_cast<char *>(m_Device.Data) + position
                           : m_ConversionBuffer + position % m_Layout.BatchSize;
  }

  /** Queues a copy in the job's direction.
   * \exception CudaError */
  void
  Copy(void * host, void * device, size_t bytes) const;

  /** Queues the conversion between the device image and the dense pixels of a batch. Does nothing if the layout is
   * direct.
   * \exception CudaError */
  void
  Convert(size_t batch) const;

  /** Counts bytes of a download that are on the host. Returns whether all of them are. It may be called from any
   * thread. */
  bool
  AddToHost(size_t bytes) const
  {
    return (m_BytesOnHost += bytes) == m_Layout.NumberOfBytes;
  }

private:
  const bool                  m_IsUpload;
  const CudaImageView         m_Host;
  const DeviceView            m_Device;
  const Context               m_Context;
  const TransferLayout        m_Layout;
  const StridedBytes          m_HostBytes;
  char *                      m_ConversionBuffer{ nullptr }; // the dense pixels of a batch
  mutable std::atomic<size_t> m_BytesOnHost{ 0 };
};

/** Returns whether a host image is in page-locked memory and its runs are long enough for the copy engine. */
CudaFilters_EXPORT bool
CanCopyDirectly(const StridedBytes & image);

/** Queues the copy of bytes `begin` to `end` of a transfer directly between page-locked host memory and the device.
 * \exception CudaError */
void
CopyDirectly(const TransferJob & job, size_t begin, size_t end);
} // namespace itk::cuda

#endif
