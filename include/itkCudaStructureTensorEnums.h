// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStructureTensorEnums_h
#define itkCudaStructureTensorEnums_h

#include "CudaFiltersExport.h"

#include <cstdint>
#include <ostream>

namespace itk
{
/** \class CudaStructureTensorEnums
 * \brief Enumerations of CudaStructureTensorImageFilter.
 * \ingroup CudaFilters
 */
class CudaStructureTensorEnums
{
public:
  /** The quantity that the output holds. `Components`: the upper triangle of the tensor. `Eigenvalues`: the eigenvalues
   * in ascending order. `Orientation`: the unit eigenvector of the smallest eigenvalue, which points along a line or
   * texture; its first nonzero component is positive. `Coherence`: (l_D - l_1) / (l_D + l_1) of the greatest eigenvalue
   * l_D and the smallest eigenvalue l_1, from 0 (no direction) to 1 (one direction); 0 where the image is constant. */
  enum class Quantity : uint8_t
  {
    Components,
    Eigenvalues,
    Orientation,
    Coherence
  };
};

CudaFilters_EXPORT std::ostream &
                   operator<<(std::ostream & os, CudaStructureTensorEnums::Quantity value);
} // end namespace itk

#endif
