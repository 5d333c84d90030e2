// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/SlabsDevice.h"

#include "gaussian/device/Launch.cuh"

#include <algorithm>

// Computes edge states, and start states from end states, for passes across slabs. The other steps are in
// gaussian/device/LinePasses.cu.

namespace itk::cuda::gaussian
{
namespace
{
constexpr unsigned int ScanThreads = 128;

template <typename T, unsigned int VPairs>
struct EdgeStateArguments
{
  LineGeometry            Geometry;
  const T *               Source;
  const T *               First; // the pixels that are subtracted
  size_t                  FirstStride;
  PolePairState<T> *      Edges; // [pole pair][line]
  LineDynamics<T, VPairs> Dynamics;
};

template <typename T, unsigned int VPairs>
__global__ void
EdgeStatesKernel(const __grid_constant__ EdgeStateArguments<T, VPairs> arguments)
{
  const LineGeometry & geometry = arguments.Geometry;
  const size_t         lines = geometry.GetNumberOfLines();
  const size_t         line = size_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  if (line >= lines)
  {
    return;
  }
  const size_t outer = line / geometry.InnerCount;
  const size_t inner = line % geometry.InnerCount;
  const T      last =
    arguments.Source[outer * geometry.OuterStride + inner + (geometry.LineLength - 1) * geometry.LineStride];
  const T edge = last - arguments.First[outer * arguments.FirstStride + inner];
#pragma unroll
  for (unsigned int pair = 0; pair < VPairs; ++pair)
  {
    arguments.Edges[pair * lines + line] = SteadyState(arguments.Dynamics.Section[pair], edge);
  }
}

template <typename T, unsigned int VPairs>
struct ChunkStartArguments
{
  size_t                   Lines;
  unsigned int             LookAhead;
  bool                     RunsInStrips;                   // true: the arithmetic of strips; false: of tiles
  size_t                   ToBegin, ToEnd;                 // number of chunks of the line before this one and behind it
  const PolePairState<T> * EndStates[2][MaximumLookAhead]; // of the chunks before and behind, the nearest first
  const PolePairState<T> * Edges;
  PolePairState<T> *       Starts;
  StateMatrix<T>           Power[VPairs];
  StateMatrix<T>           LastPower[VPairs];
};

/** Computes the start states of a chunk. It uses the arithmetic of StripConsumer::GetStart() (where the end state of
 * the last chunk includes its edge state) or of GetWindowedStart(), so that the bits are the same. */
template <typename T, unsigned int VPairs>
__global__ void
ChunkStartsKernel(const __grid_constant__ ChunkStartArguments<T, VPairs> arguments)
{
  const size_t index = size_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  if (index >= NumberOfStates<VPairs> * arguments.Lines)
  {
    return;
  }
  const auto         state = static_cast<unsigned int>(index / arguments.Lines);
  const size_t       line = index % arguments.Lines;
  const bool         anticausal = state >= VPairs;
  const unsigned int pair = state % VPairs;
  const size_t       before = anticausal ? arguments.ToEnd : arguments.ToBegin; // chunks behind the sweep
  const bool         takesEdge = anticausal && (arguments.RunsInStrips ? before == 0 : before <= arguments.LookAhead);
  PolePairState<T>   start;
  if (takesEdge)
  {
    start = arguments.Edges[pair * arguments.Lines + line];
  }
#pragma unroll
  for (unsigned int back = MaximumLookAhead; back > 0; --back)
  {
    if (back <= arguments.LookAhead && back <= before)
    {
      const PolePairState<T> * const endStates = arguments.EndStates[anticausal ? 1 : 0][back - 1];
      const bool                     isLast = anticausal && back == before && !arguments.RunsInStrips;
      start = Combine(endStates[index], isLast ? arguments.LastPower[pair] : arguments.Power[pair], start);
    }
  }
  arguments.Starts[index] = start;
}

/** Computes the powers over a chunk and over the last chunk of a line. */
template <typename T, unsigned int VPairs>
void
SetPowers(const CudaGaussianImpulseResponse & kernel,
          const LineSchedule &                schedule,
          size_t                              length,
          StateMatrix<T> (&power)[VPairs],
          StateMatrix<T> (&lastPower)[VPairs])
{
  LineSchedule kept = schedule;
  kept.Method = RunsInStrips(schedule) ? LineMethod::StripScan : LineMethod::TileScan;
  const StoredStates states = GetStoredStates(kept, AxisKind::Strided, length, sizeof(T));
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    power[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], states.Step));
    lastPower[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], states.Last));
  }
}

} // namespace

