// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceRun_h
#define itkCudaDetailDeviceRun_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailOperation.h"
#include "itkCudaDeviceImageView.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace itk::CudaDetail
{
/** Selects the device of a filter whose input is a device image, which is the input's device, and sets the members of
 * `backend` accordingly. Makes no CUDA call.
 * \exception CudaError of kind NotUsable with a reason in words if the filter's settings name the host or another
 * device */
CudaFilters_EXPORT void
CudaSelectDeviceOfImage(CudaFilterBackend & backend, int device);

/** Selects the device of a filter whose output is a device image and whose input is a host image: the device that its
 * DeviceIndex names, or the configuration's for -1. Sets the members of `backend` accordingly.
 * \return the device
 * \exception CudaError of kind NotUsable with the reason if the filter's settings name the host, or the device cannot
 * be used
 */
CudaFilters_EXPORT int
CudaSelectDeviceOfOutput(CudaFilterBackend & backend);

/** An array of adjacent components in memory that the caller owns. */
struct CudaArrayMemory
{
  void *                            Data{ nullptr };
  CudaComponentType                 ComponentType{ CudaComponentType::Float }; // or Double
  int                               Device{ 0 };
  CudaDeviceImageMemory::StreamType Stream{ 0 }; // the stream on which the caller uses the memory
};

/** A plan with one pass over an array, whose only result is not its input. */
struct CudaArrayPass
{
  CudaGaussianPlan                                      Plan;
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Size; // x first
};

/** Queues passes on the stream of the input's owner, each on the result of the previous one. All sizes have the same
 * number of elements. The passes run after the owner's work that is already on the stream and before the work that the
 * owner queues there afterwards, so the owner may free the memory in stream order. Each pass is bit-identical to
 * CudaQueueOnDevice(). Nothing waits on the host.
 *
 * \param output has the input's type, device and stream, but must be other memory
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used or the stream is being captured
 * into a CUDA graph; also if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output);

/** How results make the output, pixel by pixel. */
enum class CudaArrayCombine : uint8_t
{
  Sum,
  Length // the square root of the sum of the squares, also where squares overflow or underflow
};

/** Passes over an array that make several results, which are multiplied by factors and combined.
 *
 * Images are numbered: image 0 is the input, and images 1, 2 and so on are the results, of which there are at most
 * MaximumNumberOfResults. The others are intermediate. */
struct CudaArrayTerms
{
  static constexpr size_t MaximumNumberOfResults = 8;

  struct Step
  {
    CudaArrayPass Pass;
    size_t        Source;
    size_t        Destination; // not the source
  };

  size_t              NumberOfImages{ 1 };
  std::vector<Step>   Steps;
  std::vector<double> Factors; // one for each result
  CudaArrayCombine    Combine{ CudaArrayCombine::Sum };
};

/** Queues the steps one after the other, and then the combination of their results, as CudaQueueOnStream() queues
 * passes. Each pass has the bits that it has there. Products, sums and roots are rounded one by one in the type of the
 * array, and a sum is that of the first two results plus the third one, and so on. In the meantime the module's pool
 * provides memory for the images but the input and the first result.
 *
 * \param output has the input's type, device and stream, but must be other memory
 * \exception CudaError as CudaQueueOnStream() */
CudaFilters_EXPORT void
CudaQueueTermsOnStream(const CudaArrayTerms & terms, const CudaArrayMemory & input, void * output);

/** Returns the device that holds the caller's memory at `data`.
 * \exception CudaError of kind NotUsable if no device holds it, or no device can be used */
CudaFilters_EXPORT int
CudaFindDeviceOfMemory(const void * data);

/** An array viewed as an image: rows of adjacent pixels, in memory that the caller owns. */
struct CudaArrayImage
{
  CudaArrayMemory                                       Memory;
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Size;   // x first
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Stride; // in pixels
};

/** Selects the valid pixels of an array. */
struct CudaArrayMask
{
  const void * Valid{ nullptr }; // adjacent bytes, one for each pixel, 0 if it is not valid; nullptr: all are valid
  // NaN and infinite pixels are not valid either, and those that Valid includes become NaN
  bool   KeepsNaN{ false };
  double FillValue{ 0.0 }; // the output where the weight is below MinimumWeight
  double MinimumWeight{ 0.0 };
};

/** Queues the passes as CudaQueueOnStream() does, but over the valid pixels only, and divides by the weights as
 * a plan with a mask does. Each pass runs as in CudaQueueOnStream(), with the same rounding, once on the mask and once
 * on the image minus its first finite valid pixel; a division and an addition in the pixel type follow. If all pixels
 * are valid, the result is bit-identical to CudaQueueOnStream(). The device checks this itself, so
 * nothing waits on the host. In the meantime the module's pool provides memory for at most four images.
 *
 * \param passes passes of smoothing; in the mode Constant their boundary value is 0
 * \param mask has Valid or KeepsNaN; its memory is on the input's device and used on the same stream
 * \exception CudaError as CudaQueueOnStream()
 * \exception ExceptionObject if the boundary value of a pass is not 0 */
CudaFilters_EXPORT void
CudaQueueMaskedOnStream(const std::vector<CudaArrayPass> & passes,
                        const CudaArrayMask &              mask,
                        const CudaArrayMemory &            input,
                        void *                             output);

/** Queues the passes as CudaQueueOnStream() does, and checks whether the input holds NaN or infinite pixels. The check
 * precedes the passes on the stream. The host waits for the check, but not for the passes, so that the device stays
 * busy.
 *
 * \return whether the input holds such pixels, which the passes have then spread over the output
 * \exception CudaError as CudaQueueOnStream() */
CudaFilters_EXPORT bool
CudaQueueAndFindNonFinite(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output);
/** Waits for the stream's earlier work, and returns whether the array of `count` elements holds NaN or infinite pixels.
 * \exception CudaError as CudaQueueOnStream() */
CudaFilters_EXPORT bool
CudaFindNonFinite(const CudaArrayMemory & array, size_t count);

/** Runs the plan as CudaRunOnDevice() does, and looks on the device for NaN and infinite pixels of the input.
 *
 * \param found receives whether the input holds such pixels. The run may then have ended early, with any output.
 * \return false if the device ran out of memory and the backend allows the host; `found` is then not set
 * \exception CudaError, or any exception that `progress` throws */
CudaFilters_EXPORT bool
CudaRunAndFindNonFinite(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        CudaFilterBackend &          backend,
                        const CudaProgressFunction & progress,
                        bool &                       found);

/** Images of one component and one size in host memory, between which work on arrays in device memory runs. */
struct CudaHostArrays
{
  CudaImageView     Input;
  CudaImageView     Valid; // a mask of UChar, with adjacent pixels; without data there is none
  CudaImageView     Output;
  CudaComponentType ComponentType{ CudaComponentType::Float }; // of input and output on the device; or Double
};

/** Queues work on arrays of adjacent elements, as CudaQueueOnStream() does. `valid` is nullptr if there is no mask.
 * Returns false if there is no output to be downloaded. */
using CudaQueueArrays = std::function<bool(const CudaArrayMemory & input, const void * valid, void * output)>;

/** Returns the largest number of bytes of device memory of such a run, whose work needs memory for `images` images
 * besides input and output. */
CudaFilters_EXPORT size_t
CudaWorkingSet(const CudaHostArrays & arrays, size_t images);

/** Uploads the input and the mask, lets queue() queue its work on a stream of the module, and downloads the output,
 * which is complete on return. Pixels are converted as by CudaRunOnDevice().
 *
 * \return false if the device ran out of memory and the backend allows the host
 * \exception CudaError, or what `queue` or `progress` throws */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaHostArrays &       arrays,
                CudaFilterBackend &          backend,
                const CudaQueueArrays &      queue,
                const CudaProgressFunction & progress);
} // end namespace itk::CudaDetail

#endif
