// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailSlabRequests_h
#define itkCudaDetailSlabRequests_h

#include "CudaFiltersExport.h"
#include "itkCudaSlabs.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkCudaDetailImageView.h"
#include "itkMultiThreaderBase.h"
#include "itkProcessObject.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/** Writes the pixels of the view one after the other. */
CudaFilters_EXPORT void
CudaCopyPixels(const CudaImageView & view, void * pixels);

/** Runs the plan in slabs from host image to host image, on the device that `backend` selected, or on the host if that
 * is what it uses. `backend` gets the report.
 *
 * \return false if the device ran out of memory before the output was touched and the backend allows the host, which it
 * then names as used */
CudaFilters_EXPORT bool
CudaRunInSlabs(const CudaGaussianPlan &     plan,
               const CudaImageView &        input,
               const CudaImageView &        output,
               CudaFilterBackend &          backend,
               MultiThreaderBase *          threader,
               const CudaProgressFunction & progress);

/** \class CudaSlabRequests
 * \brief Planes of one run in slabs for the requests of a pipeline to one filter.
 * \ingroup CudaFilters
 *
 * Requests that follow or overlap the one before go on with its session; for others one begins. Planes count from 0. */
class CudaFilters_EXPORT CudaSlabRequests
{
public:
  /** A run, but for its planes. */
  struct Work
  {
    CudaGaussianPlan           Plan;
    CudaImageView              InputShape;
    CudaImageView              OutputShape;
    MultiThreaderBase::Pointer Threader;
  };

  /** First plane and number of planes. */
  using Planes = std::pair<size_t, size_t>;

  /** To be called at the begin of each request: `streams` says whether `filter` cuts its image. If the filter, its
   * input or what makes the input have changed since the last request, what is kept is dropped. */
  void
  Begin(bool streams, ProcessObject & filter);

  bool
  Streams() const
  {
    return m_Streams;
  }

  /** Whether a session waits for the next request: then it may need the input's pixels. */
  bool
  Waits() const
  {
    return m_Session != nullptr;
  }

  /** The planes that the input must have made before a request begins. There are none if the request needs none at
   * first. `held`: planes that the output holds from the last request. `heldOfInput`: planes that the input still
   * holds. They are not made again. The engine on a device takes part of a chunk before the request that needs it. */
  Planes
  GetFirstInput(const CudaGaussianSlabShape & shape,
                size_t                        first,
                const Planes &                held,
                const Planes &                heldOfInput) const;

  /** Keeps those planes of the last request's output that the next one, from `first` on, asks for again. `pixels`:
   * those of the plane `held.first`. */
  void
  KeepOverlap(size_t first, const Planes & held, const void * pixels, size_t bytesOfPlane);

  /** Writes the output's planes. `source` is called in order of planes. */
  void
  Produce(const Work &                 work,
          const Planes &               planes,
          void *                       pixels,
          const CudaSlabSource &       source,
          CudaFilterBackend &          backend,
          const CudaProgressFunction & progress);

  /** Drops what is kept. */
  void
  End();

private:
  void
  BeginSession(const Work & work, const CudaGaussianSlabShape & shape, size_t first, const CudaFilterBackend & backend);
  size_t
  TakeOverlap(const Planes & planes, void * pixels, size_t bytesOfPlane);
  void
  ProduceBySession(const Planes &               planes,
                   void *                       pixels,
                   const CudaSlabSource &       source,
                   const CudaProgressFunction & progress);

  bool                             m_Streams{ false };
  ModifiedTimeType                 m_Time{ 0 }; // of the last change
  std::shared_ptr<CudaSlabStates>  m_States;    // of this input
  std::unique_ptr<CudaSlabSession> m_Session;
  Planes                           m_LastInput{ 0, 0 }; // of the session
  std::vector<unsigned char>       m_Overlap;
  size_t                           m_OverlapBegin{ 0 };
};
} // end namespace itk::CudaDetail

#endif
