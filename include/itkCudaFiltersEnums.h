// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFiltersEnums_h
#define itkCudaFiltersEnums_h

#include "CudaFiltersExport.h"

#include <cstdint>
#include <ostream>
#include <string>

namespace itk
{
/** \class CudaFiltersEnums
 * \brief Enumerations of the CudaFilters module.
 *
 * Every parameter of an enumerated type also takes the value's name as a
 * string, in upper or lower case.
 *
 * \ingroup CudaFilters
 */
class CudaFiltersEnums
{
public:
  /** Where a filter computes. `Automatic` takes the GPU when one is usable, the
   * pixel type is supported and the working set fits, else the host. `Cuda`
   * never falls back: it throws. `Host` never touches the GPU. */
  enum class Backend : uint8_t
  {
    Automatic,
    Cuda,
    Host
  };
};

/** Prints the name of the value, qualified as ITK's enumerations are. */
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Backend value);

/** The backend of that name ("automatic", "cuda", "host"; case does not matter).
 * \exception ExceptionObject naming `parameter`, the text and the known names. */
CudaFilters_EXPORT CudaFiltersEnums::Backend
                   CudaBackendFromString(const std::string & name, const char * parameter = "Backend");

/** "Automatic", "Cuda" or "Host". */
CudaFilters_EXPORT std::string
                   CudaBackendToString(CudaFiltersEnums::Backend value);
} // end namespace itk

#endif
