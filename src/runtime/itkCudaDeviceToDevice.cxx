// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDeviceToDevice.h"

#include "itkCudaDevice.h"
#include "itkCudaDeviceAccess.h"
#include "itkCudaPointwise.h"
#include "itkCudaThreadStream.h"

#include <cstdint>
#include <optional>

namespace itk::cuda
{
namespace
{
/** Whether the image lies in memory as the images of the shell do: with other rows a core may take another schedule. */
bool
IsLaidOut(const DeviceView & view, CudaComponentType type)
{
  const size_t alignment = DeviceImage::RowAlignment;
  if (view.ComponentType != type || reinterpret_cast<uintptr_t>(view.Data) % alignment != 0 ||
      view.Stride[1] * CudaComponentSize(type) != DeviceImage::GetRowPitch(view.Size[0], type))
  {
    return false;
  }
  for (unsigned int axis = 2; axis < DeviceView::NumberOfAxes; ++axis)
  {
    if (view.Stride[axis] != view.Stride[axis - 1] * view.Size[axis - 1])
    {
      return false;
    }
  }
  return true;
}

/** An image as a core wants it: the given image, or a converted copy of the right type and layout. */
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
} // namespace

void
RunDeviceToDevice(const ResidentCore &        core,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output,
                  bool                        overwritesInput)
{
  core.VerifyComponents(input.Size.back(), output.Size.back());
  if (input.GetNumberOfElements() == 0)
  {
    return;
  }
  const Context                context = GetThreadContext(GetMemory(input).GetDevice());
  const DeviceGuard            guard(context.GetDevice());
  const DeviceReading          reading(input, context);
  std::optional<DeviceWriting> overwriting;
  if (overwritesInput)
  {
    overwriting.emplace(input, context);
  }
  const DeviceWriting     writing(output, context);
  const CudaComponentType type = core.GetComputeType(GetShape(input), GetShape(output));
  const CoreImage         source(GetDeviceView(input), type, context);
  source.Load(context);
  if (core.LeavesResultInInput())
  {
    RunCore(core, source.Get(), source.Get(), context, nullptr);
    source.Store(context);
    return;
  }
  const CoreImage result(GetDeviceView(output), type, context);
  RunCore(core, source.Get(), result.Get(), context, nullptr);
  result.Store(context);
}

void
CopyDeviceToDevice(const CudaDeviceImageView & input, const CudaDeviceImageView & output)
{
  CudaVerifyComponents(input.Size.back(), 1, output.Size.back());
  if (input.GetNumberOfElements() == 0)
  {
    return;
  }
  const Context       context = GetThreadContext(GetMemory(input).GetDevice());
  const DeviceGuard   guard(context.GetDevice());
  const DeviceReading reading(input, context);
  const DeviceWriting writing(output, context);
  ConvertElements(GetDeviceView(input), GetDeviceView(output), {}, context);
}
} // namespace itk::cuda
