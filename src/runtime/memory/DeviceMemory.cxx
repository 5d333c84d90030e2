// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/MemoryQuery.h"
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "itkCudaError.h"
#include "runtime/memory/MemoryUsage.h"
#include "runtime/Process.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkMacro.h"
#include "runtime/memory/PinnedMemory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Implements DeviceBuffer on top of one DevicePool for each device. The pool keeps to the configured limit
// (AddBytesInUse()) and allocates from the program's own functions or from a CUDA memory pool that belongs to the
// module. If memory runs out, it gives the pool's unused memory back to the device and tries once more
// (AllocateFromPool()).

namespace itk::cuda
{
/** The module's own memory pool on one device. The device's default pool is left to all other users of CUDA in the
 * process. */
class DevicePool
{
public:
  explicit DevicePool(int device)
    : m_Device(device)
    , m_PoolsSupported(GetDeviceProperties(device).MemoryPoolsSupported)
  {}

  /** Allocates from the resource, or from this pool if it is nullptr. */
  void *
  Allocate(size_t bytes, cudaStream_t stream, const CudaDeviceMemoryResource * resource)
  {
    this->AddBytesInUse(bytes);
    try
    {
      return resource ? this->AllocateFrom(*resource, bytes, stream) : this->AllocateFromPool(bytes, stream);
    }
    catch (...)
    {
      this->SubtractBytesInUse(bytes);
      throw;
    }
  }

  void
  Release(void * pointer, size_t bytes, cudaStream_t stream, const CudaDeviceMemoryResource * resource) noexcept
  {
    this->SubtractBytesInUse(bytes);
    if (IsForkedProcess())
    {
      return;
    }
    if (resource)
    {
      this->ReleaseTo(*resource, pointer, bytes, stream);
    }
    else if (m_PoolsSupported)
    {
      ITK_CUDA_CALL_NOTHROW(cudaFreeAsync(pointer, stream));
    }
    else
    {
      ITK_CUDA_CALL_NOTHROW(cudaStreamSynchronize(stream)); // cudaFree is not stream-ordered
      ITK_CUDA_CALL_NOTHROW(cudaFree(pointer));
    }
  }

  size_t
  GetAvailable()
  {
    const size_t available = GetDeviceMemoryResource() ? std::numeric_limits<size_t>::max() : this->GetUnused();
    const size_t limit = CudaFiltersConfiguration::GetDeviceMemoryLimit();
    const size_t inUse = m_BytesInUse;
    return limit == 0 ? available : std::min(available, limit - std::min(limit, inUse));
  }

  void
  AllowAccess(int reader)
  {
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      if (!m_PoolsSupported || reader == m_Device || m_Readers.count(reader) > 0)
      {
        return;
      }
    }
    int isLinked = 0;
    ITK_CUDA_CALL(cudaDeviceCanAccessPeer(&isLinked, reader, m_Device));
    if (isLinked)
    {
      cudaMemAccessDesc access{};
      access.location.type = cudaMemLocationTypeDevice;
      access.location.id = reader;
      access.flags = cudaMemAccessFlagsProtReadWrite;
      ITK_CUDA_CALL(cudaMemPoolSetAccess(this->GetHandle(), &access, 1));
    }
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Readers.insert(reader);
  }

  void
  ReleaseUnused() noexcept
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (m_Handle)
    {
      ITK_CUDA_CALL_NOTHROW(cudaMemPoolTrimTo(m_Handle, 0));
    }
  }

