// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStickyError_h
#define itkCudaStickyError_h

#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"

namespace itk::cuda::test
{
/** Runs a kernel that traps and returns its error. CUDA cannot be used in this process afterwards. */
cudaError_t
MakeStickyError(const StreamLease & stream);
} // namespace itk::cuda::test

#endif
