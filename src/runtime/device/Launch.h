// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_Launch_h
#define CudaFilters_runtime_device_Launch_h

#include "CudaFiltersExport.h"

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace itk::cuda
{
/** Maximum number of blocks along the first dimension of a grid. */
constexpr size_t MaximumGridSize = 0x7fffffff;

/** Converts a number of blocks to the 32 bits that a launch takes.
 * \exception CudaError if it exceeds MaximumGridSize */
CudaFilters_EXPORT unsigned int
GetNumberOfBlocks(size_t blocks);

/** Returns a one-dimensional grid of `blocks` blocks. */
inline dim3
MakeGrid(size_t blocks)
{
  return dim3(GetNumberOfBlocks(blocks));
}

/** \class SharedMemoryOptIn
 * \brief Raises the dynamic shared memory limit of one kernel to the maximum of the device.
 *
 * The attribute belongs to the kernel on a device, not to a thread or a stream, so a thread that lowered it would make
 * the launches of other threads fail. It is therefore set once per device, to the maximum. Each launch still requests
 * only the shared memory that it needs. A kernel's launcher keeps the object as a static variable.
 */
class CudaFilters_EXPORT SharedMemoryOptIn
{
public:
  constexpr SharedMemoryOptIn() = default;

  SharedMemoryOptIn(const SharedMemoryOptIn &) = delete;
  SharedMemoryOptIn &
  operator=(const SharedMemoryOptIn &) = delete;

  /** Sets the attribute on the device, which must be the current one. Returns immediately if the attribute has already
   * been set there.
   * \exception CudaError in which case the next call tries again */
  template <typename... TParameters>
  void
  Raise(void (*kernel)(TParameters...), int device)
  {
    if ((m_Devices.load(std::memory_order_acquire) & GetBit(device)) == 0)
    {
      this->RaiseOn(reinterpret_cast<const void *>(kernel), device);
    }
  }

private:
  /** Returns the device's bit, or 0 for devices beyond the 64 bits. The attribute is then set again for every launch.
   */
  static uint64_t
  GetBit(int device)
  {
    return device < 64 ? uint64_t{ 1 } << device : 0;
  }

  void
  RaiseOn(const void * kernel, int device);

  std::atomic<uint64_t> m_Devices{ 0 }; // bit mask of the devices on which the attribute has been set
};
} // namespace itk::cuda

#endif
