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
  std::array<int64_t, 2> FirstIndex{ { 0, 0 } }; // index of the first pixel, for the messages of exceptions
  const DeviceView *     ValidMask{ nullptr };   // UChar of the image's size: pixels that are not 0 are valid
};

/** The samples of an image, which are its values on an integer grid, in device memory. They are bit-identical to the
 * ones that Samples makes of the same values, and the exceptions are the same.
 *
 * An integer image is used in place if Samples would use it in place and if its rows start at multiples of 16 bytes (8
 * for UChar), because kernels load vectors of eight samples. Such an image must not change, and must outlive this
 * object. */
class DeviceSamples : public SamplesDescription
{
public:
  /** Checks the input and makes the samples, after all work that is queued on the context's stream, and waits until
   * they are made. The context's device must be the current device.
   * \exception ExceptionObject if the law does not allow some values, naming the index of the first one
   * \exception CudaError */
  DeviceSamples(const DeviceImageInput & input, const CudaRegionSnakeParameters & parameters, const Context & context);

  const void *     Data{ nullptr };
  ptrdiff_t        RowStride{ 0 };       // samples
  const uint16_t * ValidBits{ nullptr }; // rows of GetMaskWordsPerRow() words; nullptr without a mask
  DeviceBuffer     DataMemory;           // empty if the image is used in place
  DeviceBuffer     BitsMemory;

  /** Returns the row stride of samples on the device. Rows start at multiples of 16 samples, as checkpoints do. */
  static size_t
  GetPitch(size_t width);
};

/** Surveys the valid pixels on the device and waits for the result. \exception CudaError */
template <typename TPixel, typename TAllowed>
ValueSurvey
SurveyOnDevice(const PixelRows<TPixel> & rows, const TAllowed & isAllowed, const Context & context);

/** Queues the conversion of the valid pixels to samples by `function`. The samples of other pixels and the padding of
 * the rows, which have `pitch` samples, are set to 0. \exception CudaError */
template <typename TPixel, typename TFunction>
void
ConvertOnDevice(const PixelRows<TPixel> &        rows,
                const TFunction &                function,
                typename TFunction::SampleType * samples,
                size_t                           pitch,
                const Context &                  context);

/** Makes the bits of a mask on the device, waits for them, and returns the number of valid pixels. \exception CudaError
 */
size_t
MakeValidBitsOnDevice(const DeviceView & mask, uint16_t * bits, size_t wordsPerRow, const Context & context);
} // namespace itk::cuda::region

#endif
