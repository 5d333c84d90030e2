// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailHostMemoryPool_h
#define itkCudaDetailHostMemoryPool_h

#include "CudaFiltersExport.h"

#include <chrono>
#include <cstddef>

namespace itk::CudaDetail
{
/** A pool of large blocks of ordinary host memory for output images.
 *
 * Writing to a large new block spends most of its time on the first touch of each page. The blocks of the pool are
 * aligned to huge pages, which the system is asked to use, and a reused block has been touched already.
 *
 * Free blocks are kept up to CudaFiltersConfiguration::GetHostCacheLimit(). Beyond this limit, the blocks that were
 * released first are returned to the system. Blocks that have been free for MaximumIdleTime are returned at the
 * module's next call: when a filter runs, or when memory is requested or released. No thread runs in the background, so
 * a program that makes no such call keeps its blocks until CudaFiltersConfiguration::ReleaseMemory(). If the system
 * refuses memory for a block, all free blocks are returned and the system is asked again. The pool lives until the
 * process ends, because images in static storage release their memory late. All functions may be called from any
 * thread. */
class CudaFilters_EXPORT CudaHostMemoryPool
{
public:
  /** Smaller blocks are left to the caller's ordinary allocation. */
  static constexpr size_t MinimumSize = size_t{ 1 } << 20;

  /** Time after which free blocks are returned to the system. */
  static constexpr std::chrono::seconds MaximumIdleTime{ 5 };

  /** Returns a block of at least `bytes` with undefined contents, or nullptr if `bytes` is too small for the pool, if
   * the system is not Linux, or if it has no memory left. */
  static void *
  Allocate(size_t bytes) noexcept;

  /** Takes back a block. Returns false, without doing anything, if `block` does not belong to this pool. */
  static bool
  Release(void * block) noexcept;

  /** Returns free blocks to the system until at most `limit` bytes of them are kept, starting with the block that was
   * released first. */
  static void
  ReleaseUnused(size_t limit = 0) noexcept;

  /** Returns blocks that have been free for MaximumIdleTime to the system. It costs almost nothing if there are no such
   * blocks. */
  static void
  ReleaseIdle() noexcept;

  /** Return the bytes of blocks in use, and of free blocks. */
  static size_t
  GetBytesInUse();
  static size_t
  GetBytesCached();
};
} // end namespace itk::CudaDetail

#endif
