// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_HostMemory_h
#define CudaFilters_executor_HostMemory_h

#include "itkCudaDetailHostMemoryPool.h"

#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <utility>

namespace itk::cuda::executor
{
/** Deletes a block of memory, which comes from CudaHostMemoryPool if it is large, because the pages of these blocks
 * have mostly been touched. */
struct HostDelete
{
  static constexpr std::align_val_t Alignment{ 64 }; // size of a cache line

  bool IsOfPool{ false };

  void
  operator()(void * block) const
  {
    IsOfPool ? (void)CudaDetail::CudaHostMemoryPool::Release(block) : ::operator delete(block, Alignment);
  }
};

/** Allocates the memory of arrays, and keeps the blocks of arrays that no longer exist for later arrays, because their
 * pages have been touched. Only one thread at a time may allocate or release arrays. */
class HostHeap
{
public:
  HostHeap() = default;
  HostHeap(const HostHeap &) = delete;
  HostHeap &
  operator=(const HostHeap &) = delete;

  /** Gives the memory of an array back to its heap, which must still exist. */
  struct GiveBack
  {
    HostHeap * Heap{ nullptr };
    size_t     Bytes{ 0 };
    HostDelete Delete;

    void
    operator()(void * block) const
    {
      Heap->Give(Block(block, Delete), Bytes);
    }
  };
  using Memory = std::unique_ptr<void, GiveBack>;

  /** Returns at least `bytes` with undefined contents. */
  Memory
  Take(size_t bytes)
  {
    bytes = RoundUp(bytes);
    const auto found = bytes < MinimumSize ? m_Free.end() : m_Free.lower_bound(bytes);
    if (found != m_Free.end() && found->first <= 2 * bytes)
    {
      auto entry = m_Free.extract(found);
      return this->Own(std::move(entry.mapped()), entry.key());
    }
    if (void * const ofPool = CudaDetail::CudaHostMemoryPool::Allocate(bytes))
    {
      return this->Own(Block(ofPool, { true }), bytes);
    }
    return this->Own(Block(::operator new(bytes, HostDelete::Alignment), { false }), bytes);
  }

private:
  using Block = std::unique_ptr<void, HostDelete>;

  /** The standard library keeps smaller blocks itself. */
  static constexpr size_t MinimumSize = size_t{ 1 } << 16;

  std::multimap<size_t, Block> m_Free;

  Memory
  Own(Block block, size_t bytes)
  {
    const HostDelete blockDelete = block.get_deleter();
    return Memory(block.release(), { this, bytes, blockDelete });
  }
  /** Keeps a block, or releases it if it is small or if there is no memory for an entry. */
  void
  Give(Block block, size_t bytes) noexcept
  {
    if (bytes >= MinimumSize)
    {
      try
      {
        m_Free.emplace(bytes, std::move(block));
      }
      catch (const std::bad_alloc &)
      {}
    }
  }

  /** Rounds up to one of eight sizes between two powers of 2, so that arrays of similar sizes can reuse a block. */
  static size_t
  RoundUp(size_t bytes)
  {
    size_t step = 1;
    while (16 * step <= bytes && bytes >= MinimumSize)
    {
      step *= 2;
    }
    return (bytes + step - 1) / step * step;
  }
};

} // namespace itk::cuda::executor

#endif
