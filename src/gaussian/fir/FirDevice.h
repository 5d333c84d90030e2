// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_fir_FirDevice_h
#define CudaFilters_gaussian_fir_FirDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>

// Convolves images in device memory along one axis.

namespace itk::cuda::gaussian
{
/** Returns the bytes of device memory that a pass needs in addition to source and destination. */
CudaFilters_EXPORT size_t
GetFirWorkspace(const CudaGaussianFirPass & pass, CudaComponentType type);

/** Queues one pass. Source and destination must not overlap, and have the same size, strides and type. Rows are
 * Stride[1] apart, and each further axis is packed. The padding of the destination's rows may be written. `workspace`
 * has GetFirWorkspace() bytes. \exception CudaError */
CudaFilters_EXPORT void
RunFirPass(const CudaGaussianFirPass & pass,
           bool                        truncate,
           const DeviceView &          source,
           const DeviceView &          destination,
           Workspace                   workspace,
           const Context &             context);
} // namespace itk::cuda::gaussian

// Constants of the launches.

namespace itk::cuda::gaussian
{
/** Number of weights that a block of threads keeps in shared memory at a time. Kernels may be longer. */
constexpr unsigned int FirChunk = 256;

/** Largest radius of a convolution whose weights are arguments of the launch. The weights of larger kernels are
 * uploaded to device memory first. */
constexpr unsigned int FirInlineRadius = 127;

/** Contiguous lines: threads along a line, pixels that each thread computes, and lines of a block of threads. */
constexpr unsigned int FirContiguousThreads = 64;
constexpr unsigned int FirContiguousPixels = 4;
constexpr unsigned int FirContiguousLines = 4;

/** Strided lines: lines of a block of threads, parts of a line, and pixels that each thread computes. */
constexpr unsigned int FirStridedLines = 32;
constexpr unsigned int FirStridedParts = 8;
constexpr unsigned int FirStridedPixels = 8;

/** Largest number of products of a weight and a pixel in one launch, on devices whose driver ends long kernels. The
 * slowest GPUs with a display compute about 8e9 products of double in a second, so a launch takes an eighth of a
 * second. */
constexpr size_t FirProductsOfLaunch = size_t{ 1 } << 30;
} // namespace itk::cuda::gaussian

#endif
