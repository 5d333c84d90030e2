// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/PinnedMemory.h"

#ifdef __linux__
#  include <cstdint>
#  include <sys/mman.h>
#  include <unistd.h>
#endif

// Finds out whether the system has assigned physical memory to a page of host memory.

namespace itk::cuda
{
bool
IsPagePresent(const void * address)
{
#ifdef __linux__
  const auto    size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char status = 0;
  void * const  page = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) / size * size);
  return mincore(page, size, &status) != 0 || (status & 1) != 0;
#else
  (void)address;
  return true;
#endif
}
} // namespace itk::cuda
