// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_LineGroups_h
#define CudaFilters_runtime_image_LineGroups_h

#include "runtime/image/DeviceView.h"
#include "CudaFiltersExport.h"

#include <cstddef>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

namespace itk::cuda
{
/** The lines of an image along one axis, in elements. Line i of InnerCount in group o of OuterCount begins at
 * o * OuterStride + i, and its pixels are LineStride apart. */
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

/** Lines along `axis` of an image whose rows follow each other at Stride[1], and each further axis where the one before
 * ends: the axes below it are flattened into the inner index, those above it into the outer one. */
inline LineGeometry
MakeLineGeometry(const DeviceView & view, unsigned int axis)
{
  constexpr unsigned int axes = DeviceView::NumberOfAxes;
  LineGeometry           geometry{ view.Size[axis], view.Stride[axis], 1, 1, 0 };
  if (axis > 0)
  {
    // Rows with their padding, but for the last one's.
    geometry.InnerCount = axis == 1 ? view.Size[0] : view.Stride[axis] - (view.Stride[1] - view.Size[0]);
  }
  for (unsigned int k = axis + 1; k < axes; ++k)
  {
    geometry.OuterCount *= view.Size[k];
  }
  geometry.OuterStride = axis + 1 < axes ? view.Stride[axis + 1] : view.Stride[axis] * view.Size[axis];
  return geometry;
}

/** Takes a group of the lines of several images, as images of their own with the lines along `axis`, and the share of
 * all lines that is done with this group. */
using LineGroupFunction = std::function<void(const std::vector<DeviceView> & lines, unsigned int axis, float done)>;

/** Calls `function` for groups of the lines along `axis`. This divides work on lines into several launches. The images
 * have the same size, strides and type; rows follow each other at Stride[1], and each further axis where the one before
 * ends. A group has at most `pixels` pixels, or one line, or `columns` neighbouring strided lines. Lines along axis 0
 * stay along axis 0; other lines lie along axis 1. */
CudaFilters_EXPORT void
ForEachLineGroup(const std::vector<DeviceView> & images,
                 unsigned int                    axis,
                 size_t                          pixels,
                 size_t                          columns,
                 const LineGroupFunction &       function);
} // namespace itk::cuda

#endif
