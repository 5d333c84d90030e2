// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailSlabSession_h
#define itkCudaDetailSlabSession_h

#include "CudaFiltersExport.h"
#include "itkCudaSlabs.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace itk::CudaDetail
{
/** \class CudaSlabSession
 * \brief A run in slabs that gives its planes piece by piece, to one request of a pipeline after the other.
 * \ingroup CudaFilters
 *
 * The engine runs once, on a thread of its own. It is paused in a call of its source, sink or progress function while
 * nobody asks for planes. So it keeps the chunks that it still needs, and asks for each plane of its source once. Never
 * do both threads work at the same time: source and progress are called by the thread that asks for planes. */
class CudaFilters_EXPORT CudaSlabSession
{
public:
  using ProgressFunction = std::function<void(float)>;
  /** CudaGaussianFilterSlabs() with all its other arguments. */
  using EngineFunction =
    std::function<CudaSlabReport(const CudaSlabSource &, const CudaSlabSink &, const ProgressFunction &)>;

  /** The engine gives planes of `bytesOfPlane` bytes from `firstPlane` to before `endPlane`. It begins with the first
   * call of Produce(). */
  CudaSlabSession(EngineFunction engine, size_t firstPlane, size_t endPlane, size_t bytesOfPlane);

  /** Ends a run that is not done: its sink throws. */
  ~CudaSlabSession();

  CudaSlabSession(const CudaSlabSession &) = delete;
  CudaSlabSession &
  operator=(const CudaSlabSession &) = delete;

  /** The first plane that was not given yet. */
  size_t
  GetNextPlane() const;

  /** Whether all planes were given and the engine has ended. */
  bool
  IsDone() const;

  /** Writes the next `planes` planes to `pixels`, or drops them if that is nullptr. `progress` takes the share of these
   * planes, or of the engine's run if they are all of it. What the engine, `source` or `progress` throw ends the
   * session and goes on unchanged. */
  void
  Produce(size_t planes, void * pixels, const CudaSlabSource & source, const ProgressFunction & progress);

  /** What the engine reports, when IsDone(). */
  const CudaSlabReport &
  GetReport() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};
} // end namespace itk::CudaDetail

#endif
