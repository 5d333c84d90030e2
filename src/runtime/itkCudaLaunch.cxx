// SPDX-License-Identifier: Apache-2.0
#include "itkCudaLaunch.h"

#include "itkCudaCall.h"
#include "itkCudaDevice.h"

namespace itk::cuda
{
void
SharedMemoryGrant::RaiseOn(const void * kernel, int device)
{
  cudaFuncAttributes attributes{};
  ITK_CUDA_CALL(cudaFuncGetAttributes(&attributes, kernel));
  const size_t bytes = GetDeviceProperties(device).SharedMemoryPerBlockOptin - attributes.sharedSizeBytes;
  ITK_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  m_Devices |= GetBit(device);
}
} // namespace itk::cuda
