// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaError.h"

// Replaces the device code in a build without CUDA, where no filter calls these functions.
namespace itk::CudaDetail
{
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
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "The region snake has no device code in this build");
}
} // end namespace itk::CudaDetail
