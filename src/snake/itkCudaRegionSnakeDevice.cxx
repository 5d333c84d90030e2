// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionSnakeEngine.h"
#include "itkCudaSnakeCuda.h"
#include "itkCudaSnakeThreads.h"

#include <algorithm>

namespace itk
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
         cuda::GetSnakeDeviceBytes(input.Image.Size[0],
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
  const cuda::SnakeThreads threads(numberOfThreads);
  const cuda::ParallelLoop loop = [&threads](size_t count, const std::function<void(size_t, size_t)> & function) {
    threads.ForRanges(count, 1, function);
  };
  return cuda::RunRegionSnake(
    input,
    parameters,
    numberOfThreads,
    observer,
    [&](const cuda::SnakeSamples & samples, const cuda::SnakePlan & plan, const cuda::LawDescription & law) {
      return cuda::MakeCudaSnakeBackend(samples, plan, law, deviceIndex, loop);
    });
}
} // end namespace itk
