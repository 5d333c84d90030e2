// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_Process_h
#define CudaFilters_runtime_device_Process_h

#include <cstddef>
#include <optional>
#include <string>

namespace itk::cuda
{
/** Notes that this process is the one that uses CUDA. Does nothing after the first call. It is called before the first
 * CUDA call, and before any lock of the device components is taken. A fork of the process may find such a lock held for
 * ever; it sees from this note that it must not take the lock. */
void
ClaimProcess();

/** Whether this process is the one that uses CUDA. */
bool
IsClaimedProcess();

/** Whether this process is a fork of the one that uses CUDA. In a fork every CUDA call fails, also the calls that
 * release.
 */
bool
IsForkedProcess();
} // namespace itk::cuda

// Limits of the system for this process, which may be much less than the machine has. Outside of Linux there are none.
namespace itk::cuda
{
/** The least memory limit, in bytes, of the control groups of this process and of all groups above them. No value if
 * none of them has a limit, or if that cannot be read. It knows control groups of version 1, of version 2, and
 * mixtures.
 * \param root the folder in which `/proc` and `/sys` are looked up, so that tests can bring their own */
std::optional<size_t>
GetCgroupMemoryLimit(const std::string & root = {});

/** The limit of the address space in bytes, RLIMIT_AS; no value if there is none. */
std::optional<size_t>
GetAddressSpaceLimit();
} // namespace itk::cuda

#endif
