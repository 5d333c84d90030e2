// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionDeviceSums_cuh
#define itkCudaRegionDeviceSums_cuh

#include "itkCudaRegionDeviceSums.h"
#include "itkCudaRegionSums.cuh"

#include <type_traits>

namespace itk::cuda::region
{
/** The pixels of a rectangle as kernels see them. */
template <typename TSample, bool VMask>
kernels::DevicePixels<TSample, VMask>
GetPixels(const DeviceSums & sums, const PixelRectangle & rectangle)
{
  const SamplesDescription &            description = sums.GetDescription();
  kernels::DevicePixels<TSample, VMask> pixels{};
  pixels.Samples = static_cast<const TSample *>(sums.GetSamples());
  pixels.RowStride = sums.GetRowStride();
  pixels.Checkpoints = sums.GetCheckpoints();
  pixels.Mask = sums.GetMask();
  pixels.CheckpointsPerRow = description.Width / CheckpointSpacing + 1;
  pixels.Flip = static_cast<TSample>(description.Flip);
  pixels.Crop(rectangle);
  return pixels;
}

/** What function(sample, masked) returns, where `sample` is of the samples' type, and `masked` a std::bool_constant. */
template <typename TFunction>
auto
VisitSamples(const DeviceSums & sums, const TFunction & function)
{
  const auto visit = [&](auto sample) {
    return sums.GetMask() ? function(sample, std::true_type()) : function(sample, std::false_type());
  };
  switch (sums.GetDescription().Type)
  {
    case CudaComponentType::UChar:
      return visit(uint8_t{});
    case CudaComponentType::UShort:
      return visit(uint16_t{});
    default:
      return visit(uint32_t{});
  }
}
} // namespace itk::cuda::region

#endif
