// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_NegativeExponential_h
#define CudaFilters_runtime_image_NegativeExponential_h

#include "runtime/HostDevice.h"
#include "runtime/image/Math.h"

#include <cmath>

namespace itk::cuda
{
/** \class NegativeExponential
 * \brief exp(-x) of a number x >= 0, and 1 - exp(-x) without cancellation, with the same bits on the host and on the
 * device.
 *
 * Let k be the integer nearest to -x / log 2 and r = -x - k log 2, |r| <= 0.35. Then exp(-x) = 2^k (1 + q), where q =
 * exp(r) - 1 is a polynomial. k is obtained by adding and subtracting a constant whose ulp is 1 (round-to-nearest
 * trick). Both results are within 4 ulp. Where exp(-x) is below 2^-126.5 (2^-1022.5 in double), the result is 0. NaN
 * gives NaN.
 */
template <typename T>
class NegativeExponential
{
public:
  ITK_CUDA_HOST_DEVICE explicit NegativeExponential(T x)
  {
    x = x > Limit ? Limit : x;
    const T shifted = std::fma(static_cast<T>(-1.4426950408889634), x, Unit);
    const T k = shifted - Unit;
    T       r = std::fma(k, -Log2Upper, -x);
    r = std::fma(k, -Log2Lower, r);
    m_Rest = std::fma(r * r, GetSecondOrder(r), r);
    m_Power = AddToExponent(shifted);
  }

  ITK_CUDA_HOST_DEVICE T
  Get() const
  {
    return std::fma(m_Power, m_Rest, m_Power);
  }

  ITK_CUDA_HOST_DEVICE T
  GetOneMinus() const
  {
    return std::fma(-m_Power, m_Rest, T{ 1 } - m_Power);
  }

private:
  static constexpr bool IsFloat = sizeof(T) == 4;
  static constexpr T    Limit =
    static_cast<T>(IsFloat ? 88.0 : 709.0); // here k is -127 or -1023, and 2^k has the bits of 0
  static constexpr T Unit = static_cast<T>(IsFloat ? 0x1.8p23 : 0x1.8p52);
  static constexpr T Log2Upper = static_cast<T>(0x1.62e42fefa39efp-1);
  static constexpr T Log2Lower = static_cast<T>(IsFloat ? -0x1.05c610ca86c39p-29 : 0x1.abc9e3b39803fp-56);

  /** Returns (exp(r) - 1 - r) / r^2. */
  ITK_CUDA_HOST_DEVICE static T
  GetSecondOrder(T r)
  {
    if constexpr (IsFloat)
    {
      // Minimax polynomial for |r| <= 0.347, with which exp(r) - 1 has a relative error below 3e-8.
      T series = std::fma(static_cast<T>(0.0013941214), r, static_cast<T>(0.0083632351));
      series = std::fma(series, r, static_cast<T>(0.0416663741));
      series = std::fma(series, r, static_cast<T>(0.1666657665));
      return std::fma(series, r, static_cast<T>(0.5));
    }
    else
    {
      T series = T{ 1 };
      ITK_CUDA_UNROLL
      for (int n = 14; n > 2; --n)
      {
        series = std::fma(series * r, T{ 1 } / static_cast<T>(n), T{ 1 });
      }
      return static_cast<T>(0.5) * series;
    }
  }

  /** Returns 2^k for the argument Unit + k. */
  ITK_CUDA_HOST_DEVICE static T
  AddToExponent(T shifted)
  {
    typename FloatBits<T>::Type bits;
    memcpy(&bits, &shifted, sizeof(bits));
    bits =
      (bits << FloatBits<T>::Mantissa) + (static_cast<decltype(bits)>(FloatBits<T>::Bias) << FloatBits<T>::Mantissa);
    T power;
    memcpy(&power, &bits, sizeof(power));
    return power;
  }

  T m_Power;
  T m_Rest;
};
} // namespace itk::cuda

#endif
