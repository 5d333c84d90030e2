// SPDX-License-Identifier: Apache-2.0
#include "detection/DeviceDetection.h"

#include "executor/ConcurrentRuns.h"
#include "executor/DeviceExecutor.cuh"
#include "executor/LabelPixels.h"
#include "region/Checks.h"
#include "runtime/device/Device.h"

namespace itk::cuda::detection
{
std::optional<CudaDetectionResult>
RunOnDevice(const region::DeviceSums &    sums,
            const DetectionRequest &      request,
            const executor::LabelWriter & writeLabels)
{
  constexpr size_t                   heapBytes = size_t{ 4 } << 20; // for small images; others have few arrays
  const region::SamplesDescription & samples = sums.GetDescription();
  region::CheckValidPixels(samples);
  const DeviceGuard              guard(sums.GetDevice());
  const StreamLease              stream(sums.GetDevice()); // its destructor waits for all work that reads the sums
  const executor::ConcurrentRuns share(sums.GetDevice());
  const bool                     squares = region::UsesSquares(request.Parameters.NoiseLaw.value());
  const executor::DeviceExecutor loops(sums, squares, heapBytes, stream);
  return Detection(loops, samples, request).Run([&](const auto & write) {
    writeLabels(stream, [&](const DeviceView & labels) { executor::WithLabelPixels(labels, write); });
  });
}

size_t
GetBytesOfArrays(size_t width, size_t height)
{
  constexpr size_t fixedBytes = size_t{ 8 } << 20;
  constexpr size_t pixelsOfAFind = 16; // more are rarely above the threshold
  constexpr size_t bytesOfAFind = 6 * sizeof(uint32_t) + sizeof(double) + sizeof(Component) / 4;
  const size_t     words = ((width + PixelBits::BitsPerWord - 1) / PixelBits::BitsPerWord) * height;
  return fixedBytes + 2 * words * sizeof(uint32_t) + width * height / pixelsOfAFind * bytesOfAFind;
}
} // namespace itk::cuda::detection
