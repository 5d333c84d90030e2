// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_DeviceView_h
#define CudaFilters_runtime_image_DeviceView_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/memory/DeviceMemory.h"

#include <array>
#include <cstddef>

namespace itk::cuda
{
/** \struct DeviceView
 * \brief An image in device memory, as plain data. It is planar: one scalar volume per component.
 *
 * Elements from the end of a row to the start of the next row belong to the view. They are padding, which transfers may
 * set to zero.
 */
struct DeviceView
{
  static constexpr unsigned int NumberOfAxes = 5;

  void *            Data{ nullptr };
  CudaComponentType ComponentType{ CudaComponentType::Float };
  // axes x, y, z, t and component
  std::array<size_t, NumberOfAxes> Size{ { 1, 1, 1, 1, 1 } };
  // elements from one to its neighbour along each axis; Stride[0] is 1
  std::array<size_t, NumberOfAxes> Stride{ { 1, 1, 1, 1, 1 } };

  size_t
  GetNumberOfElements() const
  {
    return Size[0] * Size[1] * Size[2] * Size[3] * Size[4];
  }
};

/** Bytes from the first element to the end of the last component's volume, with the padding of rows. */
inline size_t
GetNumberOfBytes(const DeviceView & view)
{
  return view.Size.back() * view.Stride.back() * CudaComponentSize(view.ComponentType);
}

/** Sets the padding of an image to zero: passes along other axes than x filter it like pixels. The image's rows must
 * follow each other at Stride[1]. \exception CudaError */
CudaFilters_EXPORT void
ClearPadding(const DeviceView & view, const Context & context);

/** \class DeviceImage
 * \brief Device memory laid out as a DeviceView whose rows start at multiples of 16 bytes.
 *
 * Padding is zero from the start; the elements are not initialised. The image may be moved. It may outlive the context
 * object that it was made with, but not the stream.
 */
class CudaFilters_EXPORT DeviceImage
{
public:
  static constexpr size_t RowAlignment = 16;

  using SizeType = std::array<size_t, DeviceView::NumberOfAxes>;

  DeviceImage() = default;

  /** \exception CudaError */
  DeviceImage(const SizeType & size, CudaComponentType type, const Context & context);

  const DeviceView &
  GetView() const
  {
    return m_View;
  }

  /** Bytes of device memory of such an image. */
  static size_t
  GetNumberOfBytes(const SizeType & size, CudaComponentType type);

  /** Bytes from a row to the next. */
  static size_t
  GetRowPitch(size_t rowLength, CudaComponentType type);

private:
  DeviceView   m_View;
  DeviceBuffer m_Buffer;
};

/** Size of the planar device image that holds the pixels of `host`. */
inline DeviceImage::SizeType
GetPlanarSize(const CudaImageView & host)
{
  return { { host.Size[0], host.Size[1], host.Size[2], host.Size[3], host.NumberOfComponents } };
}
} // namespace itk::cuda

#endif
