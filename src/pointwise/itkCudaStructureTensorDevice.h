// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStructureTensorDevice_h
#define itkCudaStructureTensorDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailNames.h"
#include "itkCudaDeviceView.h"
#include "itkCudaStructureTensorEnums.h"

#include <vector>

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
