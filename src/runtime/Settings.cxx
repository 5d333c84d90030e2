// SPDX-License-Identifier: Apache-2.0
#include "runtime/Settings.h"

#include "runtime/Process.h"
#include "itkMultiThreaderBase.h"
#include "itksys/SystemInformation.hxx"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <type_traits>

// Stores the settings of runtime/Settings.h in atomics, and computes their defaults.

namespace itk::cuda
{
namespace
{
constexpr unsigned int maximumDefaultTransferThreads = 16;
constexpr size_t       maximumDefaultHostCacheLimit = size_t{ 8 } << 30;

/** A resource that was set, linked to the one set before it. */
struct ResourceNode
{
  CudaDeviceMemoryResource Resource;
  const ResourceNode *     Previous;
};

/** The struct has no destructor because images that outlive main() still read the limits. */
struct Settings
{
  std::atomic<size_t>                           DeviceMemoryLimit{ 0 };
  std::atomic<const ResourceNode *>             Resources{ nullptr }; // list of all resources that were ever set
  std::atomic<const CudaDeviceMemoryResource *> Resource{ nullptr };
  std::atomic<size_t>                           HostCacheLimit{ 0 };
  std::atomic<bool>                             HasHostCacheLimit{ false };
  std::atomic<unsigned int>                     NumberOfTransferThreads{ 0 };
};

Settings settings;
static_assert(std::is_trivially_destructible_v<Settings>);

/** Returns one eighth of the memory that the process can use, with an upper bound for machines that others use too. */
size_t
ComputeDefaultHostCacheLimit()
{
  itksys::SystemInformation system;
  system.RunMemoryCheck();
  size_t memory = static_cast<size_t>(system.GetTotalPhysicalMemory()) << 20; // GetTotalPhysicalMemory() returns MiB
  for (const std::optional<size_t> limit : { GetCgroupMemoryLimit(), GetAddressSpaceLimit() })
  {
    memory = std::min(memory, limit.value_or(memory));
  }
  return std::min(memory / 8, maximumDefaultHostCacheLimit);
}

/** Returns the default limit, which is computed once. Threads that call it at the same time compute the same value. */
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

/** Returns a copy of the resource that is never deleted. A resource that is set again gets its earlier copy, so a
 * program that switches between a few resources adds no copies. */
const CudaDeviceMemoryResource *
KeepResource(const CudaDeviceMemoryResource & resource)
{
  const ResourceNode * const first = settings.Resources;
  for (const ResourceNode * node = first; node; node = node->Previous)
  {
    if (node->Resource == resource)
    {
      return &node->Resource;
    }
  }
  auto * const         added = new ResourceNode{ resource, first };
  const ResourceNode * expected = first;
  while (!settings.Resources.compare_exchange_weak(expected, added))
  {
    added->Previous = expected;
  }
  return &added->Resource;
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
SetDeviceMemoryResource(const CudaDeviceMemoryResource & resource)
{
  settings.Resource = resource.Allocate ? KeepResource(resource) : nullptr;
}

const CudaDeviceMemoryResource *
GetDeviceMemoryResource()
{
  return settings.Resource;
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
