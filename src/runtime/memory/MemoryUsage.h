// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_MemoryUsage_h
#define CudaFilters_runtime_memory_MemoryUsage_h

#include "CudaFiltersExport.h"

#include <atomic>
#include <chrono>
#include <cstddef>

namespace itk::cuda
{
/** \struct MemoryUsage
 * \brief The bytes that the pools of device memory and of page-locked memory have given out and keep for reuse.
 *
 * The numbers are outside of the pools because a forked process also reads them and must not wait for the pools' locks.
 * The pool of ordinary host memory reads them too, to leave room for the page-locked memory that is cached.
 */
struct MemoryUsage
{
  std::atomic<size_t> DeviceInUse{ 0 }; // on all devices
  std::atomic<size_t> PinnedInUse{ 0 };
  std::atomic<size_t> PinnedCached{ 0 }; // kept for reuse
};

/** Returns the usage of this process, which the pools update. */
CudaFilters_EXPORT MemoryUsage &
GetMemoryUsage();

/** The clock with which CudaHostMemoryPool measures how long a block has been free. */
using HostMemoryClock = std::chrono::steady_clock::time_point (*)();

/** Replaces the clock so that tests need not wait. nullptr restores std::chrono::steady_clock. */
void
SetHostMemoryClock(HostMemoryClock clock);
} // namespace itk::cuda

#endif
