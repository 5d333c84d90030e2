// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianFirTuning_h
#define itkCudaGaussianFirTuning_h

#include <cstddef>

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
