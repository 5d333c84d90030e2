// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DeviceImages_h
#define CudaFilters_executor_DeviceImages_h

#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "region/DeviceSums.h"

#include <array>
#include <cstdint>
#include <functional>

// The images of a run on a device: the one that is summed, and the labels that come out of it. Either is in host memory
// or on the device.
namespace itk::cuda::executor
{
/** Writes the label image, which is either queued on a stream for a device image, or copied to the host. Provides a
 * device view of UInt or UShort, into which the caller's write(view) writes. */
using LabelWriter = std::function<void(const Context &, const std::function<void(const DeviceView &)> &)>;

/** Returns a writer that copies the labels to a host image. */
LabelWriter
WriteLabelsToHost(const CudaImageView & labels);
/** Returns a writer into a device image. */
LabelWriter
WriteLabelsToDevice(const CudaDeviceImageView & labels);

/** An image with its mask of valid pixels, which may be null. The struct owns nothing. */
struct ImageToSum
{
  CudaImageView               Image; // ignored if there is a device image
  std::array<int64_t, 2>      FirstIndex;
  const CudaImageView *       ValidMask;
  const CudaDeviceImageView * DeviceImage; // may be null
};

/** Makes the sums of an image on a device, after all work that writes it, and calls run(sums).
 * \param law the parameters of the snake on which samples depend \exception CudaError */
void
WithDeviceSums(const ImageToSum &                                      image,
               const CudaRegionSnakeParameters &                       law,
               int                                                     device,
               const std::function<void(const region::DeviceSums &)> & run);
} // namespace itk::cuda::executor

#endif
