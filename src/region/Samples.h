// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Samples_h
#define CudaFilters_region_Samples_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace itk::cuda::region
{
class Threads;

/** The properties of an image on an integer grid besides its samples: value = Offset + Step * sample; for the
 * log-normal law log(value) is that. */
struct SamplesDescription
{
  int32_t           Width{ 0 };
  int32_t           Height{ 0 };
  CudaComponentType Type{ CudaComponentType::UShort }; // UChar, UShort or UInt
  uint32_t          Flip{ 0 };                         // sample = stored value ^ Flip
  double            Offset{ 0.0 };
  double            Step{ 1.0 };
  size_t            NumberOfValidPixels{ 0 };

  /** Words of 16 bits that hold a row's bits of a mask: bit x % 16 of word x / 16 is that of pixel x. */
  size_t
  GetMaskWordsPerRow() const
  {
    return static_cast<size_t>(Width) / 16 + 1;
  }
};

/** The component type of samples of 8, 16 or 32 bits. */
template <typename TSample>
constexpr CudaComponentType
SampleComponentType()
{
  return sizeof(TSample) == 1 ? CudaComponentType::UChar
                              : (sizeof(TSample) == 2 ? CudaComponentType::UShort : CudaComponentType::UInt);
}

/** The image on an integer grid, in host memory.
 *
 * Images of integers are used in place if their values are the samples. Other images are copied. Floats are put on a
 * grid of a power of two, as fine as 63-bit sums of the law allow, from the minimum (Gaussian laws) or from 0.
 * Logarithms are put on a grid of 16 bits. Binary images become 0 and 1. A value is rounded to the nearest sample,
 * upward half way. */
class Samples : public SamplesDescription
{
public:
  /** Checks the input and prepares it.
   * \exception ExceptionObject if the law cannot describe the values, naming the first index of an offending one. */
  Samples(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters, const Threads & threads);

  const void * Data{ nullptr };
  ptrdiff_t    RowStride{ 0 }; // samples
  // rows of GetMaskWordsPerRow() words; empty without a mask
  std::unique_ptr<uint16_t[]> ValidBits;

private:
  std::unique_ptr<char[]> m_Storage;
};
} // namespace itk::cuda::region

#endif
