// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailGaussianSlabs_h
#define itkCudaDetailGaussianSlabs_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaSlabs.h"

#include <memory>

namespace itk::CudaDetail
{
/** How an image is cut for a plan. */
struct CudaGaussianSlabShape
{
  /** Across which axis: the last one of the image with more than one pixel, or the last one of the plan's passes. What
   * has one index along it is a plane. */
  unsigned int Axis{ 0 };
  size_t       NumberOfPlanes{ 1 };
  size_t       ChunkLength{ CudaSlabChunkLength }; // planes; all of them if the axis is the first, which is never cut
  size_t       NumberOfChunks{ 1 };

  /** Chunks on either side of a chunk that its results depend on, beside plane 0. */
  unsigned int LookAhead{ 0 };
  /** Whether they depend on all chunks instead: the image is swept once before, for the states at the chunks' ends. */
  bool NeedsAllChunks{ false };
};

/** The shapes' data and strides are not read.
 *
 * \exception ExceptionObject if the plan cannot be cut: it has a mask, or BoundaryMode Wrap */
CudaFilters_EXPORT CudaGaussianSlabShape
CudaGetGaussianSlabShape(const CudaGaussianPlan & plan,
                         const CudaImageView &    inputShape,
                         const CudaImageView &    outputShape);

/** States without a value, for CudaSlabOptions::States. They belong to one plan and one image. */
CudaFilters_EXPORT std::shared_ptr<CudaSlabStates>
                   CudaMakeSlabStates();

/** Runs the plan over an image that comes and goes in whole planes (CudaGaussianSlabShape). The shapes give sizes,
 * component types and numbers of components; their data and strides are not used.
 *
 * Source and sink are called from the calling thread. Planes are asked for in order, each once in a sweep; plane 0 may
 * be asked for once more before a part that does not begin with it. The sink gets planes in order. Nothing is called
 * after one of them, or `progress`, has thrown: the work that was queued ends, and the exception goes on unchanged.
 *
 * The bits of the result do not depend on memory limits, devices and slabs. On the host they are those of
 * RunGaussianPlanOnHost(). On a device they are those of RunGaussianPlanOnDevice() there. In the boundary modes
 * Reflect, Mirror and Constant the image is continued by planes as far as the window reaches; the results then differ
 * from those of these functions by rounding. A run does not change from the device to the host.
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

/** The same from and to host images. Whole planes of page-locked memory are not copied on the host. Input and output
 * may be the same memory; then a plane is not overwritten before the last chunk that needs it has read it. */
CudaFilters_EXPORT CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress);
} // end namespace itk::CudaDetail

#endif
