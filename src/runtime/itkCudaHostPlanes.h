// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostPlanes_h
#define itkCudaHostPlanes_h

#include "itkCudaDetailImageView.h"
#include "itkCudaDetailNames.h"

#include <algorithm>
#include <cstddef>

// Planes of host images: what has one index along an axis, their last one.

namespace itk::cuda
{
/** Planes [first, first + planes) of a view. */
inline CudaImageView
GetPlanes(CudaImageView view, unsigned int axis, size_t first, size_t planes)
{
  view.Data =
    static_cast<unsigned char *>(view.Data) + first * view.Stride[axis] * CudaComponentSize(view.ComponentType);
  view.Size[axis] = planes;
  return view;
}

/** Planes of such an image with dense pixels at `data`. */
inline CudaImageView
MakePlanesView(const CudaImageView & shape, unsigned int axis, size_t planes, void * data)
{
  CudaImageView view = shape;
  view.Data = data;
  view.Size[axis] = planes;
  size_t stride = shape.NumberOfComponents;
  for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
  {
    view.Stride[d] = stride;
    stride *= view.Size[d];
  }
  return view;
}

inline size_t
GetBytesOfPlane(const CudaImageView & shape, unsigned int axis)
{
  return shape.GetNumberOfBytes() / std::max<size_t>(1, shape.Size[axis]);
}
} // namespace itk::cuda

#endif
