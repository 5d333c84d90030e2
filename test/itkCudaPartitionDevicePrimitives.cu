// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionDevicePrimitives.h"

#include "itkCudaDeviceGuard.h"
#include "itkCudaPartitionProcessor.cuh"
#include "itkCudaRegionDeviceSums.h"
#include "itkCudaRegionSamples.h"
#include "itkCudaRegionThreads.h"
#include "itkCudaStream.h"

#include <array>

namespace itk::cuda::partition
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

/** Calls function(processor) with the processor of an image of one pixel, whose arrays lie in blocks of their own. */
template <typename TFunction>
void
WithProcessor(int device, const TFunction & function)
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
  function(DeviceProcessor(sums, false, 0, stream));
}
} // namespace

std::vector<uint32_t>
SumOnDevice(const std::vector<uint32_t> & values, int device)
{
  std::vector<uint32_t> sums(values.size() + 1);
  WithProcessor(device, [&](const DeviceProcessor & processor) {
    const auto in = processor.Upload(values.data(), values.size());
    const auto out = processor.Allocate<uint32_t>(sums.size());
    processor.Fill(out.Get(), sums.size(), 0xab);
    processor.Sum(ValueAt{ in.Get() }, values.size(), out.Get());
    processor.Download(out.Get(), sums.size(), sums.data());
  });
  return sums;
}

SortedKeys
SortOnDevice(const std::vector<uint64_t> & keys, int bits, int device)
{
  SortedKeys result{ std::vector<uint64_t>(keys.size()), std::vector<uint32_t>(keys.size()) };
  WithProcessor(device, [&](const DeviceProcessor & processor) {
    const auto in = processor.Upload(keys.data(), keys.size());
    const auto sorted = processor.Allocate<uint64_t>(keys.size());
    const auto places = processor.Allocate<uint32_t>(keys.size());
    processor.SortPlaces(in.Get(), keys.size(), bits, sorted.Get(), places.Get());
    processor.Download(sorted.Get(), keys.size(), result.Keys.data());
    processor.Download(places.Get(), keys.size(), result.Places.data());
  });
  return result;
}
} // namespace itk::cuda::partition
