// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaError.h"
#include "gaussian/slabs/Slabs.h"

// Replaces the device code in a build without CUDA.

namespace itk::CudaDetail
{
size_t
CudaGaussianWorkingSet(const CudaGaussianPlan &, const CudaImageView &, const CudaImageView &)
{
  return 0;
}

void
RunGaussianPlanOnDevice(const CudaGaussianPlan &,
                        const CudaImageView &,
                        const CudaImageView &,
                        int,
                        const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

bool
CudaRunOnDevice(const CudaGaussianPlan & plan,
                const CudaImageView &    input,
                const CudaImageView &    output,
                CudaFilterBackend &,
                const CudaProgressFunction & progress)
{
  RunGaussianPlanOnDevice(plan, input, output, 0, progress);
  return true;
}

void
CudaQueueOnDevice(const CudaGaussianPlan &, const CudaDeviceImageView &, const CudaDeviceImageView &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

void
CudaQueueOnStream(const std::vector<CudaArrayPass> &, const CudaArrayMemory &, void *)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

void
CudaQueueMaskedOnStream(const std::vector<CudaArrayPass> &, const CudaArrayMask &, const CudaArrayMemory &, void *)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

bool
CudaQueueAndFindNonFinite(const std::vector<CudaArrayPass> &, const CudaArrayMemory &, void *)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // end namespace itk::CudaDetail

// Replaces the device code in a build without CUDA.

namespace itk::cuda::gaussian
{
CudaSlabReport
RunGaussianSlabsOnDevices(const CudaGaussianPlan &,
                          const SlabEndpoints &,
                          const CudaSlabOptions &,
                          const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // namespace itk::cuda::gaussian
