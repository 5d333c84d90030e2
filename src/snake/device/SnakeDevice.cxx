// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/device/Call.h"
#include "runtime/run/HostToHost.h"
#include "snake/Plan.h"
#include "snake/device/Batch.h"
#include "snake/device/Snake.h"
#include "snake/Group.h"
#include "runtime/transfer/Transfer.h"

#include <algorithm>

// Runs the snake on a device for the filter, on images in host memory and on device images, and draws its labels.

namespace itk::CudaDetail
{
namespace
{
/** Returns where the sums of an input lie. */
cuda::region::SumsPlacement
GetPlacement(const CudaRegionSnakeInput & input)
{
  cuda::region::SumsPlacement placement;
  if (input.DevicesOfBands != nullptr)
  {
    placement.InHostMemory = true;
    placement.Devices = *input.DevicesOfBands;
  }
  return placement;
}

/** Makes a snake image of an image in device memory and a mask in host memory. The mask is uploaded, and its device
 * memory is released on return. */
cuda::snake::DeviceSnakeImage
MakeDeviceSnakeImage(const CudaDeviceImageView &       image,
                     const CudaRegionSnakeInput &      input,
                     const CudaRegionSnakeParameters & parameters,
                     const cuda::Context &             context)
{
  cuda::region::DeviceImageInput onDevice{ cuda::GetDeviceView(image), input.FirstIndex, nullptr };
  cuda::DeviceImage              mask;
  if (input.ValidMask != nullptr)
  {
    mask = cuda::DeviceImage(cuda::GetPlanarSize(*input.ValidMask), input.ValidMask->ComponentType, context);
    cuda::Upload(*input.ValidMask, mask.GetView(), context, nullptr);
    onDevice.ValidMask = &mask.GetView();
  }
  return cuda::snake::DeviceSnakeImage(onDevice, parameters, context);
}

/** Makes a snake image of an image in device memory, and calls use(snakeImage, seconds that this took). */
template <typename TUse>
void
UseDeviceImage(const CudaDeviceImageView &       image,
               const CudaRegionSnakeInput &      input,
               const CudaRegionSnakeParameters & parameters,
               const TUse &                      use)
{
  using namespace cuda::snake;
  CudaRegionSnakeInput checked = input;
  checked.Image = cuda::GetShape(image);
  CheckSnakeParameters(parameters);
  CheckSnakeInput(checked);
  const cuda::Context       context = cuda::GetThreadContext(cuda::GetMemory(image).GetDevice());
  const cuda::DeviceGuard   guard(context.GetDevice());
  const cuda::DeviceReading reading(image, context);
  cuda::WithEarlierFailures([&] {
    const double           timeOfImage = GetSeconds();
    const DeviceSnakeImage prepared = MakeDeviceSnakeImage(image, input, parameters, context);
    use(prepared, GetSeconds() - timeOfImage);
  });
}

CudaRegionSnakeBatch
RunBatchOnDevice(const cuda::snake::DeviceSnakeImage & image,
                 const CudaRegionSnakeStarts &         starts,
                 const CudaRegionSnakeParameters &     parameters,
                 const CudaRegionSnakeObserver &       observer,
                 const cuda::region::Threads &         threads)
{
  const auto backend = cuda::snake::MakeDeviceBatch(image, threads);
  return RunBatch(image, starts, parameters, observer, threads, *backend);
}

class PreparedOnDevice final : public CudaPreparedSnakeImage
{
public:
  PreparedOnDevice(const CudaRegionSnakeInput &      input,
                   const CudaRegionSnakeParameters & parameters,
                   int                               device,
                   unsigned int                      threads)
    : m_Image(input, parameters, cuda::region::Threads(threads), device)
  {}

