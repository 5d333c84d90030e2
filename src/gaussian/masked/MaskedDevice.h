// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_masked_MaskedDevice_h
#define CudaFilters_gaussian_masked_MaskedDevice_h

#include "runtime/DetailNames.h"
#include "runtime/HostDevice.h"
#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"

#include <cstddef>

namespace itk::cuda::gaussian
{
/** In device memory: the value that is subtracted from an image's valid pixels. */
template <typename T>
struct Offset
{
  T                  Value;        // first: what only subtracts reads it alone
  unsigned int       IsWhole;      // not 0: all pixels are valid, nothing is subtracted, and no weight divides
  unsigned long long PlaceOfPixel; // of the pixel that has it; all bits set: none
};

/** The result of smoothing with a mask, from the smooth valid pixels, less a value, and the smooth weights. */
template <typename T>
struct Quotient
{
  const Offset<T> * Subtracted;
  T                 FillValue;
  T                 SmallestWeight;

  ITK_CUDA_HOST_DEVICE T
  Get(T value, T weight, T subtracted, bool isWhole) const
  {
    if (isWhole)
    {
      return value;
    }
    return weight >= SmallestWeight ? value / weight + subtracted : FillValue;
  }
};
} // namespace itk::cuda::gaussian

// The steps of smoothing with a mask that look at one pixel at a time. All images have one component and the same size;
// `valid` is of type UChar, the others are all float or all double.

namespace itk::cuda::gaussian
{
/** Bytes on the device that hold an Offset (gaussian/masked/MaskedDevice.h). */
constexpr size_t OffsetBytes = 32;

/** Queues the search for a pixel that is not valid. If there is none, the image is whole, and the quotient is the image
 * that was smoothed as it is. What an offset says of this stands before the functions below find its value. */
void
QueueWholeness(const DeviceView & valid, CudaComponentType type, void * offset, const Context & context);

/** Queues that the quotient is formed whatever the mask. */
void
QueueNoWholeness(CudaComponentType type, void * offset, const Context & context);

/** Queues the search of the first valid pixel that is finite; its value is the offset, or 0 if there is none or the
 * image is whole. */
void
QueueValidOffset(const DeviceView & image, const DeviceView & valid, void * offset, const Context & context);

/** Queues that `value` becomes the offset of images of that type. */
void
QueueOffset(double value, CudaComponentType type, void * offset, const Context & context);

/** Queues a mask that is 1 at pixels that are numbers, and valid. `valid` without data stands for a mask of ones. */
void
QueueNumbers(const DeviceView & image, const DeviceView & valid, const DeviceView & numbers, const Context & context);

/** Queues that the output is NaN where the image is NaN or infinite and valid, with `valid` as for QueueNumbers(). */
void
QueueNaN(const DeviceView & image, const DeviceView & valid, const DeviceView & output, const Context & context);

/** Queues that *found becomes 1 if there is NaN or an infinite one among `count` adjacent pixels of float or double.
 * The host reads `found`, which is page-locked, when the work is done. */
void
QueueLookForNonFinite(const void *      pixels,
                      size_t            count,
                      CudaComponentType type,
                      unsigned int *    found,
                      const Context &   context);

/** Queues the weights, 1 where a pixel is valid and 0 elsewhere. */
void
QueueWeights(const DeviceView & valid, const DeviceView & weights, const Context & context);

/** Queues the valid pixels less the offset; the others become 0. */
void
QueueValues(const DeviceView & image,
            const DeviceView & valid,
            const void *       offset,
            const DeviceView & values,
            const Context &    context);

/** Queues values / weights + offset, or fillValue where the weight is below smallestWeight. Values and output may be
 * the same image. */
void
QueueQuotient(const DeviceView & values,
              const DeviceView & weights,
              const void *       offset,
              const DeviceView & output,
              double             fillValue,
              double             smallestWeight,
              const Context &    context);
} // namespace itk::cuda::gaussian

#endif
