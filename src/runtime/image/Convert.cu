// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Convert.h"

#include "runtime/device/Call.h"
#include "runtime/image/Components.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

// Converts pixels in device memory between the layout of host images, with interleaved components of any type, and
// planar images of float or double. Transfers use it, so that raw pixels cross the link and the device converts them.

namespace itk::cuda
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;
constexpr unsigned int pixelsPerThread =
  4; // several loads in flight, because one load of a byte per thread does not saturate the memory bus
constexpr unsigned int pixelsPerTile = threadsPerBlock * pixelsPerThread;
constexpr size_t       maximumGridSize = size_t{ 1 } << 20;

/** A planar image as the kernels see it. `Data` points to component 0. */
template <typename T>
struct PlanarImage
{
  T *    Data;
  size_t Size[3];   // along x, y, z
  size_t Stride[4]; // along y, z, t and component
  size_t NumberOfComponents;
  bool   Uniform; // whether y, z and t can be treated as one axis
};

/** A run of dense pixels that starts at column `FirstColumn` of row `FirstRow`. */
struct PixelRun
{
  size_t FirstRow;
  size_t FirstColumn;
  size_t NumberOfPixels;
};

/** Returns the offset of the run's i-th pixel in a component's plane. TIndex must hold the position in the run plus its
 * first column, and the row length. */
template <typename TIndex, typename T>
__device__ inline size_t
GetPlanarOffset(const PlanarImage<T> & image, const PixelRun & run, size_t i)
{
  const TIndex position = static_cast<TIndex>(run.FirstColumn + i);
  const TIndex width = static_cast<TIndex>(image.Size[0]);
  const TIndex rowOfRun = position / width;
  const size_t x = position - rowOfRun * width;
  const size_t row = run.FirstRow + rowOfRun;
  if (image.Uniform)
  {
    return row * image.Stride[0] + x;
  }
  const size_t slice = row / image.Size[1];
  const size_t y = row - slice * image.Size[1];
  const size_t t = slice / image.Size[2];
  const size_t z = slice - t * image.Size[2];
  return y * image.Stride[0] + z * image.Stride[1] + t * image.Stride[2] + x;
}

/** Converts a run of pixels in either direction. */
template <typename TRaw, typename TPlanar, typename TIndex, bool VToPlanar>
__global__ void
__launch_bounds__(threadsPerBlock)
  PixelsKernel(std::conditional_t<VToPlanar, const TRaw, TRaw> * __restrict__ raw,
               PlanarImage<std::conditional_t<VToPlanar, TPlanar, const TPlanar>> image,
               PixelRun                                                           run)
{
  const size_t step = size_t{ gridDim.x } * pixelsPerTile;
  for (size_t tile = size_t{ blockIdx.x } * pixelsPerTile; tile < run.NumberOfPixels; tile += step)
  {
    size_t offset[pixelsPerThread];
#pragma unroll
    for (unsigned int k = 0; k < pixelsPerThread; ++k)
    {
      offset[k] = GetPlanarOffset<TIndex>(image, run, tile + k * threadsPerBlock + threadIdx.x);
    }
    for (size_t component = 0; component < image.NumberOfComponents; ++component)
    {
      auto * const plane = image.Data + component * image.Stride[3];

      std::conditional_t<VToPlanar, TRaw, TPlanar> value[pixelsPerThread];
#pragma unroll
      for (unsigned int k = 0; k < pixelsPerThread; ++k)
      {
        const size_t i = tile + k * threadsPerBlock + threadIdx.x;
        if constexpr (VToPlanar)
        {
          value[k] = i < run.NumberOfPixels ? raw[i * image.NumberOfComponents + component] : TRaw{ 0 };
        }
        else
        {
          value[k] = i < run.NumberOfPixels ? plane[offset[k]] : TPlanar{ 0 };
        }
      }
#pragma unroll
      for (unsigned int k = 0; k < pixelsPerThread; ++k)
      {
        const size_t i = tile + k * threadsPerBlock + threadIdx.x;
        if (i < run.NumberOfPixels)
        {
          if constexpr (VToPlanar)
          {
            plane[offset[k]] = ConvertComponent<TPlanar>(value[k]);
          }
          else
          {
            raw[i * image.NumberOfComponents + component] = ConvertComponent<TRaw>(value[k]);
          }
        }
      }
    }
  }
}

