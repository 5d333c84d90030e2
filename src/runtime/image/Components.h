// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_Components_h
#define CudaFilters_runtime_image_Components_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/HostDevice.h"

#include <limits>
#include <type_traits>

// Functions of image component types, for the host and the device.

namespace itk::cuda
{
/** Calls `function` with a zero of the C++ type that corresponds to the component type. */
template <typename TFunction>
inline void
VisitComponentType(CudaComponentType type, const TFunction & function)
{
  switch (type)
  {
    case CudaComponentType::UChar:
      return function(static_cast<unsigned char>(0));
    case CudaComponentType::Char:
      return function(static_cast<signed char>(0));
    case CudaComponentType::UShort:
      return function(static_cast<unsigned short>(0));
    case CudaComponentType::Short:
      return function(static_cast<short>(0));
    case CudaComponentType::UInt:
      return function(0u);
    case CudaComponentType::Int:
      return function(0);
    case CudaComponentType::Float:
      return function(0.0f);
    case CudaComponentType::Double:
      return function(0.0);
  }
}

/** Bounds of TTo as values of TFrom, with which floating-point values are compared before conversion. A float cannot
 * represent the maximum of int and unsigned int. Their bound is rounded up to the first value out of range, so the
 * comparison with >= stays correct. */
template <typename TTo, typename TFrom>
struct IntegerRange
{
  static constexpr TTo   Lowest = std::numeric_limits<TTo>::lowest();
  static constexpr TTo   Greatest = std::numeric_limits<TTo>::max();
  static constexpr TFrom LowestAsFloat = static_cast<TFrom>(Lowest);
  static constexpr TFrom GreatestAsFloat = static_cast<TFrom>(Greatest);
};

/** Converts a component. From floating point to an integer type it truncates toward zero and clamps to the type's
 * range, and NaN becomes 0. */
template <typename TTo, typename TFrom>
ITK_CUDA_HOST_DEVICE inline TTo
ConvertComponent(TFrom value)
{
  if constexpr (std::is_integral_v<TTo> && std::is_floating_point_v<TFrom>)
  {
    using Range = IntegerRange<TTo, TFrom>;
    if (value != value)
    {
      return 0;
    }
    if (value <= Range::LowestAsFloat)
    {
      return Range::Lowest;
    }
    if (value >= Range::GreatestAsFloat)
    {
      return Range::Greatest;
    }
  }
  return static_cast<TTo>(value);
}

/** Returns whether a component type has more digits than float. */
inline bool
NeedsDouble(CudaComponentType type)
{
  return type == CudaComponentType::Double || type == CudaComponentType::Int || type == CudaComponentType::UInt;
}

/** Returns whether filters compute in the type and images can be converted to it and from it. */
inline bool
IsComputeType(CudaComponentType type)
{
  return type == CudaComponentType::Float || type == CudaComponentType::Double;
}

/** Returns the type to compute in, which is float unless a component type has more digits than float. */
inline CudaComponentType
GetComputeType(const CudaImageView & input, const CudaImageView & output)
{
  return NeedsDouble(input.ComponentType) || NeedsDouble(output.ComponentType) ? CudaComponentType::Double
                                                                               : CudaComponentType::Float;
}
} // namespace itk::cuda

#endif
