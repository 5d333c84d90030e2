// SPDX-License-Identifier: Apache-2.0
#include "snake/device/Snake.h"

#include "runtime/device/Device.h"
#include "region/Checks.h"
#include "snake/Plan.h"

#include <utility>

// Prepares an image for runs of the snake on a device (DeviceSnakeImage).

namespace itk::cuda::snake
{
namespace
{
/** Returns the shape and type of an image in device memory, in the form that the checks of images in host memory take.
 */
CudaImageView
GetShape(const DeviceView & image)
{
  CudaImageView shape;
  shape.Data = image.Data;
  shape.ComponentType = image.ComponentType;
  shape.NumberOfComponents = image.Size[4];
  shape.Size = { { image.Size[0], image.Size[1], image.Size[2], image.Size[3] } };
  return shape;
}

DeviceSamples
MakeDeviceSamples(const DeviceImageInput & input, const CudaRegionSnakeParameters & parameters, const Context & context)
{
  CheckSnakeParameters(parameters);
  const CudaImageView mask = input.ValidMask != nullptr ? GetShape(*input.ValidMask) : CudaImageView{};
  CheckImage(GetShape(input.Image), input.ValidMask != nullptr ? &mask : nullptr);
  const DeviceGuard guard(context.GetDevice()); // also needed when an exception returns the samples' memory
  return DeviceSamples(input, parameters, context);
}
} // namespace

DeviceSnakeImage::DeviceSnakeImage(const CudaRegionSnakeInput &      input,
                                   const CudaRegionSnakeParameters & parameters,
                                   const Threads &                   threads,
                                   int                               device,
                                   const SumsPlacement &             placement)
  : DeviceSnakeImage(MakeSamples(input, parameters, threads), parameters, device, placement)
{}

DeviceSnakeImage::DeviceSnakeImage(const Samples &                   samples,
                                   const CudaRegionSnakeParameters & parameters,
                                   int                               device,
                                   const SumsPlacement &             placement)
  : SnakeImage(samples, parameters)
  , m_Sums(samples, GetCoarseExponent(parameters.Schedule, this->GetWhole()), device, placement)
{}

DeviceSnakeImage::DeviceSnakeImage(const DeviceImageInput &          input,
                                   const CudaRegionSnakeParameters & parameters,
                                   const Context &                   context)
  : DeviceSnakeImage(MakeDeviceSamples(input, parameters, context), parameters, context.GetDevice())
{}

DeviceSnakeImage::DeviceSnakeImage(DeviceSamples && samples, const CudaRegionSnakeParameters & parameters, int device)
  : SnakeImage(samples, parameters)
  , m_InPlace(samples.DataMemory.GetSize() == 0)
  , m_Sums(std::move(samples), GetCoarseExponent(parameters.Schedule, this->GetWhole()), device)
{}
} // namespace itk::cuda::snake
