// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_GpuArrays_h
#define CudaFilters_wrapping_GpuArrays_h

// Arrays of other Python packages in GPU memory, by DLPack and the CUDA Array Interface: their exchange in both
// directions, and Gaussian passes over them.

#include "Interpreter.h"

#include "itkCudaDeviceImageView.h"

namespace cudafilters
{
/** The functions of _core for arrays in GPU memory. */
extern PyMethodDef GpuArrayMethods[];

/** For tests: returns whether memory of the host stands for that of a GPU. */
bool
IsHostUsedAsDevice();

/** Returns a view of an array that open_dlpack() opened, with the axes in the order x, y, z, t. The memory is returned
 * to the exporter when its last holder releases it. \exception ExceptionObject if the array does not have `dimension`
 * axes or components of that type, or if the pixels of a row are not adjacent */
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

/** Calls CudaDeviceImageMemory::Publish() of the image's memory. */
void
Publish(const itk::CudaDeviceImageView & view, unsigned long long stream);
} // namespace cudafilters

#endif
