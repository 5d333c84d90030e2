// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_HostMemoryClock_h
#define CudaFilters_runtime_memory_HostMemoryClock_h

#include <chrono>

namespace itk::cuda
{
/** The clock with which CudaHostMemoryPool measures how long a block has been free. */
using HostMemoryClock = std::chrono::steady_clock::time_point (*)();

/** Replaces the clock so that tests need not wait. nullptr restores std::chrono::steady_clock. */
void
SetHostMemoryClock(HostMemoryClock clock);
} // namespace itk::cuda

#endif
