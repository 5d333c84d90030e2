// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailHostMemoryPool.h"

#include "runtime/DetailNames.h"
#include "runtime/memory/MemoryUsage.h"
#include "runtime/image/Math.h"
#include "itkCudaFiltersConfiguration.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <type_traits>

#ifdef __linux__
#  include <pthread.h>
#  include <sys/mman.h>
#endif

// Implements CudaHostMemoryPool, which keeps released blocks so that a later output need not be the first to touch
// its pages.

namespace itk::CudaDetail
{
namespace
{
constexpr size_t blockAlignment = size_t{ 2 } << 20; // a huge page on x86-64 and on AArch64 with 4 KiB pages

#ifdef __linux__
/** Maps `bytes`, a multiple of the alignment, at an aligned address. Returns nullptr if the system refuses. */
void *
MapBlock(size_t bytes)
{
  const size_t mapped = bytes + blockAlignment;
  void * const start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
  {
    return nullptr;
  }
  char * const first = static_cast<char *>(start);
  const size_t head = (blockAlignment - reinterpret_cast<uintptr_t>(start) % blockAlignment) % blockAlignment;
  if (head > 0)
  {
    munmap(first, head);
  }
  munmap(first + head + bytes, mapped - head - bytes);
  // This is only advice. A kernel without huge pages rejects it and the block still works.
  (void)madvise(first + head, bytes, MADV_HUGEPAGE);
  return first + head;
}

void
UnmapBlock(void * block, size_t bytes)
{
  munmap(block, bytes);
}
#else
void *
MapBlock(size_t)
{
  return nullptr;
}

void
UnmapBlock(void *, size_t)
{}
#endif

using TimePoint = std::chrono::steady_clock::time_point;

std::atomic<cuda::HostMemoryClock> testClock{ nullptr };

TimePoint
GetNow()
{
  const cuda::HostMemoryClock clock = testClock;
  return clock ? clock() : std::chrono::steady_clock::now();
}

/** The blocks of the pool. The caller of its functions holds the mutex. */
struct Pool
{
  struct Block
  {
    void *    Address;
    size_t    Bytes;
    TimePoint Released;
  };
  using BlockList = std::list<Block>; // lists let blocks change from one to the other without an allocation

  std::mutex                            Mutex;
  BlockList                             Free; // in order of release
  BlockList                             Used;
  std::map<void *, BlockList::iterator> UsedByAddress;
  size_t                                BytesInUse{ 0 };
  size_t                                BytesCached{ 0 };

  /** Finds the smallest free block that fits. A block that is more than a quarter too large is not used, so that small
   * images do not hold the memory of large ones. */
  BlockList::iterator
  FindFreeBlock(size_t bytes)
  {
    auto best = Free.end();
    for (auto block = Free.begin(); block != Free.end(); ++block)
    {
      const bool fits = block->Bytes >= bytes && block->Bytes - bytes <= bytes / 4;
      if (fits && (best == Free.end() || block->Bytes < best->Bytes))
      {
        best = block;
      }
    }
    return best;
  }

  /** Adds a new free block. If the system refuses the memory, all free blocks are unmapped and the request is repeated
   * once. */
  BlockList::iterator
  AddFreeBlock(size_t bytes)
  {
    void * address = MapBlock(bytes);
    if (!address)
    {
      this->Shrink(0);
      address = MapBlock(bytes);
    }
    if (!address)
    {
      return Free.end();
    }
    try
    {
      Free.push_back({ address, bytes, GetNow() });
    }
    catch (...)
    {
      UnmapBlock(address, bytes);
      throw;
    }
    BytesCached += bytes;
    return std::prev(Free.end());
  }

  /** Returns free blocks to the system until at most `limit` bytes are kept, the block that was released first going
   * first. */
  void
  Shrink(size_t limit)
  {
    while (BytesCached > limit)
    {
      this->UnmapOldest();
    }
  }

