// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_TensorDevice_h
#define CudaFilters_pointwise_TensorDevice_h

#include "CudaFiltersExport.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailTensorEngine.h"
#include "runtime/image/DeviceView.h"
#include "itkCudaStructureTensorEnums.h"

#include <vector>

// Pointwise filters of tensors in device memory. A tensor's components are planes, whose distance may differ between
// images. Apart from this distance and the number of planes, all images of a call have the same size, strides and type,
// and there are gaps only at the end of rows. Padding is computed like pixels. No function waits or allocates.

namespace itk::cuda::pointwise
{
/** Queues the computation of eigenvalues as planes of `output`. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunPlan(const CudaEigenPlan & plan, const DeviceView & tensors, const DeviceView & output, const Context & context);

/** Queues the computation of a measure of Hessians, which reads all planes once and writes one. \exception CudaError,
 * ExceptionObject
 */
CudaFilters_EXPORT void
RunPlan(const CudaHessianMeasure & measure,
        const DeviceView &         hessian,
        const DeviceView &         output,
        const Context &            context);

/** \struct BestScale
 * \brief The largest response over the scales so far, and on request its scale and Hessian.
 */
struct BestScale
{
  DeviceView Response;
  DeviceView Scale{};     // sigma of the largest response; Data is nullptr if it is not requested
  DeviceView Hessian{};   // of the largest response; Data is nullptr if it is not requested
  double     Lowest{ 0 }; // only larger responses count; where there is no such response, scale and Hessian are 0

  // The result of RunScaleParameter() in device memory, or nullptr if the measure has all its parameters.
  const void * Parameter{ nullptr };
};

/** Queues the computation of the measure of one scale's Hessians, which is stored where it exceeds the responses of the
 * previous scales. For the first scale no responses are read. NaN is never stored. \exception CudaError,
 * ExceptionObject */
CudaFilters_EXPORT void
RunMeasureMaximum(const CudaHessianMeasure & measure,
                  const DeviceView &         hessian,
                  double                     sigma,
                  bool                       isFirst,
                  const BestScale &          best,
                  const Context &            context);

/** Queues the computation of the largest finite measure of Hessians, or 0 if none is larger, into device memory.
 * \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunLargest(const CudaHessianMeasure & measure, const DeviceView & hessian, double * largest, const Context & context);

/** Queues the computation of a value that RunMeasureMaximum() uses instead of the measure's parameter: factor *
 * largest, or `ifZero` if the largest value is 0. \param parameter device memory for an element of `type` \exception
 * CudaError */
CudaFilters_EXPORT void
RunScaleParameter(CudaHessianMeasureKind kind,
                  double                 factor,
                  double                 ifZero,
                  const double *         largest,
                  CudaComponentType      type,
                  void *                 parameter,
                  const Context &        context);

/** Queues the computation of line directions (CudaLineDirectionPlan), which replace the first components of the
 * Hessians. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunLineDirections(const CudaLineDirectionPlan & plan, const DeviceView & hessian, const Context & context);
} // namespace itk::cuda::pointwise

// The pointwise steps of the structure tensor. All images have the same size, strides and type, apart from the number
// and the distance of their planes. Padding is computed like pixels. No function waits or allocates.

namespace itk::cuda::pointwise
{
/** Queues the products of the gradient's components, in the order of the upper triangle: the component along axis 0
 * times itself, times the one along axis 1, and so on. A product may replace a component in place. \exception
 * CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunGradientProducts(const std::vector<DeviceView> & gradient,
                    const std::vector<DeviceView> & products,
                    const Context &                 context);

/** Queues the computation of a quantity, other than Components, of tensors whose components are planes. \exception
 * CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunStructureQuantity(CudaStructureTensorEnums::Quantity quantity,
                     unsigned int                       dimension,
                     const DeviceView &                 tensors,
                     const DeviceView &                 output,
                     const Context &                    context);
} // namespace itk::cuda::pointwise

#endif
