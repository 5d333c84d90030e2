// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Launch.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"

#include <string>

// Verifies the number of blocks of launches, and raises the limits of their dynamic shared memory.

namespace itk::cuda
{
unsigned int
GetNumberOfBlocks(size_t blocks)
{
  if (blocks > MaximumGridSize)
  {
    const std::string text = "A launch of " + std::to_string(blocks) + " blocks, where at most " +
                             std::to_string(MaximumGridSize) + " are possible,";
    ThrowCudaError(cudaErrorInvalidConfiguration, text.c_str(), __FILE__, __LINE__);
  }
  return static_cast<unsigned int>(blocks);
}

void
SharedMemoryOptIn::RaiseOn(const void * kernel, int device)
{
  cudaFuncAttributes attributes{};
  ITK_CUDA_CALL(cudaFuncGetAttributes(&attributes, kernel));
  const size_t bytes = GetDeviceProperties(device).SharedMemoryPerBlockOptin - attributes.sharedSizeBytes;
  ITK_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  m_Devices |= GetBit(device);
}
} // namespace itk::cuda
