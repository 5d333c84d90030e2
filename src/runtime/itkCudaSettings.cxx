// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSettings.h"

#include "itkCudaProcessLimits.h"
#include "itkMultiThreaderBase.h"
#include "itksys/SystemInformation.hxx"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <type_traits>

namespace itk::cuda
{
namespace
{
constexpr unsigned int maximumDefaultTransferThreads = 16;
constexpr size_t       maximumDefaultHostCacheLimit = size_t{ 8 } << 30;

/** There is no destructor, as images that outlive main() still ask for limits. */
struct Settings
{
  std::atomic<size_t>       DeviceMemoryLimit{ 0 };
  std::atomic<size_t>       HostCacheLimit{ 0 };
  std::atomic<bool>         HasHostCacheLimit{ false };
  std::atomic<unsigned int> NumberOfTransferThreads{ 0 };
};

Settings settings;
static_assert(std::is_trivially_destructible_v<Settings>);

/** An eighth of what the process can have at most, within reason for a machine that others use as well. */
size_t
ComputeDefaultHostCacheLimit()
{
  itksys::SystemInformation system;
  system.RunMemoryCheck();
  size_t memory = static_cast<size_t>(system.GetTotalPhysicalMemory()) << 20; // it counts in MiB
  for (const std::optional<size_t> limit : { GetCgroupMemoryLimit(), GetAddressSpaceLimit() })
  {
    memory = std::min(memory, limit.value_or(memory));
  }
  return std::min(memory / 8, maximumDefaultHostCacheLimit);
}

/** Computed once; threads that come at the same time compute the same. */
size_t
GetDefaultHostCacheLimit()
{
  constexpr size_t           unknown = std::numeric_limits<size_t>::max();
  static std::atomic<size_t> known{ unknown };
  if (known == unknown)
  {
    known = ComputeDefaultHostCacheLimit();
  }
  return known;
}
} // namespace

void
SetDeviceMemoryLimit(size_t bytes)
{
  settings.DeviceMemoryLimit = bytes;
}

size_t
GetDeviceMemoryLimit()
{
  return settings.DeviceMemoryLimit;
}

void
SetHostCacheLimit(size_t bytes)
{
  settings.HostCacheLimit = bytes;
  settings.HasHostCacheLimit = true;
}

size_t
GetHostCacheLimit()
{
  return settings.HasHostCacheLimit ? settings.HostCacheLimit.load() : GetDefaultHostCacheLimit();
}

void
SetNumberOfTransferThreads(unsigned int number)
{
  settings.NumberOfTransferThreads = number;
}

unsigned int
GetNumberOfTransferThreads()
{
  const unsigned int number = settings.NumberOfTransferThreads;
  if (number > 0)
  {
    return number;
  }
  const auto automatic = static_cast<unsigned int>(MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  return std::clamp(automatic, 1u, maximumDefaultTransferThreads);
}
} // namespace itk::cuda
