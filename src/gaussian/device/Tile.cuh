// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_Tile_cuh
#define CudaFilters_gaussian_device_Tile_cuh

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "gaussian/device/BulkCopy.cuh"
#include "gaussian/Core.h"
#include "gaussian/device/Edges.h"
#include "gaussian/plan/Schedule.h"
#include "gaussian/plan/Tuning.h"
#include "runtime/image/LineGroups.h"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// Code that both kinds of tile share: the arguments of a pass, and the position of a tile on its lines.

namespace itk::cuda::gaussian
{
/** Powers of the state matrix over 0 to 32 segments. For three pole pairs in double, the powers beyond 16 are products
 * of two stored ones, because a kernel's arguments are limited to 4096 bytes in drivers before CUDA 12.1. */
template <typename T, unsigned int VPairs>
struct SegmentPowers
{
  static constexpr unsigned int Last = sizeof(T) == 8 && VPairs > 2 ? WarpSize / 2 : WarpSize;

  StateMatrix<T> Power[VPairs][Last + 1];

  __device__ StateMatrix<T>
             Get(unsigned int pair, unsigned int segments) const
  {
    if constexpr (Last < WarpSize)
    {
      if (segments > Last)
      {
        return Multiply(Power[pair][Last], Power[pair][segments - Last]);
      }
    }
    return Power[pair][segments];
  }
};

/** Weights that give the end states of both sweeps over a segment of L = VLength pixels. The causal (anticausal) end
 * state is the sum over k < L / 2 of Even[k] (x[k] + x[L-1-k]) minus (plus) Odd[k] (x[k] - x[L-1-k]). */
template <typename T, unsigned int VPairs, unsigned int VLength>
struct EndWeights
{
  LineState<T, VPairs> Even[VLength / 2];
  LineState<T, VPairs> Odd[VLength / 2];
};

/** One result of a pass. */
template <typename T, unsigned int VPairs>
struct LinePassResult
{
  T *                     Destination;
  LineResponse<T, VPairs> Response;
  CudaGaussianCombine     Combine; // contiguous lines only; strided ones store
};

constexpr unsigned int MaximumResults = 3;

/** Number of products of two of MaximumResults results, including the squares. */
constexpr unsigned int MaximumProducts = MaximumResults * (MaximumResults + 1) / 2;

/** Arguments of a pass. Along strided lines a pass has several results of one source. Along contiguous lines it has
 * several sources with one result each, and the results are combined in one image. */
template <typename T, unsigned int VPairs>
struct LinePassArguments
{
  const T *                Sources[MaximumResults];
  const unsigned char *    Mask;      // for TileTask::FilterMask and FilterValid: with the strides of the destination
  const T *                Reference; // for TileTask::FilterValid: the value that is subtracted from valid pixels
  unsigned int             NumberOfSources;
  const T *                First;       // strided lines: the pixels that are subtracted, one per line
  size_t                   FirstStride; // elements between the first pixels of two consecutive groups of lines
  bool                     EndIsCut;    // whether strided lines continue behind their ends
  PolePairState<T> *       States;      // TileScan, StripScan: [chunk][sweep and pole pair][line]
  const PolePairState<T> * Edges[MaximumResults]; // edge states of each source's lines, [sweep and pole pair][line];
                                                  // nullptr: lines continue with their edge values
  LineGeometry                            Geometry;
  bool                                    Aligned; // every line or row of lines begins at a multiple of 16 bytes
  LineSchedule                            Schedule;
  LineDynamics<T, VPairs>                 Dynamics;
  EdgeStateSolver<T, VPairs>              EdgeSolver; // for TileTask::FilterFromEndStates
  SegmentPowers<T, VPairs>                Powers;
  EndWeights<T, VPairs, SegmentLength<T>> Ends;
  unsigned int                            Width; // contiguous lines: segments of a part of a line (WarpShares)
  unsigned int                            Reach; // segments over which a state decays below rounding
  LinePassResult<T, VPairs>               Results[MaximumResults];
  // Tensor maps for contiguous lines: an image is the array [line][segment][pixel], without an incomplete last segment
  // of a line. One copy moves the segments of a warp.
  bool        LoadsInBulk;
  bool        StoresInBulk;
  CUtensorMap SourceMaps[MaximumResults];
  CUtensorMap DestinationMap;
};

static_assert(sizeof(LinePassArguments<double, 3>) <= 4096, "drivers before CUDA 12.1 take no more");

/** Returns a line that continues as the schedule says. */
template <typename T>
__device__ inline PaddedLine<T>
GetPaddedLine(const LineSchedule & schedule, const LineGeometry & geometry, const T * pixels)
{
  const CudaGaussianBoundary & boundary = schedule.Boundary;
  return { pixels, geometry.LineStride, geometry.LineLength, boundary.Mode, static_cast<T>(boundary.Value) };
}

/** What a kernel does with its tile. */
enum class TileTask : unsigned char
{
  Filter,              // computes the edge states from the tile's own end pixels
  WriteEndStates,      // first step of TileScan and StripScan: writes the end states of tiles or chunks
  FilterFromStates,    // their last step: filters from the start states that the scan has made of them
  FilterFromEndStates, // computes the edge states from the line's end states, as its boundary mode says
                       // (EdgeStateSolver)
  FilterWholeLines,    // all steps of StripScan, for lines of few chunks
  FilterMask,          // Filter for strided lines whose pixels are the weights of a mask
  FilterValid          // Filter for strided lines of valid pixels less a value, with zeros elsewhere
};

/** Whether a task computes the pixels of its lines from a mask. */
template <TileTask VTask>
constexpr bool ReadsMask = VTask == TileTask::FilterMask || VTask == TileTask::FilterValid;

/** States of both sweeps. Index 0 is the causal sweep. */
template <typename T, unsigned int VPairs>
struct SweepStates
{
  LineState<T, VPairs> Sweep[2];
};

/** Number of states of both sweeps. */
template <unsigned int VPairs>
constexpr unsigned int NumberOfStates = 2 * VPairs;

/** A tile's part of the line. `Begin` is the first pixel that is read; the other positions are relative to it. */
struct TileRange
{
  size_t       Begin;
  unsigned int ReadEnd, WriteBegin, WriteEnd;
};

__device__ inline TileRange
GetTileRange(const LineSchedule & schedule, size_t lineLength, size_t tile)
{
  if (schedule.NumberOfTiles == 1)
  {
    const auto end = static_cast<unsigned int>(lineLength);
    return { 0, end, 0, end };
  }
  const size_t writeBegin = tile * schedule.Step;
  const size_t writeEnd = min(writeBegin + schedule.Step, lineLength);
  TileRange    range;
  range.Begin = writeBegin > schedule.WarmUp ? writeBegin - schedule.WarmUp : 0;
  range.ReadEnd = static_cast<unsigned int>(min(writeEnd + schedule.WarmUp, lineLength) - range.Begin);
  range.WriteBegin = static_cast<unsigned int>(writeBegin - range.Begin);
  range.WriteEnd = static_cast<unsigned int>(writeEnd - range.Begin);
  return range;
}

/** Returns the dynamic shared memory of the block. */
__device__ inline unsigned char *
GetSharedMemory()
{
  extern __shared__ __align__(1024) unsigned char shared[];
  return shared;
}

/** Copies 16 bytes to shared memory asynchronously. Only the first `count` elements are read; the others are set to
 * zero. */
template <typename T>
__device__ inline void
CopyVectorAsync(T * destination, const T * source, unsigned int count)
{
  constexpr unsigned int perVector = 16 / sizeof(T);
  __pipeline_memcpy_async(destination, source, 16, (perVector - min(count, perVector)) * sizeof(T));
}

template <typename T>
__device__ inline T
ShuffleUp(T value, unsigned int delta, unsigned int width)
{
  return __shfl_up_sync(0xffffffffu, value, delta, width);
}
template <typename T>
__device__ inline T
ShuffleDown(T value, unsigned int delta, unsigned int width)
{
  return __shfl_down_sync(0xffffffffu, value, delta, width);
}
} // namespace itk::cuda::gaussian

