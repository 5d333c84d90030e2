// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceQuery_h
#define itkCudaDeviceQuery_h

#include "itkCudaDeviceInformation.h"

#include <cstddef>
#include <string>
#include <vector>

// What the rest of the module asks of the devices, with or without CUDA: itkCudaDeviceProperties.cxx answers in a build
// with CUDA, itkCudaDeviceDisabled.cxx in one without.
namespace itk::cuda
{
bool
IsBuiltWithCuda();

/** As CudaFiltersConfiguration::GetDriverVersion() and GetRequiredDriverVersion(). */
int
GetDriverVersion();
int
GetRequiredDriverVersion();

/** Empty with the reason if no GPU is to be found. Creates no context. */
std::vector<CudaDeviceInformation>
FindDevices(std::string & reason);

/** Whether the device can be used; creates its context. Fast after the first time, because it is then kept that it
 * can. */
bool
IsDeviceUsable(int device, std::string & reason);

/** As IsDeviceUsable(), and asks a device that could be used whether it still can; takes some microseconds each time.
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
