// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_fir_FirCore_h
#define CudaFilters_gaussian_fir_FirCore_h

#include "itkCudaDetailGaussianFirEngine.h"
#include "runtime/DetailNames.h"
#include "runtime/HostDevice.h"

#include <cmath>
#include <cstddef>
#include <limits>

// The mathematics of a line's convolution, written once for the host and the device. Files that include this header are
// compiled without contraction of a * b + c, because the bits are promised. Where a fused multiply-add is wanted, the
// code says std::fma.

namespace itk::cuda::gaussian
{
/** Returns the pixel at any position n of a line that its continuation extends beyond its ends; `load(n)` gives the
 * pixels for 0 <= n < length. Periodic lines may be read up to one length beyond their ends. */
template <typename T, typename TLoad>
ITK_CUDA_HOST_DEVICE inline T
LoadPadded(ptrdiff_t n, ptrdiff_t length, CudaLineContinuation continuation, T constant, const TLoad & load)
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

/** Magnitude below which a central pixel may be subtracted from any finite pixel. Such a pixel is less than half an ulp
 * of the largest finite value, so that the difference rounds to that value instead of overflowing. */
template <typename T>
constexpr T FirLargestCentre = std::numeric_limits<T>::max() * std::numeric_limits<T>::epsilon() / 8;

template <typename T>
ITK_CUDA_HOST_DEVICE inline bool
MayBeCentre(T pixel)
{
  return std::fabs(pixel) < FirLargestCentre<T>;
}

/** A weighted sum of pixels around a central one. The weights apply to the differences from the central pixel, so that
 * constants come out exactly. The differences have no meaning if the central pixel is infinite or NaN, and may overflow
 * if it is near the type's largest value. Around such a pixel the pixels themselves are summed, as in ITK. */
template <typename T, bool VTruncate>
struct FirSum
{
  T Centre;
  T Sum{ 0 };

  ITK_CUDA_HOST_DEVICE explicit FirSum(T centre)
    : Centre(MayBeCentre(centre) ? centre : 0)
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
      Sum = std::fma(weight, x - Centre, Sum); // the result adds Centre, as the weights sum to 1
    }
  }

  ITK_CUDA_HOST_DEVICE T
  Get() const
  {
    return VTruncate ? std::trunc(Sum) : Centre + Sum;
  }
};
} // namespace itk::cuda::gaussian

#endif
