// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_Pointwise_h
#define CudaFilters_runtime_image_Pointwise_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "runtime/image/DeviceView.h"

namespace itk::cuda
{
/** \struct PointwiseSteps
 * \brief The mapping of each element, and whether the final value is an integer although the image may hold reals.
 */
struct PointwiseSteps
{
  CudaDetail::CudaPixelConversion Conversion;
  bool                            ToInteger{ false };
};

/** Queues the conversion of the elements of one image to those of another image of the same size. Types and strides may
 * differ (see MapPixel()). The values are computed in float, or in double if either type has more digits than float.
 * Windows, thresholds and sigmoids are always computed in double. For integer types, values that were not rounded are
 * truncated toward zero, values are clamped to the type's range, and NaN becomes 0.
 * \exception CudaError */
CudaFilters_EXPORT void
ConvertElements(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context);

/** Queues the combination of the results of terms, which are adjacent elements of the output's size and type. The
 * output may be the first one. \exception CudaError */
CudaFilters_EXPORT void
CombineElements(void * const *                     results,
                const CudaDetail::CudaArrayTerms & terms,
                const DeviceView &                 output,
                const Context &                    context);
} // namespace itk::cuda

#endif
