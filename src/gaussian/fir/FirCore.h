// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_fir_FirCore_h
#define CudaFilters_gaussian_fir_FirCore_h

#include "itkCudaDetailGaussianFirEngine.h"
#include "runtime/DetailNames.h"
#include "runtime/HostDevice.h"
#include "CudaFiltersExport.h"

#include <cmath>
#include <cstddef>
#include <limits>

// The mathematics of a line's convolution, once, for the host and the device. Files that include this are compiled
// without contraction of a * b + c. Where contraction is wanted, it is written out; elsewhere exact bits are promised.

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

/** Central pixels below this magnitude may be subtracted from any finite pixel. They are less than half of the last
 * digit of the largest finite value: the difference rounds to that value instead of overflowing. */
template <typename T>
constexpr T FirLargestCentre = std::numeric_limits<T>::max() * std::numeric_limits<T>::epsilon() / 8;

template <typename T>
ITK_CUDA_HOST_DEVICE inline bool
MayBeCentre(T pixel)
{
  return std::fabs(pixel) < FirLargestCentre<T>;
}

/** A weighted sum of pixels around a central one. Differences from the central pixel give constants back exactly.
 * Differences have no meaning for a central pixel that is infinite or NaN, and may overflow for one near the type's
 * largest value. Around such a pixel the pixels themselves are summed, as in ITK. */
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
      Sum = std::fma(weight, x - Centre, Sum); // as the weights sum to 1
    }
  }

  ITK_CUDA_HOST_DEVICE T
  Get() const
  {
    return VTruncate ? std::trunc(Sum) : Centre + Sum;
  }
};

/** Convolves one line in float or double: the reference of the device's kernels. `input` and `output` are different
 * memory. */
template <typename T>
CudaFilters_EXPORT void
ConvolveLine(const CudaGaussianFirPass & pass, bool truncate, const T * input, T * output, size_t length);
} // namespace itk::cuda::gaussian

#endif
