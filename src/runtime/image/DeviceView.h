// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_DeviceView_h
#define CudaFilters_runtime_image_DeviceView_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/image/Views.h"
#include "runtime/device/Stream.h"

#include <array>
#include <cstddef>

namespace itk::cuda
{
/** \struct DeviceView
 * \brief An image in device memory, as plain data. It is planar, with one scalar volume per component.
 *
 * Elements between the end of a row and the start of the next row belong to the view. They are padding, which transfers
 * may set to zero.
 */
struct DeviceView
{
  static constexpr unsigned int NumberOfAxes = 5;
  static constexpr unsigned int ComponentAxis = 4;

  using SizeType = std::array<size_t, NumberOfAxes>;

  void *            Data{ nullptr };
  CudaComponentType ComponentType{ CudaComponentType::Float };
  // along x, y, z, t and component
  SizeType Size{ { 1, 1, 1, 1, 1 } };
  // distance between neighbours along each axis, in elements; Stride[0] is 1
  std::array<size_t, NumberOfAxes> Stride{ { 1, 1, 1, 1, 1 } };

  size_t
  GetNumberOfElements() const
  {
    return Size[0] * Size[1] * Size[2] * Size[3] * Size[4];
  }
};

/** Returns the bytes from the first element to the end of the last component's volume, including the padding of rows.
 */
inline size_t
GetNumberOfBytes(const DeviceView & view)
{
  return view.Size.back() * view.Stride.back() * CudaComponentSize(view.ComponentType);
}

/** Sets the padding of an image to zero, because passes along axes other than x filter it like pixels. All rows of the
 * image must be Stride[1] apart.
 * \exception CudaError */
CudaFilters_EXPORT void
ClearPadding(const DeviceView & view, const Context & context);

/** Returns the size of the planar device image that holds the pixels of `host`. */
inline DeviceView::SizeType
GetPlanarSize(const CudaImageView & host)
{
  return { { host.Size[0], host.Size[1], host.Size[2], host.Size[3], host.NumberOfComponents } };
}

/** Returns a view of adjacent elements as an image of the given size. */
inline DeviceView
ViewAdjacent(const DeviceView::SizeType & size, CudaComponentType type, void * data)
{
  return PackFrom(DeviceView{ data, type, size }, 1);
}

/** Returns one component of an image in device memory as an image. */
inline DeviceView
GetComponent(const DeviceView & view, size_t component)
{
  return PackFrom(Slice(view, DeviceView::ComponentAxis, component, 1), DeviceView::ComponentAxis);
}
} // namespace itk::cuda

#endif
