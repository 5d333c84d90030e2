// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailHostMemoryPool_h
#define itkCudaDetailHostMemoryPool_h

#include "CudaFiltersExport.h"

#include <chrono>
#include <cstddef>

namespace itk::CudaDetail
{
/** Large blocks of ordinary host memory for output images, kept for reuse.
 *
 * Writing to a large fresh block takes most of its time for the first touch of each page. The blocks here are aligned
 * to huge pages, which the system is asked to use. A block that is reused has been touched before.
 *
 * Free blocks are kept up to CudaFiltersConfiguration::GetHostCacheLimit(). Beyond it the blocks released first go back
 * to the system. Blocks that have been free for MaximumIdleTime go back at the module's next call: when a filter runs,
 * or when memory is asked for or released. Nothing runs in the background: a program that makes no such call keeps its
 * blocks until CudaFiltersConfiguration::ReleaseMemory(). If the system refuses memory for a block, all free blocks go
 * back and the system is asked again. The pool lives until the process ends, because images in static storage give
 * their memory back late. All functions may be called from any thread. */
class CudaFilters_EXPORT CudaHostMemoryPool
{
public:
  /** Blocks below this size are left to the caller's ordinary allocation. */
  static constexpr size_t MinimumSize = size_t{ 1 } << 20;

  /** Blocks that have been free for this time go back to the system. */
  static constexpr std::chrono::seconds MaximumIdleTime{ 5 };

  /** A block of at least `bytes`, with undefined contents. Returns nullptr if `bytes` is too small for the pool, if the
   * system is not Linux, or if it has no memory left. */
  static void *
  Allocate(size_t bytes) noexcept;

  /** Takes back a block. Returns false, and does nothing, if `block` is not one of this pool. */
  static bool
  Release(void * block) noexcept;

  /** Returns free blocks to the system until at most `limit` bytes of them are kept; the block released first goes
   * first. */
  static void
  ReleaseUnused(size_t limit = 0) noexcept;

  /** Returns the memory of blocks that have been free for MaximumIdleTime. Takes no time if there are none. */
  static void
  ReleaseIdle() noexcept;

  /** Bytes of blocks in use, and of free blocks. */
  static size_t
  GetBytesInUse();
  static size_t
  GetBytesCached();
};
} // end namespace itk::CudaDetail

#endif
