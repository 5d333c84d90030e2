// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_Process_h
#define CudaFilters_runtime_Process_h

#include <cstddef>
#include <optional>
#include <string>

// Tells the process that uses CUDA from its forked children, and finds the limits of the process.

namespace itk::cuda
{
long
GetProcessId();

/** Records that this process is the one that uses CUDA. Only the first call has an effect. It must come before the
 * first CUDA call and before any lock of the device components is taken. A forked child may inherit such a lock in the
 * locked state forever, and this record tells it that it must not take the lock. */
void
RegisterCudaProcess();

/** Returns whether this process is the one that uses CUDA. */
bool
IsCudaProcess();

/** Returns whether this process was forked from the one that uses CUDA. Every CUDA call fails in such a process,
 * including the calls that release resources. */
bool
IsForkedProcess();
} // namespace itk::cuda

// Limits that the operating system sets for this process, which may be much lower than the machine's resources. On
// systems other than Linux there are no such limits.
namespace itk::cuda
{
/** Returns the smallest memory limit, in bytes, of this process's control group and all groups above it. Returns no
 * value if there is no limit or if it cannot be read. Control groups of version 1, version 2 and mixed set-ups are
 * supported.
 * \param root the folder in which `/proc` and `/sys` are looked up, so that tests can provide their own */
std::optional<size_t>
GetCgroupMemoryLimit(const std::string & root = {});

/** Returns the limit of the address space in bytes (RLIMIT_AS), or no value if there is no limit. */
std::optional<size_t>
GetAddressSpaceLimit();
} // namespace itk::cuda

#endif
