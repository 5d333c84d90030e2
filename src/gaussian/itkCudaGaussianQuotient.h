// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianQuotient_h
#define itkCudaGaussianQuotient_h

#include "itkCudaDetailNames.h"
#include "itkCudaHostDevice.h"

namespace itk::cuda::gaussian
{
/** The result of smoothing with a mask, from the smooth valid pixels, less a value, and the smooth weights. */
template <typename T>
struct Quotient
{
  const T * Subtracted; // in device memory
  T         FillValue;
  T         SmallestWeight;

  ITK_CUDA_HOST_DEVICE T
  Get(T value, T weight, T subtracted) const
  {
    return weight >= SmallestWeight ? value / weight + subtracted : FillValue;
  }
};
} // namespace itk::cuda::gaussian

#endif
