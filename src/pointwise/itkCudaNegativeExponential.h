// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaNegativeExponential_h
#define itkCudaNegativeExponential_h

#include "itkCudaHostDevice.h"
#include "itkCudaPowerOfTwo.h"

#include <cmath>

namespace itk::cuda::pointwise
{
/** \class NegativeExponential
 * \brief exp(-x) of a number x >= 0, and 1 - exp(-x) without cancellation, with the same bits on the host and on the
 * device.
 *
 * With k the integer nearest to -x / log 2 and r = -x - k log 2, |r| <= 0.35: exp(-x) = 2^k (1 + q), where q is the
 * Taylor series of exp(r) - 1. log 2 is split so that k times its upper part is exact. Both results are within four
 * units in the last place. Where exp(-x) would be subnormal it is 0. NaN gives NaN.
 */
template <typename T>
class NegativeExponential
{
public:
  ITK_CUDA_HOST_DEVICE explicit NegativeExponential(T x)
  {
    if (x > Limit)
    {
      m_Power = T{ 0 };
      m_Rest = T{ 0 };
      return;
    }
    const T k = std::floor(static_cast<T>(-1.4426950408889634) * x + static_cast<T>(0.5));
    m_Power = MakePowerOfTwo<T>(x == x ? static_cast<int>(k) : 0);
    const T r = (-x - k * Log2Upper) - k * Log2Lower;
    T       series = T{ 1 };
    ITK_CUDA_UNROLL
    for (int n = NumberOfTerms; n > 1; --n)
    {
      series = T{ 1 } + series * r * (T{ 1 } / static_cast<T>(n));
    }
    m_Rest = series * r;
  }

  ITK_CUDA_HOST_DEVICE T
  Get() const
  {
    return m_Power + m_Power * m_Rest;
  }

  ITK_CUDA_HOST_DEVICE T
  GetOneMinus() const
  {
    return (T{ 1 } - m_Power) - m_Power * m_Rest;
  }

private:
  static constexpr bool IsFloat = sizeof(T) == 4;
  static constexpr T    Limit = static_cast<T>(IsFloat ? 87.0 : 708.0);
  static constexpr T    Log2Upper = static_cast<T>(IsFloat ? 0x1.63p-1 : 0x1.62e42fee00000p-1);
  static constexpr T    Log2Lower = static_cast<T>(IsFloat ? -0x1.bd0105c610ca8p-13 : 0x1.a39ef35793c76p-33);
  static constexpr int  NumberOfTerms = IsFloat ? 8 : 14;

  T m_Power;
  T m_Rest;
};

template <typename T>
ITK_CUDA_HOST_DEVICE inline T
Square(T x)
{
  return x * x;
}
} // namespace itk::cuda::pointwise

#endif