size_t
GetEdgeStateBytes(const CudaGaussianLinePass & pass, const DeviceView & source)
{
  return GetLineStateBytes(pass, source) / 2;
}

void
RunEdgeStates(const CudaGaussianLinePass & pass,
              const DeviceView &           source,
              const LineCut &              cut,
              void *                       edges,
              const Context &              context)
{
  VisitPass(pass, source, [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int           polePairs = decltype(pairs)::value;
    const FirstPixels<T>             first = GetFirstPixels<T>(pass, source, cut);
    EdgeStateArguments<T, polePairs> arguments{};
    arguments.Geometry = MakeLineGeometry(source, pass.Axis);
    arguments.Source = static_cast<const T *>(source.Data);
    arguments.First = first.Data;
    arguments.FirstStride = first.Stride;
    arguments.Edges = static_cast<PolePairState<T> *>(edges);
    arguments.Dynamics = MakeLineDynamics<T, polePairs>(pass.Results.front().Kernel);
    const dim3 grid = MakeGrid(DivideUp(arguments.Geometry.GetNumberOfLines(), ScanThreads));
    ITK_CUDA_CALL(
      LaunchKernel(EdgeStatesKernel<T, polePairs>, grid, dim3(ScanThreads), 0, context.GetStream(), arguments));
  });
}

void
RunChunkStarts(const CudaGaussianLinePass & pass,
               const LineSchedule &         schedule,
               const DeviceView &           source,
               const ChunkNeighbors &       neighbors,
               void *                       starts,
               const Context &              context)
{
  VisitPass(pass, source, [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int            polePairs = decltype(pairs)::value;
    ChunkStartArguments<T, polePairs> arguments{};
    arguments.Lines = MakeLineGeometry(source, pass.Axis).GetNumberOfLines();
    arguments.LookAhead = schedule.LookAhead;
    arguments.RunsInStrips = RunsInStrips(schedule);
    arguments.ToBegin = neighbors.Chunk;
    arguments.ToEnd = neighbors.NumberOfChunks - 1 - neighbors.Chunk;
    for (unsigned int i = 0; i < MaximumLookAhead; ++i)
    {
      arguments.EndStates[0][i] = static_cast<const PolePairState<T> *>(neighbors.Before[i]);
      arguments.EndStates[1][i] = static_cast<const PolePairState<T> *>(neighbors.Behind[i]);
    }
    arguments.Edges = static_cast<const PolePairState<T> *>(neighbors.Edges);
    arguments.Starts = static_cast<PolePairState<T> *>(starts);
    SetPowers(pass.Results.front().Kernel, schedule, neighbors.LineLength, arguments.Power, arguments.LastPower);
    const dim3 grid = MakeGrid(DivideUp(NumberOfStates<polePairs> * arguments.Lines, ScanThreads));
    ITK_CUDA_CALL(
      LaunchKernel(ChunkStartsKernel<T, polePairs>, grid, dim3(ScanThreads), 0, context.GetStream(), arguments));
  });
}

void
RunStateScan(const CudaGaussianLinePass & pass,
             const LineSchedule &         schedule,
             const DeviceView &           source,
             const ChunkNeighbors &       line,
             void *                       states,
             const Context &              context)
{
  VisitPass(pass, source, [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int      polePairs = decltype(pairs)::value;
    ScanArguments<T, polePairs> arguments{};
    arguments.Geometry = MakeLineGeometry(source, pass.Axis);
    arguments.NumberOfChunks = line.NumberOfChunks;
    arguments.States = static_cast<PolePairState<T> *>(states);
    arguments.Behind = static_cast<const PolePairState<T> *>(line.Edges);
    arguments.EndIsCut = true; // the edge states are in Behind
    arguments.Dynamics = MakeLineDynamics<T, polePairs>(pass.Results.front().Kernel);
    SetPowers(pass.Results.front().Kernel, schedule, line.LineLength, arguments.Power, arguments.LastPower);
    const size_t count = NumberOfStates<polePairs> * arguments.Geometry.GetNumberOfLines();
    const dim3   grid = MakeGrid(DivideUp(count, ScanThreads));
    ITK_CUDA_CALL(
      LaunchKernel(ScanChunksKernel<T, polePairs, false>, grid, dim3(ScanThreads), 0, context.GetStream(), arguments));
  });
}
} // namespace itk::cuda::gaussian
