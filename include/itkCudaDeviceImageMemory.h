// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceImageMemory_h
#define itkCudaDeviceImageMemory_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace itk
{
/** \class CudaDeviceImageMemory
 * \brief Device memory that images share, and the order of the work on it.
 *
 * Work on a GPU is queued on streams. The memory knows which streams wrote it and read it, so that reads follow the
 * last write, and the memory is freed after the last read. A filter calls Wait() before it queues work that reads the
 * memory, and MarkRead() after it. For work that writes, it calls WaitToWrite() and MarkWritten(). None of these
 * functions waits on the host. On the stream on which the memory was allocated, which is the calling thread's own, they
 * do nothing, because the order of the stream is enough.
 *
 * A stream is the value of a `cudaStream_t` of the memory's device. 0 and 1 are CUDA's default stream, 2 is the calling
 * thread's default stream.
 *
 * A std::shared_ptr holds the memory, which is released when the last holder drops it. All functions may be called from
 * any thread. In a build without CUDA, Allocate() and Adopt() throw.
 *
 * \code
 * const auto memory = itk::CudaDeviceImageMemory::Allocate(bytes, 0);
 * memory->WaitToWrite(stream);
 * MyKernel<<<grid, block, 0, reinterpret_cast<cudaStream_t>(stream)>>>(memory->GetPointer());
 * memory->MarkWritten(stream);
 * memory->Synchronize();
 * \endcode
 *
 * \sa CudaDeviceImage
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaDeviceImageMemory
{
public:
  using Pointer = std::shared_ptr<CudaDeviceImageMemory>;
  using ReleaseFunction = std::function<void()>;
  using StreamType = uintptr_t;

  /** A consumer whose streams are unknown, for Publish(). */
  static constexpr StreamType UnknownStream = UINTPTR_MAX;

  /** Allocates memory on `device` from the module's pool, or from the resource that the program has set
   * (CudaFiltersConfiguration::SetDeviceMemoryResource()). It is not initialised.
   * \exception CudaError of kind NotUsable with the reason if the device cannot be used, and of kind OutOfMemory if it
   * has too little memory or the allocation would exceed CudaFiltersConfiguration::GetDeviceMemoryLimit() */
  static Pointer
  Allocate(size_t bytes, int device);

  /** Adopts `bytes` of the caller's memory at `data` on `device`. `release` is called once, after the last holder has
   * dropped the memory and the marked work on it has ended; the host waits for that work. `release` must not throw; an
   * exception that it throws is ignored.
   *
   * The owner may go on using the memory on the default stream. Every read by the module waits for the work that was
   * queued before it on the default stream and on all streams that CUDA synchronises with it. For work on another
   * stream, the owner calls MarkWritten() with that stream.
   * \exception CudaError of kind NotUsable with the reason if the device cannot be used
   * \exception ExceptionObject if `data` is null and `bytes` is not 0; `release` is then not called */
  static Pointer
  Adopt(void * data, size_t bytes, int device, ReleaseFunction release);

  virtual ~CudaDeviceImageMemory();

  CudaDeviceImageMemory(const CudaDeviceImageMemory &) = delete;
  CudaDeviceImageMemory &
  operator=(const CudaDeviceImageMemory &) = delete;

  /** Returns the address in device memory, which the host cannot read. */
  void *
  GetPointer() const
  {
    return m_Pointer;
  }

  /** Returns the number of bytes. */
  size_t
  GetSize() const
  {
    return m_Size;
  }

  /** Returns the index of the memory's device. */
  int
  GetDevice() const
  {
    return m_Device;
  }

  /** Returns whether only the module knows the memory, which means that it is neither adopted nor published. */
  virtual bool
  IsPrivate() const = 0;

  /** Makes later work of the stream wait for all work that wrote the memory. \exception CudaError */
  virtual void
  Wait(StreamType stream) const = 0;

  /** Makes later work of the stream wait for all work that wrote or read the memory. \exception CudaError */
  virtual void
  WaitToWrite(StreamType stream) const = 0;

  /** Records that the stream's work so far reads the memory. */
  virtual void
  MarkRead(StreamType stream) const noexcept = 0;

  /** Records that the stream's work so far wrote the memory. */
  virtual void
  MarkWritten(StreamType stream) noexcept = 0;

  /** Hands the memory to a user outside the module, who uses it on `stream` after all work that wrote it. Each later
   * use by the module waits for the work of the default stream. If `stream` is not the default stream, the memory is
   * freed only after all work of the device has ended, and the host waits for that work. \exception CudaError */
  virtual void
  Publish(StreamType stream) = 0;

  /** Waits on the host until all work that wrote the memory is done. On the stream on which the memory was allocated,
   * this includes later work of the same thread.
   * \exception CudaError if this work, or any work before it, failed */
  virtual void
  Synchronize() const = 0;

protected:
  CudaDeviceImageMemory(void * pointer, size_t size, int device)
    : m_Pointer(pointer)
    , m_Size(size)
    , m_Device(device)
  {}

private:
  void * const m_Pointer;
  const size_t m_Size;
  const int    m_Device;
};
} // end namespace itk

#endif
