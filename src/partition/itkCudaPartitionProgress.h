// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionProgress_h
#define itkCudaPartitionProgress_h

#include <chrono>
#include <functional>
#include <utility>

namespace itk::cuda::partition
{
/** Passes shares of the work on to an observer, about ten times a second, and remembers whether it asked to stop. */
class Progress
{
public:
  explicit Progress(std::function<bool(float)> observer)
    : m_Observer(std::move(observer))
  {}

  /** Returns whether to go on. */
  bool
  operator()(float share)
  {
    const Clock::time_point time = Clock::now();
    if (m_GoesOn && m_Observer && time >= m_Next)
    {
      m_GoesOn = m_Observer(share);
      m_Next = Clock::now() + std::chrono::milliseconds(100);
    }
    return m_GoesOn;
  }

private:
  using Clock = std::chrono::steady_clock;

  const std::function<bool(float)> m_Observer;
  Clock::time_point                m_Next{ Clock::now() };
  bool                             m_GoesOn{ true };
};
} // namespace itk::cuda::partition

#endif
