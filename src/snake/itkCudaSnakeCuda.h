// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeCuda_h
#define itkCudaSnakeCuda_h

#include "itkCudaSnakeBackend.h"

#include <cstddef>
#include <limits>
#include <memory>

namespace itk::cuda
{
/** Uploads the samples, computes the sums and returns what works on them, with up to `maximumNumberOfBlocks` blocks of
 * threads, which only changes how long it takes.
 * \exception CudaError */
std::unique_ptr<SnakeBackend>
MakeCudaSnakeBackend(const SnakeSamples &   samples,
                     const SnakePlan &      plan,
                     const LawDescription & law,
                     int                    deviceIndex,
                     int                    maximumNumberOfBlocks = std::numeric_limits<int>::max());

/** Device memory in bytes for an image, besides what does not depend on its size. */
size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes);
} // namespace itk::cuda

#endif
