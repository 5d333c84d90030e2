// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/DeviceToDevice.h"

#include "itkCudaDetailDeviceTransfer.h"
#include "runtime/image/Components.h"
#include "runtime/run/CoreImage.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceAccess.h"

#include <optional>

// Runs cores on images in device memory, and copies images where their type or layout is not the core's.

namespace itk::cuda
{
namespace
{
/** Queues the core's work on images of the given type in the core's layout, with conversions where they are needed. */
void
RunAs(CudaComponentType    type,
      const ResidentCore & core,
      const DeviceView &   input,
      const DeviceView &   output,
      const Context &      context)
{
  const CoreImage source(input, type, context);
  source.Load(context);
  const CoreImage result(output, type, context);
  RunCore(core, source.Get(), result.Get(), context, nullptr);
  result.Store(context);
}

void
VerifySizes(const CudaDeviceImageView & input, const CudaDeviceImageView & output)
{
  CudaVerifyComponents(input.Size.back(), 1, output.Size.back());
  if (input.Size != output.Size)
  {
    itkGenericExceptionMacro("The output has " << output.Size[0] << " x " << output.Size[1] << " x " << output.Size[2]
                                               << " x " << output.Size[3] << " pixels; it must have the "
                                               << input.Size[0] << " x " << input.Size[1] << " x " << input.Size[2]
                                               << " x " << input.Size[3] << " pixels of the input");
  }
}
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
  if (!core.LeavesResultInInput())
  {
    RunAs(type, core, GetDeviceView(input), GetDeviceView(output), context);
    return;
  }
  const CoreImage image(GetDeviceView(input), type, context);
  image.Load(context);
  RunCore(core, image.Get(), image.Get(), context, nullptr);
  image.Store(context);
}

void
RunOnStream(const ResidentCore & core, const DeviceView & input, const DeviceView & output, const Context & context)
{
  RunAs(input.ComponentType, core, input, output, context);
}

void
CopyDeviceToDevice(const CudaDeviceImageView & input,
                   const CudaDeviceImageView & output,
                   const PointwiseSteps &      steps,
                   const char *                name)
{
  VerifySizes(input, output);
  if (input.GetNumberOfElements() == 0)
  {
    return;
  }
  const Context       context = GetThreadContext(GetMemory(input).GetDevice());
  const DeviceGuard   guard(context.GetDevice());
  const DeviceReading reading(input, context);
  const DeviceWriting writing(output, context);
  ConvertElements(GetDeviceView(input), GetDeviceView(output), steps, context);
  WaitIfSynchronous(name, context);
}
} // namespace itk::cuda

namespace itk::CudaDetail
{
void
CudaMapOnDevice(const CudaDeviceImageView & input,
                const CudaDeviceImageView & output,
                const CudaPixelConversion & conversion)
{
  const cuda::PointwiseSteps steps{ conversion, !cuda::IsComputeType(output.ComponentType) };
  cuda::CopyDeviceToDevice(input, output, steps, "a mapping of pixels");
}
} // end namespace itk::CudaDetail
