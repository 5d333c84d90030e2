// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeOnce_h
#define itkCudaSnakeOnce_h

#include "itkCudaSnakeClock.h"
#include "itkCudaSnakeImage.h"
#include "itkCudaSnakePlan.h"
#include "itkCudaSnakeRun.h"

#include <utility>

namespace itk::cuda::snake
{
/** One run on an image that is prepared for it alone. `make` makes the image of its samples, run(image, snakeRun) runs
 * the snake on it. */
template <typename TMake, typename TRun>
CudaRegionSnakeResult
RunOnce(const CudaRegionSnakeInput &      input,
        const CudaRegionSnakeParameters & parameters,
        const CudaRegionSnakeObserver &   observer,
        const Threads &                   threads,
        const TMake &                     make,
        const TRun &                      run)
{
  CheckSnakeParameters(parameters);
  CheckSnakeInput(input);
  const double timeOfSamples = GetSeconds();
  Samples      samples = MakeSamples(input, parameters, threads);
  CheckNumberOfValidPixels(parameters, samples.NumberOfValidPixels);
  const double          timeOfSums = GetSeconds();
  const auto            image = make(std::move(samples));
  const double          timeOfRun = GetSeconds();
  const SnakeRun        snakeRun{ parameters, {}, input.StartPolygon, input.StartMask, observer };
  CudaRegionSnakeResult result = run(image, snakeRun);
  result.SecondsOfSamples = timeOfSums - timeOfSamples;
  result.SecondsOfSums += timeOfRun - timeOfSums;
  return result;
}
} // namespace itk::cuda::snake

#endif
