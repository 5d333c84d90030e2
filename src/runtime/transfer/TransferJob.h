// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_TransferJob_h
#define CudaFilters_runtime_transfer_TransferJob_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/StagingChunks.h"
#include "runtime/transfer/StridedReader.h"
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
 * \brief What is transferred, and how its bytes get onto and off the device, for each way through the host.
 *
 * Positions are bytes from the start of all. Batches of the conversion follow each other in the order of the stream's
 * work.
 */
class TransferJob
{
public:
  /** Counts the transfer. The arguments must outlive the job, but `raw`: memory for the conversion, of GiveRaw(). If
   * `groups` has no functions, nobody is told of rows. \exception CudaError */
  TransferJob(TransferDirection        direction,
              const CudaImageView &    host,
              const DeviceView &       device,
              StagingChunks &          staging,
              const TransferProgress & progress,
              const RowGroups &        groups,
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

  /** The host image's bytes. */
  const StridedByteStream &
  GetByteStream() const
  {
    return m_ByteStream;
  }

  StagingChunks &
  GetStaging() const
  {
    return m_Staging;
  }

  const Context &
  GetContext() const
  {
    return m_Staging.GetContext();
  }

  /** Where a batch's byte at a position is copied to or from. */
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

  /** Queues the conversion between the device image and the dense pixels of a batch.
   * \exception CudaError */
  void
  Convert(size_t batch) const;

  /** The memory of the conversion, for a job on the same stream, once all work of this one has been queued. */
  DeviceBuffer
  GiveRaw()
  {
    return std::move(m_Raw);
  }

  /** Whether the job is an upload that others follow without a break. */
  bool
  IsInSequence() const
  {
    return static_cast<bool>(m_Groups.Open);
  }

  /** Called from any thread before a copy of an upload in a sequence: blocks until the device's memory may be written.
   */
  void
  AwaitDevice() const
  {
    if (m_Groups.Open)
    {
      m_Groups.Open();
    }
  }

  /** Called from any thread after the copy of bytes `begin` to `end` was queued. */
  void
  CountSent(size_t begin, size_t end);

  /** Reports the share done, 0 to 1. */
  void
  Report(float share) const
  {
    if (m_Progress)
    {
      m_Progress(share);
    }
  }

  /** Reports that a number of bytes are done. */
  void
  ReportBytes(size_t bytes) const
  {
    this->Report(static_cast<float>(static_cast<double>(bytes) / static_cast<double>(m_Layout.NumberOfBytes)));
  }

private:
  /** Bytes of a group of rows. */
  size_t
  GetGroupSize() const;
  size_t
  GetNumberOfGroups() const;
  size_t
  GetGroupEnd(size_t group) const;

  const TransferDirection  m_Direction;
  const CudaImageView &    m_Host;
  const DeviceView &       m_Device;
  StagingChunks &          m_Staging;
  const TransferProgress & m_Progress;
  const RowGroups &        m_Groups;
  const TransferLayout     m_Layout;
  const StridedByteStream  m_ByteStream;
  DeviceBuffer             m_Raw; // the dense pixels of a batch

  std::vector<std::atomic<size_t>> m_BytesToSend; // by group of rows
};
} // namespace itk::cuda

#endif
