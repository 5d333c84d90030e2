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
/** Most blocks of a launch along the first dimension of its grid. */
constexpr size_t MaximumGridSize = 0x7fffffff;

/** The number as a number of blocks, for which launches have 32 bits.
 * \exception CudaError if it is beyond MaximumGridSize */
CudaFilters_EXPORT unsigned int
GetNumberOfBlocks(size_t blocks);

/** A grid of so many blocks in a row. */
inline dim3
MakeGrid(size_t blocks)
{
  return dim3(GetNumberOfBlocks(blocks));
}

/** \class SharedMemoryGrant
 * \brief Lets the blocks of one kernel have all the dynamic shared memory that the device grants.
 *
 * The attribute belongs to the kernel on the device, not to a thread or a stream. A thread that lowered it would make
 * the launches of other threads fail. It is therefore set once on each device, to the most that is possible. A block
 * gets what its launch asks for. A kernel's launcher keeps the object as a static variable.
 */
class CudaFilters_EXPORT SharedMemoryGrant
{
public:
  constexpr SharedMemoryGrant() = default;

  SharedMemoryGrant(const SharedMemoryGrant &) = delete;
  SharedMemoryGrant &
  operator=(const SharedMemoryGrant &) = delete;

  /** Sets the attribute on the device, which is the current one; at once if that has been done.
   * \exception CudaError after which the next call tries again */
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
  /** Devices without a bit of their own have none: the attribute is set for each launch on them. */
  static uint64_t
  GetBit(int device)
  {
    return device < 64 ? uint64_t{ 1 } << device : 0;
  }

  void
  RaiseOn(const void * kernel, int device);

  std::atomic<uint64_t> m_Devices{ 0 }; // where the attribute has been set
};
} // namespace itk::cuda

#endif
