// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_ResidentSlabs_h
#define CudaFilters_runtime_run_ResidentSlabs_h

#include "itkCudaDeviceImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/run/SlabTransport.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace itk::cuda
{
/** \class ResidentSlabs
 * \brief Runs an algorithm over slabs that lie on devices already, each on a queue of its own. Nothing is copied.
 *
 * Slab i is part i of the image. The work is queued on the calling thread's streams, after all work that wrote the
 * parts' memory.
 */
class ResidentSlabs : public SlabTransport
{
public:
  /** \exception CudaError */
  explicit ResidentSlabs(const std::vector<ResidentPart> & parts);
  const Context &
  GetContext(size_t queue) const override;

  void
  Drain() noexcept override;

  void
  Cancel() noexcept override
  {
    this->Drain();
  }

  void
  Start(const std::vector<InputSlab> & slabs, SlabAlgorithm & algorithm, std::function<void(float)> progress) override;

  /** Queues the work on all slabs and, if they have results, waits for it. Returns no planes. */
  SlabPlanes
  Next() override;

  uint64_t
  GetBytesUp() const override
  {
    return 0;
  }
  uint64_t
  GetBytesDown() const override
  {
    return 0;
  }

private:
  /** A part with its stream. */
  struct Queue
  {
    explicit Queue(const ResidentPart & part);

    Context       Stream;
    DeviceView    Input, Output;
    DeviceReading Reading;
    DeviceWriting Writing;
  };

  std::deque<Queue>          m_Queues;
  std::vector<InputSlab>     m_Slabs;
  SlabAlgorithm *            m_Algorithm{ nullptr };
  std::function<void(float)> m_Progress;
};
} // namespace itk::cuda

#endif
