// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/DeviceQuery.h"
#include "runtime/memory/DeviceMemory.h"

// Definitions for a build without CUDA. There is no device and nothing to release.
namespace itk::cuda
{
namespace
{
constexpr const char * noCuda = "built without CUDA";
}

bool
IsBuiltWithCuda()
{
  return false;
}

int
GetDriverVersion()
{
  return 0;
}

int
GetRequiredDriverVersion()
{
  return 0;
}

std::vector<CudaDeviceInformation>
FindDevices(std::string & reason)
{
  reason = noCuda;
  return {};
}

bool
IsDeviceUsable(int, std::string & reason)
{
  reason = noCuda;
  return false;
}

bool
IsDeviceUsableNow(int device, std::string & reason)
{
  return IsDeviceUsable(device, reason);
}

size_t
GetAvailableDeviceMemory(int)
{
  return 0;
}

std::string
GetDeviceName(int)
{
  return noCuda;
}

size_t
GetTotalDeviceMemory(int)
{
  return 0;
}

void
ReleaseUnusedMemory()
{}
} // namespace itk::cuda
