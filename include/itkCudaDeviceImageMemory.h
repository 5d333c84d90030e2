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
 * Work on a GPU is queued on streams. The memory knows which streams wrote it and read it. Reads come after the last
 * write, and the memory is freed after the last read. A filter calls Wait() before it queues work that reads the
 * memory, and MarkRead() after it. For work that writes it calls WaitToWrite() and MarkWritten(). None of these
 * functions waits on the host. On the stream where the memory was allocated, which is the calling thread's own, they do
 * nothing, because the stream's order is enough.
 *
 * A stream is the value of a `cudaStream_t` of the memory's device. 0 and 1 are CUDA's default stream, 2 is the calling
 * thread's default stream.
 *
 * Memory is held by a std::shared_ptr and goes back when the last holder drops it. All functions may be called from any
 * thread. In a build without CUDA, Allocate() and Adopt() throw.
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

  /** For Publish(): a consumer whose streams are unknown. */
  static constexpr StreamType UnknownStream = UINTPTR_MAX;

  /** Memory of the module's pool, or of the program's resource
   * (CudaFiltersConfiguration::SetDeviceMemoryResource()), on `device`. It is not initialised.
   * \exception CudaError of kind NotUsable with the reason if the device cannot be used, of kind OutOfMemory if it has
   * too little memory or CudaFiltersConfiguration::GetDeviceMemoryLimit() would be passed */
  static Pointer
  Allocate(size_t bytes, int device);

  /** Memory of the caller, `bytes` at `data` on `device`. `release` is called once, when the last holder has dropped
   * the memory and the work on it that was marked has ended; the host waits for that work. `release` must not throw; an
   * exception is dropped.
   *
   * The owner may go on using the memory on the default stream. Each read of the module comes after the work that was
   * queued before it on the default stream and on all streams that CUDA synchronises with it. For work on another
   * stream the owner calls MarkWritten() with that stream.
   * \exception CudaError of kind NotUsable with the reason if the device cannot be used
   * \exception ExceptionObject if `data` is null and `bytes` is not 0; `release` is not called then */
  static Pointer
  Adopt(void * data, size_t bytes, int device, ReleaseFunction release);

  virtual ~CudaDeviceImageMemory();

  CudaDeviceImageMemory(const CudaDeviceImageMemory &) = delete;
  CudaDeviceImageMemory &
  operator=(const CudaDeviceImageMemory &) = delete;

  /** Device memory; the host cannot read it. */
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

  /** Index of the device that it lies on. */
  int
  GetDevice() const
  {
    return m_Device;
  }

  /** Whether the memory is known to the module only: it is neither adopted nor published. */
  virtual bool
  IsPrivate() const = 0;

  /** Makes later work of the stream wait for all work that wrote the memory. \exception CudaError */
  virtual void
  Wait(StreamType stream) const = 0;

  /** As Wait(), and also for all work that read it. \exception CudaError */
  virtual void
  WaitToWrite(StreamType stream) const = 0;

  /** The stream's work so far reads the memory. */
  virtual void
  MarkRead(StreamType stream) const noexcept = 0;

  /** The stream's work so far wrote the memory. */
  virtual void
  MarkWritten(StreamType stream) noexcept = 0;

  /** Hands the memory to a user outside the module, who uses it on `stream` after all work that wrote it. Each later
   * use by the module comes after the default stream's work. If `stream` is not the default stream, the memory is freed
   * after all work of the device, and the host waits for that work. \exception CudaError */
  virtual void
  Publish(StreamType stream) = 0;

  /** Waits on the host until all work that wrote the memory is done. On the stream where the memory was allocated this
   * includes later work of the same thread.
   * \exception CudaError if that work failed, or any work before it */
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
