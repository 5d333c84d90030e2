// SPDX-License-Identifier: Apache-2.0
#include "itkCudaError.h"
#include "itkCudaGaussianSlabs.h"

// Takes the place of the device code in a build without CUDA.

namespace itk::cuda::gaussian
{
CudaSlabReport
RunGaussianSlabsOnDevices(const CudaGaussianPlan &,
                          const SlabEnds &,
                          const CudaSlabOptions &,
                          const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // namespace itk::cuda::gaussian
