// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianMaskedDevice_h
#define itkCudaGaussianMaskedDevice_h

#include "itkCudaContext.h"
#include "itkCudaDeviceView.h"

#include <cstddef>

// The steps of smoothing with a mask that look at one pixel at a time. All images have one component and the same size;
// `valid` is of type UChar, the others are all float or all double.

namespace itk::cuda::gaussian
{
/** Bytes on the device that hold the value that is subtracted from an image. */
constexpr size_t OffsetBytes = 16;

/** Queues the search of the first valid pixel that is finite; its value, or 0 if there is none, is the offset. */
void
QueueValidOffset(const DeviceView & image, const DeviceView & valid, void * offset, const Context & context);

/** Queues that `value` becomes the offset of images of that type. */
void
QueueOffset(double value, CudaComponentType type, void * offset, const Context & context);

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
