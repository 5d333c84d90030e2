// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_DevicePartition_h
#define CudaFilters_partition_DevicePartition_h

#include "itkCudaDetailRegionPartitionEngine.h"
#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "partition/Partition.h"
#include "region/DeviceSums.h"

#include <cstddef>
#include <functional>

namespace itk::cuda::partition
{
/** The largest number of pixels for which the device can count the edges in 31 bits. */
constexpr size_t MaximumDevicePixels = size_t{ 1 } << 30;

/** Writes the label image, which is either queued on a stream for a device image, or copied to the host. Provides a
 * device view of UInt or UShort, into which the caller's write(view) writes. */
using LabelWriter = std::function<void(const Context &, const std::function<void(const DeviceView &)> &)>;

/** Runs a partition on a device. \param sums of the image, on the device \exception CudaError */
CudaRegionPartitionResult
RunOnDevice(const region::DeviceSums & sums, const PartitionRequest & request, const LabelWriter & writeLabels);

/** Returns the device memory in bytes of the partition's arrays and the gaps between them, without the sums. */
size_t
GetBytesOfArrays(size_t width, size_t height, const CudaRegionPartitionParameters & parameters, bool hasInitialLabels);
} // namespace itk::cuda::partition

#endif
