// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRoundUp_h
#define itkCudaRoundUp_h

#include <cstddef>

namespace itk::cuda
{
/** The least number of parts of `size` that hold `number`. */
constexpr size_t
DivideUp(size_t number, size_t size)
{
  return (number + size - 1) / size;
}

/** The least multiple of `unit` that is not below `number`. */
constexpr size_t
RoundUp(size_t number, size_t unit)
{
  return DivideUp(number, unit) * unit;
}
} // namespace itk::cuda

#endif
