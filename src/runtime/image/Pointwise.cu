// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Pointwise.h"

#include "runtime/device/Call.h"
#include "runtime/image/Components.h"
#include "runtime/device/Device.h"
#include "runtime/image/PixelMapping.h"

#include <algorithm>
#include <type_traits>

// Maps and converts the elements of one device image to those of another (ConvertElements()).

namespace itk::cuda
{
namespace
{
// Each block processes `rowsPerBlock` rows, `columnsPerBlock` elements of them at a time.
constexpr unsigned int columnsPerBlock = 32;
constexpr unsigned int rowsPerBlock = 8;
constexpr size_t       maximumGridSize = size_t{ 1 } << 20;

template <typename T>
struct Rows
{
  T *    Data;
  size_t Stride[4]; // along y, z, t and component
};

/** The size of both images. Rows are counted along y, then z, t and component. */
struct Extent
{
  size_t Width;
  size_t Size[3]; // along y, z, t
  size_t NumberOfRows;
};

template <typename T>
__device__ inline T *
GetRow(const Rows<T> & rows, const Extent & extent, size_t row)
{
  T * data = rows.Data;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const size_t next = row / extent.Size[axis];
    data += (row - next * extent.Size[axis]) * rows.Stride[axis];
    row = next;
  }
  return data + row * rows.Stride[3];
}

template <typename TFrom, typename TTo, typename TReal>
__global__ void
__launch_bounds__(columnsPerBlock * rowsPerBlock)
  ElementsKernel(Rows<const TFrom> from, Rows<TTo> to, Extent extent, PixelMapping<TReal> mapping)
{
  const size_t stride = size_t{ gridDim.x } * rowsPerBlock;
  for (size_t row = size_t{ blockIdx.x } * rowsPerBlock + threadIdx.y; row < extent.NumberOfRows; row += stride)
  {
    const TFrom * const source = GetRow(from, extent, row);
    TTo * const         destination = GetRow(to, extent, row);
    for (size_t x = threadIdx.x; x < extent.Width; x += columnsPerBlock)
    {
      destination[x] = MapPixel<TTo>(source[x], mapping);
    }
  }
}

template <typename T>
Rows<T>
MakeRows(const DeviceView & view)
{
  return { static_cast<T *>(view.Data), { view.Stride[1], view.Stride[2], view.Stride[3], view.Stride[4] } };
}

template <typename TFrom, typename TTo>
void
Convert(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context)
{
  // The same rule as in NeedsDouble().
  constexpr bool needsDouble = sizeof(TFrom) == 8 || sizeof(TTo) == 8 ||
                               (sizeof(TFrom) == 4 && std::is_integral_v<TFrom>) ||
                               (sizeof(TTo) == 4 && std::is_integral_v<TTo>);
  using RealType = std::conditional_t<needsDouble, double, float>;

  const size_t rows = from.Size[1] * from.Size[2] * from.Size[3] * from.Size[4];
  const Extent extent{ from.Size[0], { from.Size[1], from.Size[2], from.Size[3] }, rows };
  const size_t blocks = std::min((rows + rowsPerBlock - 1) / rowsPerBlock, maximumGridSize);
  ITK_CUDA_CALL(LaunchKernel(ElementsKernel<TFrom, TTo, RealType>,
                             static_cast<unsigned int>(blocks),
                             dim3(columnsPerBlock, rowsPerBlock),
                             0,
                             context.GetStream(),
                             MakeRows<const TFrom>(from),
                             MakeRows<TTo>(to),
                             extent,
                             MakePixelMapping<RealType>(steps.Conversion, steps.ToInteger)));
}
} // namespace

void
ConvertElements(const DeviceView & from, const DeviceView & to, const PointwiseSteps & steps, const Context & context)
{
  if (from.GetNumberOfElements() == 0)
  {
    return;
  }
  const DeviceGuard guard(context.GetDevice());
  VisitComponentType(from.ComponentType, [&](auto source) {
    VisitComponentType(to.ComponentType, [&](auto destination) {
      Convert<decltype(source), decltype(destination)>(from, to, steps, context);
    });
  });
}
} // namespace itk::cuda
