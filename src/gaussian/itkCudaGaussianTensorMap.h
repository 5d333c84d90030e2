// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTensorMap_h
#define itkCudaGaussianTensorMap_h

#include "CudaFiltersExport.h"

#include <array>
#include <cstddef>

#include <cuda.h>

namespace itk::cuda::gaussian
{
/** An array in device memory and the box of it that one bulk copy moves, densely packed in shared memory. Neighbours
 * along the first axis are adjacent. */
struct TensorBox
{
  void *                      Data{ nullptr };      // a multiple of 16
  size_t                      BytesPerElement{ 4 }; // float or double
  std::array<size_t, 3>       Size{};               // elements
  std::array<size_t, 2>       StrideBytes{};        // of the second and third axis; multiples of 16
  std::array<unsigned int, 3> Box{};                // elements, 256 along each axis at most
  bool                        Swizzled{ false };    // for rows of 128 bytes, whose parts of 16 bytes are permuted
};

/** Whether the device has such copies and its code was compiled with them. With ITK_CUDAFILTERS_NO_BULK_COPIES=1 in the
 * environment none has. The results have the same bits without them. \exception CudaError */
CudaFilters_EXPORT bool
HasBulkCopies(int device);

/** Whether sizes and strides are within the limits of such copies. */
bool
FitsTensorMap(const TensorBox & box);

/** The copy engine's description of the array. Elements beyond the array read as zero and are not written.
 *
 * \exception CudaError */
CUtensorMap
MakeTensorMap(const TensorBox & box);
} // namespace itk::cuda::gaussian

#endif
