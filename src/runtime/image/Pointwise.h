// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_Pointwise_h
#define CudaFilters_runtime_image_Pointwise_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "runtime/image/DeviceView.h"

namespace itk::cuda
{
/** \struct PointwiseSteps
 * \brief What becomes of each element, and whether it is an integer in the end, although the image may hold reals.
 */
struct PointwiseSteps
{
  CudaDetail::CudaPixelConversion Conversion;
  bool                            ToInteger{ false };
};

/** Queues the conversion of the elements of one image to those of another of the same size, whatever their types and
 * strides (MapPixel()). Computed in float, or in double if either type holds more digits; windows, thresholds and
 * sigmoids always in double. Integers are clamped to their type's range, and truncated toward zero where they were not
 * rounded; NaN becomes 0. \exception CudaError */
CudaFilters_EXPORT void
ConvertElements(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context);
} // namespace itk::cuda

#endif
