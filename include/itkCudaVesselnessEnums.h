// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaVesselnessEnums_h
#define itkCudaVesselnessEnums_h

#include "CudaFiltersExport.h"

#include <cstdint>
#include <ostream>
#include <string>

namespace itk
{
/** \class CudaVesselnessEnums
 * \brief Enumerations of CudaVesselnessImageFilter.
 *
 * Every parameter of an enumerated type also accepts the value's name as a string. Case, '_' and '-' do not matter.
 *
 * \ingroup CudaFilters
 */
class CudaVesselnessEnums
{
public:
  /** The measure that is computed from a Hessian's eigenvalues; docs/user/vesselness.md has formulas and sources. */
  enum class HessianMeasure : uint8_t
  {
    Objectness,
    Frangi,
    Sato,
    Jerman,
    Meijering
  };
};

/** Prints the name of the value, qualified as ITK's enumerations are. */
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaVesselnessEnums::HessianMeasure value);

/** Returns the measure of that name. \exception ExceptionObject naming the parameter, the text and the known names */
CudaFilters_EXPORT CudaVesselnessEnums::HessianMeasure
                   CudaHessianMeasureFromString(const std::string & name);
} // end namespace itk

#endif
