// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeCuda_h
#define itkCudaSnakeCuda_h

#include "itkCudaSnakeBackend.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

namespace itk::cuda::snake
{
/** How the snake's kernels are launched; nothing of it changes a result. */
struct SnakeLaunchOptions
{
  /** Blocks of threads, at most. */
  int MaximumNumberOfBlocks{ std::numeric_limits<int>::max() };
  /** Time after which a launch ends with the next portion of its work, where somebody may want to stop the run or where
   * the driver ends long kernels. */
  uint64_t NanosecondsOfLaunch{ 100000000 };
  /** Size of the portions, in steps that a warp does one after the other: some milliseconds. */
  int32_t StepsPerPortion{ 1 << 18 };
};

/** Uploads the samples, computes the sums and returns what works on them.
 * \exception CudaError */
std::unique_ptr<SnakeBackend>
MakeCudaSnakeBackend(const Samples &            samples,
                     const SnakePlan &          plan,
                     const LawDescription &     law,
                     int                        deviceIndex,
                     const SnakeLaunchOptions & options = {});

/** Device memory in bytes for an image, besides what does not depend on its size. */
size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes);
} // namespace itk::cuda::snake

#endif
