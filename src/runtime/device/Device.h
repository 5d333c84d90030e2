// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_Device_h
#define CudaFilters_runtime_device_Device_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <cuda_runtime.h>
#include <new>
#include <optional>
#include <string>

namespace itk::cuda
{
/** \struct DeviceProperties
 * \brief Properties of a device that launch configurations depend on.
 */
struct DeviceProperties
{
  std::string Name;
  int         ComputeCapability{ 0 }; // 10 * major + minor
  int         MultiprocessorCount{ 0 };
  size_t      SharedMemoryPerBlockOptin{ 0 }; // bytes, available after cudaFuncSetAttribute
  size_t      L2CacheSize{ 0 };               // bytes
  size_t      TotalMemory{ 0 };               // bytes
  bool        MemoryPoolsSupported{ false };
  bool KernelExecTimeout{ false }; // the device drives a display, so the driver ends kernels that run for seconds
};

/** Returns the properties of a device, which are read once. The reference stays valid.
 * \exception CudaError if there is no such device, or if its properties could not be read */
CudaFilters_EXPORT const DeviceProperties &
GetDeviceProperties(int device);

/** Verifies that this process can use the device with this build. The call is fast after the first success.
 * \exception CudaError with the reason */
CudaFilters_EXPORT void
RequireUsableDevice(int device);

/** Returns whether the driver ends kernels of the device that run for seconds. If so, the engines split long work into
 * launches of at most a quarter of a second.
 * \exception CudaError if there is no such device */
CudaFilters_EXPORT bool
HasKernelTimeout(int device);

/** Makes HasKernelTimeout() return no (0) or yes (1) for every device. With -1 it reports the device's own property. */
CudaFilters_EXPORT void
SetKernelTimeoutForTests(int value);

/** Returns the index of a device that this process has already used, or no value. CUDA calls that concern no particular
 * device are made on that device because they create no new context there. */
std::optional<int>
FindUsedDevice();

/** \class DeviceGuard
 * \brief Makes a device the calling thread's current device until the end of the scope.
 *
 * If the previous current device has no context, the thread stays on this device, because cudaSetDevice() would create
 * a context of hundreds of megabytes on a device that nobody in the process uses.
 */
class CudaFilters_EXPORT DeviceGuard
{
public:
  /** \exception CudaError */
  explicit DeviceGuard(int device);
  /** Makes the device the current one where nothing may throw, as in destructors. If this fails, nothing changes. */
  DeviceGuard(int device, const std::nothrow_t &) noexcept;
  ~DeviceGuard();

  DeviceGuard(const DeviceGuard &) = delete;
  DeviceGuard &
  operator=(const DeviceGuard &) = delete;

private:
  int m_Previous{ 0 };
  int m_Device{ 0 };
};

/** Looks up a kernel of this library on the current device. Returns an error if the library contains no
 * code that the device can run. Evaluate the call in ITK_CUDA_TRY. */
cudaError_t
FindDeviceCode();
} // namespace itk::cuda

#endif
