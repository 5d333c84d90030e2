// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_DeviceStages_h
#define CudaFilters_partition_DeviceStages_h

#include "itkCudaDetailImageView.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "runtime/image/DeviceView.h"
#include "partition/Run.h"
#include "region/DeviceSums.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace itk::cuda::partition
{
/** Writes the label image, which is either queued on a stream for a device image, or copied to the host. Provides a
 * device view of UInt or UShort, into which the caller's write(view) writes. */
using LabelWriter = std::function<void(const Context &, const std::function<void(const DeviceView &)> &)>;

/** Makes the stages on a device.
 * \param sums of the image, on the device \param initialLabels in host memory; may be null
 * \param writeLabels is called once, by WriteLabels() or WritePolygons() \exception CudaError
 */
std::unique_ptr<Stages>
MakeDeviceStages(std::unique_ptr<const region::DeviceSums> sums,
                 const CudaRegionPartitionParameters &     parameters,
                 const CudaImageView *                     initialLabels,
                 LabelWriter                               writeLabels);

/** Returns the device memory in bytes of the stages' arrays, without the sums and the heap's gaps. */
size_t
GetSearchBytes(size_t width, size_t height, const CudaRegionPartitionParameters & parameters, bool hasInitialLabels);
} // namespace itk::cuda::partition

#endif
