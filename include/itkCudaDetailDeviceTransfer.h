// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceTransfer_h
#define itkCudaDetailDeviceTransfer_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageView.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace itk::CudaDetail
{
/** Returns an image in new memory of the module, with rows that start at multiples of 16 bytes. The bytes between rows
 * are zero. The elements are zero if `initialize` is true, otherwise undefined. The work is queued on the calling
 * thread's stream.
 * \exception CudaError as CudaDeviceImageMemory::Allocate() */
CudaFilters_EXPORT CudaDeviceImageView
CudaAllocateDeviceImage(const std::array<size_t, CudaDeviceImageView::NumberOfAxes> & size,
                        CudaComponentType                                             type,
                        int                                                           device,
                        bool                                                          initialize);

/** Throws unless the view's elements lie in its memory and its rows are dense.
 * \exception ExceptionObject that names what does not fit */
CudaFilters_EXPORT void
CudaVerifyDeviceImageView(const CudaDeviceImageView & view);

/** The mapping of each component before its conversion. */
enum class CudaPixelMapping : uint8_t
{
  None,
  ShiftScale, // (value + Shift) * Scale
  Window,     // as IntensityWindowingImageFilter
  Threshold,  // as BinaryThresholdImageFilter
  Sigmoid     // as SigmoidImageFilter
};

/** How each component of a device image is mapped and converted to the type of the other image. For integers, it is
 * rounded and clamped to the type's range, and NaN becomes 0. Window, threshold and sigmoid map (value + Shift) *
 * Scale. Members that the mapping does not use have no effect.
 */
struct CudaPixelConversion
{
  CudaPixelMapping Mapping{ CudaPixelMapping::None };
  CudaRounding     Rounding{ CudaRounding::Truncate };
  double           Shift{ 0.0 };
  double           Scale{ 1.0 };
  double           Lower{ 0.0 }; // lower end of the window, or lower threshold
  double           Upper{ 0.0 };
  double           OutputMinimum{ 0.0 }; // result at or below the window's lower end, or the sigmoid's minimum
  double           OutputMaximum{ 0.0 };
  double           InsideValue{ 0.0 }; // result between the thresholds, both included
  double           OutsideValue{ 0.0 };
  double           Alpha{ 1.0 }; // the sigmoid's width; not 0
  double           Beta{ 0.0 };  // the sigmoid's center
};

/** Copies host pixels to a whole device image of the same size and number of components, and converts them to its type.
 * On return the host pixels have been read, and the last copies and conversions are queued on the calling thread's
 * stream, so that more work can be queued there at once.
 *
 * \return a function that must be called once, after the work that follows the copies has been queued. It waits for the
 * copies, throws CudaError if they failed, and releases the page-locked memory that they read.
 *
 * \exception CudaError, ExceptionObject if the images differ in size, or what `progress` throws */
[[nodiscard]] CudaFilters_EXPORT std::function<void()>
CudaQueueUpload(const CudaImageView & host, const CudaDeviceImageView & device, const CudaProgressFunction & progress);

/** Copies pixels of a device image to a host image of the same size and number of components. The host image is
 * complete on return. Pixels are converted on the device and cross the link in the host image's type.
 * \exception CudaError, also for an earlier kernel that failed; ExceptionObject if the images differ in size; or what
 * `progress` throws */
CudaFilters_EXPORT void
CudaDownloadFromDevice(const CudaDeviceImageView &  device,
                       const CudaImageView &        host,
                       const CudaPixelConversion &  conversion,
                       const CudaProgressFunction & progress);

/** Queues the conversion of a device image to another one of the same size and number of components, on the calling
 * thread's stream of the input's device. The result is bit-identical to CudaDownloadFromDevice(). With
 * ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the function waits for the work.
 * \exception CudaError; ExceptionObject if the images differ in size */
CudaFilters_EXPORT void
CudaMapOnDevice(const CudaDeviceImageView & input,
                const CudaDeviceImageView & output,
                const CudaPixelConversion & conversion);
} // end namespace itk::CudaDetail

#endif
