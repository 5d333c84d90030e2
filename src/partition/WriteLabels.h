// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_WriteLabels_h
#define CudaFilters_partition_WriteLabels_h

#include "runtime/HostDevice.h"

#include <cstddef>
#include <cstdint>

namespace itk::cuda::partition::functors
{
/** Writes the final numbers of the regions, and 0 for invalid pixels. */
template <typename TScene, typename TRegionOf, typename TLabel>
struct WriteLabels
{
  TScene           Scene;
  TRegionOf        RegionOf; // region of a pixel
  int32_t          Width;
  const uint32_t * Numbers; // final numbers; null to keep the regions' own
  TLabel *         Labels;
  size_t           Stride;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    const auto x = static_cast<uint32_t>(pixel) % static_cast<uint32_t>(Width); // below 2^32: 32-bit division is faster
    const auto y = static_cast<uint32_t>(pixel) / static_cast<uint32_t>(Width);
    TLabel     label{ 0 };
    if (Scene.IsValid(static_cast<int32_t>(x), static_cast<int32_t>(y)))
    {
      const uint32_t region = RegionOf(pixel);
      label = static_cast<TLabel>(Numbers != nullptr ? Numbers[region] : region);
    }
    Labels[y * Stride + x] = label;
  }
};
} // namespace itk::cuda::partition::functors

#endif
