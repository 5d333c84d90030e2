// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_multiscale_PlaneParts_h
#define CudaFilters_multiscale_PlaneParts_h

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <algorithm>
#include <cstddef>
#include <vector>

// Parts of images, and the images of plans whose results or intermediate images are such parts.

namespace itk::cuda::multiscale
{
inline DeviceView
MoveBy(DeviceView view, size_t elements)
{
  view.Data = static_cast<unsigned char *>(view.Data) + elements * CudaComponentSize(view.ComponentType);
  return view;
}

/** One component as an image of its own. */
inline DeviceView
GetComponent(const DeviceView & view, size_t component)
{
  DeviceView plane = MoveBy(view, component * view.Stride.back());
  plane.Size.back() = 1;
  plane.Stride.back() = plane.Stride[3] * plane.Size[3];
  return plane;
}

/** `count` positions along `axis`, the image's last one, from `first` on. The components keep their distance. */
inline DeviceView
GetPart(const DeviceView & view, unsigned int axis, size_t first, size_t count)
{
  DeviceView part = MoveBy(view, first * view.Stride[axis]);
  part.Size[axis] = count;
  for (unsigned int next = axis + 1; next + 1 < DeviceView::NumberOfAxes; ++next)
  {
    part.Stride[next] = part.Stride[next - 1] * part.Size[next - 1];
  }
  return part;
}

/** Without memory: an image of `components` with the rows and the positions of `view`. */
inline DeviceView
GetShape(const DeviceView & view, size_t components)
{
  DeviceView shape = view;
  shape.Data = nullptr;
  shape.Size.back() = components;
  shape.Stride.back() = shape.Stride[3] * shape.Size[3];
  return shape;
}

inline DeviceView
TakeImage(DeviceView shape, Workspace & workspace)
{
  shape.Data = workspace.Take(GetNumberOfBytes(shape));
  return shape;
}

/** The images of a plan by number: its input, its results in their order, and for each of its other images the next of
 * `others`. */
inline std::vector<DeviceView>
GetPlanImages(const CudaGaussianPlan &        plan,
              const DeviceView &              input,
              const std::vector<DeviceView> & results,
              const std::vector<DeviceView> & others)
{
  std::vector<DeviceView> images{ input };
  auto                    other = others.begin();
  for (unsigned int image = 1; image < plan.NumberOfImages; ++image)
  {
    const auto found = std::find(plan.Results.begin(), plan.Results.end(), image);
    images.push_back(found != plan.Results.end() ? results[found - plan.Results.begin()] : *other++);
  }
  return images;
}
} // namespace itk::cuda::multiscale

#endif
