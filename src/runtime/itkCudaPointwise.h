// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPointwise_h
#define itkCudaPointwise_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"
#include "itkCudaDeviceView.h"

namespace itk::cuda
{
/** \struct PointwiseSteps
 * \brief What becomes of each element: (value + Shift) * Scale, then rounded.
 */
struct PointwiseSteps
{
  double Shift{ 0.0 };
  double Scale{ 1.0 };
  bool   RoundToNearest{ false }; // halves to the even integer
};

/** Queues the conversion of the elements of one image to those of another of the same size, whatever their types and
 * strides. Computed in float, or in double if either type holds more digits. Integers are clamped to their type's
 * range, and truncated toward zero where they were not rounded; NaN becomes 0. \exception CudaError */
CudaFilters_EXPORT void
ConvertElements(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context);
} // namespace itk::cuda

#endif
