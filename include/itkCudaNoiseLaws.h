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
 * \brief A distribution of the pixels of a region, in words.
 * \ingroup CudaFilters
 */
struct CudaNoiseLawInformation
{
  CudaFiltersEnums::NoiseLaw Law;
  std::string                Name;          // CudaNoiseLawFromString() reads it
  std::string                Description;   // which pixels it describes
  std::string                AllowedValues; // other pixels are refused
  std::string                Parameter;     // the one it needs: "NumberOfLooks", "ForegroundThreshold", or none ("")
  bool                       UsesSquares;   // otherwise mean squares and variances of regions are not numbers
};

/** All laws, in the order of the enumeration. */
CudaFilters_EXPORT std::vector<CudaNoiseLawInformation>
                   CudaNoiseLaws();

/** Their names: "Gaussian, ... or LogNormal". */
CudaFilters_EXPORT std::string
                   CudaNoiseLawNames();
} // end namespace itk

#endif
