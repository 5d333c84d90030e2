// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_fir_FirDevice_h
#define CudaFilters_gaussian_fir_FirDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::gaussian
{
/** Bytes of device memory that a pass needs beside source and destination. */
CudaFilters_EXPORT size_t
GetFirWorkspace(const CudaGaussianFirPass & pass, CudaComponentType type);

/** Queues one pass. Source and destination are different memory and have the same size, strides and type; rows follow
 * each other at Stride[1], and each further axis where the one before ends. The destination's padding may be written.
 * `workspace` has GetFirWorkspace() bytes. \exception CudaError */
CudaFilters_EXPORT void
RunFirPass(const CudaGaussianFirPass & pass,
           bool                        truncate,
           const DeviceView &          source,
           const DeviceView &          destination,
           Workspace                   workspace,
           const Context &             context);

/** Bytes of the workspace that RunFir() needs. */
CudaFilters_EXPORT size_t
GetFirWorkspace(const CudaGaussianFirPlan & plan, const DeviceView & input);

/** Queues a plan's passes. The output has the input's size, strides and type. If the plan allows the input to be
 * overwritten and its number of passes is even, the output is the input. The function ignores OutputOffset, which is
 * for the reader of the output. It never waits, allocates or transfers images. \exception CudaError */
CudaFilters_EXPORT void
RunFir(const CudaGaussianFirPlan & plan,
       const DeviceView &          input,
       const DeviceView &          output,
       Workspace                   workspace,
       const Context &             context);
} // namespace itk::cuda::gaussian

// Numbers only.

namespace itk::cuda::gaussian
{
/** Weights that a block of threads keeps in shared memory at a time; kernels may be longer. */
constexpr unsigned int FirChunk = 256;

/** Largest radius of a convolution whose weights are arguments of the launch. Other weights are uploaded before. */
constexpr unsigned int FirInlineRadius = 127;

/** Contiguous lines: threads along a line, pixels that each computes, and lines of a block of threads. */
constexpr unsigned int FirContiguousThreads = 64;
constexpr unsigned int FirContiguousPixels = 4;
constexpr unsigned int FirContiguousLines = 4;

/** Strided lines: lines and parts of them of a block of threads, and pixels that each thread computes. */
constexpr unsigned int FirStridedLines = 32;
constexpr unsigned int FirStridedParts = 8;
constexpr unsigned int FirStridedPixels = 8;

/** Products of a weight and a pixel in one launch, where the driver ends long kernels. The slowest GPUs with a display
 * compute some 8e9 products of double in a second: a launch takes an eighth of a second. */
constexpr size_t FirProductsOfLaunch = size_t{ 1 } << 30;
} // namespace itk::cuda::gaussian

#endif
