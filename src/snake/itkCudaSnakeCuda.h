// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeCuda_h
#define itkCudaSnakeCuda_h

#include "itkCudaSnakeBackend.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace itk::cuda
{
/** Calls function(begin, end) for pieces of 0 to count - 1, by several threads. */
using ParallelLoop = std::function<void(size_t count, const std::function<void(size_t, size_t)> & function)>;

/** Uploads the samples, computes the sums and returns what works on them. `loop` is used for copies in host memory.
 * \exception CudaError */
std::unique_ptr<SnakeBackend>
MakeCudaSnakeBackend(const SnakeSamples &   samples,
                     const SnakePlan &      plan,
                     const LawDescription & law,
                     int                    deviceIndex,
                     const ParallelLoop &   loop);

/** Device memory in bytes for an image, besides what does not depend on its size. */
size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes);
} // namespace itk::cuda

#endif
