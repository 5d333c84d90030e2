// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRoundUp_h
#define itkCudaRoundUp_h

#include <cstddef>

namespace itk::cuda
{
/** The least multiple of `unit` that is not below `number`. */
constexpr size_t
RoundUp(size_t number, size_t unit)
{
  return (number + unit - 1) / unit * unit;
}
} // namespace itk::cuda

#endif
