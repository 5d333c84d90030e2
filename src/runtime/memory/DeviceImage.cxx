// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/DeviceImage.h"

#include "runtime/image/Math.h"

// Allocates images whose rows are aligned.

namespace itk::cuda
{
DeviceImage::DeviceImage(const DeviceView::SizeType & size, CudaComponentType type, const Context & context)
  : m_Buffer(GetNumberOfBytes(size, type), context)
{
  m_View = MakeView(size, type, m_Buffer.GetPointer());
  ClearPadding(m_View, context);
}

DeviceView
DeviceImage::MakeView(const DeviceView::SizeType & size, CudaComponentType type, void * data)
{
  return PackFrom(DeviceView{ data, type, size, { { 1, GetRowPitch(size[0], type) / CudaComponentSize(type) } } }, 2);
}

size_t
DeviceImage::GetNumberOfBytes(const DeviceView::SizeType & size, CudaComponentType type)
{
  return GetRowPitch(size[0], type) * size[1] * size[2] * size[3] * size[4];
}

size_t
DeviceImage::GetRowPitch(size_t rowLength, CudaComponentType type)
{
  return RoundUp(rowLength * CudaComponentSize(type), RowAlignment);
}
} // namespace itk::cuda
