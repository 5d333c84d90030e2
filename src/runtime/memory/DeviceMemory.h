// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_DeviceMemory_h
#define CudaFilters_runtime_memory_DeviceMemory_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "itkCudaDeviceMemoryResource.h"

#include <cstddef>
#include <cuda_runtime.h>
#include <memory>

namespace itk::cuda
{
class DevicePool;

/** \class DeviceBuffer
 * \brief Device memory that is allocated and released in stream order.
 *
 * The memory comes from the module's own pool on the stream's device, which keeps released memory, or from cudaMalloc
 * on devices without memory pools. It is aligned to 256 bytes and not initialised. If memory runs out, the pool returns
 * its unused memory to the device and the allocation is repeated once, so callers do not see a single failure. With
 * CudaFiltersConfiguration::SetDeviceMemoryResource() the memory comes from the caller's functions and is released
 * through the functions that it came from.
 */
class CudaFilters_EXPORT DeviceBuffer
{
public:
  DeviceBuffer() = default;

  /** \exception CudaError of kind OutOfMemory, also if the bytes in use would exceed
   * CudaFiltersConfiguration::GetDeviceMemoryLimit() or if the caller's functions returned no memory
   * \exception ExceptionObject if they returned memory that is not aligned */
  DeviceBuffer(size_t bytes, const Context & context);

  void *
  GetPointer() const
  {
    return m_Memory.get();
  }

  size_t
  GetSize() const
  {
    return m_Memory ? m_Memory.get_deleter().Bytes : 0;
  }

private:
  struct Release
  {
    DevicePool *                     Pool;
    size_t                           Bytes;
    cudaStream_t                     Stream;
    const CudaDeviceMemoryResource * Resource; // nullptr if the memory is from the pool

    void
    operator()(void * memory) const noexcept;
  };

  std::unique_ptr<void, Release> m_Memory{ nullptr, Release{} };
};

/** Lets a device access the memory of the module's pool on another one, if a link joins them. Without this, the driver
 * copies between the two through host memory. Pools ignore cudaDeviceEnablePeerAccess().
 * \exception CudaError */
CudaFilters_EXPORT void
AllowPeerAccess(int owner, int reader);
} // namespace itk::cuda

#endif
