// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
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

namespace itk::cuda
{
class SlabSession;
}

namespace itk::CudaDetail
{
/** Copies the pixels of the view to adjacent memory at `pixels`. */
CudaFilters_EXPORT void
CudaCopyPixels(const CudaImageView & view, void * pixels);

/** Runs the plan in slabs from host image to host image, on the backend and device that `backend` selected. `backend`
 * gets the report.
 *
 * \return false if the device ran out of memory before the output was changed and the backend allows the host, which it
 * then names as used */
CudaFilters_EXPORT bool
CudaRunInSlabs(const CudaGaussianPlan &     plan,
               const CudaImageView &        input,
               const CudaImageView &        output,
               CudaFilterBackend &          backend,
               MultiThreaderBase *          threader,
               const CudaProgressFunction & progress);

/** \class CudaSlabRequests
 * \brief Serves the requests of a pipeline to one filter from runs in slabs.
 * \ingroup CudaFilters
 *
 * A request that follows or overlaps the previous one continues its session; any other request begins a new session.
 * Planes count from 0. */
class CudaFilters_EXPORT CudaSlabRequests
{
public:
  /** The arguments of a run, except its planes. */
  struct RunArguments
  {
    CudaGaussianPlan           Plan;
    CudaImageView              InputShape;
    CudaImageView              OutputShape;
    MultiThreaderBase::Pointer Threader;
  };

  /** First plane and number of planes. */
  using Planes = std::pair<size_t, size_t>;

  /** Begins a request; must be called first. `streams` says whether `filter` cuts its image. If the filter, its input
   * or the source of the input has changed since the last request, the kept session and overlap are dropped. */
  void
  Begin(bool streams, ProcessObject & filter);

  bool
  Streams() const
  {
    return m_Streams;
  }

  /** Returns whether a session waits for the next request, which may then need the input's pixels. */
  bool
  Waits() const
  {
    return m_Session != nullptr;
  }

  /** Returns the planes that the input must provide before a request begins; no planes if the request needs none at
   * first. `held` are the planes that the output holds from the last request. `heldOfInput` are the planes that the
   * input still holds, which are not requested again. An engine on a device reads part of a chunk before the request
   * that needs it. */
  Planes
  GetFirstInput(const CudaGaussianSlabShape & shape,
                size_t                        first,
                const Planes &                held,
                const Planes &                heldOfInput) const;

  /** Copies the planes of the last request's output that the next request, which begins at `first`, needs again.
   * `pixels` points to the plane `held.first`. */
  void
  KeepOverlap(size_t first, const Planes & held, const void * pixels, size_t bytesOfPlane);

  /** Writes the planes of the output to `pixels`. `source` is called for planes in ascending order. */
  void
  Produce(const RunArguments &         arguments,
          const Planes &               planes,
          void *                       pixels,
          const CudaSlabSource &       source,
          CudaFilterBackend &          backend,
          const CudaProgressFunction & progress);

  /** Drops the session and the overlap. */
  void
  End();

private:
  void
  BeginSession(const RunArguments &          arguments,
               const CudaGaussianSlabShape & shape,
               size_t                        first,
               const CudaFilterBackend &     backend);
  size_t
  TakeOverlap(const Planes & planes, void * pixels, size_t bytesOfPlane);
  void
  ProduceBySession(const Planes &               planes,
                   void *                       pixels,
                   const CudaSlabSource &       source,
                   const CudaProgressFunction & progress);

  bool                               m_Streams{ false };
  ModifiedTimeType                   m_Time{ 0 }; // time of the last modification
  std::shared_ptr<CudaSlabStates>    m_States;    // states of the present input
  std::shared_ptr<cuda::SlabSession> m_Session;
  Planes                             m_LastInput{ 0, 0 }; // planes of the input that the session requested last
  std::vector<unsigned char>         m_Overlap;
  size_t                             m_OverlapBegin{ 0 };
};
} // end namespace itk::CudaDetail

#endif
