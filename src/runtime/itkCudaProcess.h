// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaProcess_h
#define itkCudaProcess_h

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

#endif
