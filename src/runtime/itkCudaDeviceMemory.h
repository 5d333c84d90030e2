// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceMemory_h
#define itkCudaDeviceMemory_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"
#include "itkCudaDeviceMemoryResource.h"

#include <cuda_runtime.h>

#include <cstddef>

namespace itk::cuda
{
class DevicePool;

/** \class DeviceBuffer
 * \brief Device memory, allocated and released in the order of a stream's work.
 *
 * The memory comes from a pool of this module's own on the stream's device, which keeps what is released; on devices
 * without memory pools from cudaMalloc. It is aligned to 256 bytes and not initialised. When memory runs out the pool's
 * unused part is given back and the allocation is tried once more, so one failure of the call need not be seen from
 * outside. With CudaFiltersConfiguration::SetDeviceMemoryResource() the memory comes from the caller's functions, and
 * goes back to those it came from.
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

  /** Bytes that can be allocated now on a usable device: what is free there and what the module's pool holds unused,
   * within the configured limit. Where memory comes from the caller's functions: the limit without the bytes in use, or
   * the largest number if there is no limit.
   * \exception CudaError */
  static size_t
  GetAvailable(int device);

  /** Gives back to all devices what their pools hold unused. The current device must be one that is used. */
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

#endif
