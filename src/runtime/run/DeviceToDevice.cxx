// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/DeviceToDevice.h"

#include "itkCudaDetailDeviceTransfer.h"
#include "runtime/image/Components.h"
#include "runtime/run/ComputeImage.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceAccess.h"

#include <optional>

// Runs algorithms on images in device memory, and copies images where their type or layout is not the algorithm's.

namespace itk::cuda
{
namespace
{
/** Queues the algorithm's work on images of the given type in the algorithm's layout, with conversions where they are
 * needed. */
void
RunAs(CudaComponentType       type,
      const DeviceAlgorithm & algorithm,
      const DeviceView &      input,
      const DeviceView &      output,
      const Context &         context)
{
  const ComputeImage source(input, type, context);
  source.Load(context);
  const ComputeImage result(output, type, context);
  RunAlgorithm(algorithm, source.Get(), result.Get(), context, nullptr);
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
RunDeviceToDevice(const DeviceAlgorithm &     algorithm,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output)
{
  algorithm.VerifyComponents(input.Size.back(), output.Size.back());
  if (input.GetNumberOfElements() == 0)
  {
    return;
  }
  const Context                context = GetThreadContext(GetMemory(input).GetDevice());
  const DeviceGuard            guard(context.GetDevice());
  const DeviceReading          reading(input, context);
  std::optional<DeviceWriting> overwriting;
  if (algorithm.OverwritesInput())
  {
    overwriting.emplace(input, context);
  }
  const DeviceWriting     writing(output, context);
  const CudaComponentType type = algorithm.GetComputeType(GetShape(input), GetShape(output));
  if (!algorithm.LeavesResultInInput())
  {
    RunAs(type, algorithm, GetDeviceView(input), GetDeviceView(output), context);
    return;
  }
  const ComputeImage image(GetDeviceView(input), type, context);
  image.Load(context);
  RunAlgorithm(algorithm, image.Get(), image.Get(), context, nullptr);
  image.Store(context);
}

void
RunOnStream(const DeviceAlgorithm & algorithm,
            const DeviceView &      input,
            const DeviceView &      output,
            const Context &         context)
{
  RunAs(input.ComponentType, algorithm, input, output, context);
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

void
DeviceAlgorithm::Queue(const CudaDeviceImageView & input, const CudaDeviceImageView & output) const
{
  RunDeviceToDevice(*this, input, output);
}
} // namespace itk::cuda

namespace itk::CudaDetail
{
void
CudaQueueOnDevice(const CudaOperation &       operation,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output)
{
  operation.GetAlgorithm()->Queue(input, output);
}

void
CudaMapOnDevice(const CudaDeviceImageView & input,
                const CudaDeviceImageView & output,
                const CudaPixelConversion & conversion)
{
  const cuda::PointwiseSteps steps{ conversion, !cuda::IsComputeType(output.ComponentType) };
  cuda::CopyDeviceToDevice(input, output, steps, "a mapping of pixels");
}
} // end namespace itk::CudaDetail
