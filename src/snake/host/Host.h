// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_host_Host_h
#define CudaFilters_snake_host_Host_h

#include "region/Threads.h"
#include "snake/Run.h"

namespace itk::cuda::snake
{
/** Runs the snake on the host. The result does not depend on the number of threads.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake() */
CudaRegionSnakeResult
RunOnHost(const HostSnakeImage & image, const SnakeRun & run, const Threads & threads);
} // namespace itk::cuda::snake

#endif
