// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStickyError_h
#define itkCudaStickyError_h

#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"

namespace itk::cuda::test
{
/** Runs a kernel that traps; its error, after which CUDA is of no use in this process. */
cudaError_t
MakeStickyError(const StreamLease & stream);
} // namespace itk::cuda::test

#endif
