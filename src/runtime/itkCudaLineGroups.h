// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaLineGroups_h
#define itkCudaLineGroups_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceView.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace itk::cuda
{
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
