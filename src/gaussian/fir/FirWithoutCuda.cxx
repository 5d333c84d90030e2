// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianFirEngine.h"
#include "itkCudaError.h"

// Replaces the device code in a build without CUDA.

namespace itk::CudaDetail
{
size_t
CudaGaussianFirWorkingSet(const CudaGaussianFirPlan &, const CudaImageView &, const CudaImageView &)
{
  return 0;
}

void
RunGaussianFirPlanOnDevice(const CudaGaussianFirPlan &,
                           const CudaImageView &,
                           const CudaImageView &,
                           int,
                           const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

bool
CudaRunOnDevice(const CudaGaussianFirPlan &,
                const CudaImageView &,
                const CudaImageView &,
                CudaFilterBackend &,
                const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

bool
CudaCanRunInSlabs(const CudaGaussianFirPlan &, const CudaImageView &)
{
  return false;
}

bool
CudaRunInSlabs(const CudaGaussianFirPlan &,
               const CudaImageView &,
               const CudaImageView &,
               CudaFilterBackend &,
               const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

void
CudaQueueOnDevice(const CudaGaussianFirPlan &, const CudaDeviceImageView &, const CudaDeviceImageView &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // end namespace itk::CudaDetail
