// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianArrays_h
#define itkCudaGaussianArrays_h

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailNames.h"

#include <vector>

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::gaussian
{
/** Queues the passes of an array in memory that the caller keeps, as CudaQueueOnStream() does, on the array's stream:
 * the stream of a context that was opened before. \exception CudaError */
void
QueuePasses(const std::vector<CudaArrayPass> & passes,
            const CudaArrayMemory &            input,
            void *                             output,
            const Context &                    context);
} // namespace itk::cuda::gaussian

#endif
