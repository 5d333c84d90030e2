// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Math_h
#define CudaFilters_region_Math_h

#include "runtime/HostDevice.h"

#include <cstdint>
#include <cstring>

// Arithmetic that gives the same bits on the host and on the device: integers, and IEEE additions, multiplications and
// divisions that no compiler may fuse (the code is compiled with -ffp-contract=off and --fmad=false).
namespace itk::cuda::region
{
struct UInt128
{
  uint64_t High;
  uint64_t Low;
};

ITK_CUDA_HOST_DEVICE inline UInt128
Multiply(uint64_t x, uint64_t y)
{
  const uint64_t mask = 0xffffffffu;
  const uint64_t low = (x & mask) * (y & mask);
  const uint64_t middle1 = (x >> 32) * (y & mask);
  const uint64_t middle2 = (x & mask) * (y >> 32);
  const uint64_t middle = (low >> 32) + (middle1 & mask) + (middle2 & mask);
  return { (x >> 32) * (y >> 32) + (middle1 >> 32) + (middle2 >> 32) + (middle >> 32), (middle << 32) | (low & mask) };
}

/** Returns x - y modulo 2^128. */
ITK_CUDA_HOST_DEVICE inline UInt128
Subtract(const UInt128 & x, const UInt128 & y)
{
  return { x.High - y.High - (x.Low < y.Low ? 1 : 0), x.Low - y.Low };
}

ITK_CUDA_HOST_DEVICE inline double
ToDouble(const UInt128 & x)
{
  return static_cast<double>(x.High) * 18446744073709551616.0 + static_cast<double>(x.Low);
}

/** Converts x, which is a signed number in two's complement. */
ITK_CUDA_HOST_DEVICE inline double
SignedToDouble(const UInt128 & x)
{
  return static_cast<int64_t>(x.High) < 0 ? -ToDouble(Subtract({ 0, 0 }, x)) : ToDouble(x);
}

/** Returns the largest integer not above numerator / denominator, for denominator > 0. */
ITK_CUDA_HOST_DEVICE inline int64_t
FloorDivide(int64_t numerator, int64_t denominator)
{
  // Most numbers fit into 32 bits, where division is many times faster.
  const auto small = static_cast<int32_t>(numerator);
  const auto smallDenominator = static_cast<int32_t>(denominator);
  if (small == numerator && smallDenominator == denominator)
  {
    return small / smallDenominator - (small % smallDenominator < 0 ? 1 : 0);
  }
  const int64_t quotient = numerator / denominator;
  return quotient - (numerator % denominator < 0 ? 1 : 0);
}

/** Maps a double to an unsigned integer with the same order, computed from its bits. */
ITK_CUDA_HOST_DEVICE inline uint64_t
OrderOf(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{ 1 } << 63);
}

/** Returns the natural logarithm of a positive normal number, to about one ulp.
 *
 * x = 2^k m with m in [sqrt(1/2), sqrt(2)), and with s = (m - 1) / (m + 1), |s| < 0.1716,
 * log m = 2 s (1 + s^2/3 + s^4/5 + ...). The terms up to s^20 are sufficient for double precision.
 * log 2 is split so that k times its upper part is exact. */
ITK_CUDA_HOST_DEVICE inline double
Log(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  constexpr uint64_t mantissaMask = 0x000fffffffffffffu;
  constexpr uint64_t mantissaOfSqrt2 = 0x6a09e667f3bcdu;
  const uint64_t     mantissa = bits & mantissaMask;
  const uint64_t     halve = mantissa >= mantissaOfSqrt2 ? 1 : 0;
  const double exponent = static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023 + static_cast<int64_t>(halve));
  bits = mantissa | ((1023 - halve) << 52);
  double m;
  memcpy(&m, &bits, sizeof(m));

  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double       series = 1.0 / 21.0;
  series = series * s2 + 1.0 / 19.0;
  series = series * s2 + 1.0 / 17.0;
  series = series * s2 + 1.0 / 15.0;
  series = series * s2 + 1.0 / 13.0;
  series = series * s2 + 1.0 / 11.0;
  series = series * s2 + 1.0 / 9.0;
  series = series * s2 + 1.0 / 7.0;
  series = series * s2 + 1.0 / 5.0;
  series = series * s2 + 1.0 / 3.0;

  constexpr double log2Upper = 0x1.62e42fee00000p-1; // 32 bits
  constexpr double log2Lower = 0x1.a39ef35793c76p-33;
  const double     twoS = s + s;
  return exponent * log2Upper + (twoS + (exponent * log2Lower + twoS * (s2 * series)));
}
} // namespace itk::cuda::region

#endif
