// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceTransfer_h
#define itkCudaDeviceTransfer_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaGaussianEngine.h"
#include "itkCudaImageView.h"

#include <cstdint>
#include <ostream>
#include <string>

namespace itk
{
/** How real values become integers. `Truncate`: toward zero, as the filters do. `Nearest`: to the nearest one, halves
 * to the even one. \ingroup CudaFilters */
enum class CudaRounding : uint8_t
{
  Truncate,
  Nearest
};

/** "Truncate" or "Nearest". \ingroup CudaFilters */
CudaFilters_EXPORT std::string
                   CudaRoundingToString(CudaRounding rounding);

/** The reverse, in upper or lower case. \exception ExceptionObject for another name \ingroup CudaFilters */
CudaFilters_EXPORT CudaRounding
CudaRoundingFromString(const std::string & name);

CudaFilters_EXPORT std::ostream &
                   operator<<(std::ostream & out, CudaRounding rounding);

/** \struct CudaPixelConversion
 * \brief What becomes of each component on its way from the device: (value + Shift) * Scale, converted to the type of
 * the host image, clamped to its range; NaN becomes 0 in an integer.
 * \ingroup CudaFilters
 */
struct CudaPixelConversion
{
  double       Shift{ 0.0 };
  double       Scale{ 1.0 };
  CudaRounding Rounding{ CudaRounding::Truncate };
};

/** Copies host pixels to a whole device image of the same size and number of components, and converts them to its type.
 * On return the host pixels have been read; the last work is queued on the calling thread's stream.
 * \exception CudaError, ExceptionObject if the images differ in size, or what `progress` throws \ingroup CudaFilters */
CudaFilters_EXPORT void
CudaUploadToDevice(const CudaImageView &        host,
                   const CudaDeviceImageView &  device,
                   const CudaProgressFunction & progress);

/** Copies pixels of a device image to a host image of the same size and number of components, complete on return. They
 * are converted on the device: what crosses the link is of the host image's type.
 * \exception CudaError, also of an earlier kernel that failed; ExceptionObject if the images differ in size; or what
 * `progress` throws \ingroup CudaFilters */
CudaFilters_EXPORT void
CudaDownloadFromDevice(const CudaDeviceImageView &  device,
                       const CudaImageView &        host,
                       const CudaPixelConversion &  conversion,
                       const CudaProgressFunction & progress);
} // end namespace itk

#endif
