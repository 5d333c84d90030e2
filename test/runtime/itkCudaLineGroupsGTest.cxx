// SPDX-License-Identifier: Apache-2.0
// Groups of lines as data: needs no GPU.
#include "runtime/image/LineGroups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::cuda;

using Position = std::array<size_t, DeviceView::NumberOfAxes>;

template <typename TFunction>
void
ForEachElement(const DeviceView & view, const TFunction & function)
{
  for (size_t i = 0; i < view.GetNumberOfElements(); ++i)
  {
    size_t rest = i;
    size_t offset = 0;
    for (unsigned int d = 0; d < DeviceView::NumberOfAxes; ++d)
    {
      offset += rest % view.Size[d] * view.Stride[d];
      rest /= view.Size[d];
    }
    function(static_cast<float *>(view.Data)[offset]);
  }
}

/** Returns a view of rows that are `pitch` elements apart in the given memory. */
DeviceView
MakeView(std::vector<float> & memory, const Position & size, size_t pitch)
{
  DeviceView view;
  view.Size = size;
  view.Stride = { { 1, pitch, pitch * size[1], pitch * size[1] * size[2], pitch * size[1] * size[2] * size[3] } };
  memory.assign(view.Stride[4] * size[4], 0.0f);
  view.Data = memory.data();
  return view;
}
} // namespace

TEST(CudaLineGroups, Cover_whole_lines_once)
{
  for (const Position & size :
       { Position{ { 13, 7, 5, 1, 1 } }, Position{ { 5, 3, 2, 3, 2 } }, Position{ { 200, 9, 1, 1, 1 } } })
  {
    for (unsigned int axis = 0; axis < 4; ++axis)
    {
      for (const size_t pixels : { 1, 40, 200, 100000 })
      {
        constexpr size_t   columns = 4;
        std::vector<float> memory;
        const DeviceView   image = MakeView(memory, size, (size[0] + 3) / 4 * 4);
        float              last = 0.0f;
        unsigned int       groups = 0;
        ForEachLineGroup({ image },
                         axis,
                         pixels,
                         columns,
                         [&](const std::vector<DeviceView> & lines, unsigned int lineAxis, float done) {
                           const DeviceView & group = lines.front();
                           EXPECT_EQ(lineAxis, std::min(axis, 1u));
                           EXPECT_EQ(group.Size[lineAxis], size[axis]);
                           EXPECT_EQ(group.Stride[lineAxis], image.Stride[axis]);
                           EXPECT_LE(group.GetNumberOfElements(),
                                     std::max(pixels, size[axis] * (axis == 0 ? 1 : columns)));
                           EXPECT_GT(done, last);
                           last = done;
                           ++groups;
                           ForEachElement(group, [](float & element) { ++element; });
                         });
        EXPECT_EQ(last, 1.0f);
        EXPECT_TRUE(pixels == 1 ? groups > 1 : pixels < 100000 || groups == 1) << groups << " groups";
        EXPECT_LE(*std::max_element(memory.begin(), memory.end()), 1.0f);
        ForEachElement(image, [](const float & element) { EXPECT_EQ(element, 1.0f); });
      }
    }
  }
}
