// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceRun.h"

#include <string>

namespace itk::CudaDetail
{
void
CudaSelectDeviceOfImage(CudaFilterBackend & backend, int device)
{
  using BackendEnum = CudaFilterBackend::BackendEnum;

  backend.Used = BackendEnum::Automatic;
  backend.Reason = "not run";
  if (backend.Requested == BackendEnum::Host)
  {
    backend.Reason = "the backend of the filter is Host, but its input is a device image; it must be Automatic or Cuda";
  }
  else if (backend.DeviceIndex != -1 && backend.DeviceIndex != device)
  {
    backend.Reason = "DeviceIndex is " + std::to_string(backend.DeviceIndex) + ", but the input lies on device " +
                     std::to_string(device) + "; it must be that or -1";
  }
  else
  {
    backend.Used = BackendEnum::Cuda;
    backend.Reason = "the input lies on device " + std::to_string(device);
    return;
  }
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, backend.Reason);
}
} // end namespace itk::CudaDetail
