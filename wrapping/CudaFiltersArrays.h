// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersArrays_h
#define CudaFiltersArrays_h

// Exchanges arrays in GPU memory with other Python libraries through DLPack, in both directions.

#include "core/Interpreter.h"

#include "itkCudaDeviceImageView.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cudafilters
{
/** Returns a view of an array that cudafilters_open_dlpack() opened, with the axes in the order x, y, z, t. The memory
 * is returned to the exporter when its last holder releases it. \exception ExceptionObject if the array does not have
 * `dimension` axes or components of that type, or if the pixels of a row are not adjacent */
itk::CudaDeviceImageView
ViewArray(PyObject * array, unsigned int dimension, itk::CudaComponentType type);

/** Makes `image`, whose regions must be set, refer to the pixels of an opened array. */
template <typename TImage>
void
Adopt(PyObject * array, TImage & image)
{
  image.SetDeviceView(ViewArray(array, TImage::ImageDimension, TImage::DeviceComponentType));
}

/** Returns a DLPack capsule with the image's pixels, for a consumer that uses them on `stream`. The capsule is
 * versioned, or unversioned for consumers of DLPack before 1.0. The memory lives as long as the capsule or its
 * consumer. */
PyObject *
ExportDLPack(const itk::CudaDeviceImageView & view, unsigned int dimension, unsigned long long stream, bool versioned);

/** Returns a tuple of the strides in bytes along each axis, x last. */
PyObject *
GetByteStrides(const itk::CudaDeviceImageView & view, unsigned int dimension);

/** Allocates memory from the module's pool on `device` for an image of adjacent pixels of the size of `view`. */
itk::CudaDeviceImageView
AllocateAdjacent(const itk::CudaDeviceImageView & view, int device);

/** Allocates the pixels of an image that receives the result of Filter(). Its regions must be set. */
template <typename TImage>
void
Allocate(TImage & image, int device)
{
  itk::CudaDeviceImageView view;
  const auto &             size = image.GetLargestPossibleRegion().GetSize();
  std::copy_n(size.begin(), TImage::ImageDimension, view.Size.begin());
  view.ComponentType = TImage::DeviceComponentType;
  image.SetDeviceView(AllocateAdjacent(view, device));
}

/** Runs passes over an opened array and stores the result in `result`, which has the same size and type, with adjacent
 * pixels of float or double. The work runs on CUDA's default stream, and the host waits for it. With `valid`, which is
 * None or an opened array of one byte per pixel, or with keepsNaN, it works as cudafilters_run_masked_passes(). */
void
Filter(const itk::CudaDeviceImageView & result,
       PyObject *                       passes,
       PyObject *                       input,
       PyObject *                       valid,
       bool                             keepsNaN,
       size_t                           items,
       double                           smallestWeight);

/** Orders `stream` after earlier work on the image. To be called before work that writes the image is queued there. */
void
BeginWriting(const itk::CudaDeviceImageView & view, unsigned long long stream);

/** Marks the end of that work, and waits until it is done. */
void
FinishWriting(const itk::CudaDeviceImageView & view, unsigned long long stream);

/** Calls CudaDeviceImageMemory::Publish() of the image's memory. */
void
Publish(const itk::CudaDeviceImageView & view, unsigned long long stream);
} // namespace cudafilters

/** Consumes a capsule and returns its array: (handle, device type, device, code of the type, bits of the type, shape,
 * strides in elements, whether it is read-only, address of the first element). The handle keeps the memory alive. */
PyObject *
cudafilters_open_dlpack(PyObject * capsule);

/** Opens an array with a CUDA Array Interface, and returns it as cudafilters_open_dlpack() does. `layout` is (address,
 * code of the type, bits of the type, shape, strides in elements, whether it is read-only, the stream on which `owner`
 * works or 0). */
PyObject *
cudafilters_open_interface(PyObject * owner, PyObject * layout);

/** Opens an array through the C functions that its type has in `__dlpack_c_exchange_api__`. Returns a pair of what
 * cudafilters_open_dlpack() returns and the stream on which the array's package works, or None if the type has no such
 * functions. No streams are synchronized, so the array must be used on the returned stream. */
PyObject *
cudafilters_open_exchanged(PyObject * array);

/** Lets the package of `array`, which must have those C functions, allocate an array of the size, type and device of an
 * opened one. Returns (array, handle, address of the first element). */
PyObject *
cudafilters_new_exchanged(PyObject * array, PyObject * opened);

/** Returns a capsule of passes over arrays of adjacent pixels, to be run any number of times. Each pass is a tuple
 * (outer, length, inner, sigma, order, mode), and runs along the axis of `length`. `value` continues the lines in the
 * mode constant. */
PyObject *
cudafilters_make_passes(PyObject * passes, double value, const std::string & approximation);

/** Queues passes, each of which filters the result of the previous one, on the stream of the arrays' owner. The caller
 * keeps both arrays alive until the work is queued. */
void
cudafilters_run_passes(PyObject *         passes,
                       unsigned long long input,
                       unsigned long long output,
                       bool               is_double,
                       int                device,
                       unsigned long long stream);

/** Queues passes as cudafilters_run_passes(), and returns whether the input has pixels that are NaN or infinite. See
 * itk::CudaDetail::CudaQueueAndFindNonFinite(). */
bool
cudafilters_run_passes_and_look(PyObject *         passes,
                                unsigned long long input,
                                unsigned long long output,
                                bool               is_double,
                                int                device,
                                unsigned long long stream);

/** Queues the smoothing of `items` consecutive arrays, each separately and over its valid pixels only. `valid` is the
 * address of a mask of one byte per pixel, or 0. With keeps_nan, pixels that are NaN or infinite do not count. The
 * output is NaN where the weight is below smallest_weight. See itk::CudaDetail::CudaQueueMaskedOnStream(). */
void
cudafilters_run_masked_passes(PyObject *         passes,
                              unsigned long long input,
                              unsigned long long valid,
                              bool               keeps_nan,
                              unsigned long long output,
                              size_t             items,
                              double             smallest_weight,
                              bool               is_double,
                              int                device,
                              unsigned long long stream);

/** For tests: treats host memory as GPU memory, and runs the filters' work on it synchronously on the host. */
void
cudafilters_use_host_as_device(bool use);
bool
cudafilters_is_host_used_as_device();

#endif
