// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPixelMapping_h
#define itkCudaPixelMapping_h

#include "itkCudaComponents.h"
#include "itkCudaDetailPixelConversion.h"
#include "itkCudaHostDevice.h"

#include <cmath>
#include <type_traits>

// What the conversion kernel makes of an element, for the device and for the host. No compiler may contract it to fused
// multiply-adds: windows have the bits of ITK's filter, which rounds twice (src/CMakeLists.txt has the flag).

namespace itk::cuda
{
using CudaDetail::CudaPixelConversion;
using CudaDetail::CudaPixelMapping;

/** \struct PixelMapping
 * \brief A CudaPixelConversion as the kernel needs it. TReal: what shift, scale and rounding are computed in. Windows
 * and thresholds are computed in double, as ITK's filters compute them.
 */
template <typename TReal>
struct PixelMapping
{
  CudaPixelMapping Mapping{ CudaPixelMapping::None };
  bool             ToInteger{ false }; // whether what reaches the host is an integer, even if the kernel writes reals
  bool             RoundToNearest{ false }; // else truncated toward zero; halves to the even integer
  TReal            Shift{ 0 };
  TReal            Scale{ 1 };
  double           Lower{ 0.0 };
  double           Upper{ 0.0 };
  double           LowerValue{ 0.0 };
  double           UpperValue{ 0.0 };
  double           InsideValue{ 0.0 };
  double           OutsideValue{ 0.0 };
  double           Factor{ 1.0 };
  double           Offset{ 0.0 };
};

template <typename TReal>
inline PixelMapping<TReal>
MakePixelMapping(const CudaPixelConversion & conversion, bool toInteger)
{
  PixelMapping<TReal> mapping;
  mapping.Mapping = conversion.Mapping;
  mapping.ToInteger = toInteger;
  mapping.RoundToNearest = conversion.Rounding == CudaRounding::Nearest;
  mapping.Shift = static_cast<TReal>(conversion.Shift);
  mapping.Scale = static_cast<TReal>(conversion.Scale);
  mapping.Lower = conversion.Lower;
  mapping.Upper = conversion.Upper;
  mapping.LowerValue = conversion.OutputMinimum;
  mapping.UpperValue = conversion.OutputMaximum;
  mapping.InsideValue = conversion.InsideValue;
  mapping.OutsideValue = conversion.OutsideValue;
  // IntensityWindowingImageFilter::BeforeThreadedGenerateData()
  mapping.Factor = (conversion.OutputMaximum - conversion.OutputMinimum) / (conversion.Upper - conversion.Lower);
  mapping.Offset = conversion.OutputMinimum - conversion.Lower * mapping.Factor;
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

/** As Functor::IntensityWindowingTransform. */
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

/** As Functor::BinaryThreshold. */
template <typename TTo, typename TReal>
ITK_CUDA_HOST_DEVICE inline TTo
MapThreshold(double value, const PixelMapping<TReal> & mapping)
{
  const bool isInside = mapping.Lower <= value && value <= mapping.Upper;
  return ConvertComponent<TTo>(isInside ? mapping.InsideValue : mapping.OutsideValue);
}

/** What reaches the other image of an element. */
template <typename TTo, typename TFrom, typename TReal>
ITK_CUDA_HOST_DEVICE inline TTo
MapPixel(TFrom element, const PixelMapping<TReal> & mapping)
{
  switch (mapping.Mapping)
  {
    case CudaPixelMapping::ShiftScale:
      return RoundAndConvert<TTo>((static_cast<TReal>(element) + mapping.Shift) * mapping.Scale, mapping);
    case CudaPixelMapping::Window:
      return MapWindow<TTo>(static_cast<double>(element), mapping);
    case CudaPixelMapping::Threshold:
      return MapThreshold<TTo>(static_cast<double>(element), mapping);
    case CudaPixelMapping::None:
      break;
  }
  return RoundAndConvert<TTo>(static_cast<TReal>(element), mapping);
}
} // namespace itk::cuda

#endif
