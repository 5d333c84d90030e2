// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/LineGroups.h"


#include <algorithm>

// Divides the lines of images into groups of neighbouring lines.

namespace itk::cuda
{
namespace
{
/** `InnerCount` neighbouring strided lines starting at line `Inner`, in each of `OuterCount` groups starting at group
 * `Outer`. */
struct LineGroup
{
  size_t Inner;
  size_t InnerCount;
  size_t Outer;
  size_t OuterCount;
};

DeviceView
GetLines(const DeviceView & image, unsigned int axis, const LineGroup & group)
{
  const size_t outerStride = MakeLineGeometry(image, axis).OuterStride;
  const size_t end = group.OuterCount * outerStride;
  const size_t first = group.Outer * outerStride + group.Inner;
  DeviceView   lines = image;
  lines.Data = static_cast<unsigned char *>(image.Data) + first * CudaComponentSize(image.ComponentType);
  if (axis == 0)
  {
    lines.Size = { { image.Size[0], group.OuterCount, 1, 1, 1 } };
    lines.Stride = { { 1, outerStride, end, end, end } };
  }
  else
  {
    lines.Size = { { group.InnerCount, image.Size[axis], group.OuterCount, 1, 1 } };
    lines.Stride = { { 1, image.Stride[axis], outerStride, end, end } };
  }
  return lines;
}
} // namespace

void
ForEachLineGroup(const std::vector<DeviceView> & images,
                 unsigned int                    axis,
                 size_t                          pixels,
                 size_t                          columns,
                 const LineGroupFunction &       function)
{
  const LineGeometry all = MakeLineGeometry(images.front(), axis);
  const size_t       length = all.LineLength;
  const size_t       innerStep = std::min(all.InnerCount, std::max<size_t>(1, pixels / (length * columns)) * columns);
  const size_t       outerStep = std::max<size_t>(1, pixels / (length * all.InnerCount));
  LineGroup          group{};
  for (group.Outer = 0; group.Outer < all.OuterCount; group.Outer += outerStep)
  {
    group.OuterCount = std::min(outerStep, all.OuterCount - group.Outer);
    for (group.Inner = 0; group.Inner < all.InnerCount; group.Inner += innerStep)
    {
      group.InnerCount = std::min(innerStep, all.InnerCount - group.Inner);
      std::vector<DeviceView> lines;
      for (const DeviceView & image : images)
      {
        lines.push_back(GetLines(image, axis, group));
      }
      const size_t done = group.Outer * all.InnerCount + (group.Inner + group.InnerCount) * group.OuterCount;
      function(lines,
               std::min(axis, 1u),
               static_cast<float>(static_cast<double>(done) / static_cast<double>(all.GetNumberOfLines())));
    }
  }
}
} // namespace itk::cuda
