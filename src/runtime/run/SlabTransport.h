// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_SlabTransport_h
#define CudaFilters_runtime_run_SlabTransport_h

#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "runtime/run/SlabRun.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

// The interfaces between what brings slabs of planes to devices and what computes there.

namespace itk::cuda
{
/** \class SlabAlgorithm
 * \brief Interface to the algorithm that a SlabTransport runs. Its functions queue kernels on the work stream of a
 * queue (SlabTransport::GetContext()), whose device is the current one. They are called from several threads, but never
 * concurrently.
 */
class SlabAlgorithm
{
public:
  virtual ~SlabAlgorithm() = default;

  /** Queues the work that can be done as soon as a slab is on its device. It is called in the order of the slabs. */
  virtual void
  OnUploaded(size_t slab, size_t queue, const DeviceView & planes) = 0;

  /** Queues the computation of a slab's result, or of one part of it: `result` holds the slab's planes from `first` on.
   * It is called in the order of the slabs, after OnUploaded() of the last slab that the result requires. `planes` may
   * be overwritten if the result consists of a single part. */
  virtual void
  Compute(size_t slab, size_t queue, const DeviceView & planes, size_t first, const DeviceView & result) = 0;
};

/** \class SlabTransport
 * \brief Interface to what brings slabs to queues, and runs an algorithm over them. A queue is a stream on a device,
 * with memory. Slab i is on queue i modulo the number of queues. */
class SlabTransport
{
public:
  virtual ~SlabTransport() = default;

  /** Returns the context of the queue's work stream. */
  virtual const Context &
  GetContext(size_t queue) const = 0;

  /** Waits until all work on the queues is done or has failed. */
  virtual void
  Drain() noexcept = 0;

  /** Stops the run, if it is not complete, and waits for all work. */
  virtual void
  Cancel() noexcept = 0;

  /** Begins a run. The previous one must be complete. */
  virtual void
  Start(const std::vector<InputSlab> & slabs, SlabAlgorithm & algorithm, std::function<void(float)> progress) = 0;

  /** Returns planes as SlabRun::Next() does. \exception CudaError, or what source or progress throw */
  virtual SlabPlanes
  Next() = 0;

  /** Return the bytes that were copied between host and devices. */
  virtual uint64_t
  GetBytesUp() const = 0;
  virtual uint64_t
  GetBytesDown() const = 0;
};
} // namespace itk::cuda

#endif
