// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_LineGroups_h
#define CudaFilters_runtime_image_LineGroups_h

#include "runtime/image/DeviceView.h"
#include "CudaFiltersExport.h"

#include <cstddef>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

// Describes the lines of an image on the device along an axis, and divides them into groups for several launches.

namespace itk::cuda
{
/** The lines of an image along one axis, in elements. Line i (of InnerCount) in group o (of OuterCount) begins at o *
 * OuterStride + i, and its pixels are LineStride apart. */
struct LineGeometry
{
  size_t LineLength;
  size_t LineStride;
  size_t InnerCount;
  size_t OuterCount;
  size_t OuterStride;

  __host__ __device__ size_t
  GetNumberOfLines() const
  {
    return InnerCount * OuterCount;
  }
};

/** Returns the geometry of the lines along `axis`. The axes below it are flattened into the inner index, and the axes
 * above it into the outer index. Therefore rows must be Stride[1] apart, and Stride[k + 1] must be Stride[k] * Size[k]
 * for all k > 0. */
inline LineGeometry
MakeLineGeometry(const DeviceView & view, unsigned int axis)
{
  constexpr unsigned int axes = DeviceView::NumberOfAxes;
  LineGeometry           geometry{ view.Size[axis], view.Stride[axis], 1, 1, 0 };
  if (axis > 0)
  {
    // Includes the padding of all rows but the last.
    geometry.InnerCount = axis == 1 ? view.Size[0] : view.Stride[axis] - (view.Stride[1] - view.Size[0]);
  }
  for (unsigned int k = axis + 1; k < axes; ++k)
  {
    geometry.OuterCount *= view.Size[k];
  }
  geometry.OuterStride = axis + 1 < axes ? view.Stride[axis + 1] : view.Stride[axis] * view.Size[axis];
  return geometry;
}

/** Processes one group of lines. `lines` holds one view per image with the group's lines along `axis`. `done` is the
 * fraction of all lines that is processed once this group is. */
using LineGroupFunction = std::function<void(const std::vector<DeviceView> & lines, unsigned int axis, float done)>;

/** Divides the lines along `axis` into groups and calls `function` for each of them, so that work on lines is spread
 * over several launches. The images have the same size, strides and type. Their rows are Stride[1] apart, and Stride[k
 * + 1] is Stride[k] * Size[k] for all k > 0. A group has at most `pixels` pixels, but at least one line along axis 0 or
 * `columns` neighbouring strided lines along another axis. The views passed to `function` have lines along axis 0 if
 * `axis` is 0 and along axis 1 otherwise. */
CudaFilters_EXPORT void
ForEachLineGroup(const std::vector<DeviceView> & images,
                 unsigned int                    axis,
                 size_t                          pixels,
                 size_t                          columns,
                 const LineGroupFunction &       function);
} // namespace itk::cuda

#endif
