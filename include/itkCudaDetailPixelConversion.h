// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPixelConversion_h
#define itkCudaDetailPixelConversion_h

#include "itkCudaFiltersEnums.h"

#include <cstdint>

namespace itk::CudaDetail
{
/** What a run makes of each component before it converts it. */
enum class CudaPixelMapping : uint8_t
{
  None,
  ShiftScale, // (value + Shift) * Scale
  Window,     // as IntensityWindowingImageFilter
  Threshold,  // as BinaryThresholdImageFilter
  Sigmoid     // as SigmoidImageFilter
};

/** What becomes of each component on its way from a device image: it is mapped, converted to the type of the other
 * image, and clamped to its range; NaN becomes 0 in an integer. Window, threshold and sigmoid are of
 * (value + Shift) * Scale. Members that the mapping does not name have no effect.
 */
struct CudaPixelConversion
{
  CudaPixelMapping Mapping{ CudaPixelMapping::None };
  CudaRounding     Rounding{ CudaRounding::Truncate };
  double           Shift{ 0.0 };
  double           Scale{ 1.0 };
  double           Lower{ 0.0 }; // of the window, or the lower threshold
  double           Upper{ 0.0 };
  double           OutputMinimum{ 0.0 }; // of what lies at or below the window's minimum, or of the sigmoid
  double           OutputMaximum{ 0.0 };
  double           InsideValue{ 0.0 }; // of what lies between the thresholds, or at one of them
  double           OutsideValue{ 0.0 };
  double           Alpha{ 1.0 }; // the sigmoid's width; not 0
  double           Beta{ 0.0 };  // the sigmoid's center
};
} // namespace itk::CudaDetail

#endif
