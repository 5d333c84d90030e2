// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaSnakeCuda.h"
#include "itkCudaSnakeOnce.h"

#include <algorithm>

namespace itk::CudaDetail
{
const char *
CudaRegionSnakeUnsupportedReason(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &)
{
  return nullptr;
}

size_t
CudaRegionSnakeWorkingSet(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters)
{
  // Room for partial sums of all warps, the record and small arrays.
  constexpr size_t fixedBytes = size_t{ 4 } << 20;
  const size_t     entries = 2 * static_cast<size_t>(parameters.MaximumNumberOfIterations) + 8;
  return fixedBytes + entries * sizeof(CudaRegionSnakeStep) +
         cuda::snake::GetSnakeDeviceBytes(input.Image.Size[0],
                                          input.Image.Size[1],
                                          // logarithms of bytes are of two
                                          std::max<size_t>(2, CudaComponentSize(input.Image.ComponentType)),
                                          input.ValidMask != nullptr,
                                          parameters.MaximumNumberOfNodes);
}

CudaRegionSnakeResult
CudaRegionSnakeOnDevice(const CudaRegionSnakeInput &      input,
                        const CudaRegionSnakeParameters & parameters,
                        int                               deviceIndex,
                        unsigned int                      numberOfThreads,
                        const CudaRegionSnakeObserver &   observer)
{
  using namespace cuda::snake;
  const cuda::region::Threads threads(numberOfThreads);
  return RunOnce(
    input,
    parameters,
    observer,
    threads,
    [&](const cuda::region::Samples & samples) { return DeviceSnakeImage(samples, parameters, deviceIndex); },
    [&](const DeviceSnakeImage & image, const SnakeRun & run) { return RunOnDevice(image, run); });
}
} // end namespace itk::CudaDetail
