// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaError.h"

// Replaces the device code in a build without CUDA. Filters never call these functions there.
namespace itk::CudaDetail
{
const char *
CudaRegionPartitionUnsupportedReason(const CudaRegionPartitionInput &)
{
  return "the partition has no device code in this build";
}

size_t
CudaRegionPartitionWorkingSet(const CudaRegionPartitionInput &, const CudaRegionPartitionParameters &)
{
  return 0;
}

CudaRegionPartitionResult
CudaRegionPartitionOnDevice(const CudaRegionPartitionInput &,
                            const CudaRegionPartitionParameters &,
                            const CudaImageView &,
                            unsigned int,
                            int,
                            const CudaRegionPartitionObserver &,
                            const CudaRegionPartitionDeviceImages &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "The partition has no device code in this build");
}
} // end namespace itk::CudaDetail
