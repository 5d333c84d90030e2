// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailGaussianSlabs_h
#define itkCudaDetailGaussianSlabs_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaSlabs.h"

#include <memory>
#include <vector>

namespace itk::CudaDetail
{
/** How an image is cut into slabs for a plan. */
struct CudaGaussianSlabShape
{
  /** The axis across which the image is cut: the last one with more than one pixel, or the last one of the plan's
   * passes. All pixels with one index along this axis form a plane. */
  unsigned int Axis{ 0 };
  size_t       NumberOfPlanes{ 1 };
  // planes of a chunk, which are all planes if the axis is the first one, along which no image is cut
  size_t ChunkLength{ CudaSlabChunkLength };
  size_t NumberOfChunks{ 1 };

  /** Number of chunks on either side of a chunk on which its results depend, in addition to plane 0. */
  unsigned int LookAhead{ 0 };
  /** Whether its results depend on all chunks instead. A first sweep over the image then computes the states at the
   * ends of the chunks. */
  bool NeedsAllChunks{ false };
  /** Number of planes by which CudaGaussianFilterSlabs() continues the image on either side, in other boundary modes
   * than Nearest. */
  size_t PaddingPlanes{ 0 };
};

/** Returns how the image is cut for the plan. The data and strides of the shapes are not read.
 *
 * \exception ExceptionObject if the plan cannot be cut: a mask, BoundaryMode Wrap, a BoundaryValue or Sigma */
CudaFilters_EXPORT CudaGaussianSlabShape
CudaGetGaussianSlabShape(const CudaGaussianPlan & plan,
                         const CudaImageView &    inputShape,
                         const CudaImageView &    outputShape);

/** Returns empty states for CudaSlabOptions::States. They must be used for one plan and one image only. */
CudaFilters_EXPORT std::shared_ptr<CudaSlabStates>
                   CudaMakeSlabStates();

/** Runs over parts of one image may also be runs of different processes. If the plan needs all chunks
 * (CudaGaussianSlabShape), they share the sweep and the states in three steps, with states as bytes:
 * -# CudaGaussianSlabEndStates() reads the planes of a part, which CudaSlabOptions::FirstPlane and NumberOfPlanes name,
 *    and returns the end states of its chunks.
 * -# CudaGaussianSlabStartStates() takes those of all parts, in order and without gaps, with their first planes, and
 *    returns the start states for each of them.
 * -# CudaGaussianFilterSlabs() filters a part with CudaReadSlabStates() of them as CudaSlabOptions::States.
 *
 * The results have the bits of one run. All steps must be on hosts, or all on devices of one kind.
 *
 * \exception ExceptionObject if the plan does not need all chunks, or the bytes are not of this plan and this image
 *
 * \exception CudaError */
CudaFilters_EXPORT std::vector<unsigned char>
                   CudaGaussianSlabEndStates(const CudaGaussianPlan &     plan,
                                             const CudaImageView &        inputShape,
                                             const CudaImageView &        outputShape,
                                             const CudaSlabSource &       source,
                                             const CudaSlabOptions &      options,
                                             const CudaProgressFunction & progress);
CudaFilters_EXPORT std::vector<std::vector<unsigned char>>
                   CudaGaussianSlabStartStates(const CudaGaussianPlan &                        plan,
                                               const CudaImageView &                           inputShape,
                                               const CudaImageView &                           outputShape,
                                               const std::vector<std::vector<unsigned char>> & endStates,
                                               const std::vector<size_t> &                     firstPlanes,
                                               const CudaSlabOptions &                         options);
CudaFilters_EXPORT std::shared_ptr<CudaSlabStates>
                   CudaReadSlabStates(const std::vector<unsigned char> & bytes);

/** Runs the plan over an image whose input and output are exchanged in whole planes (CudaGaussianSlabShape). The shapes
 * give sizes, component types and numbers of components; their data and strides are not used.
 *
 * Source and sink are called from the calling thread. The source is called for planes in order, once for each plane of
 * a sweep. Plane 0 may be requested once more before a part that does not begin with it. The sink gets planes in order.
 * After the source, the sink or `progress` has thrown, the run calls none of the three again: the queued work ends, and
 * the exception is rethrown unchanged.
 *
 * Memory limits, devices and slabs do not change a bit of the result. On the host it is bit-identical to
 * CudaRunOnHost(), and on a device to CudaRunOnDevice() on this device. In the boundary modes Reflect,
 * Mirror and Constant, however, the image is continued by planes within the reach of the window, so that the results
 * differ from the results of the two functions by rounding. A run that has begun on the device does not move to the
 * host.
 *
 * \exception ExceptionObject if the plan cannot be cut (a mask, BoundaryMode Wrap), or options are out of range
 *
 * \exception CudaError */
CudaFilters_EXPORT CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        inputShape,
                        const CudaImageView &        outputShape,
                        const CudaSlabSource &       source,
                        const CudaSlabSink &         sink,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress);

/** Runs the plan in slabs from host image to host image. Whole planes of page-locked memory are transferred directly,
 * without a copy on the host. Input and output may be the same memory; then a plane is not overwritten before the last
 * chunk that needs it has read it. */
CudaFilters_EXPORT CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress);
} // end namespace itk::CudaDetail

#endif
