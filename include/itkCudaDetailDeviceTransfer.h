// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceTransfer_h
#define itkCudaDetailDeviceTransfer_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaFiltersEnums.h"

namespace itk::CudaDetail
{
/** What each component becomes on its way from the device: (value + Shift) * Scale, converted to the type of the host
 * image and clamped to its range. NaN becomes 0 in an integer. */
struct CudaPixelConversion
{
  double       Shift{ 0.0 };
  double       Scale{ 1.0 };
  CudaRounding Rounding{ CudaRounding::Truncate };
};

/** Copies host pixels to a whole device image of the same size and number of components, and converts them to its type.
 * On return the host pixels have been read, and the last work is queued on the calling thread's stream.
 * \exception CudaError, ExceptionObject if the images differ in size, or what `progress` throws */
CudaFilters_EXPORT void
CudaUploadToDevice(const CudaImageView &        host,
                   const CudaDeviceImageView &  device,
                   const CudaProgressFunction & progress);

/** Copies pixels of a device image to a host image of the same size and number of components. The host image is
 * complete on return. Pixels are converted on the device and cross the link in the host image's type.
 * \exception CudaError, also of an earlier kernel that failed; ExceptionObject if the images differ in size; or what
 * `progress` throws */
CudaFilters_EXPORT void
CudaDownloadFromDevice(const CudaDeviceImageView &  device,
                       const CudaImageView &        host,
                       const CudaPixelConversion &  conversion,
                       const CudaProgressFunction & progress);
} // end namespace itk::CudaDetail

#endif
