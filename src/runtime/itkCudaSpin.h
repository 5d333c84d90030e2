// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSpin_h
#define itkCudaSpin_h

#include <chrono>
#include <thread>

#ifdef __SSE2__
#  include <emmintrin.h>
#endif

namespace itk::cuda
{
/** Waits for a condition without sleeping, for half a millisecond at most. It yields the processor now and then.
 * \return whether the condition holds */
template <typename TCondition>
bool
SpinUntil(const TCondition & condition)
{
  constexpr std::chrono::microseconds longest{ 500 };
  constexpr unsigned int              looksBetweenYields = 16;
  const auto                          end = std::chrono::steady_clock::now() + longest;
  do
  {
    for (unsigned int i = 0; i < looksBetweenYields; ++i)
    {
      if (condition())
      {
        return true;
      }
#ifdef __SSE2__
      _mm_pause();
#endif
    }
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}
} // namespace itk::cuda

#endif
