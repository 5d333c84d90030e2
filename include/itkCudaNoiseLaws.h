// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaNoiseLaws_h
#define itkCudaNoiseLaws_h

#include "CudaFiltersExport.h"
#include "itkCudaFiltersEnums.h"

#include <string>
#include <vector>

namespace itk
{
/** \struct CudaNoiseLawInformation
 * \brief Describes one distribution of the pixels of a region.
 * \ingroup CudaFilters
 */
struct CudaNoiseLawInformation
{
  CudaFiltersEnums::NoiseLaw Law;           // the value for SetNoiseLaw()
  std::string                Name;          // the name that CudaNoiseLawFromString() accepts
  std::string                Description;   // says which pixels the law describes
  std::string                AllowedValues; // pixels with other values are refused
  std::string                Parameter;     // what the law needs: "NumberOfLooks", "ForegroundThreshold", or none ("")
  bool                       UsesSquares;   // if false, mean squares and variances of regions are NaN
};

/** Returns all laws, in the order of the enumeration. */
CudaFilters_EXPORT std::vector<CudaNoiseLawInformation>
                   CudaNoiseLaws();

/** Returns the names of all laws: "Gaussian, ... or LogNormal". */
CudaFilters_EXPORT std::string
                   CudaNoiseLawNames();
} // end namespace itk

#endif
