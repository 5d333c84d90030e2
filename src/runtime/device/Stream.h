// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_Stream_h
#define CudaFilters_runtime_device_Stream_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailDeviceRun.h"
#include "runtime/device/Device.h"

#include <cuda_runtime.h>

namespace itk::cuda
{
/** \class Context
 * \brief A device and one of its streams, which say where work runs and in which order. The stream belongs to the
 * module (StreamLease) or to the caller.
 *
 * Work that the engines queue on the stream runs after all work queued there earlier. The context is plain data and
 * owns nothing.
 */
class Context
{
public:
  Context(int device, cudaStream_t stream)
    : m_Device(device)
    , m_Stream(stream)
  {}

  int
  GetDevice() const
  {
    return m_Device;
  }

  cudaStream_t
  GetStream() const
  {
    return m_Stream;
  }

protected:
  int          m_Device{ 0 };
  cudaStream_t m_Stream{ nullptr };
};

/** \class StreamLease
 * \brief A context with one of the module's own streams, for exclusive use until the end of the scope.
 *
 * The streams are non-blocking and are kept in a free list per device for reuse. They are never destroyed, because CUDA
 * shuts down before the process ends. The destructor waits for all work on the stream.
 */
class CudaFilters_EXPORT StreamLease : public Context
{
public:
  /** \exception CudaError if the device cannot be used */
  explicit StreamLease(int device);
  ~StreamLease();

  StreamLease(const StreamLease &) = delete;
  StreamLease &
  operator=(const StreamLease &) = delete;

  /** Waits for all work on the stream.
   * \exception CudaError if any of the work failed */
  void
  Synchronize() const;
};

/** Waits until all work on a context's stream is done or has failed. Returns whether it succeeded. */
bool
DrainStream(const Context & context) noexcept;

/** Verifies that the stream is not being captured into a CUDA graph. The stream must belong to the current device.
 * \exception CudaError of kind NotUsable if it is being captured */
void
RequireNoCapture(const Context & context);

/** \class Event
 * \brief A point in a stream's work, without a time stamp.
 *
 * CUDA events are kept in a free list per device for reuse, because creating and destroying one took up to 1.7 us
 * (H100, default stream). Work that waits for an event is not affected if the event is recorded again later.
 */
class CudaFilters_EXPORT Event
{
public:
  /** Creates an event on the current device. */
  Event();
  ~Event();

  Event(Event && other) noexcept;
  Event &
  operator=(Event && other) noexcept;
  Event(const Event &) = delete;
  Event &
  operator=(const Event &) = delete;

  void
  Record(const Context & context);

  /** Makes later work of the context wait for the event. Does nothing if the event was never recorded. */
  void
  MakeWait(const Context & context) const;

  /** Blocks the calling thread until the event has happened. Returns immediately if the event was never recorded. */
  void
  Synchronize() const;

private:
  cudaEvent_t m_Event{ nullptr };
  int         m_Device{ 0 };
  bool        m_IsRecorded{ false };
};

/** Returns the calling thread's own stream on a device, for work that is queued without being waited for. All calls
 * from one thread return the same stream, so its work is ordered without events.
 *
 * When the thread ends, its stream may be given to another thread, whose work then runs after the work still queued
 * there. Nothing waits for the stream or destroys it.
 * \exception CudaError if the device cannot be used */
CudaFilters_EXPORT Context
GetThreadContext(int device);

/** \class ExternalStream
 * \brief A scope in which work is queued on the external stream that comes with an array. The array's device is the
 * current device in this scope.
 */
class ExternalStream
{
public:
  /** \exception CudaError of kind NotUsable if the device cannot be used or the stream is being captured into a CUDA
   * graph */
  explicit ExternalStream(const CudaDetail::CudaArrayMemory & array)
    : m_Context(Open(array))
    , m_Guard(array.Device)
  {
    RequireNoCapture(m_Context);
  }

  const Context &
  GetContext() const
  {
    return m_Context;
  }

private:
  static Context
  Open(const CudaDetail::CudaArrayMemory & array)
  {
    RequireUsableDevice(array.Device);
    return Context(array.Device, reinterpret_cast<cudaStream_t>(array.Stream));
  }

  const Context     m_Context;
  const DeviceGuard m_Guard;
};
} // namespace itk::cuda

#endif
