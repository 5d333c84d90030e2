// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/PinnedMemory.h"

#include "runtime/device/Call.h"
#include "itkCudaDetailHostMemoryPool.h"
#include "runtime/DetailNames.h"
#include "runtime/memory/MemoryUsage.h"
#include "runtime/Process.h"
#include "itkCudaFiltersConfiguration.h"
#include "itksys/SystemInformation.hxx"

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#ifdef __linux__
#  include <cstdint>
#  include <sys/mman.h>
#  include <unistd.h>
#endif

// Implements PinnedBuffer with a pool that keeps released chunks of page-locked memory, and PageLockedArray with memory
// that is registered, and finds out whether a page of ordinary host memory has physical memory.

namespace itk::cuda
{
namespace
{
/** Throws the exception for an error of `function`, which was asked for page-locked memory. */
[[noreturn]] void
ThrowPinnedError(cudaError_t error, const char * function, size_t bytes)
{
  const std::string what = std::string(function) + " (page-locked host memory)";
  if (error != cudaErrorMemoryAllocation)
  {
    ThrowCudaError(error, what.c_str(), __FILE__, __LINE__);
  }
  itksys::SystemInformation system;
  system.RunMemoryCheck();
  const size_t available = static_cast<size_t>(system.GetAvailablePhysicalMemory())
                           << 20; // GetAvailablePhysicalMemory() returns MiB
  ThrowOutOfMemory(what.c_str(), bytes, available, 0, __FILE__, __LINE__);
}

void *
AllocateChunk()
{
  void *            chunk = nullptr;
  const cudaError_t error = ITK_CUDA_TRY(cudaHostAlloc(&chunk, PinnedBuffer::ChunkSize, cudaHostAllocPortable));
  if (error != cudaSuccess)
  {
    ThrowPinnedError(error, "cudaHostAlloc", PinnedBuffer::ChunkSize);
  }
  return chunk;
}

class PinnedPool
{
public:
  void *
  Take()
  {
    MemoryUsage & usage = GetMemoryUsage();
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      if (!m_Free.empty())
      {
        void * const chunk = m_Free.back();
        m_Free.pop_back();
        usage.PinnedCached -= PinnedBuffer::ChunkSize;
        usage.PinnedInUse += PinnedBuffer::ChunkSize;
        return chunk;
      }
      m_Free.reserve(usage.PinnedInUse / PinnedBuffer::ChunkSize + 1); // so that GiveBack() never allocates
      usage.PinnedInUse += PinnedBuffer::ChunkSize;
    }
    try
    {
      return AllocateChunk();
    }
    catch (...)
    {
      usage.PinnedInUse -= PinnedBuffer::ChunkSize;
      throw;
    }
  }

  void
  GiveBack(void * chunk) noexcept
  {
    MemoryUsage & usage = GetMemoryUsage();
    if (IsForkedProcess())
    {
      usage.PinnedInUse -= PinnedBuffer::ChunkSize;
      return;
    }
    const size_t limit = CudaFiltersConfiguration::GetHostCacheLimit();
    size_t       kept = 0;
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      usage.PinnedInUse -= PinnedBuffer::ChunkSize;
      kept = (m_Free.size() + 1) * PinnedBuffer::ChunkSize;
      if (kept <= limit)
      {
        m_Free.push_back(chunk);
        usage.PinnedCached += PinnedBuffer::ChunkSize;
      }
    }
    if (kept > limit)
    {
      ITK_CUDA_CALL_NOTHROW(cudaFreeHost(chunk));
      return;
    }
    // Free ordinary memory makes room for the page-locked chunk, because page-locked memory is more expensive to
    // allocate.
    CudaHostMemoryPool::ReleaseUnused(limit - kept);
  }

  void
  ReleaseUnused() noexcept
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    for (void * const chunk : m_Free)
    {
      ITK_CUDA_CALL_NOTHROW(cudaFreeHost(chunk));
    }
    GetMemoryUsage().PinnedCached -= m_Free.size() * PinnedBuffer::ChunkSize;
    m_Free.clear();
  }

private:
  std::mutex          m_Mutex;
  std::vector<void *> m_Free;
};

PinnedPool &
GetPinnedPool()
{
  static PinnedPool * const pool = new PinnedPool; // never deleted, because the CUDA runtime may be gone at exit
  return *pool;
}

} // namespace

PinnedBuffer
PinnedBuffer::Take()
{
  PinnedBuffer buffer;
  buffer.m_Chunk.reset(GetPinnedPool().Take());
  return buffer;
}

void
PinnedBuffer::GiveBack::operator()(void * chunk) const noexcept
{
  GetPinnedPool().GiveBack(chunk);
}

void
PinnedBuffer::ReleaseUnused() noexcept
{
  GetPinnedPool().ReleaseUnused();
}

PageLockedArray::PageLockedArray(size_t bytes)
  : m_Memory(CudaHostMemoryPool::Allocate(bytes), Release{ bytes, false })
{
  if (!m_Memory)
  {
    m_Memory.reset(std::malloc(bytes)); // the pool has no small blocks, and none on other systems than Linux
  }
  const cudaError_t error =
    m_Memory ? ITK_CUDA_TRY(cudaHostRegister(m_Memory.get(), bytes, cudaHostRegisterPortable | cudaHostRegisterMapped))
             : cudaErrorMemoryAllocation;
  if (error != cudaSuccess)
  {
    ThrowPinnedError(error, "cudaHostRegister", bytes);
  }
  m_Memory.get_deleter().IsRegistered = true;
  GetMemoryUsage().PinnedInUse += bytes;
  ITK_CUDA_CALL(cudaHostGetDevicePointer(&m_DevicePointer, m_Memory.get(), 0));
}

void
PageLockedArray::Release::operator()(void * memory) const noexcept
{
  if (IsRegistered)
  {
    GetMemoryUsage().PinnedInUse -= Bytes;
    if (IsForkedProcess())
    {
      return; // the memory belongs to the parent process
    }
    ITK_CUDA_CALL_NOTHROW(cudaHostUnregister(memory));
  }
  if (!CudaHostMemoryPool::Release(memory))
  {
    std::free(memory);
  }
}

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
