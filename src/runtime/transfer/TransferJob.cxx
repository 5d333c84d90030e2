// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferJob.h"

#include "runtime/device/Call.h"
#include "runtime/image/Convert.h"
#include "runtime/transfer/TransferPolicy.h"

#include <algorithm>

// Implements TransferJob: copies of bytes, and conversions of batches.

namespace itk::cuda
{
TransferJob::TransferJob(TransferDirection     direction,
                         const CudaImageView & host,
                         const DeviceView &    device,
                         const Context &       context)
  : m_IsUpload(direction == TransferDirection::Upload)
  , m_Host(host)
  , m_Device(device)
  , m_Context(context)
  , m_Layout(MakeTransferLayout(host, device))
  , m_HostBytes(host, m_Layout.Pitch)
{
  CountTransfer(direction, host.GetNumberOfBytes());
}

void
TransferJob::Copy(void * host, void * device, size_t bytes) const
{
  ITK_CUDA_CALL(cudaMemcpyAsync(m_IsUpload ? device : host,
                                m_IsUpload ? host : device,
                                bytes,
                                m_IsUpload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                m_Context.GetStream()));
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
  const cudaStream_t stream = m_Context.GetStream();
  if (m_IsUpload)
  {
    ConvertToPlanar(m_ConversionBuffer, m_Host.ComponentType, m_Device, first, number, stream);
  }
  else
  {
    ConvertFromPlanar(m_Device, first, number, m_ConversionBuffer, m_Host.ComponentType, stream);
  }
}
} // namespace itk::cuda
