// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianFirCore_h
#define itkCudaGaussianFirCore_h

#include "itkCudaGaussianFirPlan.h"
#include "itkCudaHostDevice.h"

#include <cmath>
#include <cstddef>

// The mathematics of a line's convolution, once, for the host and the device. Files that include this are compiled
// without contraction of a * b + c: where it is wanted it is written out, and where not, bits are promised.

namespace itk::cuda::gaussian
{
/** A line's pixel at any position, `load(n)` for 0 <= n < length. Periodic lines reach one length beyond their ends. */
template <typename T, typename TLoad>
ITK_CUDA_HOST_DEVICE inline T
LoadContinued(ptrdiff_t n, ptrdiff_t length, CudaLineContinuation continuation, T constant, const TLoad & load)
{
  if (n >= 0 && n < length)
  {
    return load(n);
  }
  switch (continuation)
  {
    case CudaLineContinuation::Constant:
      return constant;
    case CudaLineContinuation::Periodic:
      return load(n < 0 ? n + length : n - length);
    default:
      return load(n < 0 ? 0 : length - 1);
  }
}

/** Whether a value is neither infinite nor NaN. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline bool
IsFinite(T value)
{
  return value - value == 0;
}

/** A weighted sum of pixels around a central one. Differences from the central pixel give constants back exactly. They
 * have no meaning beside an infinite pixel, and overflow where pixels of opposite sign are near the type's largest
 * value. The sum is not finite then, and SumPlainly() takes its place. */
template <typename T, bool VTruncate>
struct FirSum
{
  T Centre;
  T Sum{ 0 };

  ITK_CUDA_HOST_DEVICE explicit FirSum(T centre)
    : Centre(centre)
  {}

  ITK_CUDA_HOST_DEVICE void
  Add(T weight, T x)
  {
    if (VTruncate)
    {
      Sum = Sum + weight * x;
    }
    else
    {
      Sum = std::fma(weight, x - Centre, Sum); // as the weights sum to 1
    }
  }

  ITK_CUDA_HOST_DEVICE T
  Get() const
  {
    return VTruncate ? std::trunc(Sum) : Centre + Sum;
  }
};

/** The sum of weight(k) * load(k) for 0 <= k < count, as ITK sums: infinite where a pixel is, and NaN where infinite
 * pixels of both signs meet. */
template <typename T, typename TWeight, typename TLoad>
ITK_CUDA_HOST_DEVICE inline T
SumPlainly(ptrdiff_t count, const TWeight & weight, const TLoad & load)
{
  T sum = 0;
  for (ptrdiff_t k = 0; k < count; ++k)
  {
    sum = sum + weight(k) * load(k);
  }
  return sum;
}
} // namespace itk::cuda::gaussian

#endif
