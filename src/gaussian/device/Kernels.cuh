// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_Kernels_cuh
#define CudaFilters_gaussian_device_Kernels_cuh

#include "gaussian/device/ContiguousTile.cuh"
#include "gaussian/device/Tile.cuh"
#include "gaussian/device/StridedTile.cuh"

#include <type_traits>

// A block holds a tile of several lines in shared memory, and each thread owns a segment of one line. A pass has four
// steps:
//
//   Load   loads the tile by asynchronous copies
//   Ends   each thread computes the end states of both sweeps over its segment, from zero state
//   Scan   turns the end states of a line's segments into their start states
//   Filter each thread sweeps its segment again, from its true start states, and the tile is written
//
// StridedTile and ContiguousTile define the layout in memory, and LinePassKernel defines the sequence of steps.

namespace itk::cuda::gaussian
{
/** Runs a pass with VResults results. All are computed from the same states, each with its own response. */
template <typename T, unsigned int VPairs, AxisKind VKind, TileTask VTask, unsigned int VResults>
__global__ void
__launch_bounds__(VKind == AxisKind::Strided ? MaximumThreads<T> : MaximumContiguousSegments<T>,
                  VKind == AxisKind::Strided ? 1 : MinimumContiguousBlocks<T>)
  LinePassKernel(const __grid_constant__ LinePassArguments<T, VPairs> arguments)
{
  using Tile =
    std::conditional_t<VKind == AxisKind::Strided, StridedTile<T, VPairs, VTask>, ContiguousTile<T, VPairs, VTask>>;
  Tile tile(arguments);
  tile.Load();
  const SweepStates<T, VPairs> ends = GetSegmentEnds<T, VPairs>(tile, arguments.Ends);
  if constexpr (VTask == TileTask::WriteEndStates)
  {
    tile.WriteEndStates(ends);
  }
  else
  {
    const SweepStates<T, VPairs> starts = tile.Scan(ends);
    if constexpr (VKind == AxisKind::Strided)
    {
      // The warps that only hold pixels around the output are done, and the block has no further barrier.
      if (!tile.IsWritten())
      {
        return;
      }
    }
#pragma unroll
    for (unsigned int r = 0; r < VResults; ++r)
    {
      T y[SegmentLength<T>];
      FilterSegment<T, VPairs>(tile, arguments.Dynamics, arguments.Results[r].Response, starts, y);
      tile.Store(y, arguments.Results[r]);
      // The barrier keeps the compiler from holding pixels in registers for the next result, as in FilterSegment().
      __syncwarp();
    }
  }
}

/** Calls the tile's CombineResult() for the result's way to combine. */
template <typename T, unsigned int VPairs, typename TTile>
__device__ inline void
CombineResult(TTile & tile, const T (&y)[SegmentLength<T>], const LinePassResult<T, VPairs> & result)
{
  switch (result.Combine)
  {
    case CudaGaussianCombine::Add:
      tile.template CombineResult<CudaGaussianCombine::Add>(y, result);
      break;
    case CudaGaussianCombine::StoreSquare:
      tile.template CombineResult<CudaGaussianCombine::StoreSquare>(y, result);
      break;
    case CudaGaussianCombine::AddSquare:
      tile.template CombineResult<CudaGaussianCombine::AddSquare>(y, result);
      break;
    case CudaGaussianCombine::AddSquareAndRoot:
      tile.template CombineResult<CudaGaussianCombine::AddSquareAndRoot>(y, result);
      break;
    default:
      tile.template CombineResult<CudaGaussianCombine::Store>(y, result);
  }
}

/** Runs a pass along contiguous lines with one result for each source. The results are combined before they are
 * written. */
template <typename T, unsigned int VPairs, TileTask VTask>
__global__ void
__launch_bounds__(ContiguousThreads, MinimumCombiningBlocks<T>)
  CombiningLinePassKernel(const __grid_constant__ LinePassArguments<T, VPairs> arguments)
{
  ContiguousTile<T, VPairs, VTask, 2> tile(arguments);
#pragma unroll 1
  for (unsigned int source = 0; source < arguments.NumberOfSources; ++source)
  {
    if (source > 0)
    {
      tile.TakeSource(source);
    }
    tile.Load();
    const SweepStates<T, VPairs> starts = tile.Scan(GetSegmentEnds<T, VPairs>(tile, arguments.Ends));
    T                            y[SegmentLength<T>];
    FilterSegment<T, VPairs>(tile, arguments.Dynamics, arguments.Results[source].Response, starts, y);
    CombineResult<T, VPairs>(tile, y, arguments.Results[source]);
  }
  tile.StoreCombined(arguments.Results[0]);
}

template <typename T, unsigned int VPairs>
struct QuotientPassArguments
{
  LinePassArguments<T, VPairs> Pass; // sources and results are weights, then values
  Quotient<T>                  Rule;
};

static_assert(sizeof(QuotientPassArguments<double, 3>) <= 4096, "drivers before CUDA 12.1 take no more");

/** Runs the last pass of smoothing with a mask, along contiguous lines of weights and values. */
template <typename T, unsigned int VPairs, TileTask VTask>
__global__ void
__launch_bounds__(ContiguousThreads, MinimumCombiningBlocks<T>)
  QuotientLinePassKernel(const __grid_constant__ QuotientPassArguments<T, VPairs> arguments)
{
  const LinePassArguments<T, VPairs> & pass = arguments.Pass;
  ContiguousTile<T, VPairs, VTask, 2>  tile(pass);
#pragma unroll 1
  for (unsigned int source = 0; source < 2; ++source)
  {
    if (source > 0)
    {
      tile.TakeSource(source);
    }
    tile.Load();
    const SweepStates<T, VPairs> starts = tile.Scan(GetSegmentEnds<T, VPairs>(tile, pass.Ends));
    T                            y[SegmentLength<T>];
    FilterSegment<T, VPairs>(tile, pass.Dynamics, pass.Results[source].Response, starts, y);
    if (source == 0)
    {
      tile.template CombineResult<CudaGaussianCombine::Store>(y, pass.Results[source]);
    }
    else
    {
      tile.DivideResult(y, pass.Results[source], arguments.Rule);
    }
  }
  tile.StoreCombined(pass.Results[0]);
}

template <typename T, unsigned int VPairs>
struct ProductPassArguments
{
  LinePassArguments<T, VPairs> Pass; // one source for each result
  T *                          Products[MaximumProducts];
};

static_assert(sizeof(ProductPassArguments<double, 3>) <= 4096, "drivers before CUDA 12.1 take no more");

/** Runs a pass along whole contiguous lines of VSources images, and writes only the products of the results. */
template <typename T, unsigned int VPairs, unsigned int VSources>
__global__ void
__launch_bounds__(ContiguousThreads, MinimumProductBlocks<T>)
  ProductLinePassKernel(const __grid_constant__ ProductPassArguments<T, VPairs> arguments)
{
  const LinePassArguments<T, VPairs> &                  pass = arguments.Pass;
  ContiguousTile<T, VPairs, TileTask::Filter, VSources> tile(pass);
#pragma unroll 1
  for (unsigned int source = 0; source < VSources; ++source)
  {
    if (source > 0)
    {
      tile.TakeSource(source);
    }
    tile.Load();
    const SweepStates<T, VPairs> starts = tile.Scan(GetSegmentEnds<T, VPairs>(tile, pass.Ends));
    T                            y[SegmentLength<T>];
    FilterSegment<T, VPairs>(tile, pass.Dynamics, pass.Results[source].Response, starts, y);
    tile.KeepResult(y, pass.Results[source]);
  }
  tile.StoreProducts(arguments.Products);
}

/** Arguments of the scan over the states of lines, the second step of TileScan and StripScan. There are states for each
 * chunk of strided lines, or for each tile of contiguous ones; both are called chunks here. */
template <typename T, unsigned int VPairs>
struct ScanArguments
{
  LineGeometry             Geometry;
  const T *                Source;
  const T *                First; // as in LinePassArguments
  size_t                   FirstStride;
  size_t                   NumberOfChunks;
  unsigned int             LookAhead; // as in LineSchedule
  bool                     EndIsCut;
  PolePairState<T> *       States; // [chunk][sweep and pole pair][line], end states and then start states
  const PolePairState<T> * Before; // causal states at the begin of lines, [pole pair][line], or nullptr
  const PolePairState<T> * Behind; // anticausal states at the end, likewise
  LineDynamics<T, VPairs>  Dynamics;
  StateMatrix<T>           Power[VPairs];     // over a chunk
  StateMatrix<T>           LastPower[VPairs]; // over the last chunk, which may have fewer segments
};

/** Returns the state with which a sweep enters the line. Before a line all states are zero, because its first pixel is
 * zero after the subtraction. */
template <typename T, unsigned int VPairs>
__device__ inline PolePairState<T>
GetEdgeState(const ScanArguments<T, VPairs> & arguments, bool anticausal, unsigned int pair, size_t line)
{
  const LineGeometry &           geometry = arguments.Geometry;
  const size_t                   outer = line / geometry.InnerCount;
  const size_t                   inner = line % geometry.InnerCount;
  const PolePairState<T> * const carried = anticausal ? arguments.Behind : arguments.Before;
  if (carried)
  {
    return carried[pair * (geometry.InnerCount * geometry.OuterCount) + line];
  }
  if (!anticausal || arguments.EndIsCut)
  {
    return {};
  }
  const T last =
    arguments.Source[outer * geometry.OuterStride + inner + (geometry.LineLength - 1) * geometry.LineStride];
  const T first = arguments.First[outer * arguments.FirstStride + inner];
  return SteadyState(arguments.Dynamics.Section[pair], last - first);
}

/** The end states of the latest MaximumLookAhead chunks of a sweep. The latest is the last element. */
template <typename T>
struct EndStatesWindow
{
  PolePairState<T> EndStates[MaximumLookAhead];

