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
  /** What the output has. `Components`: the upper triangle of the tensor. `Eigenvalues`: in ascending order.
   * `Orientation`: the unit eigenvector of the least eigenvalue, which points along a line or texture; its first
   * component that is not 0 is positive. `Coherence`: (l_D - l_1) / (l_D + l_1) of the greatest and the least
   * eigenvalue, from 0 (no direction) to 1 (one direction); 0 where the image is constant. */
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
