// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"

#include "itkCudaSnakeOnce.h"

namespace itk::CudaDetail
{
void
VerifyCudaRegionSnakeParameters(const CudaRegionSnakeParameters & parameters)
{
  cuda::snake::CheckSnakeParameters(parameters);
}

CudaRegionSnakeResult
CudaRegionSnakeOnHost(const CudaRegionSnakeInput &      input,
                      const CudaRegionSnakeParameters & parameters,
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
    [&](cuda::region::Samples && samples) { return HostSnakeImage(std::move(samples), parameters, threads); },
    [&](const HostSnakeImage & image, const SnakeRun & run) { return RunOnHost(image, run, threads); });
}
} // end namespace itk::CudaDetail
