// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "itkCudaError.h"

// Replaces the device code in a build without CUDA.

namespace itk::CudaDetail
{
size_t
CudaPartitionedGaussianWorkingSet(const CudaPartitionedGaussianPlan &, const CudaImageView &, const CudaImageView &)
{
  return 0;
}

void
RunPartitionedGaussianPlanOnDevice(const CudaPartitionedGaussianPlan &,
                                   const CudaImageView &,
                                   const CudaImageView &,
                                   int,
                                   const std::function<void(float)> &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

bool
CudaRunOnDevice(const CudaPartitionedGaussianPlan &,
                const CudaImageView &,
                const CudaImageView &,
                CudaFilterBackend &,
                const std::function<void(float)> &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

void
CudaQueueOnDevice(const CudaPartitionedGaussianPlan &, const CudaDeviceImageView &, const CudaDeviceImageView &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // end namespace itk::CudaDetail
