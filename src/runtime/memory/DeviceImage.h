// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_DeviceImage_h
#define CudaFilters_runtime_memory_DeviceImage_h

#include "CudaFiltersExport.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>

namespace itk::cuda
{
/** Returns an image like `shape` in memory of the workspace. */
inline DeviceView
TakeImage(DeviceView shape, Workspace & workspace)
{
  shape.Data = workspace.Take(GetNumberOfBytes(shape));
  return shape;
}

/** \class DeviceImage
 * \brief Device memory laid out as a DeviceView whose rows start at multiples of 16 bytes.
 *
 * The constructor sets the padding to zero and leaves the elements uninitialised. The image may be moved. It may
 * outlive the context object that it was made with, but not the stream.
 */
class CudaFilters_EXPORT DeviceImage
{
public:
  static constexpr size_t RowAlignment = 16;

  DeviceImage() = default;

  /** \exception CudaError */
  DeviceImage(const DeviceView::SizeType & size, CudaComponentType type, const Context & context);

  const DeviceView &
  GetView() const
  {
    return m_View;
  }

  /** Returns a view of memory that is laid out like an image of this size and type. */
  static DeviceView
  MakeView(const DeviceView::SizeType & size, CudaComponentType type, void * data);

  /** Returns the bytes of device memory of an image of this size and type. */
  static size_t
  GetNumberOfBytes(const DeviceView::SizeType & size, CudaComponentType type);

  /** Returns the distance between the starts of rows, in bytes. */
  static size_t
  GetRowPitch(size_t rowLength, CudaComponentType type);

private:
  DeviceView   m_View;
  DeviceBuffer m_Buffer;
};
} // namespace itk::cuda

#endif
