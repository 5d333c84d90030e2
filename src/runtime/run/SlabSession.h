// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_SlabSession_h
#define CudaFilters_runtime_run_SlabSession_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailOperation.h"
#include "runtime/run/SlabRun.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace itk::cuda
{
class MemoryReservation;

/** \class SlabSession
 * \brief A run in slabs for one request of a pipeline after the other.
 *
 * Between requests the run keeps the chunks that it still needs, so it asks for each plane of its source once. Its
 * reservation of memory is then paused. Each request may come from another thread. */
class CudaFilters_EXPORT SlabSession
{
public:
  using ReserveFunction = std::function<std::shared_ptr<MemoryReservation>(const CudaProgressFunction &)>;
  using MakeRunFunction = std::function<std::unique_ptr<SlabRun>(const CudaSlabSource &, const CudaProgressFunction &)>;

  /** Prepares a session for planes of `bytesOfPlane` bytes, from `firstPlane` up to, but not including, `endPlane`. The
   * first call of Produce() makes the run, after it has called `reserve`, which may be empty. */
  SlabSession(ReserveFunction reserve,
              MakeRunFunction makeRun,
              size_t          firstPlane,
              size_t          endPlane,
              size_t          bytesOfPlane);

  ~SlabSession();

  SlabSession(const SlabSession &) = delete;
  SlabSession &
  operator=(const SlabSession &) = delete;

  /** Returns the first plane that has not been produced yet. */
  size_t
  GetNextPlane() const
  {
    return m_NextPlane;
  }

  /** Returns whether all planes have been produced and the run is complete. */
  bool
  IsDone() const
  {
    return m_HasEnded && m_NextPlane == m_EndPlane;
  }

  /** Writes the next `planes` planes to `pixels`, or drops them if `pixels` is nullptr. `progress` receives the share
   * of these planes, or the share of the whole run if they are all of its planes. An exception of the run, `source` or
   * `progress` ends the session and is rethrown unchanged. */
  void
  Produce(size_t planes, void * pixels, const CudaSlabSource & source, const CudaProgressFunction & progress);

  /** Returns the run's report. IsDone() must be true. */
  const CudaSlabReport &
  GetReport() const
  {
    return m_Report;
  }

private:
  class ActiveScope;

  void
  Begin();
  void
  TakePlanes();
  void
  End();
  void
  ReportProgress(float done) const;

  const ReserveFunction m_Reserve;
  const MakeRunFunction m_MakeRun;
  const size_t          m_FirstPlane;
  const size_t          m_EndPlane;
  const size_t          m_BytesOfPlane;

  std::shared_ptr<MemoryReservation> m_Reservation;
  std::unique_ptr<SlabRun>           m_Run;
  long                               m_Process{ 0 }; // the process that began the run
  SlabPlanes                         m_Rest;         // planes of the run that nobody has taken yet
  CudaSlabReport                     m_Report;
  bool                               m_HasEnded{ false };

  // The present request:
  const CudaSlabSource *       m_Source{ nullptr };
  const CudaProgressFunction * m_Progress{ nullptr };
  unsigned char *              m_Pixels{ nullptr };
  size_t                       m_NextPlane;
  size_t                       m_Begin{ 0 };  // first of the requested planes
  size_t                       m_Wanted{ 0 }; // number of requested planes that are still missing
};
} // namespace itk::cuda

#endif
