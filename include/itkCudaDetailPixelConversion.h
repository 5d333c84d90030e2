// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPixelConversion_h
#define itkCudaDetailPixelConversion_h

#include "itkCudaFiltersEnums.h"

#include <cstdint>

namespace itk::CudaDetail
{
/** What a download makes of each component before it converts it. */
enum class CudaPixelMapping : uint8_t
{
  None,
  ShiftScale, // (value + Shift) * Scale
  Window,     // as IntensityWindowingImageFilter
  Threshold   // as BinaryThresholdImageFilter
};

/** What becomes of each component on its way from the device: it is mapped, converted to the type of the host image,
 * and clamped to its range; NaN becomes 0 in an integer. Members that the mapping does not name have no effect.
 */
struct CudaPixelConversion
{
  CudaPixelMapping Mapping{ CudaPixelMapping::None };
  CudaRounding     Rounding{ CudaRounding::Truncate };
  double           Shift{ 0.0 };
  double           Scale{ 1.0 };
  double           Lower{ 0.0 }; // of the window, or the lower threshold
  double           Upper{ 0.0 };
  double           OutputMinimum{ 0.0 }; // of what lies at or below the window's minimum
  double           OutputMaximum{ 0.0 };
  double           InsideValue{ 0.0 }; // of what lies between the thresholds, or at one of them
  double           OutsideValue{ 0.0 };
};
} // namespace itk::CudaDetail

#endif
