// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_DeviceQuery_h
#define CudaFilters_runtime_device_DeviceQuery_h

#include "itkCudaDeviceInformation.h"

#include <cstddef>
#include <string>
#include <vector>

// Queries about devices for the rest of the module, available with or without CUDA. They are defined in
// runtime/device/Device.cxx in a build with CUDA and in WithoutCuda.cxx in a build without it.
namespace itk::cuda
{
/** Returns the devices, or an empty list and the reason if no GPU is found. Creates no context. */
std::vector<CudaDeviceInformation>
FindDevices(std::string & reason);

/** Returns whether the device can be used, and creates its context. A positive answer is cached, so later calls are
 * fast. */
bool
IsDeviceUsable(int device, std::string & reason);

/** Returns whether the device can be used, like IsDeviceUsable(), and also verifies that it still works, which takes a
 * few microseconds per call.
 */
bool
IsDeviceUsableNow(int device, std::string & reason);

/** Return the name ("NVIDIA H200") and the bytes of memory of a usable device. */
std::string
GetDeviceName(int device);
size_t
GetTotalDeviceMemory(int device);
} // namespace itk::cuda

#endif
