// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Pointwise.h"

#include "runtime/image/Components.h"
#include "runtime/device/Device.h"
#include "runtime/image/ForEachPixel.cuh"
#include "runtime/image/PixelMapping.h"

#include <algorithm>
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

/** Returns the sum or the length of the elements of several images at an index, each times its factor. */
template <typename T>
struct CombineResults
{
  const T * Results[CudaDetail::CudaArrayTerms::MaximumNumberOfResults];
  T         Factors[CudaDetail::CudaArrayTerms::MaximumNumberOfResults];
  size_t    Count;
  size_t    Stride[4]; // along y, z, t and component
  bool      IsLength;

  __device__ T
  operator()(const ElementIndex & index) const
  {
    const size_t place =
      index.X + index.Y * Stride[0] + index.Z * Stride[1] + index.T * Stride[2] + index.Component * Stride[3];
    const auto get = [this, place](size_t i) { return Results[i][place] * Factors[i]; };
    T          sum = 0;
    for (size_t i = 0; i < Count; ++i)
    {
      const T value = get(i);
      const T summand = IsLength ? value * value : value;
      sum = i == 0 ? summand : sum + summand;
    }
    // Squares below the lower limit may have lost digits, but at it and above they are below the rounding error.
    constexpr bool isFloat = std::is_same_v<T, float>;
    constexpr T    least = isFloat ? 0x1p-100 : 0x1p-960;
    constexpr T    most = isFloat ? 0x1p126 : 0x1p1022;
    if (!IsLength || (sum >= least && sum <= most))
    {
      return IsLength ? sqrt(sum) : sum;
    }
    T length = fabs(get(0));
    for (size_t i = 1; i < Count; ++i)
    {
      length = hypot(length, get(i));
    }
    return length;
  }
};

template <typename T>
void
Combine(void * const *                     results,
        const CudaDetail::CudaArrayTerms & terms,
        const DeviceView &                 output,
        const Context &                    context)
{
  CombineResults<T> combine{};
  combine.Count = terms.Factors.size();
  for (size_t i = 0; i < combine.Count; ++i)
  {
    combine.Results[i] = static_cast<const T *>(results[i]);
    combine.Factors[i] = static_cast<T>(terms.Factors[i]);
  }
  std::copy_n(output.Stride.begin() + 1, 4, combine.Stride);
  combine.IsLength = terms.Combine == CudaDetail::CudaArrayCombine::Length;
  TransformPixels<T>(output, combine, context);
}
} // namespace

void
CombineElements(void * const *                     results,
                const CudaDetail::CudaArrayTerms & terms,
                const DeviceView &                 output,
                const Context &                    context)
{
  const DeviceGuard guard(context.GetDevice());
  const auto        combine = output.ComponentType == CudaComponentType::Double ? Combine<double> : Combine<float>;
  combine(results, terms, output, context);
}

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
