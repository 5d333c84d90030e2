// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_LineDirection_h
#define CudaFilters_pointwise_LineDirection_h

#include "runtime/HostDevice.h"
#include "pointwise/SymmetricEigen.h"

#include <cmath>

namespace itk::cuda::pointwise
{
/** Computes the line direction of CudaLineDirectionPlan for one pixel. `hessian` is the upper triangle, row by row. */
template <unsigned int VDimension, typename T>
ITK_CUDA_HOST_DEVICE inline void
GetLineDirection(bool lastAxisFirst, const T * hessian, T * direction)
{
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<true>(hessian, CudaEigenValueOrder::ByMagnitude, system);
  const T * const vector = system.Vectors[0];
  T               largest = vector[0];
  ITK_CUDA_UNROLL
  for (unsigned int i = 1; i < VDimension; ++i)
  {
    largest = std::fabs(vector[i]) > std::fabs(largest) ? vector[i] : largest;
  }
  // A zero matrix has the axes as eigenvectors, but no direction. The comparison is also false for NaN.
  const bool isZero = !(std::fabs(system.Values[VDimension - 1]) > T{ 0 });
  const T    sign = largest < T{ 0 } ? T{ -1 } : T{ 1 };
  ITK_CUDA_UNROLL
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    // Indices that are compile-time constants keep the vector in registers.
    direction[i] = isZero ? T{ 0 } : sign * (lastAxisFirst ? vector[VDimension - 1 - i] : vector[i]);
  }
}
} // namespace itk::cuda::pointwise

#endif