private:
  void
  AddBytesInUse(size_t bytes)
  {
    const size_t limit = CudaFiltersConfiguration::GetDeviceMemoryLimit();
    size_t       inUse = m_BytesInUse;
    do
    {
      if (limit != 0 && (inUse > limit || bytes > limit - inUse))
      {
        ThrowOutOfMemory(
          "Allocation within the device memory limit", bytes, this->GetAvailableNoThrow(), limit, __FILE__, __LINE__);
      }
    } while (!m_BytesInUse.compare_exchange_weak(inUse, inUse + bytes));
    GetMemoryUsage().DeviceInUse += bytes;
  }

  void
  SubtractBytesInUse(size_t bytes)
  {
    m_BytesInUse -= bytes;
    GetMemoryUsage().DeviceInUse -= bytes;
  }

  /** Creates the pool on first use and limits the memory that it keeps to the configured limit. */
  cudaMemPool_t
  GetHandle()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (!m_Handle)
    {
      cudaMemPoolProps properties{};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.handleTypes = cudaMemHandleTypeNone;
      properties.location.type = cudaMemLocationTypeDevice;
      properties.location.id = m_Device;
      cudaMemPool_t handle = nullptr;
      ITK_CUDA_CALL(cudaMemPoolCreate(&handle, &properties));
      m_Handle = handle;
      m_Threshold = 0;
    }
    const size_t limit = CudaFiltersConfiguration::GetDeviceMemoryLimit();
    uint64_t     threshold = limit == 0 ? std::numeric_limits<uint64_t>::max() : uint64_t{ limit };
    if (threshold != m_Threshold)
    {
      ITK_CUDA_CALL(cudaMemPoolSetAttribute(m_Handle, cudaMemPoolAttrReleaseThreshold, &threshold));
      m_Threshold = threshold;
    }
    return m_Handle;
  }

  cudaError_t
  TryAllocate(void ** pointer, size_t bytes, cudaStream_t stream)
  {
    if (m_PoolsSupported)
    {
      const cudaMemPool_t handle = this->GetHandle();
      return ITK_CUDA_TRY(cudaMallocFromPoolAsync(pointer, bytes, handle, stream));
    }
    const DeviceGuard guard(m_Device);
    return ITK_CUDA_TRY(cudaMalloc(pointer, bytes));
  }

  void *
  AllocateFromPool(size_t bytes, cudaStream_t stream)
  {
    void *      pointer = nullptr;
    cudaError_t error = this->TryAllocate(&pointer, bytes, stream);
    if (error == cudaErrorMemoryAllocation)
    {
      // Memory that the stream's earlier work released returns to the device only after that work is done.
      ITK_CUDA_CALL(cudaStreamSynchronize(stream));
      this->ReleaseUnused();
      error = this->TryAllocate(&pointer, bytes, stream);
    }
    if (error == cudaErrorMemoryAllocation)
    {
      ThrowOutOfMemory("cudaMallocFromPoolAsync",
                       bytes,
                       this->GetAvailableNoThrow(),
                       CudaFiltersConfiguration::GetDeviceMemoryLimit(),
                       __FILE__,
                       __LINE__);
    }
    if (error != cudaSuccess)
    {
      ThrowCudaError(error, "cudaMallocFromPoolAsync", __FILE__, __LINE__);
    }
    return pointer;
  }

  void *
  AllocateFrom(const CudaDeviceMemoryResource & resource, size_t bytes, cudaStream_t stream)
  {
    const DeviceGuard guard(m_Device);
    void *            pointer = nullptr;
    std::string       failure = "returned nullptr";
    try
    {
      pointer = resource.Allocate(bytes, m_Device, stream, resource.Context);
    }
    catch (const std::exception & exception)
    {
      failure = std::string("threw \"") + exception.what() + '"';
    }
    catch (...)
    {
      failure = "threw";
    }
    if (!pointer)
    {
      throw CudaError(__FILE__,
                      __LINE__,
                      CudaError::Kind::OutOfMemory,
                      "The allocate function of CudaFiltersConfiguration::SetDeviceMemoryResource() " + failure +
                        ", asked: " + std::to_string(bytes) + " bytes on device " + std::to_string(m_Device));
    }
    if (reinterpret_cast<uintptr_t>(pointer) % CudaDeviceMemoryResource::Alignment != 0)
    {
      this->ReleaseTo(resource, pointer, bytes, stream);
      itkGenericExceptionMacro(
        << "The allocate function of CudaFiltersConfiguration::SetDeviceMemoryResource() returned " << pointer
        << " for " << bytes << " bytes on device " << m_Device << "; it must be a multiple of "
        << CudaDeviceMemoryResource::Alignment << " bytes");
    }
    return pointer;
  }

  void
  ReleaseTo(const CudaDeviceMemoryResource & resource, void * pointer, size_t bytes, cudaStream_t stream) noexcept
  {
    const DeviceGuard guard(m_Device, std::nothrow);
    try
    {
      resource.Release(pointer, bytes, m_Device, stream, resource.Context);
    }
    catch (...)
    {
      // The function promises not to throw, and nobody could handle the exception.
    }
  }

  /** Returns the free bytes of the device plus the bytes that the pool holds unused. */
  size_t
  GetUnused()
  {
    const DeviceGuard guard(m_Device);
    size_t            available = 0;
    size_t            total = 0;
    ITK_CUDA_CALL(cudaMemGetInfo(&available, &total));
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      if (m_Handle)
      {
        uint64_t reserved = 0;
        uint64_t used = 0;
        ITK_CUDA_CALL(cudaMemPoolGetAttribute(m_Handle, cudaMemPoolAttrReservedMemCurrent, &reserved));
        ITK_CUDA_CALL(cudaMemPoolGetAttribute(m_Handle, cudaMemPoolAttrUsedMemCurrent, &used));
        available += reserved - std::min(reserved, used);
      }
    }
    return available;
  }

  /** Returns the free bytes for an error message, or 0 if they are unknown. */
  size_t
  GetAvailableNoThrow()
  {
    try
    {
      return this->GetAvailable();
    }
    catch (...)
    {
      return 0;
    }
  }

  const int           m_Device;
  const bool          m_PoolsSupported;
  std::atomic<size_t> m_BytesInUse{ 0 };
  std::mutex          m_Mutex;
  cudaMemPool_t       m_Handle{ nullptr };
  uint64_t            m_Threshold{ 0 };
  std::set<int>       m_Readers; // devices for which AllowAccess() has been called
};

