// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/MemoryCounts.h"

#include <type_traits>

// Holds the counts of this process, and reads them for the configuration.

namespace itk::cuda
{
namespace
{
MemoryCounts counts;
static_assert(std::is_trivially_destructible_v<MemoryCounts>); // images that outlive main() still read the counts
} // namespace

MemoryCounts &
GetMemoryCounts()
{
  return counts;
}

size_t
GetDeviceBytesInUse()
{
  return counts.DeviceInUse;
}

size_t
GetPinnedBytesInUse()
{
  return counts.PinnedInUse;
}

size_t
GetPinnedBytesCached()
{
  return counts.PinnedCached;
}
} // namespace itk::cuda
