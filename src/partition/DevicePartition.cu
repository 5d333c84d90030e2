// SPDX-License-Identifier: Apache-2.0
#include "partition/DevicePartition.h"

#include "runtime/device/Device.h"
#include "executor/ConcurrentRuns.h"
#include "executor/DeviceExecutor.cuh"
#include "executor/LabelPixels.h"
#include "region/Checks.h"

#include <algorithm>

namespace itk::cuda::partition
{
// Compiled in labels/DeviceLabels.cu, at the same time as this file.
extern template bool
                     LabelSearch<DeviceExecutor>::Search(int32_t, const ProgressFunction &);
extern template void LabelSearch<DeviceExecutor>::StartFrom(Array<uint32_t>);

namespace
{
constexpr size_t MaximumHeapBytes = size_t{ 32 } << 20;
constexpr size_t GapsOfHeap = size_t{ 4 } << 20; // gaps between the arrays, and the minimum size of each

/** Returns the device memory in bytes of the partition's arrays without gaps. */
size_t
GetSearchBytes(size_t width, size_t height, const CudaRegionPartitionParameters & parameters, bool hasInitialLabels)
{
  // Few label maps have nodes at more than 1/16 of the pixel corners.
  constexpr size_t pixelsOfANode = 16;
  // The block size of given labels is unknown.
  constexpr size_t maximumBlockSize = 64;
  const size_t     pixels = width * height;
  return std::max(GetLabelSearchBytes(width, height, hasInitialLabels ? maximumBlockSize : parameters.BlockSize),
                  parameters.LabelsOnly ? 0
                                        : GetMapRefinementBytes(pixels / pixelsOfANode, pixels, MaximumVerticesOfPart));
}
} // namespace

CudaRegionPartitionResult
RunOnDevice(const region::DeviceSums & sums, const PartitionRequest & request, const LabelWriter & writeLabels)
{
  const region::SamplesDescription & samples = sums.GetDescription();
  region::CheckValidPixels(samples);
  const DeviceGuard    guard(sums.GetDevice());
  const StreamLease    stream(sums.GetDevice()); // its destructor waits for all work that reads the sums
  const ConcurrentRuns share(sums.GetDevice());
  const bool           squares = region::UsesSquares(request.Parameters.NoiseLaw.value());
  const size_t         bytes = GetSearchBytes(static_cast<size_t>(samples.Width),
                                      static_cast<size_t>(samples.Height),
                                      request.Parameters,
                                      request.InitialLabels != nullptr);
  const DeviceExecutor executor(sums, squares, std::min(bytes + GapsOfHeap, MaximumHeapBytes), stream);
  Moments              total = sums.GetTotal();
  total.SumOfSquares = squares ? total.SumOfSquares : 0;
  return Partition(executor, samples, total, request).Run([&](const auto & write) {
    writeLabels(stream, [&](const DeviceView & labels) { WithLabelPixels(labels, write); });
  });
}

size_t
GetBytesOfArrays(size_t width, size_t height, const CudaRegionPartitionParameters & parameters, bool hasInitialLabels)
{
  const size_t bytes = GetSearchBytes(width, height, parameters, hasInitialLabels);
  // Arrays that do not fit into the largest heap are allocated separately.
  return bytes + (bytes + GapsOfHeap <= MaximumHeapBytes ? GapsOfHeap : MaximumHeapBytes);
}
} // namespace itk::cuda::partition
