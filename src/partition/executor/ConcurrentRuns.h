// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_ConcurrentRuns_h
#define CudaFilters_partition_executor_ConcurrentRuns_h

#include <array>
#include <atomic>
#include <cstddef>

namespace itk::cuda::partition
{
/** \class ShareOfDevice
 * \brief Counts the runs that use a device at the same time. Each run holds one object; the count is thread-safe.
 */
class ShareOfDevice
{
public:
  explicit ShareOfDevice(int device)
    : m_Sharers(GetSharersOf(device))
  {
    ++m_Sharers;
  }
  ShareOfDevice(const ShareOfDevice &) = delete;
  ShareOfDevice &
  operator=(const ShareOfDevice &) = delete;
  ~ShareOfDevice() { --m_Sharers; }

  static size_t
  CountSharersOf(int device)
  {
    return GetSharersOf(device);
  }

private:
  std::atomic<size_t> & m_Sharers;

  /** Devices with an index of 64 or more share one counter. */
  static std::atomic<size_t> &
  GetSharersOf(int device)
  {
    constexpr size_t                                    devices = 64;
    static std::array<std::atomic<size_t>, devices + 1> sharers{};
    const auto                                          number = static_cast<size_t>(device);
    return sharers[number < devices ? number : devices];
  }
};
} // namespace itk::cuda::partition

#endif
