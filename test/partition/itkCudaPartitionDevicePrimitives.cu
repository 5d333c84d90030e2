// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionDevicePrimitives.h"

#include "runtime/device/Device.h"
#include "executor/DeviceExecutor.cuh"
#include "region/DeviceSums.h"
#include "region/Samples.h"
#include "region/Threads.h"
#include "runtime/device/Stream.h"

#include <array>
#include <stdexcept>

namespace itk::cuda::executor
{
namespace
{
struct ValueAt
{
  const uint32_t * Values;

  __device__ uint32_t
  operator()(size_t i) const
  {
    return Values[i];
  }
};

/** Calls function(executor) with the executor of an image of one pixel. Arrays for which the heap has no room lie in
 * blocks of their own. */
template <typename TFunction>
void
WithExecutor(int device, size_t heapBytes, const TFunction & function)
{
  const DeviceGuard            guard(device);
  const StreamLease            stream(device);
  const std::array<uint8_t, 1> pixel{ 1 };
  CudaRegionSnakeInput         input;
  CudaRegionSnakeParameters    law;
  law.NoiseLaw = region::NoiseLaw::Poisson;
  input.Image.Data = const_cast<uint8_t *>(pixel.data());
  input.Image.ComponentType = CudaComponentType::UChar;
  input.Image.Size.fill(1);
  input.Image.Stride.fill(1);
  const region::DeviceSums sums(region::Samples(input, law, region::Threads(1)), 0, device);
  function(DeviceExecutor(sums, false, heapBytes, stream));
}
} // namespace

std::vector<uint32_t>
SumOnDevice(const std::vector<uint32_t> & values, int device)
{
  std::vector<uint32_t> sums(values.size() + 1);
  WithExecutor(device, 0, [&](const DeviceExecutor & executor) {
    const auto in = executor.Upload(values.data(), values.size());
    const auto out = executor.Allocate<uint32_t>(sums.size());
    executor.Fill(out.Get(), sums.size(), 0xab);
    executor.ExclusiveScan(ValueAt{ in.Get() }, values.size(), out.Get());
    executor.Download(out.Get(), sums.size(), sums.data());
    if (executor.ExclusiveScanAndRead(ValueAt{ in.Get() }, values.size(), out.Get()) != sums.back())
    {
      throw std::logic_error("ExclusiveScanAndRead() returns another sum than ExclusiveScan() writes");
    }
  });
  return sums;
}

std::vector<std::vector<uint8_t>>
FillOnDevice(const std::vector<size_t> & sizes, const std::vector<ByteFill> & fills, size_t heapBytes, int device)
{
  std::vector<std::vector<uint8_t>> results;
  WithExecutor(device, heapBytes, [&](const DeviceExecutor & executor) {
    std::vector<DeviceExecutor::Array<uint8_t>> arrays;
    for (const size_t size : sizes)
    {
      arrays.push_back(executor.Allocate<uint8_t>(size));
      executor.Fill(arrays.back().Get(), size, 0);
    }
    for (const ByteFill & fill : fills)
    {
      executor.Fill(arrays[fill.Array].Get() + fill.Begin, fill.Number, fill.Byte);
    }
    for (size_t i = 0; i < sizes.size(); ++i)
    {
      results.emplace_back(sizes[i]);
      executor.Download(arrays[i].Get(), sizes[i], results.back().data());
    }
  });
  return results;
}

SortedKeys
SortOnDevice(const std::vector<uint64_t> & keys, int bits, int device)
{
  SortedKeys result{ std::vector<uint64_t>(keys.size()), std::vector<uint32_t>(keys.size()) };
  WithExecutor(device, 0, [&](const DeviceExecutor & executor) {
    const auto in = executor.Upload(keys.data(), keys.size());
    const auto sorted = executor.Allocate<uint64_t>(keys.size());
    const auto indices = executor.Allocate<uint32_t>(keys.size());
    executor.ArgSort(in.Get(), keys.size(), bits, sorted.Get(), indices.Get());
    executor.Download(sorted.Get(), keys.size(), result.Keys.data());
    executor.Download(indices.Get(), keys.size(), result.Indices.data());
  });
  return result;
}
} // namespace itk::cuda::executor
