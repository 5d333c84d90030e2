// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferLayout.h"
#include "runtime/image/Components.h"

// Decides whether a host image is copied directly to a device image or as dense pixels that a kernel converts.

namespace itk::cuda
{
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
} // namespace itk::cuda