  CudaRegionSnakeResult
  Run(const CudaPreparedSnakeRun & run) const override
  {
    return cuda::snake::RunPrepared(
      run, [&](const cuda::snake::SnakeRun & snakeRun) { return RunOnDevice(m_Image, snakeRun); });
  }

private:
  const cuda::snake::DeviceSnakeImage m_Image;
};
} // namespace

const char *
CudaRegionSnakeUnsupportedReason(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &)
{
  return nullptr;
}

size_t
CudaRegionSnakeWorkingSet(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters)
{
  // Room for the arrays whose size depends neither on the image nor on the number of nodes, such as one row chunk for
  // each unit of work of the warps.
  constexpr size_t fixedBytes = size_t{ 4 } << 20;
  const size_t     entries = 2 * static_cast<size_t>(parameters.MaximumNumberOfIterations) + 8;
  return fixedBytes + entries * sizeof(CudaRegionSnakeStep) +
         cuda::snake::GetSnakeDeviceBytes(input.Image.Size[0],
                                          input.Image.Size[1],
                                          // the samples of logarithms have two bytes, also for images of bytes
                                          std::max<size_t>(2, CudaComponentSize(input.Image.ComponentType)),
                                          input.ValidMask != nullptr,
                                          parameters.MaximumNumberOfNodes);
}

CudaRegionSnakeResult
CudaRegionSnakeOnDevice(const CudaRegionSnakeInput &      input,
                        const CudaRegionSnakeParameters & parameters,
                        int                               deviceIndex,
                        unsigned int                      numberOfThreads,
                        const CudaRegionSnakeObserver &   observer)
{
  using namespace cuda::snake;
  const cuda::region::Threads threads(numberOfThreads);
  return PrepareAndRun(
    input,
    parameters,
    observer,
    threads,
    [&](const cuda::region::Samples & samples) {
      return DeviceSnakeImage(samples, parameters, deviceIndex, GetPlacement(input));
    },
    [&](const DeviceSnakeImage & image, const SnakeRun & run) { return RunOnDevice(image, run); });
}

CudaRegionSnakeResult
CudaRegionSnakeOfDeviceImage(const CudaDeviceImageView &       image,
                             const CudaRegionSnakeInput &      input,
                             const CudaRegionSnakeParameters & parameters,
                             const CudaRegionSnakeObserver &   observer)
{
  using namespace cuda::snake;
  CudaRegionSnakeResult result;
  UseDeviceImage(image, input, parameters, [&](const DeviceSnakeImage & prepared, double secondsOfImage) {
    CheckNumberOfValidPixels(parameters, prepared.GetSamples().NumberOfValidPixels);
    result = RunOnDevice(prepared, { parameters, {}, input.StartPolygon, input.StartMask, observer });
    result.SecondsOfSums += secondsOfImage;
  });
  return result;
}

std::unique_ptr<CudaPreparedSnakeImage>
CudaPrepareSnakeImageOnDevice(const CudaRegionSnakeInput &      input,
                              const CudaRegionSnakeParameters & parameters,
                              int                               deviceIndex,
                              unsigned int                      numberOfThreads)
{
  return std::make_unique<PreparedOnDevice>(input, parameters, deviceIndex, numberOfThreads);
}

size_t
CudaRegionSnakeBatchWorkingSet(const CudaRegionSnakeInput &      input,
                               const CudaRegionSnakeParameters & parameters,
                               unsigned int                      numberOfThreads)
{
  // A run on a window alone needs less than the snake of an image of this size.
  constexpr size_t     side = 1024;
  CudaRegionSnakeInput window = input;
  window.Image.Size = { { std::min(input.Image.Size[0], side), std::min(input.Image.Size[1], side), 1, 1 } };
  return CudaRegionSnakeWorkingSet(input, parameters) + cuda::snake::BytesOfDeviceBatch +
         std::max(1u, numberOfThreads) * CudaRegionSnakeWorkingSet(window, parameters);
}

CudaRegionSnakeBatch
CudaRegionSnakeBatchOnDevice(const CudaRegionSnakeInput &      input,
                             const CudaRegionSnakeStarts &     starts,
                             const CudaRegionSnakeParameters & parameters,
                             int                               deviceIndex,
                             unsigned int                      numberOfThreads,
                             const CudaRegionSnakeObserver &   observer)
{
  const cuda::region::Threads         threads(numberOfThreads);
  const cuda::snake::DeviceSnakeImage image(input, parameters, threads, deviceIndex, GetPlacement(input));
  return RunBatchOnDevice(image, starts, parameters, observer, threads);
}

CudaRegionSnakeBatch
CudaRegionSnakeBatchOfDeviceImage(const CudaDeviceImageView &       image,
                                  const CudaRegionSnakeInput &      input,
                                  const CudaRegionSnakeStarts &     starts,
                                  const CudaRegionSnakeParameters & parameters,
                                  unsigned int                      numberOfThreads,
                                  const CudaRegionSnakeObserver &   observer)
{
  CudaRegionSnakeBatch batch;
  UseDeviceImage(image, input, parameters, [&](const cuda::snake::DeviceSnakeImage & prepared, double) {
    batch = RunBatchOnDevice(prepared, starts, parameters, observer, cuda::region::Threads(numberOfThreads));
  });
  return batch;
}

void
CudaQueueRegionSnakeLabels(const CudaSnakePolygon &    polygon,
                           uint32_t                    inside,
                           uint32_t                    outside,
                           const CudaDeviceImageView & labels)
{
  const cuda::Context       context = cuda::GetThreadContext(cuda::GetMemory(labels).GetDevice());
  const cuda::DeviceGuard   guard(context.GetDevice());
  const cuda::DeviceWriting writing(labels, context);
  const cuda::DeviceBuffer  workspace(cuda::snake::GetLabelWorkspaceBytes(polygon), context);
  cuda::snake::WriteLabels(
    polygon, inside, outside, cuda::GetDeviceView(labels), { workspace.GetPointer(), workspace.GetSize() }, context);
  cuda::WaitIfSynchronous("CudaRegionSnakeImageFilter", context);
}
} // end namespace itk::CudaDetail
