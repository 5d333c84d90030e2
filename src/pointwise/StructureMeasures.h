// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_StructureMeasures_h
#define CudaFilters_pointwise_StructureMeasures_h

#include "runtime/HostDevice.h"
#include "itkCudaStructureTensorEnums.h"
#include "pointwise/SymmetricEigen.h"

// The computations at each pixel with a gradient or a structure tensor, with bit-identical results on the host and on
// the device.

namespace itk::cuda::pointwise
{
using StructureQuantity = CudaStructureTensorEnums::Quantity;

/** Computes the upper triangle of g g^T, row by row. */
template <unsigned int VDimension, typename T>
ITK_CUDA_HOST_DEVICE inline void
GetGradientProducts(const T * gradient, T * products)
{
  unsigned int element = 0;
  ITK_CUDA_UNROLL
  for (unsigned int row = 0; row < VDimension; ++row)
  {
    ITK_CUDA_UNROLL
    for (unsigned int column = row; column < VDimension; ++column)
    {
      products[element++] = gradient[row] * gradient[column];
    }
  }
}

/** Computes the unit eigenvector of the smallest eigenvalue, with the sign that makes its first nonzero component
 * positive. */
template <unsigned int VDimension, typename T>
ITK_CUDA_HOST_DEVICE inline void
GetOrientation(const T * tensor, T * orientation)
{
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<true>(tensor, CudaEigenValueOrder::ByValue, system);
  T sign = T{ 0 };
  ITK_CUDA_UNROLL
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    const T x = system.Vectors[0][d];
    sign = sign == T{ 0 } ? (x < T{ 0 } ? T{ -1 } : x > T{ 0 } ? T{ 1 } : T{ 0 }) : sign;
  }
  ITK_CUDA_UNROLL
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    orientation[d] = sign < T{ 0 } ? -system.Vectors[0][d] : system.Vectors[0][d];
  }
}

/** Returns the coherence (l_D - l_1) / (l_D + l_1) of the largest and the smallest eigenvalue (B. Jaehne, Digital Image
 * Processing, 13.3, for two dimensions), or 0 for a zero matrix. The smallest eigenvalue is clamped to 0, because
 * rounding may make it negative. */
template <unsigned int VDimension, typename T>
ITK_CUDA_HOST_DEVICE inline T
GetCoherence(const T * tensor)
{
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<false>(tensor, CudaEigenValueOrder::ByValue, system);
  const T greatest = system.Values[VDimension - 1];
  const T least = system.Values[0] < T{ 0 } ? T{ 0 } : system.Values[0];
  if (!(greatest == greatest))
  {
    return greatest; // NaN
  }
  return greatest > T{ 0 } ? (greatest - least) / (greatest + least) : T{ 0 };
}

/** Computes a quantity, other than Components, of a tensor, whose upper triangle is given row by row. */
template <unsigned int VDimension, typename T>
ITK_CUDA_HOST_DEVICE inline void
GetStructureQuantity(StructureQuantity quantity, const T * tensor, T * result)
{
  if (quantity == StructureQuantity::Orientation)
  {
    GetOrientation<VDimension>(tensor, result);
  }
  else if (quantity == StructureQuantity::Coherence)
  {
    *result = GetCoherence<VDimension>(tensor);
  }
  else
  {
    EigenSystem<T, VDimension> system;
    SolveEigenSystem<false>(tensor, CudaEigenValueOrder::ByValue, system);
    ITK_CUDA_UNROLL
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      result[d] = system.GetValue(d);
    }
  }
}
} // namespace itk::cuda::pointwise

#endif
