// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaError.h"

// Takes the place of the device code in a build without CUDA, which filters never call.
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
