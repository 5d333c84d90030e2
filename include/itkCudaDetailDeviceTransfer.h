// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceTransfer_h
#define itkCudaDetailDeviceTransfer_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailPixelConversion.h"
#include "itkCudaDeviceImageView.h"

namespace itk::CudaDetail
{
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
