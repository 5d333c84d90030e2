// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_DeviceMemory_h
#define CudaFilters_runtime_memory_DeviceMemory_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "itkCudaDeviceMemoryResource.h"

#include <cstddef>
#include <cuda_runtime.h>

namespace itk::cuda
{
class DevicePool;

/** \class DeviceBuffer
 * \brief Device memory, allocated and released in the order of a stream's work.
 *
 * The memory comes from a pool of the module's own on the stream's device, which keeps released memory; on devices
 * without memory pools it comes from cudaMalloc. It is aligned to 256 bytes and not initialised. If memory runs out,
 * the pool gives back its unused part and the allocation is tried once more. A single failure of the call is therefore
 * not seen from outside. With CudaFiltersConfiguration::SetDeviceMemoryResource() the memory comes from the caller's
 * functions, and goes back to those it came from.
 */
class CudaFilters_EXPORT DeviceBuffer
{
public:
  DeviceBuffer() = default;

  /** \exception CudaError, of kind OutOfMemory also if the bytes in use would pass
   * CudaFiltersConfiguration::GetDeviceMemoryLimit(), or if the caller's functions gave none
   * \exception ExceptionObject if what they gave is not aligned */
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

  /** Bytes that can be allocated now on a usable device: the free bytes of the device and the unused bytes of the
   * module's pool, within the configured limit. If memory comes from the caller's functions, it is the limit minus the
   * bytes in use, or the largest number if there is no limit.
   * \exception CudaError */
  static size_t
  GetAvailable(int device);

  /** Gives the unused memory of all pools back to their devices. The current device must be one that is used. */
  static void
  ReleaseUnused();

private:
  void
  Release() noexcept;

  void *                           m_Pointer{ nullptr };
  size_t                           m_Size{ 0 };
  DevicePool *                     m_Pool{ nullptr };
  cudaStream_t                     m_Stream{ nullptr };
  const CudaDeviceMemoryResource * m_Resource{ nullptr }; // nullptr: the pool
};
} // namespace itk::cuda

// Questions about device memory and page-locked memory for the rest of the module, with or without CUDA.
// runtime/memory/DeviceMemory.cxx answers in a build with CUDA, runtime/device/DeviceWithoutCuda.cxx in a build
// without.
namespace itk::cuda
{
/** Bytes that can be allocated now on a usable device; see DeviceBuffer::GetAvailable().
 * \exception CudaError */
CudaFilters_EXPORT size_t
GetAvailableDeviceMemory(int device);

/** Gives back device and page-locked memory that is not in use. */
void
ReleaseUnusedMemory();
} // namespace itk::cuda

#endif
