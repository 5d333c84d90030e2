// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailTensorEngine.h"
#include "itkCudaError.h"
#include "itkCudaDetailStatisticsEngine.h"

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
CudaTensorWorkingSet(const CudaEigenPlan &, const CudaImageView &, const CudaImageView &)
{
  return 0;
}

size_t
CudaTensorWorkingSet(const CudaHessianMeasure &, const CudaImageView &, const CudaImageView &)
{
  return 0;
}

bool
CudaRunOnDevice(const CudaEigenPlan &,
                const CudaImageView &,
                const CudaImageView &,
                CudaFilterBackend &,
                const CudaProgressFunction &)
{
  ThrowNotUsable();
}

bool
CudaRunOnDevice(const CudaHessianMeasure &,
                const CudaImageView &,
                const CudaImageView &,
                CudaFilterBackend &,
                const CudaProgressFunction &)
{
  ThrowNotUsable();
}

void
CudaQueueOnDevice(const CudaEigenPlan &, const CudaDeviceImageView &, const CudaDeviceImageView &)
{
  ThrowNotUsable();
}

void
CudaQueueOnDevice(const CudaHessianMeasure &, const CudaDeviceImageView &, const CudaDeviceImageView &)
{
  ThrowNotUsable();
}
} // end namespace itk::CudaDetail

// Replaces the device code in a build without CUDA.

namespace itk::CudaDetail
{
CudaImageStatistics
CudaComputeStatisticsOnDevice(const CudaDeviceImageView &, const CudaHistogramBins &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // end namespace itk::CudaDetail
