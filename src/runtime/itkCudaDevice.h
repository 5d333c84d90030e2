// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDevice_h
#define itkCudaDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"
#include "itkCudaMemory.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace itk::cuda
{
/** \struct DeviceProperties
 * \brief What engines need to know of a device to lay out their launches.
 */
struct DeviceProperties
{
  std::string Name;
  int         ComputeCapability{ 0 }; // 10 * major + minor
  int         MultiprocessorCount{ 0 };
  size_t      SharedMemoryPerBlockOptin{ 0 }; // bytes, after cudaFuncSetAttribute
  size_t      L2CacheSize{ 0 };               // bytes
  size_t      TotalMemory{ 0 };               // bytes
  bool        MemoryPoolsSupported{ false };
  bool        KernelExecTimeout{ false }; // the driver ends kernels that run for seconds: the device has a display
};

/** Properties of a device, read once. The reference stays valid.
 * \exception CudaError if there is no such device, or if it could not be read */
CudaFilters_EXPORT const DeviceProperties &
GetDeviceProperties(int device);

/** Makes sure that the device can be used, in this process and with this build; fast after the first time.
 * \exception CudaError with the reason */
CudaFilters_EXPORT void
RequireUsableDevice(int device);

/** Whether the driver ends kernels of the device that run for seconds. Where it does, engines divide long work into
 * launches of at most a quarter of a second.
 * \exception CudaError if there is no such device */
CudaFilters_EXPORT bool
HasKernelTimeout(int device);

/** Makes HasKernelTimeout() say 0 (no) or 1 (yes) of every device; -1: what the device says. */
CudaFilters_EXPORT void
SetKernelTimeoutForTests(int value);

/** Index of a device that this process has used, so that CUDA calls about no device in particular can be made where
 * they create no context; no value if there is none. */
std::optional<int>
FindUsedDevice();

/** \class DeviceGuard
 * \brief Makes a device the calling thread's current one, until the end of the scope.
 *
 * If the device that was current has no context, the thread stays on this one: cudaSetDevice() would create a context,
 * hundreds of megabytes on a device that nobody in the process uses.
 */
class CudaFilters_EXPORT DeviceGuard
{
public:
  /** \exception CudaError */
  explicit DeviceGuard(int device);
  /** For destructors: the device stays as it is if it cannot be changed. */
  DeviceGuard(int device, const std::nothrow_t &) noexcept;
  ~DeviceGuard();

  DeviceGuard(const DeviceGuard &) = delete;
  DeviceGuard &
  operator=(const DeviceGuard &) = delete;

private:
  int m_Previous{ 0 };
  int m_Device{ 0 };
};

/** \class StreamLease
 * \brief A context with a stream of the module's own, for exclusive use until the end of the scope.
 *
 * The streams are non-blocking and stay in a list of their device for reuse. None is ever destroyed, as the end of the
 * process comes after the end of CUDA. The destructor waits for all work on the stream.
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
  Synchronize();

  /** Keeps a chunk that work on the stream may still use, until Synchronize() or the end of the lease. */
  void
  Keep(PinnedBuffer && chunk);

  /** A chunk for work that comes after all that the stream has got: one that was kept, or a new one.
   * \exception CudaError */
  PinnedBuffer
  TakeChunk();

  /** Waits for all work on the stream, or for its failure; returns whether it was done. */
  bool
  Drain() noexcept;

private:
  std::vector<PinnedBuffer> m_KeptChunks;
};

/** \class Event
 * \brief A point in a stream's work, without time stamp.
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

  /** Makes later work of the context wait for the event. */
  void
  MakeWait(const Context & context) const;

  /** Blocks the calling thread until the event has happened; returns at once if it was never recorded. */
  void
  Synchronize() const;

private:
  cudaEvent_t m_Event{ nullptr };
};
} // namespace itk::cuda

#endif
