// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_MemoryCounts_h
#define CudaFilters_runtime_memory_MemoryCounts_h

#include "CudaFiltersExport.h"

#include <atomic>
#include <cstddef>

namespace itk::cuda
{
/** \struct MemoryCounts
 * \brief What the pools of device memory and of page-locked memory hold, in bytes.
 *
 * The counts are not in the pools, because a fork of the process asks for them and must not wait for the pools' locks.
 * The pool of ordinary host memory asks for them too: it leaves room for the page-locked memory that is kept.
 */
struct MemoryCounts
{
  std::atomic<size_t> DeviceInUse{ 0 }; // on all devices
  std::atomic<size_t> PinnedInUse{ 0 };
  std::atomic<size_t> PinnedCached{ 0 }; // kept for reuse
};

/** The counts of this process, which the pools keep. */
MemoryCounts &
GetMemoryCounts();

/** As CudaFiltersConfiguration::GetDeviceBytesInUse() and GetPinnedBytesInUse(). */
size_t
GetDeviceBytesInUse();
size_t
GetPinnedBytesInUse();

/** Page-locked bytes kept for reuse. */
CudaFilters_EXPORT size_t
GetPinnedBytesCached();
} // namespace itk::cuda

#endif
