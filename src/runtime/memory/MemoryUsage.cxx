// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/MemoryUsage.h"

#include <type_traits>

// Holds the memory usage of this process, and reads it for the configuration.

namespace itk::cuda
{
namespace
{
MemoryUsage usage;
static_assert(std::is_trivially_destructible_v<MemoryUsage>); // images that outlive main() still read the usage
} // namespace

MemoryUsage &
GetMemoryUsage()
{
  return usage;
}

size_t
GetDeviceBytesInUse()
{
  return usage.DeviceInUse;
}

size_t
GetPinnedBytesInUse()
{
  return usage.PinnedInUse;
}

size_t
GetPinnedBytesCached()
{
  return usage.PinnedCached;
}
} // namespace itk::cuda