// A thread's work on its segment of a line, independent of where the pixels are stored. TTile::TakeQuad() loads pixels
// the first time, and TTile::LoadQuad() after that. TTile::Length is the number of pixels of a segment.
// TTile::ReadsTwice says whether there are too few registers to keep them.

namespace itk::cuda::gaussian
{
/** Returns the end states of the thread's segment, each sweep from zero state. Both sweeps weigh pixel k and its mirror
 * image with the same two numbers, so that the sum and the difference of the two pixels serve both sweeps. */
template <typename T, unsigned int VPairs, typename TTile>
__device__ inline SweepStates<T, VPairs>
GetSegmentEnds(const TTile & tile, const EndWeights<T, VPairs, TTile::Length> & weights)
{
  constexpr unsigned int quads = TTile::Length / 4;
  LineState<T, VPairs>   even, odd;
#pragma unroll
  for (unsigned int q = 0; q < quads / 2; ++q)
  {
    T fromBegin[4], fromEnd[4];
    tile.TakeQuad(q, fromBegin);
    tile.TakeQuad(quads - 1 - q, fromEnd);
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      const T sum = fromBegin[k] + fromEnd[3 - k];
      const T difference = fromBegin[k] - fromEnd[3 - k];
#pragma unroll
      for (unsigned int j = 0; j < VPairs; ++j)
      {
        const PolePairState<T> & forSum = weights.Even[4 * q + k].Pair[j];
        const PolePairState<T> & forDifference = weights.Odd[4 * q + k].Pair[j];
        even.Pair[j].U += forSum.U * sum;
        even.Pair[j].V += forSum.V * sum;
        odd.Pair[j].U += forDifference.U * difference;
        odd.Pair[j].V += forDifference.V * difference;
      }
    }
  }
  SweepStates<T, VPairs> states;
#pragma unroll
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    states.Sweep[0].Pair[j] = { even.Pair[j].U - odd.Pair[j].U, even.Pair[j].V - odd.Pair[j].V };
    states.Sweep[1].Pair[j] = { even.Pair[j].U + odd.Pair[j].U, even.Pair[j].V + odd.Pair[j].V };
  }
  return states;
}

