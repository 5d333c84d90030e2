// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferJob.h"

#include "runtime/device/Call.h"
#include "runtime/image/Components.h"
#include "runtime/image/Convert.h"
#include "runtime/transfer/TransferPolicy.h"

#include <algorithm>

// Decides whether a host image is copied directly to a device image or as dense pixels that a kernel converts, and
// queues the copies and the conversions. Page-locked memory is copied without a stop: one copy moves all whole runs
// that are equally spaced, and parts of runs have copies of their own.

namespace itk::cuda
{
namespace
{
constexpr size_t minimumRun = 512;          // bytes; the processor gathers shorter rows faster than the copy engine
constexpr size_t maximumPitch = 0x7fffffff; // bytes, a limit of two-dimensional copies that every device supports
constexpr size_t maximumRowsPerCopy = size_t{ 1 } << 20;

/** Returns whether an address is in page-locked memory. If the query fails, the memory is treated as ordinary memory,
 * which is slower but always works. */
bool
IsPinned(const void * address)
{
  cudaPointerAttributes attributes{};
  return ITK_CUDA_TRY(cudaPointerGetAttributes(&attributes, address)) == cudaSuccess &&
         attributes.type == cudaMemoryTypeHost;
}

/** Queues the copy of whole runs that are equally spaced on both sides. */
void
CopyRuns(const TransferJob & job, char * host, char * device, size_t numberOfRuns)
{
  const StridedBytes & runs = job.GetHostBytes();
  const bool           upload = job.IsUpload();
  const size_t         hostPitch = runs.GetFirstStride();
  const size_t         devicePitch = runs.GetStep();
  const size_t         run = runs.GetRunSize();
  if (numberOfRuns > 1 && hostPitch <= maximumPitch && devicePitch <= maximumPitch)
  {
    ITK_CUDA_CALL(cudaMemcpy2DAsync(upload ? device : host,
                                    upload ? devicePitch : hostPitch,
                                    upload ? host : device,
                                    upload ? hostPitch : devicePitch,
                                    run,
                                    numberOfRuns,
                                    upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                    job.GetContext().GetStream()));
    return;
  }
  for (size_t index = 0; index < numberOfRuns; ++index)
  {
    job.Copy(host + index * hostPitch, device + index * devicePitch, run);
  }
}
} // namespace

TransferLayout
MakeTransferLayout(const CudaImageView & host, CudaComponentType deviceType, size_t pitch, bool uniformRows)
{
  const size_t pixelBytes = host.NumberOfComponents * CudaComponentSize(host.ComponentType);
  const size_t rowBytes = host.Size[0] * pixelBytes;
  const size_t numberOfPixels = host.GetNumberOfPixels();
  const bool   sameType = host.ComponentType == deviceType && host.NumberOfComponents == 1;
  // Padding is copied too, and in narrow images it would be most of the bytes.
  const bool littlePadding = pitch >= rowBytes && (pitch - rowBytes) * 4 <= rowBytes;
  if (sameType && HasDenseRows(host) && uniformRows && (littlePadding || !IsComputeType(deviceType)))
  {
    const size_t rows = host.Size[0] == 0 ? 0 : numberOfPixels / host.Size[0];
    const size_t bytes = rows == 0 ? 0 : (rows - 1) * pitch + rowBytes;
    return { true, pitch == rowBytes ? 0 : pitch, bytes, bytes, numberOfPixels };
  }
  const size_t pixelsPerBatch =
    std::min(numberOfPixels, std::max(TransferLayout::MaximumBatchSize / std::max<size_t>(pixelBytes, 1), size_t{ 1 }));
  return { false, 0, numberOfPixels * pixelBytes, pixelsPerBatch * pixelBytes, pixelsPerBatch };
}

TransferLayout
MakeTransferLayout(const CudaImageView & host, const DeviceView & device)
{
  const size_t rows = device.Size[1] * device.Size[2] * device.Size[3];
  const size_t stride = rows == 1 ? device.Size[0] : device.Stride[1];
  return MakeTransferLayout(host,
                            device.ComponentType,
                            stride * CudaComponentSize(device.ComponentType),
                            IsUniform(device, 1, 3, device.Stride[1]));
}

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

bool
CanCopyDirectly(const StridedBytes & image)
{
  return image.GetRunSize() >= minimumRun && IsPinned(image.GetFirstByte()) && IsPinned(image.GetLastByte());
}

void
CopyDirectly(const TransferJob & job, size_t begin, size_t end)
{
  const StridedBytes & runs = job.GetHostBytes();
  const size_t         step = runs.GetStep();
  const size_t         run = runs.GetRunSize();
  for (size_t position = begin; position < end;)
  {
    const size_t index = position / step;
    const size_t offset = position - index * step;
    char * const device = job.GetDeviceAddress(position);
    if (offset == 0 && end - position >= run)
    {
      const size_t whole = (end - position - run) / step + 1;
      const size_t number = std::min({ whole, runs.GetNumberOfEquidistantRuns(index), maximumRowsPerCopy });
      CopyRuns(job, runs.GetRun(index), device, number);
      position += number * step;
    }
    else if (offset < run)
    {
      const size_t bytes = std::min(run - offset, end - position);
      job.Copy(runs.GetRun(index) + offset, device, bytes);
      position += bytes;
    }
    else
    {
      position = (index + 1) * step; // skips the padding
    }
  }
}
} // namespace itk::cuda
