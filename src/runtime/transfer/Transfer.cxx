// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/Transfer.h"

#include "runtime/device/Device.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/transfer/TransferJob.h"
#include "runtime/transfer/TransferPolicy.h"
#include "runtime/transfer/TransferQueue.h"
#include "itkMacro.h"
#include "runtime/image/Components.h"

#include <algorithm>
#include <exception>

// Chooses the path of a transfer between host and device: directly for page-locked memory, or through the slots of a
// TransferQueue.

namespace itk::cuda
{
namespace
{
void
CheckViews(const CudaImageView & host, const DeviceView & device)
{
  if (GetPlanarSize(host) != device.Size || device.Stride[0] != 1)
  {
    itkGenericExceptionMacro(<< "The device image differs in size or components from the host image of " << host.Size[0]
                             << " x " << host.Size[1] << " x " << host.Size[2] << " x " << host.Size[3] << " pixels of "
                             << host.NumberOfComponents << " components, or its rows are not dense");
  }
  if (!IsComputeType(device.ComponentType) &&
      !(device.ComponentType == host.ComponentType && MakeTransferLayout(host, device).Direct))
  {
    itkGenericExceptionMacro(<< "The device image has components of type " << static_cast<int>(device.ComponentType)
                             << "; it must have Float or Double, or dense rows of the host image's type, "
                             << static_cast<int>(host.ComponentType) << ", and one component to a pixel");
  }
}

/** A single transfer, whose functions the caller gives. */
class SingleTransfer : public TransferQueue
{
public:
  SingleTransfer(TransferDirection        direction,
                 const CudaImageView &    host,
                 const DeviceView &       device,
                 const TransferProgress & progress,
                 const UploadCallbacks &  callbacks = {})
    : TransferQueue(direction)
    , m_Direction(direction)
    , m_Host(host)
    , m_Device(device)
    , m_Progress(progress)
    , m_Callbacks(callbacks)
    , m_Layout(MakeTransferLayout(host, device))
  {
    this->MarkReady();
  }

  /** Transfers the image. An upload may leave its last copies on the stream.
   * \exception CudaError, or any exception from progress or groups of rows; in both cases nothing is in flight */
  void
  RunAlone(StagingMemory & staging)
  {
    if (m_Layout.NumberOfBytes == 0)
    {
      return;
    }
    const DeviceGuard guard(staging.GetContext().GetDevice());
    try
    {
      if (!CanCopyDirectly(StridedBytes(m_Host, m_Layout.Pitch)))
      {
        staging.AwaitTurn(); // lets the next download queue its copies
        if (const std::exception_ptr error = this->Run(staging))
        {
          std::rethrow_exception(error);
        }
      }
      else
      {
        this->RunDirectly(staging);
      }
      this->ReportShare(1.0f);
    }
    catch (...)
    {
      // Copies in flight still access the host image and the page-locked memory.
      staging.Drain();
      throw;
    }
  }

private:
  /** Transfers page-locked memory. The transfer is complete on return. */
  void
  RunDirectly(StagingMemory & staging)
  {
    TransferJob        job(m_Direction, m_Host, m_Device, staging.GetContext());
    const DeviceBuffer buffer(job.GetConversionBytes(), staging.GetContext());
    job.SetConversionBuffer(buffer.GetPointer());
    const size_t batchSize = m_Layout.Direct ? TransferLayout::MaximumBatchSize : m_Layout.BatchSize;
    size_t       batch = 0;
    for (size_t begin = 0; begin < m_Layout.NumberOfBytes; begin += batchSize, ++batch)
    {
      const size_t end = std::min(begin + batchSize, m_Layout.NumberOfBytes);
      if (!job.IsUpload())
      {
        job.Convert(batch);
      }
      CopyDirectly(job, begin, end);
      this->MarkQueued(0, end);
      if (job.IsUpload())
      {
        job.Convert(batch);
      }
      staging.AwaitTurn();
      staging.Synchronize();
      if (end < m_Layout.NumberOfBytes)
      {
        this->ReportShare(static_cast<double>(end) / static_cast<double>(m_Layout.NumberOfBytes));
      }
    }
  }

  size_t
  GetNumberOfTransfers() const override
  {
    return 1;
  }

  CudaImageView
  GetHostImage(size_t) const override
  {
    return m_Host;
  }

  DeviceView
  GetDeviceImage(size_t) const override
  {
    return m_Device;
  }

