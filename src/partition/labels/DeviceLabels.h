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
class DeviceProcessor;

/** A label map in device memory: labels of the pixels, row by row, and the sums of the regions by label. */
struct DeviceLabelMap
{
  ArrayMemory Labels;
  ArrayMemory Regions;
  size_t      NumberOfRegions{ 0 };
  bool        Finished{ true }; // if not, there are no labels
};

/** Most pixels of an image whose edges the device counts in 31 bits. */
constexpr size_t LargestDeviceImage = size_t{ 1 } << 30;

/** Finds regions as MakeLabelMap() does, with the same bits, in the order of the context's stream. The context's device
 * must be the current one.
 * \param progress called by the calling thread with the share of the work done; returns whether to go on; may be empty
 * \exception CudaError */
CudaFilters_EXPORT DeviceLabelMap
MakeLabelMapOnDevice(const region::DeviceSums &         sums,
                     const Model &                      model,
                     int32_t                            blockSize,
                     const std::function<bool(float)> & progress,
                     const Context &                    context);

/** The same with a processor of these sums. */
DeviceLabelMap
MakeLabelMapOnDevice(const region::DeviceSums &         sums,
                     const Model &                      model,
                     int32_t                            blockSize,
                     const std::function<bool(float)> & progress,
                     const DeviceProcessor &            processor);

/** The regions of given labels as MakeLabelMapOf() finds them.
 * \param labels of the pixels, row by row, in device memory \exception CudaError */
DeviceLabelMap
MakeLabelMapOfOnDevice(ArrayMemory                labels,
                       const region::DeviceSums & sums,
                       const Model &              model,
                       const DeviceProcessor &    processor);
} // namespace itk::cuda::partition

#endif
