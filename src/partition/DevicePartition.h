// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_DevicePartition_h
#define CudaFilters_partition_DevicePartition_h

#include "itkCudaDetailRegionPartitionEngine.h"
#include "executor/DeviceImages.h"
#include "partition/Partition.h"
#include "region/DeviceSums.h"

#include <cstddef>

namespace itk::cuda::partition
{
/** The largest number of pixels for which the device can count the edges in 31 bits. */
constexpr size_t MaximumDevicePixels = size_t{ 1 } << 30;

/** Runs a partition on a device. \param sums of the image, on the device \exception CudaError */
CudaRegionPartitionResult
RunOnDevice(const region::DeviceSums & sums, const PartitionRequest & request, const LabelWriter & writeLabels);

/** Returns the device memory in bytes of the partition's arrays and the gaps between them, without the sums. */
size_t
GetBytesOfArrays(size_t width, size_t height, const CudaRegionPartitionParameters & parameters, bool hasInitialLabels);
} // namespace itk::cuda::partition

#endif