/** Number of pixels that are loaded and stored together. With single bytes, memory instructions and address computation
 * would be half of the work. */
constexpr unsigned int pixelsAtOnce = 4;

template <typename T>
struct alignas(sizeof(T) < 4 ? pixelsAtOnce * sizeof(T) : 16) AdjacentPixels
{
  T Value[pixelsAtOnce];
};

/** Does the same where AreAdjacent() holds, pixelsAtOnce pixels at a time. */
template <typename TRaw, typename TPlanar, typename TIndex, bool VToPlanar>
__global__ void
__launch_bounds__(threadsPerBlock)
  AdjacentPixelsKernel(std::conditional_t<VToPlanar, const TRaw, TRaw> * __restrict__ raw,
                       PlanarImage<std::conditional_t<VToPlanar, TPlanar, const TPlanar>> image,
                       PixelRun                                                           run)
{
  using FromType = AdjacentPixels<std::conditional_t<VToPlanar, TRaw, TPlanar>>;
  using ToType = AdjacentPixels<std::conditional_t<VToPlanar, TPlanar, TRaw>>;
  using ToPixel = std::conditional_t<VToPlanar, TPlanar, TRaw>;
  const auto * const from = reinterpret_cast<const FromType *>(VToPlanar ? static_cast<const void *>(raw) : image.Data);
  ToType *           to;
  if constexpr (VToPlanar)
  {
    to = reinterpret_cast<ToType *>(image.Data);
  }
  else
  {
    to = reinterpret_cast<ToType *>(raw);
  }
  const size_t end = run.NumberOfPixels / pixelsAtOnce;
  const size_t step = size_t{ gridDim.x } * pixelsPerTile;
  for (size_t tile = size_t{ blockIdx.x } * pixelsPerTile; tile < end; tile += step)
  {
    FromType value[pixelsPerThread];
    size_t   planar[pixelsPerThread];
#pragma unroll
    for (unsigned int k = 0; k < pixelsPerThread; ++k)
    {
      const size_t i = tile + k * threadsPerBlock + threadIdx.x;
      if (i < end)
      {
        planar[k] = GetPlanarOffset<TIndex>(image, run, i * pixelsAtOnce) / pixelsAtOnce;
        value[k] = from[VToPlanar ? i : planar[k]];
      }
    }
#pragma unroll
    for (unsigned int k = 0; k < pixelsPerThread; ++k)
    {
      const size_t i = tile + k * threadsPerBlock + threadIdx.x;
      if (i < end)
      {
        ToType converted;
#pragma unroll
        for (unsigned int j = 0; j < pixelsAtOnce; ++j)
        {
          converted.Value[j] = ConvertComponent<ToPixel>(value[k].Value[j]);
        }
        to[VToPlanar ? planar[k] : i] = converted;
      }
    }
  }
}

template <typename T>
bool
IsAligned(const void * address)
{
  return reinterpret_cast<uintptr_t>(address) % alignof(AdjacentPixels<T>) == 0;
}

/** Returns whether the run consists of groups of `pixelsAtOnce` pixels that are aligned and adjacent in both images. */
template <typename TRaw, typename TPlanar>
bool
AreAdjacent(const void * raw, const DeviceView & planar, const PixelRun & run)
{
  const bool fits = planar.Size[0] % pixelsAtOnce == 0 && run.FirstColumn % pixelsAtOnce == 0 &&
                    run.NumberOfPixels % pixelsAtOnce == 0 && planar.Stride[1] % pixelsAtOnce == 0 &&
                    planar.Stride[2] % pixelsAtOnce == 0 && planar.Stride[3] % pixelsAtOnce == 0;
  return fits && planar.Size[4] == 1 && IsAligned<TRaw>(raw) && IsAligned<TPlanar>(planar.Data);
}

