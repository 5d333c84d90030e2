// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaError.h"

// Replaces the device code in a build without CUDA. Filters for images in host memory never call these functions.
namespace itk::CudaDetail
{
namespace
{
[[noreturn]] void
ThrowWithoutDeviceCode()
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "The region snake has no device code in this build");
}
} // namespace

const char *
CudaRegionSnakeUnsupportedReason(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &)
{
  return "the region snake has no device code in this build";
}

size_t
CudaRegionSnakeWorkingSet(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &)
{
  return 0;
}

CudaRegionSnakeResult
CudaRegionSnakeOnDevice(const CudaRegionSnakeInput &,
                        const CudaRegionSnakeParameters &,
                        int,
                        unsigned int,
                        const CudaRegionSnakeObserver &)
{
  ThrowWithoutDeviceCode();
}

CudaRegionSnakeResult
CudaRegionSnakeOfDeviceImage(const CudaDeviceImageView &,
                             const CudaRegionSnakeInput &,
                             const CudaRegionSnakeParameters &,
                             const CudaRegionSnakeObserver &)
{
  ThrowWithoutDeviceCode();
}

void
CudaQueueRegionSnakeLabels(const CudaSnakePolygon &, uint32_t, uint32_t, const CudaDeviceImageView &)
{
  ThrowWithoutDeviceCode();
}
} // end namespace itk::CudaDetail
