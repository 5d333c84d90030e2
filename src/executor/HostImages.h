// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_HostImages_h
#define CudaFilters_executor_HostImages_h

#include "executor/HostExecutor.h"
#include "region/Checks.h"
#include "region/HostSums.h"

namespace itk::cuda::executor
{
/** Makes the samples and the sums of an image on the host, and returns run(executor, samples, total) with an executor
 * for that number of threads. DeviceImages.h has the same for devices.
 * \param input has an image, the index of its first pixel, and a mask of valid pixels, which may be null
 * \param law the parameters of the snake on which samples depend
 * \exception ExceptionObject if no pixel is valid, or the law does not allow the value of one */
template <typename TInput, typename TRun>
auto
WithHostSums(const TInput &                    input,
             const CudaRegionSnakeParameters & law,
             unsigned int                      numberOfThreads,
             const TRun &                      run)
{
  CudaRegionSnakeInput image;
  image.Image = input.Image;
  image.FirstIndex = input.FirstIndex;
  image.ValidMask = input.ValidMask;
  const region::Threads threads(numberOfThreads);
  const region::Samples samples(image, law, threads);
  region::CheckValidPixels(samples);
  const region::RowSums    sums(samples, region::UsesSquares(law.NoiseLaw.value()), 0, threads);
  const region::SumPyramid pyramid(sums, sums.GetWhole(), 0, threads);
  const Scene              scene(pyramid.GetLevel(0), samples);
  return threads.GetNumber() == 1 ? run(SerialHostExecutor(scene, threads), samples, sums.GetTotal())
                                  : run(ThreadedHostExecutor(scene, threads), samples, sums.GetTotal());
}
} // namespace itk::cuda::executor

#endif
