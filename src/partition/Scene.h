// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_Scene_h
#define CudaFilters_partition_Scene_h

#include "region/Samples.h"
#include "region/Tables.h"

#include <cstddef>
#include <cstdint>

namespace itk::cuda::partition
{
/** The image to partition, with row prefix sums and the valid pixels (a non-owning view). */
struct Scene
{
  const region::Level & Pixels;
  const uint16_t *      ValidBits; // as in region::Samples; nullptr if all pixels are valid
  size_t                MaskWordsPerRow;

  Scene(const region::Level & pixels, const region::Samples & samples)
    : Pixels(pixels)
    , ValidBits(samples.ValidBits.get())
    , MaskWordsPerRow(samples.GetMaskWordsPerRow())
  {}

  bool
  HasMask() const
  {
    return ValidBits != nullptr;
  }

  bool
  IsValid(int32_t x, int32_t y) const
  {
    const auto column = static_cast<size_t>(x);
    return ValidBits == nullptr ||
           ((ValidBits[static_cast<size_t>(y) * MaskWordsPerRow + column / 16] >> (column % 16)) & 1) != 0;
  }

  /** Returns the sums of the pixels x = first to end - 1 of row y. */
  region::Moments
  SumRow(int32_t y, int32_t first, int32_t end) const
  {
    return Pixels.RowPrefix(y, end) - Pixels.RowPrefix(y, first);
  }
};
} // namespace itk::cuda::partition

#endif
