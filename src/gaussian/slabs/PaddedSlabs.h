// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_PaddedSlabs_h
#define CudaFilters_gaussian_slabs_PaddedSlabs_h

#include "gaussian/slabs/Slabs.h"

#include <cstddef>
#include <map>
#include <vector>

// Lines that continue otherwise than with their edge values, in slabs: the image gets the planes that continue it, as
// far as the window reaches, and its lines then continue with their edge values, which no longer matter. Passes within
// planes continue their lines as ever.

namespace itk::cuda::gaussian
{
/** Planes that continue the image on either side, a multiple of the chunks; 0 if it needs none. */
size_t
GetContinuingPlanes(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape);

/** The planes of a source, continued. It keeps those near the ends. So the source is asked for planes in order, and for
 * none twice in a sweep. */
class ContinuedSource
{
public:
  ContinuedSource(const CudaSlabSource &       source,
                  const CudaGaussianBoundary & boundary,
                  const CudaImageView &        shape,
                  unsigned int                 axis,
                  size_t                       continuing);

  /** Planes of the continued image. */
  void
  Read(size_t firstPlane, size_t planes, void * pixels);

  /** Reads the planes at the image's end that may be needed once more. */
  void
  KeepEnd();

private:
  using Plane = std::vector<unsigned char>;

  void
  ReadRun(size_t firstPlane, size_t planes, unsigned char * pixels);
  const Plane &
  GetKept(size_t plane);
  bool
  IsKept(size_t plane) const;

  const CudaSlabSource &     m_Source;
  const CudaGaussianBoundary m_Boundary;
  const size_t               m_NumberOfPlanes;
  const size_t               m_BytesOfPlane;
  const size_t               m_Continuing;
  Plane                      m_Constant; // beyond the image in the mode Constant
  std::map<size_t, Plane>    m_Kept;
};

/** The run over the continued image; its sink gets the planes of the image alone. In place, the planes at the image's
 * end are read before the first one is written. */
CudaSlabReport
RunContinuedSlabs(const CudaGaussianPlan &     plan,
                  const SlabEnds &             ends,
                  bool                         isInPlace,
                  const CudaSlabOptions &      options,
                  const CudaProgressFunction & progress);
} // namespace itk::cuda::gaussian

#endif
