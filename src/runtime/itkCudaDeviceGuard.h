// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceGuard_h
#define itkCudaDeviceGuard_h

#include "CudaFiltersExport.h"

#include <new>

namespace itk::cuda
{
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
} // namespace itk::cuda

#endif
