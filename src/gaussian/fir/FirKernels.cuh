// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_fir_FirKernels_cuh
#define CudaFilters_gaussian_fir_FirKernels_cuh

#include "gaussian/fir/FirCore.h"
#include "gaussian/fir/FirDevice.h"
#include "runtime/image/LineGroups.h"

#include <cuda_runtime.h>

// Kernels that convolve the lines of an image: one for lines along x, whose pixels are adjacent, and one for strided
// lines.

namespace itk::cuda::gaussian
{
template <typename T>
struct FirArguments
{
  const T *            Source;
  T *                  Destination;
  LineGeometry         Geometry;
  unsigned int         FirstBlock; // index of this launch's first block among the blocks of the pass
  CudaLineContinuation Continuation;
  T                    Constant;
  unsigned int         NumberOfWeights;
  const T *            Table; // weights of a radius beyond FirInlineRadius
  T                    Inline[2 * FirInlineRadius + 1];

  __device__ T
  GetWeight(unsigned int k) const
  {
    return NumberOfWeights <= 2 * FirInlineRadius + 1 ? Inline[k] : Table[k];
  }
};

/** Loads up to FirChunk weights, from `first` on, into shared memory with all threads of the block. Returns their
 * number. */
template <typename T>
__device__ inline unsigned int
LoadWeights(const FirArguments<T> & pass, unsigned int first, T (&weights)[FirChunk])
{
  const unsigned int count = min(FirChunk, pass.NumberOfWeights - first);
  const unsigned int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (unsigned int k = thread; k < count; k += blockDim.x * blockDim.y)
  {
    weights[k] = pass.GetWeight(first + k);
  }
  return count;
}

/** Replaces the centres that must not be subtracted by 0 (MayBeCentre()). The pixels are checked one by one only if
 * there is such a pixel. */
template <typename T, bool VTruncate, unsigned int VNumber>
__device__ inline void
CheckCentres(FirSum<T, VTruncate> (&sums)[VNumber])
{
  bool mayAllBe = true;
#pragma unroll
  for (unsigned int v = 0; v < VNumber; ++v)
  {
    mayAllBe = mayAllBe & MayBeCentre(sums[v].Centre);
  }
  if (!VTruncate && !mayAllBe)
  {
#pragma unroll
    for (unsigned int v = 0; v < VNumber; ++v)
    {
      sums[v] = FirSum<T, VTruncate>(sums[v].Centre);
    }
  }
}

/** Convolves lines of adjacent pixels. A block of threads computes a part of several lines. threadIdx.y is the line,
 * and a thread's pixels are blockDim.x apart, so that neighbouring threads read neighbouring addresses. */
template <typename T, bool VTruncate>
__global__ void
__launch_bounds__(FirContiguousThreads * FirContiguousLines)
  ContiguousFirKernel(const __grid_constant__ FirArguments<T> pass)
{
  constexpr unsigned int step = FirContiguousThreads;
  constexpr unsigned int part = step * FirContiguousPixels;
  __shared__ T           weights[FirChunk];
  __shared__ T           pixels[FirContiguousLines][part + FirChunk];

  const LineGeometry & geometry = pass.Geometry;
  const auto           length = static_cast<ptrdiff_t>(geometry.LineLength);
  const size_t         parts = (geometry.LineLength + part - 1) / part;
  const unsigned int   block = pass.FirstBlock + blockIdx.x;
  const auto           begin = static_cast<ptrdiff_t>(block % parts * part);
  const size_t         line = block / parts * FirContiguousLines + threadIdx.y;
  const T * const      source = pass.Source + min(line, geometry.OuterCount - 1) * geometry.OuterStride;
  const auto           load = [source](ptrdiff_t n) { return source[n]; };

  FirSum<T, VTruncate> sums[FirContiguousPixels] = {
    FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0)
  };
  static_assert(FirContiguousPixels == 4, "one sum for each");
#pragma unroll
  for (unsigned int v = 0; v < FirContiguousPixels; ++v)
  {
    const ptrdiff_t n = begin + threadIdx.x + v * step;
    sums[v].Centre = load(min(n, length - 1));
  }
  for (unsigned int first = 0; first < pass.NumberOfWeights; first += FirChunk)
  {
    __syncthreads(); // other threads may still read the arrays
    const unsigned int count = LoadWeights(pass, first, weights);
    const ptrdiff_t    leftmost = begin + first - static_cast<ptrdiff_t>(pass.NumberOfWeights / 2);
    for (unsigned int i = threadIdx.x; i < part + count - 1; i += step)
    {
      // Positions that only results beyond the end of the line would need are clamped.
      const ptrdiff_t n = min(leftmost + i, length - 1 + static_cast<ptrdiff_t>(pass.NumberOfWeights / 2));
      pixels[threadIdx.y][i] = LoadPadded(n, length, pass.Continuation, pass.Constant, load);
    }
    __syncthreads();
    if (first == 0)
    {
      CheckCentres(sums); // here, because the centres' loads take as long as those of the weights
    }
    for (unsigned int k = 0; k < count; ++k)
    {
      const T weight = weights[k];
#pragma unroll
      for (unsigned int v = 0; v < FirContiguousPixels; ++v)
      {
        sums[v].Add(weight, pixels[threadIdx.y][threadIdx.x + v * step + k]);
      }
    }
  }
  if (line < geometry.OuterCount)
  {
    T * const destination = pass.Destination + line * geometry.OuterStride;
#pragma unroll
    for (unsigned int v = 0; v < FirContiguousPixels; ++v)
    {
      const ptrdiff_t n = begin + threadIdx.x + v * step;
      if (n < length)
      {
        destination[n] = sums[v].Get();
      }
    }
  }
}

