// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMemory_h
#define itkCudaMemory_h

#include "CudaFiltersExport.h"

#include <cuda_runtime.h>

#include <cstddef>

namespace itk::cuda
{
class DevicePool;
class Context;

/** \class DeviceBuffer
 * \brief Device memory, allocated and released in the order of a stream's work.
 *
 * The memory comes from a pool of this module's own on the stream's device, which keeps what is released; on devices
 * without memory pools from cudaMalloc. It is aligned to 256 bytes and not initialised. When memory runs out the pool's
 * unused part is given back and the allocation is tried once more, so one failure of the call need not be seen from
 * outside.
 */
class CudaFilters_EXPORT DeviceBuffer
{
public:
  DeviceBuffer() = default;

  /** \exception CudaError, of kind OutOfMemory also if the bytes in use would pass
   * CudaFiltersConfiguration::GetDeviceMemoryLimit() */
  DeviceBuffer(size_t bytes, const Context & context);
  ~DeviceBuffer();

  DeviceBuffer(DeviceBuffer && other) noexcept;
  DeviceBuffer &
  operator=(DeviceBuffer && other) noexcept;
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &
  operator=(const DeviceBuffer &) = delete;

  void *
  GetPointer() const
  {
    return m_Pointer;
  }

  size_t
  GetSize() const
  {
    return m_Size;
  }

private:
  void
  Release() noexcept;

  void *       m_Pointer{ nullptr };
  size_t       m_Size{ 0 };
  DevicePool * m_Pool{ nullptr };
  cudaStream_t m_Stream{ nullptr };
};

/** \class PinnedBuffer
 * \brief One chunk of page-locked host memory, on loan from a pool of the process.
 *
 * Chunks have one size, so none is ever lost to fragmentation. What is given back is kept up to
 * CudaFiltersConfiguration::GetHostCacheLimit().
 */
class CudaFilters_EXPORT PinnedBuffer
{
public:
  static constexpr size_t ChunkSize = size_t{ 2 } << 20;

  /** An empty buffer. */
  PinnedBuffer() = default;
  ~PinnedBuffer();

  /** A chunk of ChunkSize bytes, page-locked for all devices. The current device must be usable.
   * \exception CudaError */
  static PinnedBuffer
  Take();

  PinnedBuffer(PinnedBuffer && other) noexcept;
  PinnedBuffer &
  operator=(PinnedBuffer && other) noexcept;
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

private:
  void
  Release() noexcept;

  void * m_Pointer{ nullptr };
};
} // namespace itk::cuda

#endif