namespace
{
struct DevicePools
{
  std::mutex                                 Mutex;
  std::map<int, std::unique_ptr<DevicePool>> Pools;
};

DevicePools &
GetDevicePools()
{
  static DevicePools * const pools = new DevicePools; // never deleted, because the CUDA runtime may be gone at exit
  return *pools;
}

DevicePool &
GetDevicePool(int device)
{
  DevicePools &                     pools = GetDevicePools();
  const std::lock_guard<std::mutex> lock(pools.Mutex);
  std::unique_ptr<DevicePool> &     pool = pools.Pools[device];
  if (!pool)
  {
    pool = std::make_unique<DevicePool>(device);
  }
  return *pool;
}

/** Returns all existing pools. */
std::vector<DevicePool *>
ListDevicePools()
{
  DevicePools &                     pools = GetDevicePools();
  const std::lock_guard<std::mutex> lock(pools.Mutex);
  std::vector<DevicePool *>         list;
  for (const auto & [device, pool] : pools.Pools)
  {
    if (pool)
    {
      list.push_back(pool.get());
    }
  }
  return list;
}
} // namespace

DeviceBuffer::DeviceBuffer(size_t bytes, const Context & context)
{
  if (bytes == 0)
  {
    return;
  }
  DevicePool &                           pool = GetDevicePool(context.GetDevice());
  const CudaDeviceMemoryResource * const resource = GetDeviceMemoryResource();
  m_Memory = { pool.Allocate(bytes, context.GetStream(), resource), { &pool, bytes, context.GetStream(), resource } };
}

void
DeviceBuffer::Release::operator()(void * memory) const noexcept
{
  Pool->Release(memory, Bytes, Stream, Resource);
}

size_t
GetAvailableDeviceMemory(int device)
{
  RequireUsableDevice(device);
  return GetDevicePool(device).GetAvailable();
}

void
AllowPeerAccess(int owner, int reader)
{
  GetDevicePool(owner).AllowAccess(reader);
}

void
ReleaseUnusedMemory()
{
  const std::optional<int> device = IsCudaProcess() ? FindUsedDevice() : std::nullopt;
  if (!device)
  {
    return;
  }
  try
  {
    const DeviceGuard guard(*device);
    for (DevicePool * const pool : ListDevicePools())
    {
      pool->ReleaseUnused();
    }
    PinnedBuffer::ReleaseUnused();
  }
  catch (const CudaError &)
  {
    // A device that has failed has no memory to give back.
  }
}
} // namespace itk::cuda
