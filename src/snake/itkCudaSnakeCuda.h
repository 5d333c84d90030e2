// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeCuda_h
#define itkCudaSnakeCuda_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"
#include "itkCudaSnakeDeviceImage.h"
#include "itkCudaSnakeRun.h"
#include "itkCudaWorkspace.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace itk::cuda::snake
{
/** How the snake's kernels are launched. No option changes a result. */
struct SnakeLaunchOptions
{
  /** Blocks of threads, at most. */
  int MaximumNumberOfBlocks{ std::numeric_limits<int>::max() };
  /** Time after which a launch ends with the next phase or portion of its work, if the run may be stopped or if the
   * driver ends long kernels. */
  uint64_t NanosecondsOfLaunch{ 100000000 };
  /** Nodes of a snake whose phases are short enough to be whole, unless the driver ends long kernels. */
  uint32_t NodesOfWholePhases{ 4096 };
  /** Size of the portions, in successive steps of a warp: some milliseconds. */
  int32_t StepsPerPortion{ 1 << 18 };
};

/** Device memory in bytes that RunOnDevice() needs for the run.
 * \exception ExceptionObject as CheckSnakeRun() */
CudaFilters_EXPORT size_t
GetWorkspaceBytes(const DeviceSnakeImage & image, const SnakeRun & run);

/** Runs the snake on the context's stream and waits for the result, which has the bits of RunOnHost()'s. The stream
 * must belong to the image's device. Device memory comes from the workspace.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake(), or if the workspace is too small
 * \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage &   image,
            const SnakeRun &           run,
            Workspace                  workspace,
            const Context &            context,
            const SnakeLaunchOptions & options = {});

/** The same on a stream and with memory of the module's own. */
CudaFilters_EXPORT CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage & image, const SnakeRun & run, const SnakeLaunchOptions & options = {});

/** Device memory in bytes for an image and a run on it, without the part that does not depend on the image's size. */
size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes);
} // namespace itk::cuda::snake

#endif
