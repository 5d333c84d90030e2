// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferJob.h"

#include "runtime/device/Call.h"
#include "runtime/image/Convert.h"
#include "runtime/transfer/TransferPolicy.h"

#include <utility>

// Implements TransferJob: copies of bytes, conversions of batches, and notifications about groups of rows.

namespace itk::cuda
{
TransferJob::TransferJob(TransferDirection        direction,
                         const CudaImageView &    host,
                         const DeviceView &       device,
                         StagingMemory &          staging,
                         const TransferProgress & progress,
                         const UploadCallbacks &  callbacks,
                         DeviceBuffer             raw)
  : m_Direction(direction)
  , m_Host(host)
  , m_Device(device)
  , m_Staging(staging)
  , m_Progress(progress)
  , m_Callbacks(callbacks)
  , m_Layout(MakeTransferLayout(host, device))
  , m_HostBytes(host, m_Layout.Pitch)
  , m_Raw(std::move(raw))
  , m_BytesToSend(this->GetNumberOfGroups())
{
  const size_t rawBytes = m_Layout.Direct ? 0 : m_Layout.BatchSize;
  if (m_Raw.GetSize() < rawBytes)
  {
    m_Raw = {}; // frees the old buffer before the new one is allocated
    m_Raw = DeviceBuffer(rawBytes, staging.GetContext());
  }
  CountTransfer(direction, host.GetNumberOfBytes());
  for (size_t group = 0; group < m_BytesToSend.size(); ++group)
  {
    m_BytesToSend[group] = this->GetGroupEnd(group) - group * this->GetGroupSize();
  }
}

void
TransferJob::Copy(void * host, void * device, size_t bytes) const
{
  const bool upload = this->IsUpload();
  ITK_CUDA_CALL(cudaMemcpyAsync(upload ? device : host,
                                upload ? host : device,
                                bytes,
                                upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                this->GetContext().GetStream()));
}

void
TransferJob::Convert(size_t batch) const
{
  if (m_Layout.Direct)
  {
    return;
  }
  const size_t       first = batch * m_Layout.PixelsPerBatch;
  const size_t       number = std::min(m_Layout.PixelsPerBatch, m_Host.GetNumberOfPixels() - first);
  const cudaStream_t stream = this->GetContext().GetStream();
  if (this->IsUpload())
  {
    ConvertToPlanar(m_Raw.GetPointer(), m_Host.ComponentType, m_Device, first, number, stream);
  }
  else
  {
    ConvertFromPlanar(m_Device, first, number, m_Raw.GetPointer(), m_Host.ComponentType, stream);
  }
}

void
TransferJob::CountSent(size_t begin, size_t end)
{
  if (!m_Callbacks.RowsQueued)
  {
    return;
  }
  const size_t rows = GetNumberOfRows(m_Host);
  for (size_t group = begin / this->GetGroupSize(); group * this->GetGroupSize() < end; ++group)
  {
    const size_t first = std::max(begin, group * this->GetGroupSize());
    const size_t last = std::min(end, this->GetGroupEnd(group));
    if ((m_BytesToSend[group] -= last - first) == 0)
    {
      const size_t firstRow = group * m_Callbacks.RowsPerGroup;
      m_Callbacks.RowsQueued(firstRow, std::min(firstRow + m_Callbacks.RowsPerGroup, rows));
    }
  }
}

size_t
TransferJob::GetGroupSize() const
{
  const size_t rowBytes = m_Host.Size[0] * CudaComponentSize(m_Host.ComponentType);
  return m_Callbacks.RowsPerGroup * std::max(m_Layout.Pitch, rowBytes);
}

size_t
TransferJob::GetNumberOfGroups() const
{
  return m_Callbacks.RowsQueued ? (m_Layout.NumberOfBytes + this->GetGroupSize() - 1) / this->GetGroupSize() : 0;
}

size_t
TransferJob::GetGroupEnd(size_t group) const
{
  return std::min((group + 1) * this->GetGroupSize(), m_Layout.NumberOfBytes);
}
} // namespace itk::cuda
