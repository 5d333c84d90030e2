// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_Convert_h
#define CudaFilters_runtime_image_Convert_h

#include "CudaFiltersExport.h"
#include "runtime/image/DeviceView.h"

#include <cuda_runtime.h>

#include <cstddef>

// Converts pixels in device memory between dense pixels with interleaved components, as host images have them, and
// planar images.

namespace itk::cuda
{
/** Converts `numberOfPixels` dense pixels at `raw` (device memory, interleaved components) to pixels of the planar
 * image. The first of them becomes pixel `firstPixel` of the image, counted along x, then y, z, t. */
CudaFilters_EXPORT void
ConvertToPlanar(const void *       raw,
                CudaComponentType  rawType,
                const DeviceView & planar,
                size_t             firstPixel,
                size_t             numberOfPixels,
                cudaStream_t       stream);

/** Converts pixels of the planar image to dense pixels with interleaved components. For integer types, values are
 * truncated toward zero and clamped to the range of the type, and NaN becomes 0. */
CudaFilters_EXPORT void
ConvertFromPlanar(const DeviceView & planar,
                  size_t             firstPixel,
                  size_t             numberOfPixels,
                  void *             raw,
                  CudaComponentType  rawType,
                  cudaStream_t       stream);
} // namespace itk::cuda

#endif
