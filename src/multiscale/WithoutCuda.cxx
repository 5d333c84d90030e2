// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaError.h"

// Replaces the device code in a build without CUDA.

namespace itk::CudaDetail
{
size_t
CudaMultiScaleWorkingSet(const CudaMultiScalePlan &, const CudaImageView &, const CudaMultiScaleOutputs &)
{
  return 0;
}

bool
CudaRunOnDevice(const CudaMultiScalePlan &,
                const CudaImageView &,
                const CudaMultiScaleOutputs &,
                CudaFilterBackend &,
                const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

std::vector<double>
CudaFindLargestOnDevice(const CudaMultiScalePlan &,
                        CudaScaleQuantity,
                        const CudaImageView &,
                        CudaComponentType,
                        CudaFilterBackend &,
                        const CudaProgressFunction &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

void
CudaQueueOnDevice(const CudaMultiScalePlan &, const CudaDeviceImageView &, const CudaMultiScaleDeviceOutputs &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}

void
CudaQueueOnStream(const CudaMultiScalePlan &,
                  const std::optional<CudaScaleParameter> &,
                  const CudaArrayImage &,
                  const CudaMultiScaleArrays &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // end namespace itk::CudaDetail

// Replaces the device code in a build without CUDA.

namespace itk::CudaDetail
{
namespace
{
[[noreturn]] void
ThrowNotUsable()
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // namespace

size_t
CudaTensorWorkingSet(const CudaStructureTensorPlan &, const CudaImageView &, const CudaImageView &)
{
  return 0;
}

bool
CudaRunOnDevice(const CudaStructureTensorPlan &,
                const CudaImageView &,
                const CudaImageView &,
                CudaFilterBackend &,
                const CudaProgressFunction &)
{
  ThrowNotUsable();
}

void
CudaQueueOnDevice(const CudaStructureTensorPlan &, const CudaDeviceImageView &, const CudaDeviceImageView &)
{
  ThrowNotUsable();
}

void
CudaQueueOnStream(const CudaStructureTensorPlan &, const CudaArrayImage &, void *)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // end namespace itk::CudaDetail
