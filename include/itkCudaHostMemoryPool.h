// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostMemoryPool_h
#define itkCudaHostMemoryPool_h

#include "CudaFiltersExport.h"

#include <cstddef>

namespace itk
{
/** \class CudaHostMemoryPool
 * \brief Large blocks of ordinary host memory for output images, kept for reuse.
 *
 * Most of the time of writing to a large fresh block goes into its first touch, page by page. The blocks here are
 * aligned to huge pages, which the system is asked to use, and come back touched when they are reused.
 *
 * Free blocks are kept up to CudaFiltersConfiguration::GetHostCacheLimit(); beyond it those released first go. The pool
 * lives until the process ends, so that images in static storage can give back their memory. All functions may be
 * called from any thread.
 *
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaHostMemoryPool
{
public:
  /** Blocks below this size are left to the caller's ordinary allocation. */
  static constexpr size_t MinimumSize = size_t{ 1 } << 20;

  /** A block of at least `bytes`, with undefined contents; nullptr if it is too small for the pool, where there is no
   * such pool (systems other than Linux) or if the system has no memory left. */
  static void *
  Allocate(size_t bytes) noexcept;

  /** Takes back a block. Returns false, and does nothing, if `block` is not one of this pool. */
  static bool
  Release(void * block) noexcept;

  /** Returns the memory of all free blocks to the system. */
  static void
  ReleaseUnused() noexcept;

  /** Bytes of blocks in use, and of free blocks. */
  static size_t
  GetBytesInUse();
  static size_t
  GetBytesCached();
};
} // end namespace itk

#endif
