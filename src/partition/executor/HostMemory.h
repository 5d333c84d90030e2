// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_HostMemory_h
#define CudaFilters_partition_executor_HostMemory_h

#include "itkCudaDetailHostMemoryPool.h"

#include <cstddef>
#include <map>
#include <new>
#include <utility>

namespace itk::cuda::partition
{
/** Owns a block of memory with undefined contents. Large blocks come from CudaHostMemoryPool, because their pages have
 * mostly been touched. */
class HostMemory
{
public:
  HostMemory() = default;
  explicit HostMemory(size_t bytes)
    : m_Pointer(CudaDetail::CudaHostMemoryPool::Allocate(bytes))
    , m_IsOfPool(m_Pointer != nullptr)
  {
    if (m_Pointer == nullptr)
    {
      m_Pointer = ::operator new(bytes, Alignment);
    }
  }
  HostMemory(HostMemory && other) noexcept { this->Swap(other); }
  HostMemory &
  operator=(HostMemory && other) noexcept
  {
    HostMemory(std::move(other)).Swap(*this);
    return *this;
  }
  ~HostMemory() { m_IsOfPool ? (void)CudaDetail::CudaHostMemoryPool::Release(m_Pointer) : Delete(m_Pointer); }

  void *
  Get() const
  {
    return m_Pointer;
  }

private:
  static constexpr std::align_val_t Alignment{ 64 }; // size of a cache line

  void * m_Pointer{ nullptr };
  bool   m_IsOfPool{ false };

  static void
  Delete(void * pointer)
  {
    ::operator delete(pointer, Alignment);
  }
  void
  Swap(HostMemory & other) noexcept
  {
    std::swap(m_Pointer, other.m_Pointer);
    std::swap(m_IsOfPool, other.m_IsOfPool);
  }
};

/** Keeps the blocks of arrays that no longer exist for later arrays of one executor, because their pages have been
 * touched. Only one thread at a time may allocate or release arrays of an executor. */
class HostHeap
{
public:
  /** Returns a block of at least `bytes`, and sets `bytes` to its size. */
  HostMemory
  Take(size_t & bytes)
  {
    bytes = RoundUp(bytes);
    const auto found = m_Free.lower_bound(bytes);
    if (bytes < MinimumSize || found == m_Free.end() || found->first > 2 * bytes)
    {
      return HostMemory(bytes);
    }
    bytes = found->first;
    HostMemory memory = std::move(found->second);
    m_Free.erase(found);
    return memory;
  }
  /** Keeps a block, or releases it if it is small or if there is no memory for an entry. */
  void
  Give(HostMemory memory, size_t bytes) noexcept
  {
    if (bytes >= MinimumSize)
    {
      try
      {
        m_Free.emplace(bytes, std::move(memory));
      }
      catch (const std::bad_alloc &)
      {}
    }
  }

private:
  /** The standard library keeps smaller blocks itself. */
  static constexpr size_t MinimumSize = size_t{ 1 } << 16;

  std::multimap<size_t, HostMemory> m_Free;

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

} // namespace itk::cuda::partition

#endif