/** Computes the response of the thread's segment, without the line's offset. The contributions of the sweeps are added
 * first, and the pixel's own contribution last. The mirror image of a line within one segment therefore gives the
 * mirror image of the result, bit for bit. */
template <typename T, unsigned int VPairs, typename TTile>
__device__ inline void
FilterSegment(const TTile &                   tile,
              const LineDynamics<T, VPairs> & dynamics,
              const LineResponse<T, VPairs> & response,
              SweepStates<T, VPairs>          states,
              T (&y)[TTile::Length])
{
  constexpr unsigned int quads = TTile::Length / 4;
#pragma unroll
  for (unsigned int q = 0; q < quads; ++q)
  {
    T x[4];
    tile.LoadQuad(q, x);
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      y[4 * q + k] = AddContribution(T(0), states.Sweep[0], response.Causal);
      Advance(states.Sweep[0], dynamics, x[k]);
    }
  }
  if constexpr (TTile::ReadsTwice)
  {
    // The pixels are read again. Without a barrier the compiler would keep them in registers, which would halve the
    // number of threads that fit.
    __syncwarp();
  }
#pragma unroll
  for (unsigned int q = quads; q-- > 0;)
  {
    T x[4];
    tile.LoadQuad(q, x);
#pragma unroll
    for (unsigned int k = 4; k-- > 0;)
    {
      const T sweeps = y[4 * q + k] + AddContribution(T(0), states.Sweep[1], response.Anticausal);
      y[4 * q + k] = response.CentralValue * x[k] + sweeps;
      Advance(states.Sweep[1], dynamics, x[k]);
    }
  }
}
} // namespace itk::cuda::gaussian

#endif
