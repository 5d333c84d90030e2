// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_Spin_h
#define CudaFilters_runtime_device_Spin_h

#include <chrono>
#include <thread>

#ifdef __SSE2__
#  include <emmintrin.h>
#endif

// Waits on the host for conditions that usually hold soon.

namespace itk::cuda
{
/** Busy-waits for a condition without sleeping, for half a millisecond by default. It yields the processor from time to
 * time.
 * \return whether the condition holds */
template <typename TCondition>
bool
SpinUntil(const TCondition & condition, std::chrono::microseconds longest = std::chrono::microseconds(500))
{
  constexpr unsigned int looksBetweenYields = 16;
  const auto             end = std::chrono::steady_clock::now() + longest;
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

/** Waits for a condition where there may be more waiting threads than processors. It spins for 0.1 ms and then sleeps
 * for 20 us at most ten times, checking the condition after each sleep. With a shorter spin, a hundred partitions on an
 * H200 take 3 to 9 % longer.
 * \return whether the condition holds */
template <typename TCondition>
bool
NapUntil(const TCondition & condition)
{
  constexpr std::chrono::microseconds nap{ 20 };
  constexpr int                       mostNaps = 10;
  bool                                holds = SpinUntil(condition, std::chrono::microseconds(100));
  for (int i = 0; i < mostNaps && !holds; ++i)
  {
    std::this_thread::sleep_for(nap);
    holds = condition();
  }
  return holds;
}
} // namespace itk::cuda

#endif
