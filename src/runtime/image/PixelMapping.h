// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_PixelMapping_h
#define CudaFilters_runtime_image_PixelMapping_h

#include "runtime/image/Components.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "runtime/HostDevice.h"
#include "runtime/image/NegativeExponential.h"

#include <cmath>
#include <type_traits>

// Maps the values of pixels that are converted, on the device and the host. No compiler may contract the mapping to
// fused multiply-adds, because intensity windows must have the bits of ITK's filter, which rounds twice
// (src/CMakeLists.txt sets the flag). Sigmoids use the module's own exponential, because those of the C library and of
// CUDA differ in their last bits.

namespace itk::cuda
{
using CudaDetail::CudaPixelConversion;
using CudaDetail::CudaPixelMapping;

/** \struct PixelMapping
 * \brief A CudaPixelConversion in the form that the kernel needs. TReal is the type in which a shift and scale without
 * another mapping is computed. Windows, thresholds and sigmoids are computed in double, as in ITK's filters, and so is
 * a shift and scale before them.
 */
template <typename TReal>
struct PixelMapping
{
  CudaPixelMapping Mapping{ CudaPixelMapping::None };
  bool             ToInteger{ false };       // whether the final value is an integer, even if the kernel writes reals
  bool             RoundToNearest{ false };  // halves to the even integer; if false, values are truncated toward zero
  bool             ShiftsAndScales{ false }; // whether Shift and Scale change a value
  double           Shift{ 0.0 };
  double           Scale{ 1.0 };
  double           Lower{ 0.0 };
  double           Upper{ 0.0 };
  double           LowerValue{ 0.0 };
  double           UpperValue{ 0.0 };
  double           InsideValue{ 0.0 };
  double           OutsideValue{ 0.0 };
  double           Factor{ 1.0 };
  double           Offset{ 0.0 };
  double           Alpha{ 1.0 };
  double           Beta{ 0.0 };
};

template <typename TReal>
inline PixelMapping<TReal>
MakePixelMapping(const CudaPixelConversion & conversion, bool toInteger)
{
  PixelMapping<TReal> mapping;
  mapping.Mapping = conversion.Mapping;
  mapping.ToInteger = toInteger;
  mapping.RoundToNearest = conversion.Rounding == CudaRounding::Nearest;
  mapping.ShiftsAndScales = conversion.Shift != 0.0 || conversion.Scale != 1.0;
  mapping.Shift = conversion.Shift;
  mapping.Scale = conversion.Scale;
  mapping.Lower = conversion.Lower;
  mapping.Upper = conversion.Upper;
  mapping.LowerValue = conversion.OutputMinimum;
  mapping.UpperValue = conversion.OutputMaximum;
  mapping.InsideValue = conversion.InsideValue;
  mapping.OutsideValue = conversion.OutsideValue;
  // As in IntensityWindowingImageFilter::BeforeThreadedGenerateData().
  mapping.Factor = (conversion.OutputMaximum - conversion.OutputMinimum) / (conversion.Upper - conversion.Lower);
  mapping.Offset = conversion.OutputMinimum - conversion.Lower * mapping.Factor;
  mapping.Alpha = conversion.Alpha;
  mapping.Beta = conversion.Beta;
  return mapping;
}

ITK_CUDA_HOST_DEVICE inline float
RoundToNearest(float value)
{
  return rintf(value);
}

ITK_CUDA_HOST_DEVICE inline double
RoundToNearest(double value)
{
  return rint(value);
}

ITK_CUDA_HOST_DEVICE inline float
Truncate(float value)
{
  return truncf(value);
}

ITK_CUDA_HOST_DEVICE inline double
Truncate(double value)
{
  return trunc(value);
}

template <typename TTo, typename TValue, typename TReal>
ITK_CUDA_HOST_DEVICE inline TTo
RoundAndConvert(TValue value, const PixelMapping<TReal> & mapping)
{
  if (mapping.ToInteger)
  {
    value = mapping.RoundToNearest ? RoundToNearest(value) : Truncate(value);
  }
  return ConvertComponent<TTo>(value);
}

/** Maps a value as Functor::IntensityWindowingTransform does. */
template <typename TTo, typename TReal>
ITK_CUDA_HOST_DEVICE inline TTo
MapWindow(double value, const PixelMapping<TReal> & mapping)
{
  if (value < mapping.Lower)
  {
    return ConvertComponent<TTo>(mapping.LowerValue);
  }
  if (value > mapping.Upper)
  {
    return ConvertComponent<TTo>(mapping.UpperValue);
  }
  return RoundAndConvert<TTo>(value * mapping.Factor + mapping.Offset, mapping);
}

/** Maps a value as Functor::BinaryThreshold does. */
template <typename TTo, typename TReal>
ITK_CUDA_HOST_DEVICE inline TTo
MapThreshold(double value, const PixelMapping<TReal> & mapping)
{
  const bool isInside = mapping.Lower <= value && value <= mapping.Upper;
  return ConvertComponent<TTo>(isInside ? mapping.InsideValue : mapping.OutsideValue);
}

/** Returns 1 / (1 + exp(-x)), computed with exp(-|x|), which does not overflow. NaN gives NaN. */
ITK_CUDA_HOST_DEVICE inline double
GetLogistic(double x)
{
  const double exponential = NegativeExponential<double>(fabs(x)).Get();
  return (x < 0.0 ? exponential : 1.0) / (1.0 + exponential);
}

/** Maps a value as Functor::Sigmoid does. */
template <typename TTo, typename TReal>
ITK_CUDA_HOST_DEVICE inline TTo
MapSigmoid(double value, const PixelMapping<TReal> & mapping)
{
  const double share = GetLogistic((value - mapping.Beta) / mapping.Alpha);
  return RoundAndConvert<TTo>((mapping.UpperValue - mapping.LowerValue) * share + mapping.LowerValue, mapping);
}

/** Returns the value that windows, thresholds and sigmoids map. Without shift and scale it is the element itself,
 * including the sign of 0. */
template <typename TFrom, typename TReal>
ITK_CUDA_HOST_DEVICE inline double
GetMappedValue(TFrom element, const PixelMapping<TReal> & mapping)
{
  const double value = static_cast<double>(element);
  return mapping.ShiftsAndScales ? (value + mapping.Shift) * mapping.Scale : value;
}

/** Returns the value that is written for an element. */
template <typename TTo, typename TFrom, typename TReal>
ITK_CUDA_HOST_DEVICE inline TTo
MapPixel(TFrom element, const PixelMapping<TReal> & mapping)
{
  switch (mapping.Mapping)
  {
    case CudaPixelMapping::ShiftScale: {
      const TReal shifted = static_cast<TReal>(element) + static_cast<TReal>(mapping.Shift);
      return RoundAndConvert<TTo>(shifted * static_cast<TReal>(mapping.Scale), mapping);
    }
    case CudaPixelMapping::Window:
      return MapWindow<TTo>(GetMappedValue(element, mapping), mapping);
    case CudaPixelMapping::Threshold:
      return MapThreshold<TTo>(GetMappedValue(element, mapping), mapping);
    case CudaPixelMapping::Sigmoid:
      return MapSigmoid<TTo>(GetMappedValue(element, mapping), mapping);
    case CudaPixelMapping::None:
      break;
  }
  return RoundAndConvert<TTo>(static_cast<TReal>(element), mapping);
}
} // namespace itk::cuda

#endif
