// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailMaskedArray_h
#define itkCudaDetailMaskedArray_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailDeviceRun.h"

#include <vector>

namespace itk::CudaDetail
{
/** Which pixels of an array count. */
struct CudaArrayMask
{
  const void * Valid{ nullptr };  // adjacent bytes, one for each pixel; 0 is not valid; nullptr: all are
  bool         KeepsNaN{ false }; // pixels that are NaN or infinite do not count either, and valid ones become NaN
  double       FillValue{ 0.0 };  // where the weight is below SmallestWeight
  double       SmallestWeight{ 0.0 };
};

/** CudaQueueOnStream() over the pixels that count alone: the quotient of RunMaskedGaussianPlanOnHost(). Its steps and
 * their rounding are those of CudaQueueOnStream() for each pass, over the mask and over the image less its first finite
 * pixel that counts, and of a division and an addition in the type of the pixels. If all pixels count, the result is
 * that of CudaQueueOnStream(), to the bit; the device looks for that, and nothing waits on the host. The module's pool
 * gives the memory of four images at most meanwhile.
 *
 * \param passes of smoothing; what continues lines in the mode Constant is 0
 * \param mask has Valid or KeepsNaN; its memory is as that of the input
 * \exception CudaError as CudaQueueOnStream()
 * \exception ExceptionObject if a pass continues its lines with another value than 0 */
CudaFilters_EXPORT void
CudaQueueMaskedOnStream(const std::vector<CudaArrayPass> & passes,
                        const CudaArrayMask &              mask,
                        const CudaArrayMemory &            input,
                        void *                             output);

/** CudaQueueOnStream(), and a look whether the input holds NaN or infinite pixels, in one. The look comes before the
 * passes in the stream's order, and the host waits for it, but not for the passes. So the device has work meanwhile and
 * afterwards.
 *
 * \return whether the input holds such pixels, which the passes have then spread over the output
 * \exception CudaError as CudaQueueOnStream() */
CudaFilters_EXPORT bool
CudaQueueAndLookForNonFinite(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output);
} // end namespace itk::CudaDetail

#endif
