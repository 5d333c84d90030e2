// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaProcess_h
#define itkCudaProcess_h

namespace itk::cuda
{
/** Notes that this process is the one that uses CUDA. Does nothing after the first call. */
void
ClaimProcess();

/** Whether this process is a fork of the one that uses CUDA: there every CUDA call fails, those that release included.
 */
bool
IsForkedProcess();
} // namespace itk::cuda

#endif
