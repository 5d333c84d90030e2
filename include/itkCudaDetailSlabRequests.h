// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailSlabRequests_h
#define itkCudaDetailSlabRequests_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailSlabSession.h"
#include "itkMultiThreaderBase.h"
#include "itkProcessObject.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace itk::CudaDetail
{
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
