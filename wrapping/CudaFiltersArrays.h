// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersArrays_h
#define CudaFiltersArrays_h

// Arrays of other Python libraries in the memory of a GPU, and device images as such arrays, by DLPack.

#include <Python.h>

#include "itkCudaDeviceImageView.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cudafilters
{
/** Lets other Python threads run until the end of the scope. */
class WithoutLock
{
public:
  WithoutLock()
    : m_State(PyEval_SaveThread())
  {}
  ~WithoutLock() { PyEval_RestoreThread(m_State); }

  WithoutLock(const WithoutLock &) = delete;
  WithoutLock &
  operator=(const WithoutLock &) = delete;

private:
  PyThreadState * const m_State;
};

/** Memory and layout of an array that cudafilters_open_dlpack() opened, as a view with the axes in the order x, y, z,
 * t. The memory is given back to the exporter when its last holder drops it. \exception ExceptionObject if the array
 * has not `dimension` axes or not components of that type, or if the pixels of a row are not adjacent */
itk::CudaDeviceImageView
ViewArray(PyObject * array, unsigned int dimension, itk::CudaComponentType type);

/** Lets `image`, whose regions are set, hold the pixels of an opened array. */
template <typename TImage>
void
Adopt(PyObject * array, TImage & image)
{
  image.SetDeviceView(ViewArray(array, TImage::ImageDimension, TImage::DeviceComponentType));
}

/** A capsule with the image's pixels, for a consumer that uses them on `stream`; versioned or, for consumers of DLPack
 * before 1.0, not. The memory lives as long as the capsule or its consumer. */
PyObject *
ExportDLPack(const itk::CudaDeviceImageView & view, unsigned int dimension, unsigned long long stream, bool versioned);

/** Bytes from one element to its neighbour, for each axis, x last. */
PyObject *
GetByteStrides(const itk::CudaDeviceImageView & view, unsigned int dimension);

/** New memory of the module's pool on `device` for an image of the size of `view`, of adjacent pixels. */
itk::CudaDeviceImageView
AllocateAdjacent(const itk::CudaDeviceImageView & view, int device);

/** An image for the result of Filter(), whose regions are set. */
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

/** Fills `result`, adjacent pixels of float or double, with what passes make of an opened array of the same size and
 * type, on CUDA's default stream; the host waits for the work. With `valid`, which is None or an opened array of one
 * byte for each pixel, or keepsNaN as cudafilters_run_masked_passes(). */
void
Filter(const itk::CudaDeviceImageView & result,
       PyObject *                       passes,
       PyObject *                       input,
       PyObject *                       valid,
       bool                             keepsNaN,
       size_t                           items,
       double                           smallestWeight);

/** Before a caller queues work on `stream` that writes the image. */
void
BeginWriting(const itk::CudaDeviceImageView & view, unsigned long long stream);

/** Behind that work, for which the host waits. */
void
FinishWriting(const itk::CudaDeviceImageView & view, unsigned long long stream);

/** CudaDeviceImageMemory::Publish(). */
void
Publish(const itk::CudaDeviceImageView & view, unsigned long long stream);
} // namespace cudafilters

/** Takes the array out of a capsule: (handle, type of device, device, code of the type, its bits, shape, strides in
 * elements, whether it is read-only, address of the first element). The handle keeps the memory. */
PyObject *
cudafilters_open_dlpack(PyObject * capsule);

/** What cudafilters_open_dlpack() gives, of an array with a CUDA Array Interface: `layout` is (address, code of the
 * type, its bits, shape, strides in elements, whether it is read-only, the stream on which `owner` works or 0). */
PyObject *
cudafilters_open_interface(PyObject * owner, PyObject * layout);

/** What cudafilters_open_dlpack() gives, and the stream on which the array's package works, by the C functions that
 * the array's type has in `__dlpack_c_exchange_api__`; None without them. Nothing is ordered: use the array on that
 * stream. */
PyObject *
cudafilters_open_exchanged(PyObject * array);

/** A new array of the package of `array`, which has those C functions, for the size, type and device of an opened one:
 * (array, handle, address of the first element). */
PyObject *
cudafilters_new_exchanged(PyObject * array, PyObject * opened);

/** Passes over arrays of adjacent pixels: a tuple of (outer, length, inner, sigma, order, mode) for each, along the
 * axis of `length`. `value` is what continues lines in the mode constant. The result is for cudafilters_run_passes(),
 * any number of times. */
PyObject *
cudafilters_make_passes(PyObject * passes, double value, const std::string & approximation);

/** Runs passes, each over the result of the one before, on the stream of the arrays' owner, who keeps both arrays until
 * the work is queued. */
void
cudafilters_run_passes(PyObject *         passes,
                       unsigned long long input,
                       unsigned long long output,
                       bool               is_double,
                       int                device,
                       unsigned long long stream);

/** The same, and whether the input holds NaN or infinite pixels: itk::CudaDetail::CudaQueueAndLookForNonFinite(). */
bool
cudafilters_run_passes_and_look(PyObject *         passes,
                                unsigned long long input,
                                unsigned long long output,
                                bool               is_double,
                                int                device,
                                unsigned long long stream);

/** Smooths `items` arrays that lie one behind the other, each by the passes over its pixels that count, without those
 * of the others: itk::CudaDetail::CudaQueueMaskedOnStream(). `valid` is the address of a byte for each pixel, or 0;
 * where the weight is below smallest_weight the output is NaN. */
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

/** For tests: memory of the host counts as that of a GPU, and the filters' work on it is done at once on the host. */
void
cudafilters_use_host_as_device(bool use);
bool
cudafilters_is_host_used_as_device();

#endif
