// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_host_Host_h
#define CudaFilters_snake_host_Host_h

#include "region/HostSums.h"
#include "region/Samples.h"
#include "region/Threads.h"
#include "snake/Image.h"
#include "snake/Run.h"

namespace itk::cuda::snake
{
/** \class HostSnakeImage
 * \brief A SnakeImage in host memory. An integer image without a mask may be used in place. It must then not change,
 * and must outlive this object.
 */
class HostSnakeImage : public SnakeImage
{
public:
  /** Makes the samples and sums of the input's image and mask. A start in the input is ignored.
   * \param parameters NoiseLaw, NumberOfLooks and ForegroundThreshold are used, and Schedule. The cells of the
   * coarsest level are made for this schedule, so runs on the whole image are fastest with it.
   * \exception ExceptionObject as MakeSamples() */
  HostSnakeImage(const CudaRegionSnakeInput &      input,
                 const CudaRegionSnakeParameters & parameters,
                 const Threads &                   threads);

  /** Makes the sums of existing samples. */
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

/** Runs the snake on the host. The result does not depend on the number of threads.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake() */
CudaRegionSnakeResult
RunOnHost(const HostSnakeImage & image, const SnakeRun & run, const Threads & threads);
} // namespace itk::cuda::snake

#endif
