// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_DeviceLabels_h
#define CudaFilters_partition_labels_DeviceLabels_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "partition/executor/ArrayMemory.h"
#include "partition/Model.h"
#include "region/DeviceSums.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace itk::cuda::partition
{
class DeviceExecutor;

/** A label map in device memory: the labels of the pixels, row by row, and the sums of the regions by label. */
struct DeviceLabelMap
{
  ArrayMemory Labels;
  ArrayMemory Regions;
  size_t      NumberOfRegions{ 0 };
  bool        Finished{ true }; // if false, there are no labels
};

/** The largest number of pixels for which the device can count the edges in 31 bits. */
constexpr size_t LargestDeviceImage = size_t{ 1 } << 30;

/** Finds regions on the stream of the context, with results that are bit-identical to MakeLabelMap(). The context's
 * device must be the current one.
 * \param progress called by the calling thread with the completed fraction; returns whether to continue; may be empty
 * \exception CudaError
 */
CudaFilters_EXPORT DeviceLabelMap
MakeLabelMapOnDevice(const region::DeviceSums &         sums,
                     const Model &                      model,
                     int32_t                            blockSize,
                     const std::function<bool(float)> & progress,
                     const Context &                    context);

/** Overload with an executor of these sums. */
DeviceLabelMap
MakeLabelMapOnDevice(const region::DeviceSums &         sums,
                     const Model &                      model,
                     int32_t                            blockSize,
                     const std::function<bool(float)> & progress,
                     const DeviceExecutor &             executor);

/** Finds the regions of given labels as MakeLabelMapOf() does.
 * \param labels of the pixels, row by row, in device memory \exception CudaError
 */
DeviceLabelMap
MakeLabelMapOfOnDevice(ArrayMemory                labels,
                       const region::DeviceSums & sums,
                       const Model &              model,
                       const DeviceExecutor &     executor);
} // namespace itk::cuda::partition

#endif
