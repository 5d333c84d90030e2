// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_Snake_h
#define CudaFilters_snake_device_Snake_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "region/DeviceSums.h"
#include "snake/Image.h"
#include "snake/Run.h"
#include "runtime/memory/Workspace.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "runtime/image/DeviceView.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace itk::cuda::snake
{
/** \class DeviceSnakeImage
 * \brief A SnakeImage on a device.
 *
 * It belongs to no thread, context or stream. Any threads may run on it, and any thread may destroy it.
 */
class CudaFilters_EXPORT DeviceSnakeImage : public SnakeImage
{
public:
  /** Made of an image and a mask in host memory, which are not needed after it has returned. The sums of rows that have
   * arrived are made while other rows are uploaded. `threads` check and convert the image. \param parameters NoiseLaw,
   * NumberOfLooks, ForegroundThreshold; and Schedule: whole images are best run with it \exception ExceptionObject as
   * MakeSamples() \exception CudaError */
  DeviceSnakeImage(const CudaRegionSnakeInput &      input,
                   const CudaRegionSnakeParameters & parameters,
                   const Threads &                   threads,
                   int                               device);

  /** Made of samples in host memory. \exception CudaError */
  DeviceSnakeImage(const Samples & samples, const CudaRegionSnakeParameters & parameters, int device);

  /** Made of an image and a mask in device memory, on the device. Samples, sums and exceptions are the same as from
   * host memory, bit for bit. The image and the mask are read after all work queued on the context's stream, and the
   * constructor returns when that is done. An image that is used in place (DeviceSamples, IsInPlace()) must not change
   * as long as this object lives. \exception ExceptionObject as MakeSamples() \exception CudaError */
  DeviceSnakeImage(const DeviceImageInput &          input,
                   const CudaRegionSnakeParameters & parameters,
                   const Context &                   context);

  /** Whether runs read the image in device memory that this one was made of. */
  bool
  IsInPlace() const
  {
    return m_InPlace;
  }

  const DeviceSums &
  GetSums() const
  {
    return m_Sums;
  }

private:
  DeviceSnakeImage(DeviceSamples && samples, const CudaRegionSnakeParameters & parameters, int device);

  const bool       m_InPlace{ false };
  const DeviceSums m_Sums;
};

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

/** Device memory in bytes that WriteLabels() needs. */
size_t
GetLabelWorkspaceBytes(const CudaSnakePolygon & polygon);

/** Queues the label image of a polygon: `inside` between the columns of its row spans, `outside` elsewhere, as
 * CudaSnakeLabels does in host memory. The device finds where the rows cross the edges; only the polygon is uploaded.
 * Memory between the rows is not written. The polygon may change when the function has returned.
 * \param polygon may be empty \param labels of UChar or UShort, with two axes
 * \exception ExceptionObject for other images, labels that their type does not hold, a vertex outside the rows, or a
 * workspace that is too small \exception CudaError */
void
WriteLabels(const CudaSnakePolygon & polygon,
            uint32_t                 inside,
            uint32_t                 outside,
            const DeviceView &       labels,
            Workspace                workspace,
            const Context &          context);
} // namespace itk::cuda::snake

#endif
