// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_CoreImage_h
#define CudaFilters_runtime_run_CoreImage_h

#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "runtime/image/Pointwise.h"
#include "runtime/memory/DeviceImage.h"

#include <cstdint>

namespace itk::cuda
{
/** Returns whether the image has the type and memory layout of the images that the module allocates itself. With other
 * row strides a core may choose another schedule. */
inline bool
IsLaidOut(const DeviceView & view, CudaComponentType type)
{
  return view.ComponentType == type && reinterpret_cast<uintptr_t>(view.Data) % DeviceImage::RowAlignment == 0 &&
         view.Stride == DeviceImage::MakeView(view.Size, type, nullptr).Stride;
}

/** \class CoreImage
 * \brief An image in the form that a core requires. It is the given image itself, or a converted copy of the right type
 * and layout.
 */
class CoreImage
{
public:
  CoreImage(const DeviceView & view, CudaComponentType type, const Context & context)
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
