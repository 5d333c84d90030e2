// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailStatisticsEngine.h"
#include "itkCudaError.h"

// Takes the place of the device code in a build without CUDA.

namespace itk::CudaDetail
{
CudaImageStatistics
CudaComputeStatisticsOnDevice(const CudaDeviceImageView &, const CudaHistogramBins &)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "CudaFilters was built without CUDA");
}
} // end namespace itk::CudaDetail
