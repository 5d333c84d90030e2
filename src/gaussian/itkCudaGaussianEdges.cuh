// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianEdges_cuh
#define itkCudaGaussianEdges_cuh

#include "itkCudaGaussianEdges.h"
#include "itkCudaGaussianTile.cuh"

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

/** The states with which the sweeps enter their lines: a thread for each line, and the grid's second dimension for the
 * sweeps. The pixels of contiguous lines reach a warp's threads through shared memory, 32 of each line at a time. */
template <typename T, unsigned int VPairs, AxisKind VKind>
__global__ void
__launch_bounds__(EdgeThreads) SumEdgesKernel(const __grid_constant__ EdgeArguments<T, VPairs> arguments)
{
  constexpr bool isContiguous = VKind == AxisKind::Contiguous;
  // One more column: threads that read the same pixel of their lines use different banks.
  __shared__ T         staged[isContiguous ? EdgeThreads : 1][isContiguous ? WarpSize + 1 : 1];
  const LineGeometry & geometry = arguments.Geometry;
  const auto &         rule = arguments.Rule;
  const size_t         lines = geometry.GetNumberOfLines();
  const bool           anticausal = blockIdx.y > 0;
  const unsigned int   lane = threadIdx.x % WarpSize;
  const size_t         line = size_t{ blockIdx.x } * EdgeThreads + threadIdx.x;
  const auto           getLine = [&](size_t index) -> ContinuedLine<T> {
    const size_t clamped = min(index, lines - 1);
    const size_t begin = clamped / geometry.InnerCount * geometry.OuterStride + clamped % geometry.InnerCount;
    return { arguments.Source + begin, geometry.LineStride, geometry.LineLength, rule.Mode, rule.Value };
  };
  const ContinuedLine<T> own = getLine(line);
  const auto             getPixel = [&](size_t m) -> T {
    if constexpr (isContiguous)
    {
      T(*const ofWarp)[WarpSize + 1] = &staged[threadIdx.x - lane];
      if (m % WarpSize == WarpSize - 1 || m + 1 == rule.Count)
      {
        const size_t mine = m / WarpSize * WarpSize + lane;
        __syncwarp();
#pragma unroll 8
        for (unsigned int i = 0; i < WarpSize; ++i)
        {
          ofWarp[i][lane] =
            mine < rule.Count ? getLine(line - lane + i).Get(GetPlaceBeyondEdge(rule, anticausal, mine)) : T(0);
        }
        __syncwarp();
      }
      return ofWarp[lane][m % WarpSize];
    }
    else
    {
      return own.Get(GetPlaceBeyondEdge(rule, anticausal, m));
    }
  };
  const LineState<T, VPairs> state = SumBeyondEdge(rule, own.Get(0), getPixel);
#pragma unroll
  for (unsigned int j = 0; j < VPairs && line < lines; ++j)
  {
    arguments.States[((anticausal ? VPairs : 0) + j) * lines + line] = state.Pair[j];
  }
}
} // namespace itk::cuda::gaussian

#endif
