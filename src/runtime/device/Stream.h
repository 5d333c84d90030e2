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
 * \brief Where work runs, and in which order: a device and one of its streams. The stream is the module's own
 * (StreamLease) or a caller's.
 *
 * Work that the engines queue on the stream runs after all work that was queued there before. The context is plain data
 * and owns nothing.
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
 * \brief A context with a stream of the module's own, for exclusive use until the end of the scope.
 *
 * The streams are non-blocking and stay in a list of their device for reuse. No stream is ever destroyed, because CUDA
 * ends before the process does. The destructor waits for all work on the stream.
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

  /** Waits for all work on the stream; throws CudaError if any of it failed. */
  void
  Synchronize() const;
};

/** Waits for all work on a context's stream, or for its failure. Returns whether the work succeeded. */
bool
DrainStream(const Context & context) noexcept;

/** \exception CudaError of kind NotUsable if the stream is recorded for a CUDA graph. The stream is of the current
 * device. */
void
RequireNoCapture(const Context & context);

/** \class Event
 * \brief A point in a stream's work, without time stamp.
 *
 * CUDA's events stay in a list of their device for reuse: making and destroying one took up to 1.7 us (H100, default
 * stream). What waits for a point waits for it alone, also if the event is recorded again later.
 */
class CudaFilters_EXPORT Event
{
public:
  /** An event of the current device. */
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

  /** Makes later work of the context wait for the event; does nothing if it was never recorded. */
  void
  MakeWait(const Context & context) const;

  /** Blocks the calling thread until the event has happened; returns at once if it was never recorded. */
  void
  Synchronize() const;

private:
  cudaEvent_t m_Event{ nullptr };
  int         m_Device{ 0 };
  bool        m_IsRecorded{ false };
};

/** The calling thread's own stream on a device, for work that is queued and left to run. Each call of a thread returns
 * the same stream, so its work is in order without events.
 *
 * When the thread ends, another thread may get the stream. Its work then comes after the work still queued. Nothing
 * waits for the stream or destroys it. \exception CudaError if the device cannot be used */
CudaFilters_EXPORT Context
GetThreadContext(int device);

/** \class OwnersStream
 * \brief A scope in which work is queued on the stream of an array's owner. The array's device is the current one.
 */
class OwnersStream
{
public:
  /** \exception CudaError of kind NotUsable if the device cannot be used, or the stream is recorded for a CUDA graph */
  explicit OwnersStream(const CudaDetail::CudaArrayMemory & array)
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
