// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceTransfer_h
#define itkCudaDetailDeviceTransfer_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailPixelConversion.h"
#include "itkCudaDeviceImageView.h"

#include <functional>

namespace itk::CudaDetail
{
/** Copies host pixels to a whole device image of the same size and number of components, and converts them to its type.
 * On return the host pixels have been read, and the last copies and conversions are queued on the calling thread's
 * stream, where more work can be queued at once.
 *
 * \return a function to be called once, when the work behind the copies is queued. It waits for the copies, throws
 * CudaError if they failed, and gives back the page-locked memory that they read.
 *
 * \exception CudaError, ExceptionObject if the images differ in size, or what `progress` throws */
[[nodiscard]] CudaFilters_EXPORT std::function<void()>
CudaQueueUpload(const CudaImageView & host, const CudaDeviceImageView & device, const CudaProgressFunction & progress);

/** Copies pixels of a device image to a host image of the same size and number of components. The host image is
 * complete on return. Pixels are converted on the device and cross the link in the host image's type.
 * \exception CudaError, also of an earlier kernel that failed; ExceptionObject if the images differ in size; or what
 * `progress` throws */
CudaFilters_EXPORT void
CudaDownloadFromDevice(const CudaDeviceImageView &  device,
                       const CudaImageView &        host,
                       const CudaPixelConversion &  conversion,
                       const CudaProgressFunction & progress);

/** Queues the conversion of pixels of a device image to those of another one, of the same size and number of
 * components, on the calling thread's stream of the input's device. The result has the bits of
 * CudaDownloadFromDevice(). With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the function waits for the work.
 * \exception CudaError; ExceptionObject if the images differ in size */
CudaFilters_EXPORT void
CudaMapOnDevice(const CudaDeviceImageView & input,
                const CudaDeviceImageView & output,
                const CudaPixelConversion & conversion);
} // end namespace itk::CudaDetail

#endif
