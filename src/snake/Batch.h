// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Batch_h
#define CudaFilters_snake_Batch_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Threads.h"
#include "snake/Image.h"
#include "snake/Run.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace itk::cuda::snake
{
/** \class BatchBackend
 * \brief Interface to the computations of many runs on windows of one image, on the host or on a device. All backends
 * give bit-identical results.
 */
class BatchBackend
{
public:
  virtual ~BatchBackend() = default;

  /** Does in advance what it can for all runs together. Called once, before Run(). The function is called with the
   * share of the work that is done, and returns whether to continue. */
  virtual void
  RunTogether(const std::vector<SnakeRun> &, const std::function<bool(double)> &)
  {}

  /** Returns the result of the run with this index. Several threads may call it at the same time. `threads` are the
   * threads that the run may use. */
  virtual CudaRegionSnakeResult
  Run(size_t index, const SnakeRun & run, const Threads & threads) = 0;
};

/** Segments the windows of all starts. Several of `threads` run windows at the same time, each with one thread, unless
 * there are fewer windows than threads, which then run one after the other. The order does not change the results.
 * \exception ExceptionObject if a start is not valid; the message has its number, which begins at 0 */
CudaRegionSnakeBatch
RunBatch(const SnakeImage &                image,
         const CudaRegionSnakeStarts &     starts,
         const CudaRegionSnakeParameters & parameters,
         const CudaRegionSnakeObserver &   observer,
         const Threads &                   threads,
         BatchBackend &                    backend);
} // namespace itk::cuda::snake

#endif
