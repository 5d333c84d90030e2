// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaComputeType_h
#define itkCudaComputeType_h

#include "itkCudaDetailImageView.h"
#include "itkCudaDetailNames.h"

namespace itk::cuda
{
/** Whether a component type holds more digits than float. */
inline bool
NeedsDouble(CudaComponentType type)
{
  return type == CudaComponentType::Double || type == CudaComponentType::Int || type == CudaComponentType::UInt;
}

/** Float, unless a component type holds more digits than that. */
inline CudaComponentType
GetComputeType(const CudaImageView & input, const CudaImageView & output)
{
  return NeedsDouble(input.ComponentType) || NeedsDouble(output.ComponentType) ? CudaComponentType::Double
                                                                               : CudaComponentType::Float;
}
} // namespace itk::cuda

#endif
