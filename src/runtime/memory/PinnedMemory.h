// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_PinnedMemory_h
#define CudaFilters_runtime_memory_PinnedMemory_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <memory>

namespace itk::cuda
{
/** \class PinnedBuffer
 * \brief One chunk of page-locked host memory, on loan from a pool of the process.
 *
 * All chunks have the same size, so no memory is lost to fragmentation. Free chunks are kept for reuse up to
 * CudaFiltersConfiguration::GetHostCacheLimit(). A buffer that was not taken is empty.
 */
class CudaFilters_EXPORT PinnedBuffer
{
public:
  /** The link of an H200 reads 2 MiB in 41 us if they are in the processor's caches, and in 50 to 65 us otherwise.
   * Smaller copies reach a smaller part of its bandwidth: 43 GB/s with 512 KiB, 48 with 1 MiB, 51 with 2 MiB and 53
   * with 4 MiB. */
  static constexpr size_t ChunkSize = size_t{ 2 } << 20;

  /** Takes a chunk of ChunkSize bytes, page-locked for all devices. The current device must be usable.
   * \exception CudaError */
  static PinnedBuffer
  Take();

  void *
  GetPointer() const
  {
    return m_Chunk.get();
  }

  size_t
  GetSize() const
  {
    return m_Chunk ? ChunkSize : 0;
  }

  /** Frees the chunks that are kept for reuse. The current device must be one that is in use. */
  static void
  ReleaseUnused() noexcept;

private:
  struct GiveBack
  {
    void
    operator()(void * chunk) const noexcept;
  };

  std::unique_ptr<void, GiveBack> m_Chunk;
};

/** \class PageLockedArray
 * \brief An array of page-locked host memory, for data that is larger than the memory of a device. Kernels read and
 * write it over the link.
 *
 * The memory comes from CudaHostMemoryPool and is registered with the driver as long as the object lives.
 * cudaHostAlloc() takes three to six times as long for memory of gigabytes, because it touches each page anew.
 */
class CudaFilters_EXPORT PageLockedArray
{
public:
  /** The current device must be usable. \exception CudaError of kind OutOfMemory if the system has no memory left, or
   * does not allow so much page-locked memory */
  explicit PageLockedArray(size_t bytes);

  void *
  GetPointer() const
  {
    return m_Memory.get();
  }

  /** Returns the address by which kernels reach the array. */
  void *
  GetDevicePointer() const
  {
    return m_DevicePointer;
  }

private:
  struct Release
  {
    size_t Bytes;
    bool   IsRegistered;

    void
    operator()(void * memory) const noexcept;
  };

  std::unique_ptr<void, Release> m_Memory;
  void *                         m_DevicePointer{ nullptr };
};

/** Returns whether the page at this address has physical memory. The system assigns the memory on the first write,
 * which makes that write slower. Returns true if the system does not tell. */
bool
IsPagePresent(const void * address);
} // namespace itk::cuda

#endif
