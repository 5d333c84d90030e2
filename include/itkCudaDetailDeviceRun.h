// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceRun_h
#define itkCudaDetailDeviceRun_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDeviceImageView.h"

#include <array>
#include <cstddef>
#include <vector>

namespace itk::CudaDetail
{
/** The decision of a filter whose input is a device image: it runs on the input's device. The backend is set
 * accordingly; no CUDA call is made.
 * \exception CudaError of kind NotUsable, in words, if the filter asks for the host or for another device */
CudaFilters_EXPORT void
CudaSelectDeviceOfImage(CudaFilterBackend & backend, int device);

/** The decision of a filter whose output is a device image and whose input is none: it runs on the device that its
 * DeviceIndex names, or on the configuration's for -1. Sets what the backend says of itself.
 * \return the device
 * \exception CudaError of kind NotUsable with the reason if the filter asks for the host, or the device cannot be used
 */
CudaFilters_EXPORT int
CudaSelectDeviceOfOutput(CudaFilterBackend & backend);

/** Queues the plan on the calling thread's stream and returns; the output is what CudaRunOnDevice() would give for the
 * same images of the host, to the bit.
 *
 * Input and output have the same size, and the output as many components for each of the input's as the plan has
 * results. If the plan's only result is image 0, `output` is `input`. The input is overwritten unless the plan was made
 * with KeepInput. If it is overwritten, input and output must be as CudaAllocateDeviceImage() makes them, of the same
 * type, float or double.
 * \exception CudaError if the memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaGaussianPlan & plan, const CudaDeviceImageView & input, const CudaDeviceImageView & output);

/** Adjacent components of an array in memory that the caller keeps. */
struct CudaArrayMemory
{
  void *                            Data{ nullptr };
  CudaComponentType                 ComponentType{ CudaComponentType::Float }; // or Double
  int                               Device{ 0 };
  CudaDeviceImageMemory::StreamType Stream{ 0 }; // on which the caller uses the memory
};

/** A plan of one pass, with one result that is not its input, over an array. */
struct CudaArrayPass
{
  CudaGaussianPlan                                      Plan;
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Size; // x first
};

/** Queues passes on the stream of the input's owner, each over the result of the pass before. The sizes of all have the
 * same number of elements. Work of the owner that is on the stream comes before, and what the owner queues there
 * afterwards comes behind; then the owner may also free the memory in the stream's order. Each pass has the result that
 * CudaQueueOnDevice() gives, to the bit. Nothing waits on the host.
 *
 * \param output has the input's type, device and stream, and other memory
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used, or if the stream is recorded for
 * a CUDA graph; or if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output);

/** The device on which memory of a caller lies.
 * \exception CudaError of kind NotUsable if it lies on none, or no device can be used */
CudaFilters_EXPORT int
CudaFindDeviceOfMemory(const void * data);

/** An array as an image: rows of adjacent pixels, in memory that the caller keeps. */
struct CudaArrayImage
{
  CudaArrayMemory                                       Memory;
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Size;   // x first
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Stride; // in pixels
};

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
