// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_DeviceSamples_h
#define CudaFilters_region_DeviceSamples_h

#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/image/DeviceView.h"
#include "region/SampleValues.h"
#include "region/Samples.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace itk::cuda::region
{
/** An image in device memory from which samples are made. The struct owns nothing. */
struct DeviceImageInput
{
  DeviceView             Image;                  // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2> FirstIndex{ { 0, 0 } }; // index of the first pixel, for messages
  const DeviceView *     ValidMask{ nullptr };   // UChar of the image's size: pixels that are not 0 are valid
};

/** The image on an integer grid, in device memory: the same samples as Samples makes of the same values, bit for bit,
 * and the same exceptions.
 *
 * Images of integers are used in place where Samples uses them in place and their rows start at multiples of 16 bytes
 * (8 for UChar), as vectors of eight samples do. Such an image must not change, and must live as long as this
 * object. */
class DeviceSamples : public SamplesDescription
{
public:
  /** Checks the input and prepares it, after all work that was queued on the context's stream, and waits until that is
   * done. The context's device must be the current device.
   * \exception ExceptionObject if the law cannot describe the values, naming the first index of an offending one
   * \exception CudaError */
  DeviceSamples(const DeviceImageInput & input, const CudaRegionSnakeParameters & parameters, const Context & context);

  const void *     Data{ nullptr };
  ptrdiff_t        RowStride{ 0 };       // samples
  const uint16_t * ValidBits{ nullptr }; // rows of GetMaskWordsPerRow() words; nullptr without a mask
  DeviceBuffer     DataMemory;           // empty if the image is used in place
  DeviceBuffer     BitsMemory;

  /** Rows on the device start at multiples of 16 samples, as checkpoints do. */
  static size_t
  GetPitch(size_t width);
};

/** Surveys the valid pixels. \exception CudaError */
template <typename TPixel, typename TAllowed>
ValueSurvey
SurveyOnDevice(const PixelRows<TPixel> & rows, const TAllowed & isAllowed, const Context & context);

/** Queues the samples that `function` makes of the valid pixels. Other pixels, and the samples between rows of `pitch`
 * samples, are 0. \exception CudaError */
template <typename TPixel, typename TFunction>
void
ConvertOnDevice(const PixelRows<TPixel> &        rows,
                const TFunction &                function,
                typename TFunction::SampleType * samples,
                size_t                           pitch,
                const Context &                  context);

/** Makes the bits of a mask, and returns how many pixels are valid. \exception CudaError */
size_t
MakeValidBitsOnDevice(const DeviceView & mask, uint16_t * bits, size_t wordsPerRow, const Context & context);
} // namespace itk::cuda::region

#endif
