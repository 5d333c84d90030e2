// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaProcess_h
#define itkCudaProcess_h

namespace itk::cuda
{
/** Notes that this process is the one that uses CUDA. Does nothing after the first call. Called before the first CUDA
 * call, and before any lock of what knows devices is taken: a fork of the process, which would find such a lock held
 * for ever if another thread had it at that time, sees that it must not come near. */
void
ClaimProcess();

/** Whether this process is the one that uses CUDA. */
bool
IsClaimedProcess();

/** Whether this process is a fork of the one that uses CUDA: there every CUDA call fails, those that release included.
 */
bool
IsForkedProcess();
} // namespace itk::cuda

#endif
