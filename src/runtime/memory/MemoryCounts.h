// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_MemoryCounts_h
#define CudaFilters_runtime_memory_MemoryCounts_h

#include "CudaFiltersExport.h"

#include <atomic>
#include <cstddef>

namespace itk::cuda
{
/** \struct MemoryCounts
 * \brief The bytes that the pools of device memory and of page-locked memory hold.
 *
 * The counts are outside of the pools because a forked process also reads them and must not wait for the pools' locks.
 * The pool of ordinary host memory reads them too, to leave room for the page-locked memory that is cached.
 */
struct MemoryCounts
{
  std::atomic<size_t> DeviceInUse{ 0 }; // on all devices
  std::atomic<size_t> PinnedInUse{ 0 };
  std::atomic<size_t> PinnedCached{ 0 }; // kept for reuse
};

/** Returns the counts of this process, which the pools update. */
MemoryCounts &
GetMemoryCounts();

/** See CudaFiltersConfiguration::GetDeviceBytesInUse() and GetPinnedBytesInUse(). */
size_t
GetDeviceBytesInUse();
size_t
GetPinnedBytesInUse();

/** Returns the page-locked bytes that are kept for reuse. */
CudaFilters_EXPORT size_t
GetPinnedBytesCached();
} // namespace itk::cuda

#endif
