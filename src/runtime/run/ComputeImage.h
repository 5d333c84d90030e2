// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_ComputeImage_h
#define CudaFilters_runtime_run_ComputeImage_h

#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "runtime/image/Pointwise.h"
#include "runtime/memory/DeviceImage.h"

#include <cstdint>

namespace itk::cuda
{
/** Returns whether the image has the type and memory layout of the images that the module allocates itself. With other
 * row strides an algorithm may choose another schedule. */
inline bool
IsLaidOut(const DeviceView & view, CudaComponentType type)
{
  return view.ComponentType == type && reinterpret_cast<uintptr_t>(view.Data) % DeviceImage::RowAlignment == 0 &&
         view.Stride == DeviceImage::MakeView(view.Size, type, nullptr).Stride;
}

/** \class ComputeImage
 * \brief An image in the type and layout in which an algorithm computes: the given image itself, or a converted copy.
 */
class ComputeImage
{
public:
  ComputeImage(const DeviceView & view, CudaComponentType type, const Context & context)
    : m_Own(IsLaidOut(view, type) ? DeviceImage() : DeviceImage(view.Size, type, context))
    , m_View(m_Own.GetView().Data ? m_Own.GetView() : view)
    , m_Given(view)
  {}

  const DeviceView &
  Get() const
  {
    return m_View;
  }

  void
  Load(const Context & context) const
  {
    if (m_View.Data != m_Given.Data)
    {
      ConvertElements(m_Given, m_View, {}, context);
    }
  }

  void
  Store(const Context & context) const
  {
    if (m_View.Data != m_Given.Data)
    {
      ConvertElements(m_View, m_Given, {}, context);
    }
  }

private:
  const DeviceImage m_Own;
  const DeviceView  m_View;
  const DeviceView  m_Given;
};
} // namespace itk::cuda

#endif
