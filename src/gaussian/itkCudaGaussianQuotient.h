// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianQuotient_h
#define itkCudaGaussianQuotient_h

#include "itkCudaDetailNames.h"
#include "itkCudaHostDevice.h"

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

#endif
