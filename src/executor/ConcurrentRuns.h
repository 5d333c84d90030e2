// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_ConcurrentRuns_h
#define CudaFilters_executor_ConcurrentRuns_h

#include <array>
#include <atomic>
#include <cstddef>

namespace itk::cuda::executor
{
/** \class ConcurrentRuns
 * \brief Counts the runs that use a device at the same time. Each run holds one object; the count is thread-safe.
 */
class ConcurrentRuns
{
public:
  explicit ConcurrentRuns(int device)
    : m_Runs(GetSharersOf(device))
  {
    ++m_Runs;
  }
  ConcurrentRuns(const ConcurrentRuns &) = delete;
  ConcurrentRuns &
  operator=(const ConcurrentRuns &) = delete;
  ~ConcurrentRuns() { --m_Runs; }

  static size_t
  CountOf(int device)
  {
    return GetSharersOf(device);
  }

private:
  std::atomic<size_t> & m_Runs;

  /** Devices with an index of 64 or more share one counter. */
  static std::atomic<size_t> &
  GetSharersOf(int device)
  {
    constexpr size_t                                    devices = 64;
    static std::array<std::atomic<size_t>, devices + 1> concurrentRuns{};
    const auto                                          number = static_cast<size_t>(device);
    return concurrentRuns[number < devices ? number : devices];
  }
};
} // namespace itk::cuda::executor

#endif
