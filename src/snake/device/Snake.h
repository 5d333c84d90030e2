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
 * It is not bound to a thread, context or stream. Any threads may run the snake on it, and any thread may destroy it.
 */
class CudaFilters_EXPORT DeviceSnakeImage : public SnakeImage
{
public:
  /** Makes the samples and sums of an image and a mask in host memory, which are not needed after the constructor has
   * returned. Rows that have arrived are summed while other rows are uploaded. `threads` check and convert the image.
   * \param parameters NoiseLaw, NumberOfLooks and ForegroundThreshold are used, and Schedule. The cells of the
   * coarsest level are made for this schedule, so runs on the whole image are fastest with it.
   * \exception ExceptionObject as MakeSamples() \exception CudaError */
  DeviceSnakeImage(const CudaRegionSnakeInput &      input,
                   const CudaRegionSnakeParameters & parameters,
                   const Threads &                   threads,
                   int                               device,
                   const SumsPlacement &             placement = {});

  /** Makes the sums of samples in host memory. \exception CudaError */
  DeviceSnakeImage(const Samples &                   samples,
                   const CudaRegionSnakeParameters & parameters,
                   int                               device,
                   const SumsPlacement &             placement = {});

  /** Makes the samples and sums of an image and a mask in device memory, on the device. Samples and sums are
   * bit-identical to the ones from host memory, and the exceptions are the same. The image and the mask are read after
   * all work that is queued on the context's stream. The constructor waits until they have been read. An image that is
   * used in place (DeviceSamples, IsInPlace()) must not change as long as this object lives. \exception
   * ExceptionObject as MakeSamples() \exception CudaError */
  DeviceSnakeImage(const DeviceImageInput &          input,
                   const CudaRegionSnakeParameters & parameters,
                   const Context &                   context);

  /** Returns whether runs read the image in device memory from which this object was made. */
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
  /** Maximum number of thread blocks. */
  int MaximumNumberOfBlocks{ std::numeric_limits<int>::max() };
  /** Time after which a launch ends at the end of a phase or portion, if the run may be stopped or if the driver's
   * watchdog ends long kernels. */
  uint64_t NanosecondsOfLaunch{ 100000000 };
  /** Maximum number of nodes with which phases are short enough not to be divided into portions, unless the driver's
   * watchdog ends long kernels. */
  uint32_t NodesOfWholePhases{ 4096 };
  /** Size of the portions, in successive steps of a warp. The default takes some milliseconds. */
  int32_t StepsPerPortion{ 1 << 18 };
};

/** Returns the bytes of device memory that RunOnDevice() needs for the run.
 * \exception ExceptionObject as CheckSnakeRun() */
CudaFilters_EXPORT size_t
GetWorkspaceBytes(const DeviceSnakeImage & image, const SnakeRun & run);

/** Runs the snake on the context's stream and waits for the result, which is bit-identical to the result of
 * RunOnHost(). The stream must belong to the image's device. Device memory comes from the workspace.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake(), or if the workspace is too small
 * \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage &   image,
            const SnakeRun &           run,
            Workspace                  workspace,
            const Context &            context,
            const SnakeLaunchOptions & options = {});

/** Runs the snake on a stream and with device memory that the module provides, and waits for the result. */
CudaFilters_EXPORT CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage & image, const SnakeRun & run, const SnakeLaunchOptions & options = {});

/** Returns the bytes of device memory for an image and a run on it, without the part that does not depend on the size
 * of the image. */
size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes);

/** Returns the bytes of device memory that WriteLabels() needs. */
size_t
GetLabelWorkspaceBytes(const CudaSnakePolygon & polygon);

/** Queues the writing of a polygon's label image: `inside` between the columns of its row spans, and `outside`
 * elsewhere, as CudaSnakeLabels does in host memory. Only the polygon is uploaded, because the device computes where
 * the rows cross the edges. Padding between the rows is not written. The polygon may change when the function has
 * returned.
 * \param polygon may be empty \param labels an image of UChar or UShort with two axes
 * \exception ExceptionObject for other images, labels that the pixel type cannot hold, a vertex outside the rows, or a
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
