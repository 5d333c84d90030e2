// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceRun.h"

#include "runtime/device/DeviceQuery.h"
#include "itkCudaFiltersConfiguration.h"

#include <string>

// Selects the device of filters whose input or output is a device image. An exception is thrown if the device cannot
// be used, because such filters do not run on the host.

namespace itk::CudaDetail
{
namespace
{
using BackendEnum = CudaFilterBackend::BackendEnum;

[[noreturn]] void
Refuse(CudaFilterBackend & backend, const std::string & reason)
{
  backend.Used = BackendEnum::Automatic;
  backend.Reason = reason;
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, reason);
}

void
RefuseHost(CudaFilterBackend & backend, const std::string & image)
{
  if (backend.Requested == BackendEnum::Host)
  {
    Refuse(backend,
           "the backend of the filter is Host, but its " + image + " is a device image; it must be Automatic or Cuda");
  }
}

void
Accept(CudaFilterBackend & backend, const std::string & reason)
{
  backend.Used = BackendEnum::Cuda;
  backend.Reason = reason;
}
} // namespace

void
CudaSelectDeviceOfImage(CudaFilterBackend & backend, int device)
{
  RefuseHost(backend, "input");
  if (backend.DeviceIndex != -1 && backend.DeviceIndex != device)
  {
    Refuse(backend,
           "DeviceIndex is " + std::to_string(backend.DeviceIndex) + ", but the input lies on device " +
             std::to_string(device) + "; it must be that or -1");
  }
  Accept(backend, "the input lies on device " + std::to_string(device));
}

int
CudaSelectDeviceOfOutput(CudaFilterBackend & backend)
{
  RefuseHost(backend, "output");
  const int   device = !backend.Devices.empty()    ? backend.Devices.front()
                       : backend.DeviceIndex == -1 ? CudaFiltersConfiguration::GetDeviceIndex()
                                                   : backend.DeviceIndex;
  std::string reason;
  if (!cuda::IsDeviceUsable(device, reason))
  {
    Refuse(backend, reason);
  }
  Accept(backend, "the output is a device image, on device " + std::to_string(device));
  return device;
}
} // end namespace itk::CudaDetail
