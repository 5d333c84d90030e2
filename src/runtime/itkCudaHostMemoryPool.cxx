// SPDX-License-Identifier: Apache-2.0
#include "itkCudaHostMemoryPool.h"

#include "itkCudaDeviceQuery.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRoundUp.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <new>

#ifdef __linux__
#  include <sys/mman.h>
#endif

namespace itk
{
namespace
{
constexpr size_t blockAlignment = size_t{ 2 } << 20; // a huge page on x86-64 and on AArch64 with 4 KiB pages

#ifdef __linux__
/** Maps `bytes`, a multiple of the alignment, at a multiple of the alignment; nullptr if the system refuses. */
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
  // Advice only: a kernel without huge pages refuses it, and the block works as well.
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

class Pool
{
public:
  void *
  Allocate(size_t bytes)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    auto                              block = this->FindFreeBlock(bytes);
    if (block == m_Blocks.end())
    {
      block = this->AddBlock(bytes);
    }
    else
    {
      m_BytesCached -= block->second.Bytes;
      block->second.Released = 0;
    }
    if (block == m_Blocks.end())
    {
      return nullptr;
    }
    m_BytesInUse += block->second.Bytes;
    return block->first;
  }

  bool
  Release(void * address, size_t limit)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    const auto                        block = m_Blocks.find(address);
    if (block == m_Blocks.end() || block->second.Released != 0)
    {
      return false;
    }
    block->second.Released = ++m_NumberOfReleases;
    m_BytesInUse -= block->second.Bytes;
    m_BytesCached += block->second.Bytes;
    this->Shrink(limit);
    return true;
  }

  void
  ReleaseUnused()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    this->Shrink(0);
  }

  size_t
  GetBytesInUse()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_BytesInUse;
  }

  size_t
  GetBytesCached()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_BytesCached;
  }

private:
  struct Block
  {
    size_t   Bytes;
    uint64_t Released; // number of its release, 0 while in use
  };
  using BlockMap = std::map<void *, Block>;

  /** The smallest free block that fits. One that is more than a quarter too large stays, lest small images hold on to
   * the memory of large ones. */
  BlockMap::iterator
  FindFreeBlock(size_t bytes)
  {
    auto best = m_Blocks.end();
    for (auto block = m_Blocks.begin(); block != m_Blocks.end(); ++block)
    {
      const size_t size = block->second.Bytes;
      const bool   fits = block->second.Released != 0 && size >= bytes && size - bytes <= bytes / 4;
      if (fits && (best == m_Blocks.end() || size < best->second.Bytes))
      {
        best = block;
      }
    }
    return best;
  }

  BlockMap::iterator
  AddBlock(size_t bytes)
  {
    void * address = MapBlock(bytes);
    if (!address)
    {
      this->Shrink(0);
      address = MapBlock(bytes);
    }
    if (!address)
    {
      return m_Blocks.end();
    }
    try
    {
      return m_Blocks.emplace(address, Block{ bytes, 0 }).first;
    }
    catch (...)
    {
      UnmapBlock(address, bytes);
      throw;
    }
  }

  /** Returns free blocks to the system, those released first first, until at most `limit` bytes are kept. */
  void
  Shrink(size_t limit)
  {
    while (m_BytesCached > limit)
    {
      auto oldest = m_Blocks.end();
      for (auto block = m_Blocks.begin(); block != m_Blocks.end(); ++block)
      {
        const uint64_t released = block->second.Released;
        if (released != 0 && (oldest == m_Blocks.end() || released < oldest->second.Released))
        {
          oldest = block;
        }
      }
      UnmapBlock(oldest->first, oldest->second.Bytes);
      m_BytesCached -= oldest->second.Bytes;
      m_Blocks.erase(oldest);
    }
  }

  std::mutex m_Mutex;
  BlockMap   m_Blocks; // by address
  uint64_t   m_NumberOfReleases{ 0 };
  size_t     m_BytesInUse{ 0 };
  size_t     m_BytesCached{ 0 };
};

Pool &
GetPool()
{
  static Pool * const pool = new Pool; // images in static storage come back after static objects here would be gone
  return *pool;
}
} // namespace

void *
CudaHostMemoryPool::Allocate(size_t bytes) noexcept
{
  if (bytes < MinimumSize || bytes > std::numeric_limits<size_t>::max() / 2)
  {
    return nullptr;
  }
  try
  {
    return GetPool().Allocate(cuda::RoundUp(bytes, blockAlignment));
  }
  catch (const std::bad_alloc &)
  {
    return nullptr;
  }
}

bool
CudaHostMemoryPool::Release(void * block) noexcept
{
  if (!block)
  {
    return false;
  }
  const size_t limit = CudaFiltersConfiguration::GetHostCacheLimit();
  const size_t pinned = cuda::GetPinnedBytesCached();
  return GetPool().Release(block, limit - std::min(limit, pinned));
}

void
CudaHostMemoryPool::ReleaseUnused() noexcept
{
  GetPool().ReleaseUnused();
}

size_t
CudaHostMemoryPool::GetBytesInUse()
{
  return GetPool().GetBytesInUse();
}

size_t
CudaHostMemoryPool::GetBytesCached()
{
  return GetPool().GetBytesCached();
}
} // end namespace itk
