// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Samples_h
#define CudaFilters_region_Samples_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "runtime/memory/ScratchMemory.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace itk::cuda::region
{
class Threads;

/** The properties of an image on an integer grid, without its samples. A sample represents value = Offset + Step *
 * sample, or log(value) for the log-normal law. */
struct SamplesDescription
{
  int32_t           Width{ 0 };
  int32_t           Height{ 0 };
  CudaComponentType Type{ CudaComponentType::UShort }; // UChar, UShort or UInt
  uint32_t          XorMask{ 0 };                      // sample = stored value ^ XorMask
  double            Offset{ 0.0 };
  double            Step{ 1.0 };
  size_t            NumberOfValidPixels{ 0 };
  // Whether the law needs sums of squares that may reach 2^63. They are then known modulo 2^64 (SumOfSquaresOf()).
  bool SquaresWrap{ false };

  /** Returns the number of 16-bit words for a row of a mask. Pixel x has bit x % 16 of word x / 16. */
  size_t
  GetMaskWordsPerRow() const
  {
    return static_cast<size_t>(Width) / 16 + 1;
  }
};

/** Returns the component type of samples of 8, 16 or 32 bits. */
template <typename TSample>
constexpr CudaComponentType
SampleComponentType()
{
  return sizeof(TSample) == 1 ? CudaComponentType::UChar
                              : (sizeof(TSample) == 2 ? CudaComponentType::UShort : CudaComponentType::UInt);
}

/** Returns the settings of a noise law on which samples depend, out of the parameters of a partition or a detection. */
template <typename TParameters>
CudaRegionSnakeParameters
GetLawOfSamples(const TParameters & parameters)
{
  CudaRegionSnakeParameters law;
  law.NoiseLaw = parameters.NoiseLaw;
  law.ForegroundThreshold = parameters.ForegroundThreshold;
  return law;
}

/** The samples of an image, which are its values on an integer grid, in host memory.
 *
 * Integer images whose values are the samples are used in place if they have no mask. Other images are copied. Floats
 * are put on a grid whose step is a power of two and as small as the law's 63-bit sums allow. It begins at the minimum
 * (Gaussian laws) or at 0. Logarithms are put on a grid of 16 bits. Binary images become 0 and 1. Values are rounded
 * to the nearest sample, and half-way cases upward. */
class Samples : public SamplesDescription
{
public:
  /** Checks the input and makes the samples.
   * \exception ExceptionObject if the law does not allow some values, naming the index of the first one. */
  Samples(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters, const Threads & threads);

  const void * Data{ nullptr };
  ptrdiff_t    RowStride{ 0 }; // samples
  // rows of GetMaskWordsPerRow() words; empty without a mask
  std::unique_ptr<uint16_t[]> ValidBits;

private:
  ScratchMemory m_Storage;
};
} // namespace itk::cuda::region

#endif
