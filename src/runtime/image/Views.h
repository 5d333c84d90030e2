// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_Views_h
#define CudaFilters_runtime_image_Views_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"

#include <algorithm>
#include <cstddef>

// Takes parts of views and lays views out in memory. The templates take views of host memory (CudaImageView) and of
// device memory (DeviceView), whose strides are in components. A plane consists of all pixels with the same index along
// one axis.

namespace itk::cuda
{
/** Returns the positions [first, first + count) of a view along an axis, as NumPy's slices do. */
template <typename TView>
inline TView
Slice(TView view, unsigned int axis, size_t first, size_t count)
{
  view.Data =
    static_cast<unsigned char *>(view.Data) + first * view.Stride[axis] * CudaComponentSize(view.ComponentType);
  view.Size[axis] = count;
  return view;
}

/** Returns the view with neighbours along `axis`, which is not the first one, and along all axes after it adjacent in
 * memory. */
template <typename TView>
inline TView
PackFrom(TView view, unsigned int axis)
{
  for (; axis < view.Stride.size(); ++axis)
  {
    view.Stride[axis] = view.Stride[axis - 1] * view.Size[axis - 1];
  }
  return view;
}

/** Returns whether all positions along the axes from `first` to `last` are `stride` apart when they are counted along
 * `first` first. */
template <typename TView>
inline bool
IsUniform(const TView & view, unsigned int first, unsigned int last, size_t stride)
{
  for (unsigned int axis = first; axis <= last; stride *= view.Size[axis++])
  {
    if (view.Size[axis] != 1 && view.Stride[axis] != stride)
    {
      return false;
    }
  }
  return true;
}

/** Returns one component of an image in host memory as an image. */
inline CudaImageView
GetComponent(CudaImageView view, size_t component)
{
  view.Data = static_cast<unsigned char *>(view.Data) + component * CudaComponentSize(view.ComponentType);
  view.NumberOfComponents = 1;
  return view;
}

/** Returns a view of adjacent pixels at `data` with the size and components of `shape`. */
inline CudaImageView
ViewAdjacent(CudaImageView shape, void * data)
{
  shape.Data = data;
  shape.Stride[0] = shape.NumberOfComponents;
  return PackFrom(shape, 1);
}

inline bool
HasDenseRows(const CudaImageView & view)
{
  return IsUniform(view, 0, 0, view.NumberOfComponents);
}

/** Returns the last axis with more than one pixel, or the first axis. */
inline unsigned int
GetLastAxis(const CudaImageView & view)
{
  unsigned int last = 0;
  for (unsigned int axis = 0; axis < CudaImageView::MaximumDimension; ++axis)
  {
    last = view.Size[axis] > 1 ? axis : last;
  }
  return last;
}

/** Returns the number of rows along x. */
inline size_t
GetNumberOfRows(const CudaImageView & view)
{
  return view.Size[1] * view.Size[2] * view.Size[3];
}

inline size_t
GetBytesOfPlane(const CudaImageView & shape, unsigned int axis)
{
  return shape.GetNumberOfBytes() / std::max<size_t>(1, shape.Size[axis]);
}
} // namespace itk::cuda

#endif
