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
 * \brief Properties of a device that the layout of launches depends on.
 */
struct DeviceProperties
{
  std::string Name;
  int         ComputeCapability{ 0 }; // 10 * major + minor
  int         MultiprocessorCount{ 0 };
  size_t      SharedMemoryPerBlockOptin{ 0 }; // bytes, after cudaFuncSetAttribute
  size_t      L2CacheSize{ 0 };               // bytes
  size_t      TotalMemory{ 0 };               // bytes
  bool        MemoryPoolsSupported{ false };
  bool        KernelExecTimeout{ false }; // the driver ends kernels that run for seconds: the device has a display
};

/** Properties of a device, read once. The reference stays valid.
 * \exception CudaError if there is no such device, or if it could not be read */
CudaFilters_EXPORT const DeviceProperties &
GetDeviceProperties(int device);

/** Makes sure that the device can be used, in this process and with this build; fast after the first time.
 * \exception CudaError with the reason */
CudaFilters_EXPORT void
RequireUsableDevice(int device);

/** Whether the driver ends kernels of the device that run for seconds. Where it does, engines divide long work into
 * launches of at most a quarter of a second.
 * \exception CudaError if there is no such device */
CudaFilters_EXPORT bool
HasKernelTimeout(int device);

/** Makes HasKernelTimeout() return no (0) or yes (1) for every device; -1: the device's own answer. */
CudaFilters_EXPORT void
SetKernelTimeoutForTests(int value);

/** Index of a device that this process has used, or no value. CUDA calls about no device in particular are made there,
 * because they create no context there. */
std::optional<int>
FindUsedDevice();

/** \class DeviceGuard
 * \brief Makes a device the calling thread's current device until the end of the scope.
 *
 * If the earlier current device has no context, the thread stays on this device. cudaSetDevice() would create a context
 * of hundreds of megabytes on a device that nobody in the process uses.
 */
class CudaFilters_EXPORT DeviceGuard
{
public:
  /** \exception CudaError */
  explicit DeviceGuard(int device);
  /** For destructors: the current device stays if it cannot be changed. */
  DeviceGuard(int device, const std::nothrow_t &) noexcept;
  ~DeviceGuard();

  DeviceGuard(const DeviceGuard &) = delete;
  DeviceGuard &
  operator=(const DeviceGuard &) = delete;

private:
  int m_Previous{ 0 };
  int m_Device{ 0 };
};

/** Asks the runtime for a kernel of this library on the current device. Returns an error if the library holds no code
 * that the device can run. Evaluate it in ITK_CUDA_TRY. */
cudaError_t
FindDeviceCode();
} // namespace itk::cuda

#endif
