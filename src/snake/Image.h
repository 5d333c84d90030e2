// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Image_h
#define CudaFilters_snake_Image_h

#include "region/Samples.h"
#include "region/HostSums.h"
#include "region/Threads.h"
#include "snake/Core.h"

#include <cstdint>

namespace itk::cuda::snake
{
/** \class SnakeImage
 * \brief An image, its law and its mask, prepared once for any number of runs (SnakeRun).
 *
 * The constructor of HostSnakeImage or DeviceSnakeImage makes the samples and the sums. They never change, so several
 * threads may run the snake on the image concurrently. The image must outlive all runs.
 */
class SnakeImage
{
public:
  SnakeImage(const SnakeImage &) = delete;
  SnakeImage &
  operator=(const SnakeImage &) = delete;

  const SamplesDescription &
  GetSamples() const
  {
    return m_Samples;
  }
  PixelRectangle
  GetWhole() const
  {
    return { 0, 0, m_Samples.Width, m_Samples.Height };
  }
  NoiseLaw
  GetLaw() const
  {
    return m_Law;
  }

  /** Returns the run's parameters, with NoiseLaw, NumberOfLooks and ForegroundThreshold replaced by the image's values.
   */
  CudaRegionSnakeParameters
  Complete(CudaRegionSnakeParameters parameters) const
  {
    parameters.NoiseLaw = m_Law;
    parameters.NumberOfLooks = m_NumberOfLooks;
    parameters.ForegroundThreshold = m_ForegroundThreshold;
    return parameters;
  }

protected:
  SnakeImage(const SamplesDescription & samples, const CudaRegionSnakeParameters & parameters)
    : m_Samples(samples)
    , m_Law(parameters.NoiseLaw.value())
    , m_NumberOfLooks(parameters.NumberOfLooks)
    , m_ForegroundThreshold(parameters.ForegroundThreshold)
  {}
  ~SnakeImage() = default;

private:
  const SamplesDescription m_Samples;
  const NoiseLaw           m_Law;
  const double             m_NumberOfLooks;
  const double             m_ForegroundThreshold;
};

/** Checks the image, its mask and the parameters of its law, and makes the samples.
 * \exception ExceptionObject naming the invalid argument, or the first pixel whose value the law does not allow */
Samples
MakeSamples(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters, const Threads & threads);
} // namespace itk::cuda::snake

#endif
