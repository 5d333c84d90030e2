// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDeviceToDevice.h"

#include "itkCudaCoreImage.h"
#include "itkCudaDevice.h"
#include "itkCudaDeviceAccess.h"
#include "itkCudaPointwise.h"
#include "itkCudaThreadStream.h"

#include <optional>

namespace itk::cuda
{
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
