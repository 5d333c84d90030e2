// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_Edges_cuh
#define CudaFilters_gaussian_device_Edges_cuh

#include "gaussian/device/Edges.h"
#include "gaussian/device/Tile.cuh"

// Sums the states with which sweeps enter lines in other boundary modes than Nearest, pixel by pixel
// (gaussian/device/Edges.h).

namespace itk::cuda::gaussian
{
template <typename T, unsigned int VPairs>
struct EdgeArguments
{
  const T *           Source;
  LineGeometry        Geometry;
  EdgeRule<T, VPairs> Rule;
  PolePairState<T> *  States; // [sweep and pole pair][line]
};

constexpr unsigned int EdgeThreads = 128;

/** Number of pixels of a line that are loaded at a time. */
template <AxisKind VKind>
constexpr unsigned int EdgeBatch = VKind == AxisKind::Contiguous ? WarpSize : 16;

/** Sums the pixels beyond an edge of a strided line. Neighbouring threads have neighbouring lines. */
template <typename T, unsigned int VPairs>
__device__ inline LineState<T, VPairs>
SumStridedEdge(const EdgeArguments<T, VPairs> & arguments, bool anticausal, const T * pixels)
{
  constexpr unsigned int batch = EdgeBatch<AxisKind::Strided>;
  const auto &           rule = arguments.Rule;
  const LineGeometry &   geometry = arguments.Geometry;
  const T                first = pixels[0];
  const std::ptrdiff_t   farthest = rule.Count > 0 ? GetPlaceBeyondEdge(rule, anticausal, rule.Count - 1) : 0;
  PaddedWalk             walk(rule.Mode, farthest, !anticausal, geometry.LineLength);
  return SumBeyondEdge<batch>(rule, first, [&](size_t begin, size_t end, T(&values)[batch]) {
#pragma unroll
    for (unsigned int k = batch; k-- > 0;)
    {
      values[k] = first;
      if (begin + k < end)
      {
        values[k] = pixels[static_cast<size_t>(walk.GetPosition()) * geometry.LineStride];
        walk.Advance();
      }
    }
  });
}

/** Sums the pixels beyond an edge of a contiguous line. A warp loads the pixels of its lines, 32 of each line at a
 * time, and distributes them to its threads through shared memory. */
template <typename T, unsigned int VPairs>
__device__ inline LineState<T, VPairs>
SumContiguousEdge(const EdgeArguments<T, VPairs> & arguments, bool anticausal, size_t line)
{
  constexpr unsigned int batch = EdgeBatch<AxisKind::Contiguous>;
  // The additional column avoids bank conflicts of threads that read the same pixel of their lines.
  __shared__ T         staged[EdgeThreads][WarpSize + 1];
  const auto &         rule = arguments.Rule;
  const LineGeometry & geometry = arguments.Geometry;
  const unsigned int   lane = threadIdx.x % WarpSize;
  const size_t         firstLine = line - lane;
  const auto           getLine = [&](size_t index) -> const T * {
    return arguments.Source + min(index, geometry.OuterCount - 1) * geometry.OuterStride;
  };
  const T first = *getLine(line);
  T(*const ofWarp)[WarpSize + 1] = &staged[threadIdx.x - lane];
  return SumBeyondEdge<batch>(rule, first, [&](size_t begin, size_t end, T(&values)[batch]) {
    const size_t mine = min(begin + lane, end - 1);
    const auto   position = static_cast<size_t>(GetPaddedPosition(
      rule.Mode, GetPlaceBeyondEdge(rule, anticausal, mine), static_cast<std::ptrdiff_t>(geometry.LineLength)));
    __syncwarp();
    constexpr unsigned int together = 16; // loads in flight at a time
#pragma unroll 1
    for (unsigned int i = 0; i < WarpSize; i += together)
    {
      T loaded[together];
#pragma unroll
      for (unsigned int k = 0; k < together; ++k)
      {
        loaded[k] = getLine(firstLine + i + k)[position];
      }
#pragma unroll
      for (unsigned int k = 0; k < together; ++k)
      {
        ofWarp[i + k][lane] = loaded[k];
      }
    }
    __syncwarp();
#pragma unroll
    for (unsigned int k = 0; k < batch; ++k)
    {
      values[k] = begin + k < end ? ofWarp[lane][k] : first;
    }
  });
}

/** Computes the states with which the sweeps enter their lines. There is a thread for each line; the grid's second
 * dimension is the sweep. */
template <typename T, unsigned int VPairs, AxisKind VKind>
__global__ void
__launch_bounds__(EdgeThreads) SumEdgesKernel(const __grid_constant__ EdgeArguments<T, VPairs> arguments)
{
  const LineGeometry & geometry = arguments.Geometry;
  const size_t         lines = geometry.GetNumberOfLines();
  const bool           anticausal = blockIdx.y > 0;
  const size_t         line = size_t{ blockIdx.x } * EdgeThreads + threadIdx.x;
  LineState<T, VPairs> state;
  if constexpr (VKind == AxisKind::Contiguous)
  {
    state = SumContiguousEdge(arguments, anticausal, line);
  }
  else
  {
    const size_t clamped = min(line, lines - 1);
    const size_t begin = clamped / geometry.InnerCount * geometry.OuterStride + clamped % geometry.InnerCount;
    state = SumStridedEdge(arguments, anticausal, arguments.Source + begin);
  }
#pragma unroll
  for (unsigned int j = 0; j < VPairs && line < lines; ++j)
  {
    arguments.States[((anticausal ? VPairs : 0) + j) * lines + line] = state.Pair[j];
  }
}
} // namespace itk::cuda::gaussian

#endif
