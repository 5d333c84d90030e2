// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStream_h
#define itkCudaStream_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"

#include <cuda_runtime.h>

namespace itk::cuda
{
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
} // namespace itk::cuda

#endif
