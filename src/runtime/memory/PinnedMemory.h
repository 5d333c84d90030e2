// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_PinnedMemory_h
#define CudaFilters_runtime_memory_PinnedMemory_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <utility>

namespace itk::cuda
{
/** \class PinnedBuffer
 * \brief One chunk of page-locked host memory, on loan from a pool of the process.
 *
 * Chunks have one size, so no memory is lost to fragmentation. Free chunks are kept up to
 * CudaFiltersConfiguration::GetHostCacheLimit().
 */
class CudaFilters_EXPORT PinnedBuffer
{
public:
  /** The link of an H200 reads 2 MiB in 41 us if they lie in the processors' caches, and in 50 to 65 us otherwise.
   * Smaller copies reach less of its rate: 43 GB/s with 512 KiB, 48 with 1 MiB, 51 with 2 MiB and 53 with 4 MiB. */
  static constexpr size_t ChunkSize = size_t{ 2 } << 20;

  /** An empty buffer. */
  PinnedBuffer() = default;
  ~PinnedBuffer() { this->Release(); }

  /** A chunk of ChunkSize bytes, page-locked for all devices. The current device must be usable.
   * \exception CudaError */
  static PinnedBuffer
  Take();

  PinnedBuffer(PinnedBuffer && other) noexcept
    : m_Pointer(std::exchange(other.m_Pointer, nullptr))
  {}
  PinnedBuffer &
  operator=(PinnedBuffer && other) noexcept
  {
    if (this != &other)
    {
      this->Release();
      m_Pointer = std::exchange(other.m_Pointer, nullptr);
    }
    return *this;
  }
  PinnedBuffer(const PinnedBuffer &) = delete;
  PinnedBuffer &
  operator=(const PinnedBuffer &) = delete;

  void *
  GetPointer() const
  {
    return m_Pointer;
  }

  size_t
  GetSize() const
  {
    return m_Pointer ? ChunkSize : 0;
  }

  /** Frees the chunks that are kept. The current device must be one that is used. */
  static void
  ReleaseUnused() noexcept;

private:
  void
  Release() noexcept;

  void * m_Pointer{ nullptr };
};

/** Whether the page of this address has memory. The system gives it with the first write, which takes longer for it.
 * True where the system does not tell. */
bool
IsPagePresent(const void * address);
} // namespace itk::cuda

#endif