  __device__ void
  Push(const PolePairState<T> & endState)
  {
#pragma unroll
    for (unsigned int n = 0; n + 1 < MaximumLookAhead; ++n)
    {
      EndStates[n] = EndStates[n + 1];
    }
    EndStates[MaximumLookAhead - 1] = endState;
  }
};

/** Returns the start state of the i-th chunk of the sweep, computed from the end states of the `lookAhead` chunks
 * before it, as in StridedTile::GetChunkStart(). */
template <typename T, typename TGetPower>
__device__ inline PolePairState<T>
GetWindowedStart(size_t                     i,
                 unsigned int               lookAhead,
                 const EndStatesWindow<T> & window,
                 const PolePairState<T> &   edge,
                 const TGetPower &          getPower)
{
  PolePairState<T> start;
  if (i <= lookAhead)
  {
    start = edge;
  }
#pragma unroll
  for (unsigned int back = MaximumLookAhead; back > 0; --back)
  {
    if (back <= lookAhead && back <= i)
    {
      start = Combine(window.EndStates[MaximumLookAhead - back], getPower(i - back), start);
    }
  }
  return start;
}

/** Turns the end states of the chunks into their start states, the second step of TileScan and StripScan. There is one
 * thread for each line and state. VHasWindow says whether LookAhead is not 0. */
template <typename T, unsigned int VPairs, bool VHasWindow>
__global__ void
ScanChunksKernel(const __grid_constant__ ScanArguments<T, VPairs> arguments)
{
  const size_t lines = arguments.Geometry.InnerCount * arguments.Geometry.OuterCount;
  const size_t index = size_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  if (index >= NumberOfStates<VPairs> * lines)
  {
    return;
  }
  const auto             state = static_cast<unsigned int>(index / lines);
  const size_t           line = index % lines;
  const bool             anticausal = state >= VPairs;
  const unsigned int     pair = state % VPairs;
  const PolePairState<T> edge = GetEdgeState(arguments, anticausal, pair, line);
  const size_t           chunks = arguments.NumberOfChunks;
  const auto             get = [&](size_t i) -> PolePairState<T> & {
    return arguments.States[((anticausal ? chunks - 1 - i : i) * NumberOfStates<VPairs> + state) * lines + line];
  };
  const auto getPower = [&](size_t i) -> const StateMatrix<T> & {
    return anticausal && i == 0 ? arguments.LastPower[pair] : arguments.Power[pair];
  };
  PolePairState<T>                    carried = edge;
  [[maybe_unused]] EndStatesWindow<T> window;
  for (size_t begin = 0; begin < chunks; begin += ScanBatch)
  {
    PolePairState<T> endStates[ScanBatch];
#pragma unroll
    for (unsigned int k = 0; k < ScanBatch; ++k)
    {
      endStates[k] = begin + k < chunks ? PolePairState<T>(get(begin + k)) : PolePairState<T>{};
    }
#pragma unroll
    for (unsigned int k = 0; k < ScanBatch; ++k)
    {
      const size_t i = begin + k;
      if (i >= chunks)
      {
        break;
      }
      if constexpr (VHasWindow)
      {
        get(i) = GetWindowedStart(i, arguments.LookAhead, window, edge, getPower);
        window.Push(endStates[k]);
      }
      else
      {
        get(i) = carried;
        carried = Combine(endStates[k], getPower(i), carried);
      }
    }
  }
}

constexpr unsigned int MaximumDimension = 4;

/** The components of a vector image, each in planes of rows. */
template <typename T>
struct RotationArguments
{
  T *          Component[MaximumDimension];
  T            Matrix[MaximumDimension * MaximumDimension]; // row-major
  unsigned int Dimension;
  size_t       RowLength, RowStride, Rows;
};

/** Multiplies the vector at every pixel by the matrix. */
template <typename T>
__global__ void
RotateKernel(const __grid_constant__ RotationArguments<T> arguments)
{
  const size_t index = size_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  if (index >= arguments.RowLength * arguments.Rows)
  {
    return;
  }
  const size_t offset = index / arguments.RowLength * arguments.RowStride + index % arguments.RowLength;
  T            vector[MaximumDimension] = {};
#pragma unroll
  for (unsigned int i = 0; i < MaximumDimension; ++i)
  {
    vector[i] = i < arguments.Dimension ? arguments.Component[i][offset] : T(0);
  }
#pragma unroll
  for (unsigned int i = 0; i < MaximumDimension; ++i)
  {
    if (i < arguments.Dimension)
    {
      arguments.Component[i][offset] =
        MultiplyRow(&arguments.Matrix[i * arguments.Dimension], arguments.Dimension, vector);
    }
  }
}
} // namespace itk::cuda::gaussian

#endif
