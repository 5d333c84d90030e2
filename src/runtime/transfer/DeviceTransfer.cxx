// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceTransfer.h"

#include "runtime/image/Components.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/device/Device.h"
#include "runtime/device/Call.h"
#include "runtime/image/Pointwise.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/transfer/TransferJob.h"

// Transfers pixels between host images and device images of other types, through an intermediate image where a
// direct transfer cannot convert them.

namespace itk::CudaDetail
{
namespace
{
using namespace cuda;

void
VerifySizes(const CudaImageView & host, const CudaDeviceImageView & device)
{
  if (GetPlanarSize(host) != device.Size)
  {
    itkGenericExceptionMacro("The device image has "
                             << device.Size[0] << " x " << device.Size[1] << " x " << device.Size[2] << " x "
                             << device.Size[3] << " pixels of " << device.Size[4] << " components; it must have the "
                             << host.Size[0] << " x " << host.Size[1] << " x " << host.Size[2] << " x " << host.Size[3]
                             << " pixels of " << host.NumberOfComponents << " components of the host image");
  }
}

/** Returns whether a transfer can use the device image directly, without an intermediate image. */
bool
CanTransfer(const CudaImageView & host, const DeviceView & device)
{
  return IsComputeType(device.ComponentType) ||
         (device.ComponentType == host.ComponentType && MakeTransferLayout(host, device).Direct);
}

bool
IsInteger(CudaComponentType type)
{
  return !IsComputeType(type);
}

/** Returns a floating-point type that represents all values of both types. */
CudaComponentType
GetCommonType(CudaComponentType a, CudaComponentType b)
{
  return NeedsDouble(a) || NeedsDouble(b) ? CudaComponentType::Double : CudaComponentType::Float;
}

/** Returns the type of the intermediate image that a download copies from. It is the host's type if the rows can be
 * copied directly or the type is not an integer. */
CudaComponentType
GetIntermediateType(const CudaImageView & host, const CudaDeviceImageView & device)
{
  const size_t pitch = DeviceImage::GetRowPitch(host.Size[0], host.ComponentType);
  return !IsInteger(host.ComponentType) || MakeTransferLayout(host, host.ComponentType, pitch, true).Direct
           ? host.ComponentType
           : GetCommonType(host.ComponentType, device.ComponentType);
}

/** The page-locked memory of an upload whose last copies may still run. */
struct UploadStaging
{
  explicit UploadStaging(const Context & context)
    : Memory(context)
  {}

  StagingMemory Memory;
  Event         Sent; // behind the last copy
};

/** Returns whether a download changes values in another way than the plain conversion of their type. */
bool
MapsValues(const CudaPixelConversion & conversion, const CudaImageView & host, const CudaDeviceImageView & device)
{
  const bool rounds =
    conversion.Rounding == CudaRounding::Nearest && IsInteger(host.ComponentType) && !IsInteger(device.ComponentType);
  return conversion.Mapping != CudaPixelMapping::None || rounds;
}
} // namespace

std::function<void()>
CudaQueueUpload(const CudaImageView & host, const CudaDeviceImageView & device, const CudaProgressFunction & progress)
{
  VerifySizes(host, device);
  if (host.GetNumberOfPixels() == 0)
  {
    return [] {};
  }
  const Context       context = GetThreadContext(GetMemory(device).GetDevice());
  const DeviceGuard   guard(context.GetDevice());
  const DeviceWriting writing(device, context);
  const DeviceView    view = GetDeviceView(device);
  const auto          staging = std::make_shared<UploadStaging>(context);
  if (CanTransfer(host, view))
  {
    Upload(host, view, staging->Memory, progress);
  }
  else
  {
    const DeviceImage intermediate(device.Size, GetCommonType(host.ComponentType, device.ComponentType), context);
    Upload(host, intermediate.GetView(), staging->Memory, progress);
    ConvertElements(intermediate.GetView(), view, {}, context);
  }
  staging->Sent.Record(context);
  return [staging] {
    staging->Sent.Synchronize();
    staging->Memory.Forget();
  };
}

void
CudaDownloadFromDevice(const CudaDeviceImageView &  device,
                       const CudaImageView &        host,
                       const CudaPixelConversion &  conversion,
                       const CudaProgressFunction & progress)
{
  VerifySizes(host, device);
  if (host.GetNumberOfPixels() == 0)
  {
    return;
  }
  const Context        context = GetThreadContext(GetMemory(device).GetDevice());
  const DeviceGuard    guard(context.GetDevice());
  const DeviceReading  reading(device, context);
  const DeviceView     view = GetDeviceView(device);
  StagingMemory        staging(context);
  const bool           toInteger = IsInteger(host.ComponentType);
  const PointwiseSteps steps{ conversion, toInteger };
  WithEarlierFailures([&] {
    if (!MapsValues(conversion, host, device) && CanTransfer(host, view))
    {
      Download(view, host, staging, progress);
      return;
    }
    const DeviceImage intermediate(device.Size, GetIntermediateType(host, device), context);
    ConvertElements(view, intermediate.GetView(), steps, context);
    Download(intermediate.GetView(), host, staging, progress);
  });
}
} // end namespace itk::CudaDetail
