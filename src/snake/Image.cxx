// SPDX-License-Identifier: Apache-2.0
#include "snake/Image.h"

#include "region/Checks.h"
#include "snake/Plan.h"

#include <utility>

// Prepares an image in host memory for runs of the snake on the host.

namespace itk::cuda::snake
{
Samples
MakeSamples(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters, const Threads & threads)
{
  CheckSnakeParameters(parameters);
  CheckImage(input.Image, input.ValidMask);
  return Samples(input, parameters, threads);
}

HostSnakeImage::HostSnakeImage(const CudaRegionSnakeInput &      input,
                               const CudaRegionSnakeParameters & parameters,
                               const Threads &                   threads)
  : HostSnakeImage(MakeSamples(input, parameters, threads), parameters, threads)
{}

HostSnakeImage::HostSnakeImage(Samples samples, const CudaRegionSnakeParameters & parameters, const Threads & threads)
  : SnakeImage(samples, parameters)
  , m_HostSamples(std::move(samples))
  , m_Sums(m_HostSamples,
           UsesSquares(parameters.NoiseLaw.value()),
           GetCoarseExponent(parameters.Schedule, this->GetWhole()),
           threads)
{}
} // namespace itk::cuda::snake
