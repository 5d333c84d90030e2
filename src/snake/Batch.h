// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Batch_h
#define CudaFilters_snake_Batch_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Threads.h"
#include "snake/Image.h"
#include "snake/Run.h"

#include <functional>

namespace itk::cuda::snake
{
/** Runs the snake on one window. `threads` are the threads that the run may use. */
using WindowRun = std::function<CudaRegionSnakeResult(const SnakeRun & run, const Threads & threads)>;

/** Segments the windows of all starts. Several of `threads` run windows at the same time, each with one thread, unless
 * there are fewer windows than threads, which then run one after the other. The order does not change the results.
 * \exception ExceptionObject if a start is not valid; the message has its number, which begins at 0 */
CudaRegionSnakeBatch
RunBatch(const SnakeImage &                image,
         const CudaRegionSnakeStarts &     starts,
         const CudaRegionSnakeParameters & parameters,
         const CudaRegionSnakeObserver &   observer,
         const Threads &                   threads,
         const WindowRun &                 run);
} // namespace itk::cuda::snake

#endif
