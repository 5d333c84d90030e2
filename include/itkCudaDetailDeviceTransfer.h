// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
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
/** An image in new memory of the module, whose rows start at multiples of 16 bytes. The bytes between rows are zero.
 * The elements are zero if `initialize` is true, and undefined otherwise. The work is queued on the calling thread's
 * stream.
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

/** What a run makes of each component before it converts it. */
enum class CudaPixelMapping : uint8_t
{
  None,
  ShiftScale, // (value + Shift) * Scale
  Window,     // as IntensityWindowingImageFilter
  Threshold,  // as BinaryThresholdImageFilter
  Sigmoid     // as SigmoidImageFilter
};

/** What becomes of each component on its way from a device image: it is mapped, converted to the type of the other
 * image, and clamped to its range; NaN becomes 0 in an integer. Window, threshold and sigmoid are of
 * (value + Shift) * Scale. Members that the mapping does not name have no effect.
 */
struct CudaPixelConversion
{
  CudaPixelMapping Mapping{ CudaPixelMapping::None };
  CudaRounding     Rounding{ CudaRounding::Truncate };
  double           Shift{ 0.0 };
  double           Scale{ 1.0 };
  double           Lower{ 0.0 }; // of the window, or the lower threshold
  double           Upper{ 0.0 };
  double           OutputMinimum{ 0.0 }; // of what lies at or below the window's minimum, or of the sigmoid
  double           OutputMaximum{ 0.0 };
  double           InsideValue{ 0.0 }; // of what lies between the thresholds, or at one of them
  double           OutsideValue{ 0.0 };
  double           Alpha{ 1.0 }; // the sigmoid's width; not 0
  double           Beta{ 0.0 };  // the sigmoid's center
};

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
