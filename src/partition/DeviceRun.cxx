// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/image/DeviceView.h"
#include "runtime/device/Call.h"
#include "itkCudaError.h"
#include "partition/DevicePartition.h"
#include "region/DeviceSamples.h"
#include "region/DeviceSums.h"
#include "runtime/transfer/Transfer.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace itk
{
namespace cuda::partition
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
MakeDeviceSamples(const DeviceView &                    image,
                  const CudaRegionPartitionInput &      input,
                  const CudaRegionPartitionParameters & parameters,
                  const Context &                       context)
{
  region::DeviceImageInput onDevice{ image, input.FirstIndex, nullptr };
  DeviceImage              mask;
  if (input.ValidMask != nullptr)
  {
    mask = UploadImage(*input.ValidMask, context);
    onDevice.ValidMask = &mask.GetView();
  }
  return region::DeviceSamples(onDevice, GetLawOfSamples(parameters), context);
}

/** Returns a writer that copies the labels to a host image. */
LabelWriter
WriteToHost(const CudaImageView & labels)
{
  return [labels](const Context & context, const std::function<void(const DeviceView &)> & write) {
    const DeviceImage onDevice(GetPlanarSize(labels), labels.ComponentType, context);
    write(onDevice.GetView());
    Download(onDevice.GetView(), labels, context, nullptr);
  };
}

LabelWriter
WriteToDevice(const CudaDeviceImageView & labels)
{
  return [labels](const Context & context, const std::function<void(const DeviceView &)> & write) {
    const DeviceWriting writing(labels, context);
    write(GetDeviceView(labels));
  };
}

/** Partitions a device image, after all work that writes it. */
CudaRegionPartitionResult
DivideDeviceImage(const CudaDeviceImageView &      image,
                  const CudaRegionPartitionInput & input,
                  const PartitionRequest &         request,
                  const LabelWriter &              writeLabels)
{
  const StreamLease         stream(GetMemory(image).GetDevice());
  const DeviceReading       reading(image, stream);
  CudaRegionPartitionResult result;
  WithEarlierFailures([&] {
    const region::DeviceSums sums(
      MakeDeviceSamples(GetDeviceView(image), input, request.Parameters, stream), 0, stream.GetDevice());
    result = RunOnDevice(sums, request, writeLabels);
  });
  return result;
}

CudaRegionPartitionResult
DivideHostImage(const CudaRegionPartitionInput & input,
                const PartitionRequest &         request,
                const LabelWriter &              writeLabels,
                int                              device)
{
  const StreamLease     stream(device);
  DeviceImage           image = UploadImage(input.Image, stream);
  region::DeviceSamples samples = MakeDeviceSamples(image.GetView(), input, request.Parameters, stream);
  if (samples.DataMemory.GetSize() > 0) // the samples do not use the image in place
  {
    image = {};
  }
  return RunOnDevice(region::DeviceSums(std::move(samples), 0, device), request, writeLabels);
}
} // namespace
} // namespace cuda::partition

namespace CudaDetail
{
const char *
CudaRegionPartitionUnsupportedReason(const CudaRegionPartitionInput & input)
{
  return input.Image.GetNumberOfPixels() <= cuda::partition::MaximumDevicePixels
           ? nullptr
           : "the partition on the GPU takes images of at most 1073741824 pixels";
}

size_t
CudaRegionPartitionWorkingSet(const CudaRegionPartitionInput & input, const CudaRegionPartitionParameters & parameters)
{
  constexpr size_t fixedBytes = size_t{ 4 } << 20; // small arrays in addition to the search
  const size_t     width = input.Image.Size[0];
  const size_t     height = input.Image.Size[1];
  return fixedBytes +
         cuda::region::DeviceSums::GetNumberOfBytes(width,
                                                    height,
                                                    // logarithms of byte samples take two bytes
                                                    std::max<size_t>(2, CudaComponentSize(input.Image.ComponentType)),
                                                    input.ValidMask != nullptr,
                                                    0) +
         cuda::partition::GetBytesOfArrays(width, height, parameters, input.InitialLabels != nullptr);
}

CudaRegionPartitionResult
CudaRegionPartitionOnDevice(const CudaRegionPartitionInput &        input,
                            const CudaRegionPartitionParameters &   parameters,
                            const CudaImageView &                   labels,
                            unsigned int                            numberOfThreads,
                            int                                     deviceIndex,
                            const CudaRegionPartitionObserver &     observer,
                            const CudaRegionPartitionDeviceImages & onDevice)
{
  using namespace cuda::partition;
  const CudaImageView      shapeOfLabels = onDevice.Labels != nullptr ? cuda::GetShape(*onDevice.Labels) : labels;
  CudaRegionPartitionInput checked = input;
  checked.Image = onDevice.Image != nullptr ? cuda::GetShape(*onDevice.Image) : input.Image;
  VerifyCudaRegionPartitionParameters(parameters);
  CheckInput(checked);
  CheckLabels(shapeOfLabels, checked.Image);
  if (const char * const reason = CudaRegionPartitionUnsupportedReason(checked))
  {
    throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, reason);
  }
  const cuda::DeviceGuard guard(deviceIndex);
  const LabelWriter writeLabels = onDevice.Labels != nullptr ? WriteToDevice(*onDevice.Labels) : WriteToHost(labels);
  const PartitionRequest request{
    parameters, input.InitialLabels, shapeOfLabels.ComponentType, numberOfThreads, observer
  };
  return onDevice.Image != nullptr ? DivideDeviceImage(*onDevice.Image, input, request, writeLabels)
                                   : DivideHostImage(input, request, writeLabels, deviceIndex);
}
} // namespace CudaDetail
} // end namespace itk