/** Convolves strided lines. threadIdx.x is the line, and a thread computes adjacent pixels of one line. */
template <typename T, bool VTruncate>
__global__ void
__launch_bounds__(FirStridedLines * FirStridedParts) StridedFirKernel(const __grid_constant__ FirArguments<T> pass)
{
  constexpr int          pixels = FirStridedPixels;
  constexpr unsigned int part = FirStridedParts * FirStridedPixels;
  __shared__ T           weights[FirChunk];

  const LineGeometry & geometry = pass.Geometry;
  const auto           length = static_cast<ptrdiff_t>(geometry.LineLength);
  const size_t         columnBlocks = (geometry.InnerCount + FirStridedLines - 1) / FirStridedLines;
  const size_t         parts = (geometry.LineLength + part - 1) / part;
  const unsigned int   block = pass.FirstBlock + blockIdx.x;
  const size_t         column = block % columnBlocks * FirStridedLines + threadIdx.x;
  const size_t         rest = block / columnBlocks;
  const auto           begin = static_cast<ptrdiff_t>(rest % parts * part + threadIdx.y * FirStridedPixels);
  const bool           valid = column < geometry.InnerCount && begin < length;
  const size_t         base = rest / parts * geometry.OuterStride + min(column, geometry.InnerCount - 1);
  const T * const      source = pass.Source + base;
  const auto           load = [&](ptrdiff_t n) { return source[static_cast<size_t>(n) * geometry.LineStride]; };
  const auto           radius = static_cast<ptrdiff_t>(pass.NumberOfWeights / 2);

  FirSum<T, VTruncate> sums[pixels] = { FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0),
                                        FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0),
                                        FirSum<T, VTruncate>(0), FirSum<T, VTruncate>(0) };
  static_assert(FirStridedPixels == 8, "one sum for each");
#pragma unroll
  for (int v = 0; v < pixels; ++v)
  {
    sums[v].Centre = load(min(begin + v, length - 1));
  }
  for (unsigned int first = 0; first < pass.NumberOfWeights; first += FirChunk)
  {
    __syncthreads(); // other threads may still read the weights
    const int count = static_cast<int>(LoadWeights(pass, first, weights));
    __syncthreads();
    if (!valid)
    {
      continue;
    }
    if (first == 0)
    {
      CheckCentres(sums);
    }
    // Pixel `leftmost + t` has weight t - v in the sum of pixel v.
    const ptrdiff_t leftmost = begin + first - radius;
    for (int t = 0; t < count + pixels - 1; ++t)
    {
      const ptrdiff_t n = min(leftmost + t, length - 1 + radius);
      const T         x = LoadPadded(n, length, pass.Continuation, pass.Constant, load);
#pragma unroll
      for (int v = 0; v < pixels; ++v)
      {
        if (t >= v && t - v < count)
        {
          sums[v].Add(weights[t - v], x);
        }
      }
    }
  }
  if (valid)
  {
    T * const destination = pass.Destination + base;
#pragma unroll
    for (int v = 0; v < pixels; ++v)
    {
      if (begin + v < length)
      {
        destination[static_cast<size_t>(begin + v) * geometry.LineStride] = sums[v].Get();
      }
    }
  }
}
} // namespace itk::cuda::gaussian

#endif