  /** Announces the groups of rows that are complete. */
  void
  MarkQueued(size_t, size_t end) override
  {
    if (!m_Callbacks.RowsQueued)
    {
      return;
    }
    const size_t rows = GetNumberOfRows(m_Host);
    const size_t rowBytes = std::max(m_Layout.Pitch, m_Host.Size[0] * CudaComponentSize(m_Host.ComponentType));
    const size_t complete = end == m_Layout.NumberOfBytes ? rows : end / rowBytes;
    for (size_t next = std::min(m_RowsQueued + m_Callbacks.RowsPerGroup, rows); m_RowsQueued < rows && next <= complete;
         next = std::min(m_RowsQueued + m_Callbacks.RowsPerGroup, rows))
    {
      m_Callbacks.RowsQueued(m_RowsQueued, next);
      m_RowsQueued = next;
    }
  }

  void
  Report(size_t bytes) override
  {
    constexpr size_t step = size_t{ 64 } << 20;
    if (bytes - m_BytesReported >= step && bytes < m_Layout.NumberOfBytes)
    {
      m_BytesReported = bytes;
      this->ReportShare(static_cast<double>(bytes) / static_cast<double>(m_Layout.NumberOfBytes));
    }
  }

  void
  ReportShare(double share) const
  {
    if (m_Progress)
    {
      m_Progress(static_cast<float>(share));
    }
  }

  const TransferDirection  m_Direction;
  const CudaImageView &    m_Host;
  const DeviceView &       m_Device;
  const TransferProgress & m_Progress;
  const UploadCallbacks    m_Callbacks;
  const TransferLayout     m_Layout;
  size_t                   m_RowsQueued{ 0 };
  size_t                   m_BytesReported{ 0 };
};

/** Calls a transfer that may leave work on the stream and waits for that work. */
template <typename TTransfer>
void
RunToTheEnd(const Context & context, const TTransfer & transfer)
{
  const DeviceGuard guard(context.GetDevice());
  StagingMemory     staging(context);
  transfer(staging);
  staging.Synchronize();
}
} // namespace

void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       StagingMemory &          staging,
       const TransferProgress & progress)
{
  CheckViews(host, device);
  SingleTransfer(TransferDirection::Upload, host, device, progress).RunAlone(staging);
}

void
UploadRows(const CudaImageView &   host,
           const DeviceView &      device,
           StagingMemory &         staging,
           const UploadCallbacks & callbacks)
{
  CheckViews(host, device);
  if (host.ComponentType != device.ComponentType || !MakeTransferLayout(host, device).Direct)
  {
    itkGenericExceptionMacro(<< "The device image has components of type " << static_cast<int>(device.ComponentType)
                             << " and rows " << device.Stride[1] << " elements apart; an upload of rows needs the "
                             << "host image's type, " << static_cast<int>(host.ComponentType)
                             << ", dense rows and little padding");
  }
  const TransferProgress silent;
  SingleTransfer(TransferDirection::Upload, host, device, silent, callbacks).RunAlone(staging);
}

void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         StagingMemory &          staging,
         const TransferProgress & progress)
{
  CheckViews(host, device);
  SingleTransfer(TransferDirection::Download, host, device, progress).RunAlone(staging);
}

void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       const Context &          context,
       const TransferProgress & progress)
{
  RunToTheEnd(context, [&](StagingMemory & staging) { Upload(host, device, staging, progress); });
}

void
UploadRows(const CudaImageView &   host,
           const DeviceView &      device,
           const Context &         context,
           const UploadCallbacks & callbacks)
{
  RunToTheEnd(context, [&](StagingMemory & staging) { UploadRows(host, device, staging, callbacks); });
}

void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         const Context &          context,
         const TransferProgress & progress)
{
  RunToTheEnd(context, [&](StagingMemory & staging) { Download(device, host, staging, progress); });
}

size_t
GetTransferWorkspace(const CudaImageView & host, CudaComponentType computeType)
{
  const size_t rows = GetNumberOfRows(host);
  const size_t pitch =
    rows == 1 ? host.Size[0] * CudaComponentSize(computeType) : DeviceImage::GetRowPitch(host.Size[0], computeType);
  const TransferLayout layout = MakeTransferLayout(host, computeType, pitch, true);
  return layout.Direct ? 0 : layout.BatchSize;
}
} // namespace itk::cuda
