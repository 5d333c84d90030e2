// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaStickyError.h"

#include "runtime/device/Call.h"

namespace itk::cuda::test
{
namespace
{
__global__ void
TrapKernel(bool isOn)
{
  if (isOn)
  {
    __trap();
  }
}
} // namespace

cudaError_t
MakeStickyError(const StreamLease & stream)
{
  ITK_CUDA_CALL(LaunchKernel(TrapKernel, dim3(1), dim3(1), 0, stream.GetStream(), true));
  return ITK_CUDA_TRY(cudaStreamSynchronize(stream.GetStream()));
}
} // namespace itk::cuda::test
