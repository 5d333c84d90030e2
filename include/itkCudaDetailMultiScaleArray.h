// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailMultiScaleArray_h
#define itkCudaDetailMultiScaleArray_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailArrayImage.h"
#include "itkCudaDetailMultiScaleEngine.h"

#include <optional>

namespace itk::CudaDetail
{
/** Arrays that take the results: adjacent elements of the input's type, outside the input's memory. nullptr: that
 * result is not wanted. */
struct CudaMultiScaleArrays
{
  void *                Response{ nullptr };
  void *                Scale{ nullptr };      // the sigma that gave the response
  void *                Directions{ nullptr }; // the components of a pixel are adjacent; 0 where there is no response
  CudaLineDirectionPlan DirectionPlan{};
};

/** Queues all scales on the stream of the input's owner. Work of the owner that is on the stream comes before, and what
 * the owner queues there afterwards comes behind; then the owner may also free the memory in the stream's order. The
 * module's pool gives what is needed meanwhile. Nothing waits on the host. Responses and scales are those of
 * CudaRunOnDevice(), to the bit, with plan.MeasureOfScale as CudaFindLargestOnDevice() and `parameter` make it. Here
 * the largest values stay on the device.
 *
 * \param parameter if the measure has one that follows from each scale's Hessians; plan.MeasureOfScale is empty then
 * \param outputs have a response
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used, or if the stream is recorded for
 * a CUDA graph; or if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const CudaMultiScalePlan &                plan,
                  const std::optional<CudaScaleParameter> & parameter,
                  const CudaArrayImage &                    input,
                  const CudaMultiScaleArrays &              outputs);
} // end namespace itk::CudaDetail

#endif
