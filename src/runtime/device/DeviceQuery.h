// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_DeviceQuery_h
#define CudaFilters_runtime_device_DeviceQuery_h

#include "itkCudaDeviceInformation.h"

#include <cstddef>
#include <string>
#include <vector>

// Questions about the devices for the rest of the module, with or without CUDA. runtime/device/Device.cxx answers in
// a build with CUDA, runtime/device/DeviceWithoutCuda.cxx in a build without.
namespace itk::cuda
{
bool
IsBuiltWithCuda();

/** As CudaFiltersConfiguration::GetDriverVersion() and GetRequiredDriverVersion(). */
int
GetDriverVersion();
int
GetRequiredDriverVersion();

/** Empty, with the reason, if no GPU is found. Creates no context. */
std::vector<CudaDeviceInformation>
FindDevices(std::string & reason);

/** Whether the device can be used; creates its context. It is fast after the first time, because the answer yes is
 * kept. */
bool
IsDeviceUsable(int device, std::string & reason);

/** As IsDeviceUsable(), but also asks a usable device whether it still works. It takes some microseconds each time.
 */
bool
IsDeviceUsableNow(int device, std::string & reason);

/** "NVIDIA H200" and bytes, of a device that is usable. */
std::string
GetDeviceName(int device);
size_t
GetTotalDeviceMemory(int device);
} // namespace itk::cuda

#endif
