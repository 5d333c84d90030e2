// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPowerOfTwo_h
#define itkCudaPowerOfTwo_h

#include "itkCudaHostDevice.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// Powers of two by the exponents of IEEE 754, for the host and the device.

namespace itk::cuda::pointwise
{
template <typename T>
struct FloatBits
{
  using Type = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr int Mantissa = std::numeric_limits<T>::digits - 1;
  static constexpr int Bias = std::numeric_limits<T>::max_exponent - 1;
  static constexpr T   Least = std::numeric_limits<T>::min(); // normal
  static constexpr T   NaN = std::numeric_limits<T>::quiet_NaN();
};

/** 2^k of a normal number: 1 - Bias <= k <= Bias. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
MakePowerOfTwo(int k)
{
  using Bits = typename FloatBits<T>::Type;
  const Bits bits = static_cast<Bits>(k + FloatBits<T>::Bias) << FloatBits<T>::Mantissa;
  T          power;
  memcpy(&power, &bits, sizeof(power));
  return power;
}

/** The largest power of two that is not above x, for finite x >= 0. It lies between the least normal number and that
 * number's inverse, so its own inverse is exact and normal. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetPowerOfTwo(T x)
{
  using Bits = typename FloatBits<T>::Type;
  const T least = FloatBits<T>::Least;
  const T greatest = T{ 1 } / least;
  x = x < least ? least : x;
  Bits bits;
  memcpy(&bits, &x, sizeof(bits));
  bits = (bits >> FloatBits<T>::Mantissa) << FloatBits<T>::Mantissa;
  memcpy(&x, &bits, sizeof(x));
  return x < greatest ? x : greatest;
}
} // namespace itk::cuda::pointwise

#endif
