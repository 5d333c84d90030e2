// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_TensorDevice_h
#define CudaFilters_pointwise_TensorDevice_h

#include "CudaFiltersExport.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailTensorEngine.h"
#include "runtime/image/DeviceView.h"
#include "itkCudaStructureTensorEnums.h"

#include <vector>

namespace itk::cuda
{
class Context;
}

// The resident cores of the room. A tensor's components are planes, at a distance that each image has for itself. But
// for that and the number of the planes all images of a call have the same size and strides, and the same type; each
// axis follows where the one before ends. Padding is computed like pixels. Nothing waits or allocates.

namespace itk::cuda::pointwise
{
/** Queues eigenvalues, and on request eigenvectors, as planes of `output`. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunEigen(const CudaEigenPlan & plan, const DeviceView & tensors, const DeviceView & output, const Context & context);

/** Queues the measure of Hessians: all planes are read once, one is written. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunHessianMeasure(const CudaHessianMeasure & measure,
                  const DeviceView &         hessian,
                  const DeviceView &         output,
                  const Context &            context);

/** \struct BestScale
 * \brief The largest response of the scales so far, with what belongs to it where it is asked for.
 */
struct BestScale
{
  DeviceView Response;
  DeviceView Scale{};     // sigma; Data is nullptr if it is not asked for
  DeviceView Hessian{};   // likewise
  double     Lowest{ 0 }; // a response that is not above it wins at no scale: its scale and Hessian are 0

  // On the device, what RunScaleParameter() made for the measure; nullptr if the measure has all its parameters.
  const void * Parameter{ nullptr };
};

/** Queues the measure of one scale's Hessians and keeps it where it is above the responses before, of which the first
 * scale reads none. NaN is never kept. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunMeasureMaximum(const CudaHessianMeasure & measure,
                  const DeviceView &         hessian,
                  double                     sigma,
                  bool                       isFirst,
                  const BestScale &          best,
                  const Context &            context);

/** Queues the largest finite element of an image of one component, at least 0, into device memory. \exception CudaError
 */
CudaFilters_EXPORT void
RunLargest(const DeviceView & image, double * largest, const Context & context);

/** Queues what RunMeasureMaximum() takes in the place of a measure's parameter: factor * largest, or `ifZero` if the
 * largest value is 0. \param parameter device memory for an element of `type` \exception CudaError */
CudaFilters_EXPORT void
RunScaleParameter(CudaHessianMeasureKind kind,
                  double                 factor,
                  double                 ifZero,
                  const double *         largest,
                  CudaComponentType      type,
                  void *                 parameter,
                  const Context &        context);

/** Queues CudaLineDirectionPlan: the results replace the first components of the Hessians. \exception CudaError,
 * ExceptionObject */
CudaFilters_EXPORT void
RunLineDirections(const CudaLineDirectionPlan & plan, const DeviceView & hessian, const Context & context);
} // namespace itk::cuda::pointwise

namespace itk::cuda
{
class Context;
}

// The pointwise steps of the structure tensor. All images have the same size, strides and type but for the number and
// the distance of their planes. Padding is computed like pixels. Nothing waits or allocates.

namespace itk::cuda::pointwise
{
/** Queues the products of the gradient's components: of the component along axis 0 with itself, with that along axis 1,
 * and so on. A product may lie where a component lies. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunGradientProducts(const std::vector<DeviceView> & gradient,
                    const std::vector<DeviceView> & products,
                    const Context &                 context);

/** Queues a quantity, other than Components, of the tensors whose components are planes. \exception CudaError,
 * ExceptionObject */
CudaFilters_EXPORT void
RunStructureQuantity(CudaStructureTensorEnums::Quantity quantity,
                     unsigned int                       dimension,
                     const DeviceView &                 tensors,
                     const DeviceView &                 output,
                     const Context &                    context);
} // namespace itk::cuda::pointwise

#endif
