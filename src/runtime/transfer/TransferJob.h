// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferJob_h
#define CudaFilters_runtime_transfer_TransferJob_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/transfer/StridedBytes.h"
#include "runtime/transfer/TransferPolicy.h"
#include "runtime/transfer/TransferLayout.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace itk::cuda
{
/** \class TransferJob
 * \brief A transfer, and how its bytes get onto and off the device, independent of their path through the host.
 *
 * Positions are bytes from the start of the transfer. Batches of the conversion follow each other in stream order.
 */
class TransferJob
{
public:
  /** Counts the transfer. The arguments must outlive the job, except `raw`, which is memory for the conversion from
   * TakeConversionBuffer() of an earlier job. If `callbacks` has no functions, no notifications about rows are sent.
   * \exception CudaError */
  TransferJob(TransferDirection        direction,
              const CudaImageView &    host,
              const DeviceView &       device,
              StagingMemory &          staging,
              const TransferProgress & progress,
              const UploadCallbacks &  callbacks,
              DeviceBuffer             raw = {});

  TransferJob(const TransferJob &) = delete;
  TransferJob &
  operator=(const TransferJob &) = delete;

  TransferDirection
  GetDirection() const
  {
    return m_Direction;
  }

  bool
  IsUpload() const
  {
    return m_Direction == TransferDirection::Upload;
  }

  const TransferLayout &
  GetLayout() const
  {
    return m_Layout;
  }

  /** Returns the stream of the host image's bytes. */
  const StridedBytes &
  GetHostBytes() const
  {
    return m_HostBytes;
  }

  StagingMemory &
  GetStaging() const
  {
    return m_Staging;
  }

  const Context &
  GetContext() const
  {
    return m_Staging.GetContext();
  }

  /** Returns the device address of the byte of a batch at a position. */
  char *
  GetDeviceAddress(size_t batch, size_t position) const
  {
    return m_Layout.Direct ? static_cast<char *>(m_Device.Data) + position
                           : static_cast<char *>(m_Raw.GetPointer()) + (position - batch * m_Layout.BatchSize);
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

  /** Moves the memory of the conversion to another job on the same stream. All work of this job must have been queued.
   */
  DeviceBuffer
  TakeConversionBuffer()
  {
    return std::move(m_Raw);
  }

  /** Returns whether the job is an upload that other uploads follow without a gap. */
  bool
  IsInSequence() const
  {
    return static_cast<bool>(m_Callbacks.AwaitDevice);
  }

  /** Blocks until the device memory may be written. It is called from any thread before a copy of an upload in a
   * sequence. */
  void
  AwaitDevice() const
  {
    if (m_Callbacks.AwaitDevice)
    {
      m_Callbacks.AwaitDevice();
    }
  }

  /** Records that the copy of bytes `begin` to `end` was queued, and reports groups of rows that are complete. It is
   * called from any thread. */
  void
  CountSent(size_t begin, size_t end);

  /** Reports the fraction of the transfer that is done, from 0 to 1. */
  void
  Report(float share) const
  {
    if (m_Progress)
    {
      m_Progress(share);
    }
  }

  /** Reports the number of bytes that are done. */
  void
  ReportBytes(size_t bytes) const
  {
    this->Report(static_cast<float>(static_cast<double>(bytes) / static_cast<double>(m_Layout.NumberOfBytes)));
  }

private:
  /** Returns the bytes of a group of rows. */
  size_t
  GetGroupSize() const;
  size_t
  GetNumberOfGroups() const;
  size_t
  GetGroupEnd(size_t group) const;

  const TransferDirection  m_Direction;
  const CudaImageView &    m_Host;
  const DeviceView &       m_Device;
  StagingMemory &          m_Staging;
  const TransferProgress & m_Progress;
  const UploadCallbacks &  m_Callbacks;
  const TransferLayout     m_Layout;
  const StridedBytes       m_HostBytes;
  DeviceBuffer             m_Raw; // the dense pixels of a batch

  std::vector<std::atomic<size_t>> m_BytesToSend; // for each group of rows
};
} // namespace itk::cuda

#endif
