// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Pointwise.h"

#include "runtime/image/Components.h"
#include "runtime/device/Device.h"
#include "runtime/image/ForEachPixel.cuh"
#include "runtime/image/PixelMapping.h"

#include <type_traits>

// Maps and converts the elements of one device image to those of another (ConvertElements()).

namespace itk::cuda
{
namespace
{
/** Returns the element of `From` at an index, mapped to another type. */
template <typename TFrom, typename TTo, typename TReal>
struct MapElement
{
  DeviceElements<const TFrom> From;
  PixelMapping<TReal>         Mapping;

  __device__ TTo
  operator()(const ElementIndex & index) const
  {
    return MapPixel<TTo>(From[index], Mapping);
  }
};

template <typename TFrom, typename TTo>
void
Convert(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context)
{
  // The same rule as in NeedsDouble().
  constexpr bool needsDouble = sizeof(TFrom) == 8 || sizeof(TTo) == 8 ||
                               (sizeof(TFrom) == 4 && std::is_integral_v<TFrom>) ||
                               (sizeof(TTo) == 4 && std::is_integral_v<TTo>);
  using RealType = std::conditional_t<needsDouble, double, float>;

  const MapElement<TFrom, TTo, RealType> map{ DeviceElements<const TFrom>(from),
                                              MakePixelMapping<RealType>(steps.Conversion, steps.ToInteger) };
  TransformPixels<TTo>(to, map, context);
}
} // namespace

void
ConvertElements(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context)
{
  const DeviceGuard guard(context.GetDevice());
  VisitComponentType(from.ComponentType, [&](auto source) {
    VisitComponentType(to.ComponentType, [&](auto destination) {
      Convert<decltype(source), decltype(destination)>(from, to, steps, context);
    });
  });
}
} // namespace itk::cuda