  void
  UnmapOldest()
  {
    const Block & oldest = Free.front();
    UnmapBlock(oldest.Address, oldest.Bytes);
    BytesCached -= oldest.Bytes;
    Free.pop_front();
  }
};

Pool &
GetPool()
{
  static Pool * const pool = new Pool; // never deleted, because images in static storage are released after static
                                       // objects of this file are destroyed
  return *pool;
}

#ifdef __linux__
/** Registers handlers that give a child of fork() an unlocked pool in a consistent state, regardless of what other
 * threads do. Handlers run before a fork in the reverse order of their registration. These handlers are registered when
 * the library is loaded, which is usually before ITK's thread pool registers its own. ITK's handler therefore runs
 * first, as it must, because it waits for threads that may be waiting for this lock. */
[[maybe_unused]] const int forkHandlers =
  pthread_atfork([] { GetPool().Mutex.lock(); }, [] { GetPool().Mutex.unlock(); }, [] { GetPool().Mutex.unlock(); });
#endif
} // namespace
} // end namespace itk::CudaDetail

void
itk::cuda::SetHostMemoryClock(HostMemoryClock clock)
{
  testClock = clock;
}

itk::cuda::MemoryUsage &
itk::cuda::GetMemoryUsage()
{
  static MemoryUsage usage;
  static_assert(std::is_trivially_destructible_v<MemoryUsage>); // images that outlive main() still read the usage
  return usage;
}

namespace itk::CudaDetail
{
void *
CudaHostMemoryPool::Allocate(size_t bytes) noexcept
{
  ReleaseIdle();
  if (bytes < MinimumSize || bytes > std::numeric_limits<size_t>::max() / 2)
  {
    return nullptr;
  }
  try
  {
    Pool &                            pool = GetPool();
    const std::lock_guard<std::mutex> lock(pool.Mutex);
    const size_t                      rounded = cuda::RoundUp(bytes, blockAlignment);
    auto                              block = pool.FindFreeBlock(rounded);
    if (block == pool.Free.end())
    {
      block = pool.AddFreeBlock(rounded);
    }
    if (block == pool.Free.end())
    {
      return nullptr;
    }
    pool.UsedByAddress.emplace(block->Address, block);
    pool.BytesCached -= block->Bytes;
    pool.BytesInUse += block->Bytes;
    pool.Used.splice(pool.Used.end(), pool.Free, block);
    return block->Address;
  }
  catch (const std::bad_alloc &)
  {
    return nullptr;
  }
}

bool
CudaHostMemoryPool::Release(void * address) noexcept
{
  if (!address)
  {
    return false;
  }
  ReleaseIdle();
  const size_t                      limit = CudaFiltersConfiguration::GetHostCacheLimit();
  const size_t                      pinned = cuda::GetMemoryUsage().PinnedCached;
  Pool &                            pool = GetPool();
  const std::lock_guard<std::mutex> lock(pool.Mutex);
  const auto                        used = pool.UsedByAddress.find(address);
  if (used == pool.UsedByAddress.end())
  {
    return false;
  }
  const auto block = used->second;
  pool.UsedByAddress.erase(used);
  block->Released = GetNow();
  pool.BytesInUse -= block->Bytes;
  pool.BytesCached += block->Bytes;
  pool.Free.splice(pool.Free.end(), pool.Used, block);
  pool.Shrink(limit - std::min(limit, pinned));
  return true;
}

void
CudaHostMemoryPool::ReleaseUnused(size_t limit) noexcept
{
  Pool &                            pool = GetPool();
  const std::lock_guard<std::mutex> lock(pool.Mutex);
  pool.Shrink(limit);
}

void
CudaHostMemoryPool::ReleaseIdle() noexcept
{
  Pool &                            pool = GetPool();
  const std::lock_guard<std::mutex> lock(pool.Mutex);
  while (!pool.Free.empty() && GetNow() - pool.Free.front().Released >= MaximumIdleTime)
  {
    pool.UnmapOldest();
  }
}

size_t
CudaHostMemoryPool::GetBytesInUse()
{
  Pool &                            pool = GetPool();
  const std::lock_guard<std::mutex> lock(pool.Mutex);
  return pool.BytesInUse;
}

size_t
CudaHostMemoryPool::GetBytesCached()
{
  Pool &                            pool = GetPool();
  const std::lock_guard<std::mutex> lock(pool.Mutex);
  return pool.BytesCached;
}
} // end namespace itk::CudaDetail
