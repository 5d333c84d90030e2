// SPDX-License-Identifier: Apache-2.0
#include "itkCudaMemoryQuery.h"

#include "itkCudaDeviceGuard.h"
#include "itkCudaDeviceMemory.h"
#include "itkCudaDeviceProperties.h"
#include "itkCudaError.h"
#include "itkCudaPinnedMemory.h"
#include "itkCudaProcess.h"

#include <optional>

namespace itk::cuda
{
size_t
GetAvailableDeviceMemory(int device)
{
  RequireUsableDevice(device);
  return DeviceBuffer::GetAvailable(device);
}

void
ReleaseUnusedMemory()
{
  const std::optional<int> device = IsClaimedProcess() ? FindUsedDevice() : std::nullopt;
  if (!device)
  {
    return;
  }
  try
  {
    const DeviceGuard guard(*device);
    DeviceBuffer::ReleaseUnused();
    PinnedBuffer::ReleaseUnused();
  }
  catch (const CudaError &)
  {
    // A device that has failed has nothing to give back.
  }
}
} // namespace itk::cuda
