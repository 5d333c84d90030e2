// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeClock_h
#define itkCudaSnakeClock_h

#include <chrono>

namespace itk::cuda::snake
{
/** Seconds of a clock that is never set. */
inline double
GetSeconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
} // namespace itk::cuda::snake

#endif
