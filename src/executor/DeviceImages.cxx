// SPDX-License-Identifier: Apache-2.0
#include "executor/DeviceImages.h"

#include "runtime/device/Call.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/transfer/Transfer.h"
#include "region/DeviceSamples.h"

#include <utility>

namespace itk::cuda::executor
{
namespace
{
/** Copies a host image to device memory. */
DeviceImage
UploadImage(const CudaImageView & image, const Context & context)
{
  DeviceImage onDevice(GetPlanarSize(image), image.ComponentType, context);
  Upload(image, onDevice.GetView(), context, nullptr);
  return onDevice;
}

/** Makes the samples of a device image. The mask is on the device only during this call. */
region::DeviceSamples
MakeDeviceSamples(const DeviceView &                image,
                  const ImageToSum &                input,
                  const CudaRegionSnakeParameters & law,
                  const Context &                   context)
{
  region::DeviceImageInput onDevice{ image, input.FirstIndex, nullptr };
  DeviceImage              mask;
  if (input.ValidMask != nullptr)
  {
    mask = UploadImage(*input.ValidMask, context);
    onDevice.ValidMask = &mask.GetView();
  }
  return region::DeviceSamples(onDevice, law, context);
}
} // namespace

LabelWriter
WriteLabelsToHost(const CudaImageView & labels)
{
  return [labels](const Context & context, const std::function<void(const DeviceView &)> & write) {
    const DeviceImage onDevice(GetPlanarSize(labels), labels.ComponentType, context);
    write(onDevice.GetView());
    Download(onDevice.GetView(), labels, context, nullptr);
  };
}

LabelWriter
WriteLabelsToDevice(const CudaDeviceImageView & labels)
{
  return [labels](const Context & context, const std::function<void(const DeviceView &)> & write) {
    const DeviceWriting writing(labels, context);
    write(GetDeviceView(labels));
  };
}

void
WithDeviceSums(const ImageToSum &                                      image,
               const CudaRegionSnakeParameters &                       law,
               int                                                     device,
               const std::function<void(const region::DeviceSums &)> & run)
{
  if (image.DeviceImage != nullptr)
  {
    const StreamLease   stream(GetMemory(*image.DeviceImage).GetDevice());
    const DeviceReading reading(*image.DeviceImage, stream);
    WithEarlierFailures([&] {
      run(region::DeviceSums(
        MakeDeviceSamples(GetDeviceView(*image.DeviceImage), image, law, stream), 0, stream.GetDevice()));
    });
    return;
  }
  const StreamLease     stream(device);
  DeviceImage           onDevice = UploadImage(image.Image, stream);
  region::DeviceSamples samples = MakeDeviceSamples(onDevice.GetView(), image, law, stream);
  if (samples.DataMemory.GetSize() > 0) // the samples do not use the image in place
  {
    onDevice = {};
  }
  run(region::DeviceSums(std::move(samples), 0, device));
}
} // namespace itk::cuda::executor
