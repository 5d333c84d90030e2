// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_detection_DeviceDetection_h
#define CudaFilters_detection_DeviceDetection_h

#include "detection/Detection.h"
#include "executor/DeviceImages.h"
#include "region/DeviceSums.h"

#include <cstddef>
#include <optional>

namespace itk::cuda::detection
{
/** Runs a detection on a device. \param sums of the image, on the device \exception CudaError */
std::optional<CudaDetectionResult>
RunOnDevice(const region::DeviceSums &    sums,
            const DetectionRequest &      request,
            const executor::LabelWriter & writeLabels);

/** Returns the device memory in bytes of the detection's arrays, without the sums. */
size_t
GetBytesOfArrays(size_t width, size_t height);
} // namespace itk::cuda::detection

#endif
