// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_multiscale_PlaneParts_h
#define CudaFilters_multiscale_PlaneParts_h

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"

#include <algorithm>
#include <cstddef>
#include <vector>

// Views of parts of images, and the lists of images for plans that use such parts as results or intermediate images.

namespace itk::cuda::multiscale
{
/** Returns a view of `count` positions along `axis`, from `first` on. `axis` must be the image's last axis. The
 * distance of the components does not change. */
inline DeviceView
SlicePlanes(const DeviceView & view, unsigned int axis, size_t first, size_t count)
{
  DeviceView part = PackFrom(Slice(view, axis, first, count), axis + 1);
  part.Stride.back() = view.Stride.back();
  return part;
}

/** Returns the shape, without memory, of an image of `components` components with the rows and planes of `view`. */
inline DeviceView
GetShape(const DeviceView & view, size_t components)
{
  DeviceView shape = PackFrom(view, DeviceView::ComponentAxis);
  shape.Data = nullptr;
  shape.Size.back() = components;
  return shape;
}

/** Returns the images of a plan by their numbers in it: the input, the results in their order, and the images of
 * `others`, in their order, for all remaining numbers. */
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
