// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_BoundaryPadding_h
#define CudaFilters_gaussian_slabs_BoundaryPadding_h

#include "gaussian/slabs/Slabs.h"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

// Runs in slabs for boundary modes other than Nearest: the image is padded with planes that continue it, as far as the
// window reaches. The lines of the padded image continue with their edge values, which are too far away to matter. The
// passes within planes continue their lines by the boundary mode, as usual.

namespace itk::cuda::gaussian
{
/** Returns the number of planes that pad the image on either side, a multiple of the chunk length. It is 0 if the image
 * needs no padding. */
size_t
GetPaddingPlanes(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape);

/** A source padded by the boundary mode. It keeps copies of the planes near the ends of the image, so that it reads the
 * planes of the wrapped source in order and no plane twice in a sweep. */
class PaddedSource
{
public:
  PaddedSource(const CudaSlabSource &       source,
               const CudaGaussianBoundary & boundary,
               const CudaImageView &        shape,
               unsigned int                 axis,
               size_t                       padding);

  /** Reads planes of the padded image. */
  void
  Read(size_t firstPlane, size_t planes, void * pixels);

  /** Reads and keeps the planes at the image's end that may be needed again. */
  void
  KeepEnd();

private:
  using Plane = std::vector<unsigned char>;

  void
  ReadPlanes(size_t firstPlane, size_t planes, unsigned char * pixels);
  const Plane &
  GetKept(size_t plane);
  bool
  IsKept(size_t plane) const;

  const CudaSlabSource       m_Source;
  const CudaGaussianBoundary m_Boundary;
  const size_t               m_NumberOfPlanes;
  const size_t               m_BytesOfPlane;
  const size_t               m_PaddingPlanes;
  Plane                      m_Constant; // pads the image in the mode Constant
  std::map<size_t, Plane>    m_Kept;
};

/** Makes a run of a plan over the padded image that returns only the planes of the image itself. The planes come from a
 * source. If input and output are the same memory, the planes at the image's end are read before the first plane is
 * returned. */
std::unique_ptr<SlabRun>
MakePaddedSlabRun(const SlabRunArguments & arguments);
} // namespace itk::cuda::gaussian

#endif
