// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_Math_h
#define CudaFilters_runtime_image_Math_h

#include "runtime/HostDevice.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// Functions of numbers for the host and the device: quotients rounded up, powers of two, and approximate inverse
// square roots.

namespace itk::cuda
{
/** Returns number / size, rounded up. */
constexpr size_t
DivideUp(size_t number, size_t size)
{
  return (number + size - 1) / size;
}

/** Returns the smallest multiple of `unit` that is not below `number`. */
constexpr size_t
RoundUp(size_t number, size_t unit)
{
  return DivideUp(number, unit) * unit;
}
} // namespace itk::cuda

// Powers of two and approximate inverse square roots, computed from the exponents of IEEE 754 numbers on the host and
// the device.

namespace itk::cuda
{
template <typename T>
struct FloatBits
{
  using Type = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr int Mantissa = std::numeric_limits<T>::digits - 1;
  static constexpr int Bias = std::numeric_limits<T>::max_exponent - 1;
  static constexpr T   Least = std::numeric_limits<T>::min(); // the smallest normal number
  static constexpr T   Greatest = std::numeric_limits<T>::max();
  static constexpr T   Epsilon = std::numeric_limits<T>::epsilon();
  static constexpr T   NaN = std::numeric_limits<T>::quiet_NaN();
};

/** Returns the largest power of two that is not above x, for finite x >= 0. The result is clamped to the range from the
 * smallest normal number to its inverse, so that its own inverse is exact and normal. */
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
/** Returns 1 / x for a power of two from GetPowerOfTwo(). */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
InvertPowerOfTwo(T x)
{
  using Bits = typename FloatBits<T>::Type;
  Bits bits;
  memcpy(&bits, &x, sizeof(bits));
  bits = (static_cast<Bits>(2 * FloatBits<T>::Bias) << FloatBits<T>::Mantissa) - bits;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

/** Returns 1 / sqrt(x) of a normal number x > 0, with a relative error of at most 5e-6 in float and 4e-11 in double. It
 * applies Newton's steps to a first guess that comes from halving the exponent. The hardware's roots have more digits,
 * but they take more instructions or differ between host and device. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetRoughInverseRoot(T x)
{
  using Bits = typename FloatBits<T>::Type;
  constexpr Bits         magic = static_cast<Bits>(sizeof(T) == 4 ? 0x5f375a86 : 0x5fe6eb50c7b537a9);
  constexpr unsigned int steps = sizeof(T) == 4 ? 2 : 3;
  const T                half = static_cast<T>(-0.5) * x;
  Bits                   bits;
  memcpy(&bits, &x, sizeof(bits));
  bits = magic - (bits >> 1);
  T root;
  memcpy(&root, &bits, sizeof(root));
  ITK_CUDA_UNROLL
  for (unsigned int i = 0; i < steps; ++i)
  {
    root *= std::fma(half * root, root, static_cast<T>(1.5));
  }
  return root;
}
} // namespace itk::cuda

#endif