template <typename T>
PlanarImage<T>
MakePlanarImage(const DeviceView & view)
{
  PlanarImage<T> image{};
  image.Data = static_cast<T *>(view.Data);
  image.Size[0] = view.Size[0];
  image.Stride[0] = view.Stride[1];
  image.Stride[3] = view.Stride[4];
  image.NumberOfComponents = view.Size[4];
  image.Uniform = IsUniform(view, 1, 3, view.Stride[1]);
  image.Size[1] = view.Size[1];
  image.Size[2] = view.Size[2];
  image.Stride[1] = view.Stride[2];
  image.Stride[2] = view.Stride[3];
  return image;
}

/** Returns whether positions in the run fit into 32 bits, where divisions are much faster. Positions past the end of
 * the run count too, because the last tile computes them. */
bool
FitsIn32Bits(const DeviceView & view, const PixelRun & run)
{
  constexpr size_t limit = std::numeric_limits<uint32_t>::max() - pixelsPerTile;
  return view.Size[0] <= limit && run.FirstColumn <= limit && run.NumberOfPixels <= limit - run.FirstColumn;
}

/** Returns the grid for `number` pixels or groups of pixels. */
dim3
GetGrid(size_t number)
{
  const size_t tiles = (number + pixelsPerTile - 1) / pixelsPerTile;
  return { static_cast<unsigned int>(std::min(tiles, maximumGridSize)) };
}

/** Converts a run of pixels in either direction. `TMemory` is const void for pixels that are read, otherwise void. */
template <typename TRaw, typename TPlanar, typename TMemory>
void
ConvertAs(TMemory * raw, const DeviceView & planar, const PixelRun & run, cudaStream_t stream)
{
  constexpr bool toPlanar = std::is_const_v<TMemory>;
  const auto     image = MakePlanarImage<std::conditional_t<toPlanar, TPlanar, const TPlanar>>(planar);
  auto * const   pixels = static_cast<std::conditional_t<toPlanar, const TRaw, TRaw> *>(raw);
  const bool     isShort = FitsIn32Bits(planar, run);
  if (AreAdjacent<TRaw, TPlanar>(raw, planar, run))
  {
    const auto adjacent = isShort ? AdjacentPixelsKernel<TRaw, TPlanar, uint32_t, toPlanar>
                                  : AdjacentPixelsKernel<TRaw, TPlanar, uint64_t, toPlanar>;
    const dim3 grid = GetGrid(run.NumberOfPixels / pixelsAtOnce);
    ITK_CUDA_CALL(LaunchKernel(adjacent, grid, threadsPerBlock, 0, stream, pixels, image, run));
    return;
  }
  const auto kernel =
    isShort ? PixelsKernel<TRaw, TPlanar, uint32_t, toPlanar> : PixelsKernel<TRaw, TPlanar, uint64_t, toPlanar>;
  ITK_CUDA_CALL(LaunchKernel(kernel, GetGrid(run.NumberOfPixels), threadsPerBlock, 0, stream, pixels, image, run));
}

template <typename TMemory>
void
ConvertRun(TMemory *          raw,
           CudaComponentType  rawType,
           const DeviceView & planar,
           size_t             firstPixel,
           size_t             numberOfPixels,
           cudaStream_t       stream)
{
  if (numberOfPixels == 0 || planar.Size[4] == 0)
  {
    return;
  }
  const PixelRun run{ firstPixel / planar.Size[0], firstPixel % planar.Size[0], numberOfPixels };
  VisitComponentType(rawType, [&](auto component) {
    using RawType = decltype(component);
    if (planar.ComponentType == CudaComponentType::Double)
    {
      ConvertAs<RawType, double>(raw, planar, run, stream);
    }
    else
    {
      ConvertAs<RawType, float>(raw, planar, run, stream);
    }
  });
}
} // namespace

void
ConvertToPlanar(const void *       raw,
                CudaComponentType  rawType,
                const DeviceView & planar,
                size_t             firstPixel,
                size_t             numberOfPixels,
                cudaStream_t       stream)
{
  ConvertRun(raw, rawType, planar, firstPixel, numberOfPixels, stream);
}

void
ConvertFromPlanar(const DeviceView & planar,
                  size_t             firstPixel,
                  size_t             numberOfPixels,
                  void *             raw,
                  CudaComponentType  rawType,
                  cudaStream_t       stream)
{
  ConvertRun(raw, rawType, planar, firstPixel, numberOfPixels, stream);
}
} // namespace itk::cuda
