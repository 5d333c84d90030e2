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
/** Chunks of CudaSlabChunkLength planes on either side of a chunk that its results depend on, beside plane 0. 0 stands
 * for all chunks. The views' data is not read. */
CudaFilters_EXPORT unsigned int
CudaGaussianLookAhead(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape);

/** States without a value, for CudaSlabOptions::States. */
CudaFilters_EXPORT std::shared_ptr<CudaSlabStates>
                   CudaMakeSlabStates();

/** Runs the plan over an image that comes and goes in whole planes along its last axis, the last one with more than one
 * pixel. The shapes give sizes, component types and numbers of components; their data and strides are not used.
 *
 * Source and sink are called from the calling thread. Planes are asked for in order, each once in a sweep; plane 0 may
 * be asked for once more before a part that does not begin with it. The sink gets planes in order. Nothing is called
 * after one of them, or `progress`, has thrown: the work that was queued ends, and the exception goes on unchanged.
 *
 * The bits of the result do not depend on memory limits, devices and slabs. On the host they are those of
 * RunGaussianPlanOnHost(). On a device they are those of RunGaussianPlanOnDevice() there. A run does not change from
 * the device to the host.
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
