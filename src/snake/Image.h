// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Image_h
#define CudaFilters_snake_Image_h

#include "region/Samples.h"
#include "region/Tables.h"
#include "region/Threads.h"
#include "snake/Core.h"

#include <cstdint>

namespace itk::cuda::snake
{
/** \class SnakeImage
 * \brief An image, its law and its mask, prepared once for any number of runs (SnakeRun).
 *
 * Samples and sums are made by the constructor of HostSnakeImage or DeviceSnakeImage and never change, so runs may be
 * under way in several threads at once. The image has to live until they have returned.
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

  /** A run's parameters with those that belong to the image: NoiseLaw, NumberOfLooks and ForegroundThreshold. */
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
 * \exception ExceptionObject naming what cannot be, or the first pixel that the law refuses */
Samples
MakeSamples(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters, const Threads & threads);

/** \class HostSnakeImage
 * \brief A SnakeImage in host memory. An image of integers without a mask may be used in place: it must not change, and
 * must live as long.
 */
class HostSnakeImage : public SnakeImage
{
public:
  /** Made of the input's image and mask; a start is ignored.
   * \param parameters NoiseLaw, NumberOfLooks, ForegroundThreshold; and Schedule: whole images are best run with it
   * \exception ExceptionObject as MakeSamples() */
  HostSnakeImage(const CudaRegionSnakeInput &      input,
                 const CudaRegionSnakeParameters & parameters,
                 const Threads &                   threads);

  /** Made of samples. */
  HostSnakeImage(Samples samples, const CudaRegionSnakeParameters & parameters, const Threads & threads);

  const RowSums &
  GetSums() const
  {
    return m_Sums;
  }

private:
  const Samples m_HostSamples;
  const RowSums m_Sums;
};
} // namespace itk::cuda::snake

#endif
