// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDetectionEngine.h"
#include "detection/DeviceDetection.h"
#include "executor/DeviceImages.h"
#include "itkCudaError.h"
#include "region/Checks.h"
#include "region/DeviceSums.h"
#include "runtime/device/Device.h"
#include "runtime/memory/DeviceAccess.h"

#include <algorithm>
#include <cstddef>

namespace itk
{
namespace CudaDetail
{
const char *
CudaDetectionUnsupportedReason(const CudaDetectionInput &)
{
  return nullptr; // the host has the same limits
}

size_t
CudaDetectionWorkingSet(const CudaDetectionInput & input)
{
  const size_t width = input.Image.Size[0];
  const size_t height = input.Image.Size[1];
  // Logarithms of byte samples take two bytes.
  const size_t bytesPerSample = std::max<size_t>(2, CudaComponentSize(input.Image.ComponentType));
  return cuda::region::DeviceSums::GetNumberOfBytes(width, height, bytesPerSample, input.ValidMask != nullptr, 0) +
         cuda::detection::GetBytesOfArrays(width, height);
}

std::optional<CudaDetectionResult>
CudaDetectOnDevice(const CudaDetectionInput &        input,
                   const CudaDetectionParameters &   parameters,
                   const CudaImageView &             labels,
                   int                               deviceIndex,
                   const CudaDetectionProgress &     progress,
                   const CudaDetectionDeviceImages & onDevice)
{
  using namespace cuda::detection;
  using namespace cuda::executor;
  const CudaImageView shapeOfLabels = onDevice.Labels != nullptr ? cuda::GetShape(*onDevice.Labels) : labels;
  CudaDetectionInput  checked = input;
  checked.Image = onDevice.Image != nullptr ? cuda::GetShape(*onDevice.Image) : input.Image;
  VerifyCudaDetectionParameters(parameters);
  CheckInput(checked, parameters);
  cuda::region::CheckLabels(shapeOfLabels, checked.Image);
  const cuda::DeviceGuard guard(deviceIndex);
  const LabelWriter       writeLabels =
    onDevice.Labels != nullptr ? WriteLabelsToDevice(*onDevice.Labels) : WriteLabelsToHost(labels);
  const DetectionRequest             request{ parameters, shapeOfLabels.ComponentType, progress };
  std::optional<CudaDetectionResult> result;
  WithDeviceSums({ input.Image, input.FirstIndex, input.ValidMask, onDevice.Image },
                 cuda::region::GetLawOfSamples(parameters),
                 deviceIndex,
                 [&](const cuda::region::DeviceSums & sums) { result = RunOnDevice(sums, request, writeLabels); });
  return result;
}
} // namespace CudaDetail
} // end namespace itk
