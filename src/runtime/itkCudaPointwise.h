// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPointwise_h
#define itkCudaPointwise_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"
#include "itkCudaDeviceView.h"

namespace itk::cuda
{
/** \struct PointwiseSteps
 * \brief Each element becomes (value + Shift) * Scale, and is then rounded.
 */
struct PointwiseSteps
{
  double Shift{ 0.0 };
  double Scale{ 1.0 };
  bool   RoundToNearest{ false }; // halves to the even integer
};

/** Queues the conversion of the elements of one image to those of another of the same size, whatever their types and
 * strides. It is computed in float, or in double if either type holds more digits. For integer types values are
 * truncated toward zero if they were not rounded, and clamped to the type's range. NaN becomes 0. \exception
 * CudaError */
CudaFilters_EXPORT void
ConvertElements(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context);
} // namespace itk::cuda

#endif
