// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_LineDirection_h
#define CudaFilters_pointwise_LineDirection_h

#include "runtime/HostDevice.h"
#include "pointwise/SymmetricEigen.h"

#include <cmath>

namespace itk::cuda::pointwise
{
/** CudaLineDirectionPlan, of one pixel: `hessian` is the upper triangle row after row. */
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
  // A matrix of zeros has the axes as eigenvectors; the comparison is false for NaN too.
  const bool isZero = !(std::fabs(system.Values[VDimension - 1]) > T{ 0 });
  const T    sign = largest < T{ 0 } ? T{ -1 } : T{ 1 };
  ITK_CUDA_UNROLL
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    // Indices that the compiler knows keep the vector in registers.
    direction[i] = isZero ? T{ 0 } : sign * (lastAxisFirst ? vector[VDimension - 1 - i] : vector[i]);
  }
}
} // namespace itk::cuda::pointwise

#endif
