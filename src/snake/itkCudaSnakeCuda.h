// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeCuda_h
#define itkCudaSnakeCuda_h

#include "itkCudaContext.h"
#include "itkCudaRegionDeviceSums.h"
#include "itkCudaSnakeImage.h"
#include "itkCudaSnakeRun.h"
#include "itkCudaWorkspace.h"

#include <cstddef>
#include <cstdint>
#include <limits>

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

/** \class DeviceSnakeImage
 * \brief A SnakeImage on a device.
 *
 * It belongs to no thread, context or stream: runs may be under way on streams of any threads, and whoever destroys it
 * may be another one.
 */
class DeviceSnakeImage : public SnakeImage
{
public:
  /** Of an image and a mask in host memory, neither of which is needed any more when it returns. The sums of the rows
   * that have arrived are made while others are uploaded. `threads` check and convert the image. \param parameters
   * NoiseLaw, NumberOfLooks, ForegroundThreshold; and Schedule: whole images are best run with it \exception
   * ExceptionObject as MakeSamples() \exception CudaError */
  DeviceSnakeImage(const CudaRegionSnakeInput &      input,
                   const CudaRegionSnakeParameters & parameters,
                   const Threads &                   threads,
                   int                               device);

  /** Of samples in host memory. \exception CudaError */
  DeviceSnakeImage(const Samples & samples, const CudaRegionSnakeParameters & parameters, int device);

  /** Of an image and a mask in device memory, prepared there: the same samples, sums and exceptions as from host
   * memory, bit for bit. They are read after all work that the context's stream has got; when the constructor returns,
   * that is done. An image that is used in place (DeviceSamples) must not change as long as this object lives;
   * IsInPlace() tells. \exception ExceptionObject as MakeSamples() \exception CudaError */
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

/** Device memory in bytes that RunOnDevice() needs for the run.
 * \exception ExceptionObject as CheckSnakeRun() */
size_t
GetWorkspaceBytes(const DeviceSnakeImage & image, const SnakeRun & run);

/** Runs the snake on the context's stream, which has to be of the image's device, and waits for the result: that of
 * RunOnHost() bit for bit. The device memory that it needs comes from the workspace.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake(), or if the workspace is too small
 * \exception CudaError */
CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage &   image,
            const SnakeRun &           run,
            Workspace                  workspace,
            const Context &            context,
            const SnakeLaunchOptions & options = {});

/** The same on a stream and with memory of the module's own. */
CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage & image, const SnakeRun & run, const SnakeLaunchOptions & options = {});

/** Device memory in bytes for an image and a run on it, besides what does not depend on its size. */
size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes);
} // namespace itk::cuda::snake

#endif
