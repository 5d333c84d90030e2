// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianKernels_cuh
#define itkCudaGaussianKernels_cuh

#include "itkCudaGaussianCore.h"
#include "itkCudaGaussianSchedule.h"
#include "itkCudaGaussianTuning.h"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <type_traits>

// A block holds a tile of several lines in shared memory. Each thread owns a segment of one line. A pass is four steps:
//
//   Load   the tile, by asynchronous copies
//   Ends   every thread sweeps its segment in both directions from zero state
//   Scan   the end states of a line's segments become their start states
//   Filter every thread sweeps its segment again, from its true start states, and the tile is written
//
// StridedTile and ContiguousTile know where things lie; LinePassKernel is the sequence of the steps.

namespace itk::cuda::gaussian
{
/** Lines of a pass, in elements. Line i of InnerCount in group o of OuterCount begins at o * OuterStride + i. */
struct LineGeometry
{
  size_t LineLength;
  size_t LineStride;
  size_t InnerCount;
  size_t OuterCount;
  size_t OuterStride;
  bool   Aligned; // every line or row of lines begins at a multiple of 16 bytes
};

/** Powers of the state matrix over 2^k segments, k = 0 to 5. */
template <typename T>
struct SegmentPowers
{
  StateMatrix<T> Power[6][NumberOfPolePairs];
};

template <typename T>
struct LinePassArguments
{
  const T *           Source;
  T *                 Destination;
  PolePairState<T> *  TileStates; // Partition: [tile][sweep and pole pair][line], totals and then start states
  LineGeometry        Geometry;
  LineSchedule        Schedule;
  LineCoefficients<T> Coefficients;
  SegmentPowers<T>    Powers;
};

/** What a kernel does with its tile. */
enum class TileTask : unsigned char
{
  Filter,          // the border states follow from the tile's own ends
  WriteTotals,     // first step of Partition
  FilterFromStates // last step of Partition
};

/** States of both sweeps. Index 0 is the causal one. */
template <typename T>
struct SweepStates
{
  LineState<T> Sweep[2];
};

constexpr unsigned int NumberOfStates = 2 * NumberOfPolePairs;

/** Pixels of the tile's part of the line. */
struct TileRange
{
  size_t ReadBegin, ReadEnd, WriteBegin, WriteEnd;
};

__device__ inline TileRange
GetTileRange(const LineSchedule & schedule, size_t lineLength, size_t tile)
{
  TileRange range;
  range.WriteBegin = tile * schedule.Step;
  range.WriteEnd = min(range.WriteBegin + schedule.Step, lineLength);
  range.ReadBegin = range.WriteBegin > schedule.WarmUp ? range.WriteBegin - schedule.WarmUp : 0;
  range.ReadEnd = min(range.WriteEnd + schedule.WarmUp, lineLength);
  return range;
}

/** Copies 16 bytes to shared memory, of which only the first `count` elements are read and the rest is zero. */
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

/** 32 adjacent lines; warp s holds segment s of each, lane i the line i. */
template <typename T, TileTask VTask>
class StridedTile
{
public:
  static constexpr unsigned int Length = SegmentLength<T>;

  __device__ explicit StridedTile(const LinePassArguments<T> & arguments)
    : m_Arguments(arguments)
  {
    extern __shared__ __align__(16) unsigned char shared[];
    m_Rows = arguments.Schedule.Segments * Length;
    m_Values = reinterpret_cast<T *>(shared);
    m_States = reinterpret_cast<PolePairState<T> *>(m_Values + m_Rows * WarpSize);

    const LineGeometry & geometry = arguments.Geometry;
    const size_t         columnBlocks = (geometry.InnerCount + WarpSize - 1) / WarpSize;
    const size_t         columnBlock = blockIdx.x % columnBlocks;
    const size_t         rest = blockIdx.x / columnBlocks;
    m_Tile = rest % arguments.Schedule.NumberOfTiles;
    m_Outer = rest / arguments.Schedule.NumberOfTiles;
    m_FirstColumn = columnBlock * WarpSize;
    m_Base = m_Outer * geometry.OuterStride + m_FirstColumn;
    m_Range = GetTileRange(arguments.Schedule, geometry.LineLength, m_Tile);
    const unsigned int columns =
      static_cast<unsigned int>(min(geometry.InnerCount - m_FirstColumn, size_t{ WarpSize }));
    m_Columns = columns;
    m_Lane = threadIdx.x % WarpSize;
    m_Segment = threadIdx.x / WarpSize;
  }

  /** Rows beyond the end of the line repeat its last value. */
  __device__ void
  Load()
  {
    const LineGeometry & geometry = m_Arguments.Geometry;
    if (geometry.Aligned)
    {
      constexpr unsigned int perVector = 16 / sizeof(T);
      constexpr unsigned int vectors = WarpSize / perVector;
      const unsigned int     column = threadIdx.x % vectors * perVector;
      const unsigned int     valid = m_Columns > column ? m_Columns - column : 0;
      for (unsigned int row = threadIdx.x / vectors; row < m_Rows; row += blockDim.x / vectors)
      {
        T * const destination = m_Values + row * WarpSize + column;
        CopyVectorAsync(destination, valid > 0 ? GetRow(row) + column : m_Arguments.Source, valid);
      }
    }
    else
    {
      const bool valid = m_Lane < m_Columns;
      for (unsigned int row = m_Segment; row < m_Rows; row += blockDim.x / WarpSize)
      {
        T * const destination = m_Values + row * WarpSize + m_Lane;
        __pipeline_memcpy_async(
          destination, valid ? GetRow(row) + m_Lane : m_Arguments.Source, sizeof(T), valid ? 0 : sizeof(T));
      }
    }
    m_First = m_Lane < m_Columns ? m_Arguments.Source[m_Base + m_Lane] : T(0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
  }

  /** Four pixels of the thread's segment, relative to the line's first. */
  __device__ void
  LoadQuad(unsigned int quad, T (&x)[4]) const
  {
    const T * const values = m_Values + (m_Segment * Length + 4 * quad) * WarpSize + m_Lane;
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      x[k] = values[k * WarpSize] - m_First;
    }
  }

  __device__ void
  WriteTotals(const SweepStates<T> & ends)
  {
    StoreStates(ends);
    for (unsigned int state = m_Segment; state < NumberOfStates; state += blockDim.x / WarpSize)
    {
      const PolePairState<T> total = ScanSegments(state, PolePairState<T>{});
      if (m_Lane < m_Columns)
      {
        m_Arguments.TileStates[GetTileStateIndex(state)] = total;
      }
    }
  }

  __device__ SweepStates<T>
             Scan(const SweepStates<T> & ends)
  {
    StoreStates(ends);
    for (unsigned int state = m_Segment; state < NumberOfStates; state += blockDim.x / WarpSize)
    {
      ScanSegments(state, GetStartState(state));
    }
    __syncthreads();
    SweepStates<T> starts;
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates; ++state)
    {
      starts.Sweep[state / NumberOfPolePairs].Pair[state % NumberOfPolePairs] =
        m_States[GetStateIndex(state, m_Segment)];
    }
    return starts;
  }

  __device__ void
  Store(const T (&y)[Length]) const
  {
    if (m_Lane >= m_Columns)
    {
      return;
    }
    const LineGeometry & geometry = m_Arguments.Geometry;
    const T              offset = m_Arguments.Coefficients.OffsetResponse * m_First;
    const size_t         begin = m_Range.ReadBegin + m_Segment * Length;
    T *                  destination = m_Arguments.Destination + m_Base + begin * geometry.LineStride + m_Lane;
#pragma unroll
    for (unsigned int k = 0; k < Length; ++k)
    {
      if (begin + k >= m_Range.WriteBegin && begin + k < m_Range.WriteEnd)
      {
        *destination = y[k] + offset;
      }
      destination += geometry.LineStride;
    }
  }

private:
  __device__ const T *
  GetRow(unsigned int row) const
  {
    const size_t position = min(m_Range.ReadBegin + row, m_Range.ReadEnd - 1);
    return m_Arguments.Source + m_Base + position * m_Arguments.Geometry.LineStride;
  }

  __device__ unsigned int
  GetStateIndex(unsigned int state, unsigned int segment) const
  {
    return (state * m_Arguments.Schedule.Segments + segment) * WarpSize + m_Lane;
  }

  __device__ size_t
  GetTileStateIndex(unsigned int state) const
  {
    const LineGeometry & geometry = m_Arguments.Geometry;
    const size_t         line = m_Outer * geometry.InnerCount + m_FirstColumn + m_Lane;
    return (m_Tile * NumberOfStates + state) * (geometry.InnerCount * geometry.OuterCount) + line;
  }

  __device__ void
  StoreStates(const SweepStates<T> & states)
  {
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates; ++state)
    {
      m_States[GetStateIndex(state, m_Segment)] =
        states.Sweep[state / NumberOfPolePairs].Pair[state % NumberOfPolePairs];
    }
    __syncthreads();
  }

  __device__ PolePairState<T>
             GetStartState(unsigned int state) const
  {
    if (VTask == TileTask::FilterFromStates)
    {
      return m_Lane < m_Columns ? m_Arguments.TileStates[GetTileStateIndex(state)] : PolePairState<T>{};
    }
    const bool         anticausal = state >= NumberOfPolePairs;
    const unsigned int row = anticausal ? m_Rows - 1 : 0;
    const T            edge = m_Values[row * WarpSize + m_Lane] - m_First;
    return SteadyState(m_Arguments.Coefficients.Section[state % NumberOfPolePairs], edge);
  }

  /** Replaces the end states of the line's segments by their start states; returns the state behind the last one. */
  __device__ PolePairState<T>
             ScanSegments(unsigned int state, PolePairState<T> start)
  {
    const StateMatrix<T> & power = m_Arguments.Powers.Power[0][state % NumberOfPolePairs];
    const bool             anticausal = state >= NumberOfPolePairs;
    const unsigned int     segments = m_Arguments.Schedule.Segments;
    for (unsigned int s = 0; s < segments; ++s)
    {
      PolePairState<T> &     entry = m_States[GetStateIndex(state, anticausal ? segments - 1 - s : s)];
      const PolePairState<T> end = entry;
      entry = start;
      start = Combine(end, power, start);
    }
    return start;
  }

  const LinePassArguments<T> & m_Arguments;
  T *                          m_Values; // [row][lane]
  PolePairState<T> *           m_States; // [state][segment][lane]
  TileRange                    m_Range;
  size_t                       m_Tile, m_Outer, m_FirstColumn, m_Base;
  unsigned int                 m_Rows, m_Columns, m_Lane, m_Segment;
  T                            m_First;
};

/** One or more whole lines, or a tile of one. A line's segments belong to consecutive threads: to a power of two of
 * them if they fit in a warp, else to whole warps. */
template <typename T, TileTask VTask>
class ContiguousTile
{
public:
  static constexpr unsigned int Length = SegmentLength<T>;

  __device__ explicit ContiguousTile(const LinePassArguments<T> & arguments)
    : m_Arguments(arguments)
  {
    extern __shared__ __align__(16) unsigned char shared[];
    const unsigned int                            warps = blockDim.x / WarpSize;
    m_Lane = threadIdx.x % WarpSize;
    m_Warp = threadIdx.x / WarpSize;
    m_WarpValues = shared + m_Warp * (WarpSize * PaddedSegmentBytes);
    m_WarpTotals = reinterpret_cast<PolePairState<T> *>(shared + warps * (WarpSize * PaddedSegmentBytes));

    m_ThreadsPerLine = GetThreadsPerLine(arguments.Schedule.Segments);
    m_Width = min(m_ThreadsPerLine, WarpSize);
    m_LogWidth = __ffs(static_cast<int>(m_Width)) - 1;
    const unsigned int linesPerBlock = blockDim.x / m_ThreadsPerLine;
    m_Tile = blockIdx.x % arguments.Schedule.NumberOfTiles;
    m_BlockLine = blockIdx.x / arguments.Schedule.NumberOfTiles * linesPerBlock;
    m_Range = GetTileRange(arguments.Schedule, arguments.Geometry.LineLength, m_Tile);

    m_LineInBlock = threadIdx.x / m_ThreadsPerLine;
    m_Segment = threadIdx.x % m_ThreadsPerLine;
    const T * const line = arguments.Source + ClampLine(m_BlockLine + m_LineInBlock) * arguments.Geometry.OuterStride;
    m_First = line[0];
    m_TileFirst = line[m_Range.ReadBegin];
    m_TileLast = line[m_Range.ReadEnd - 1];
  }

  /** Threads that share a line of so many segments. */
  __host__ __device__ static unsigned int
  GetThreadsPerLine(unsigned int segments)
  {
    unsigned int threads = 1;
    while (threads < segments && threads < WarpSize)
    {
      threads *= 2;
    }
    return segments <= threads ? threads : (segments + WarpSize - 1) / WarpSize * WarpSize;
  }

  /** Every warp loads its own segments. Pixels beyond the end of the line repeat its last value. */
  __device__ void
  Load()
  {
    if (m_Arguments.Geometry.Aligned)
    {
      ForEachElement<16 / sizeof(T)>([this](T * value, size_t line, size_t position) {
        if (position < m_Range.ReadEnd)
        {
          const unsigned int count = static_cast<unsigned int>(min(m_Range.ReadEnd - position, size_t{ 16 }));
          CopyVectorAsync(value, m_Arguments.Source + line + position, count);
        }
      });
    }
    else
    {
      ForEachElement<1>([this](T * value, size_t line, size_t position) {
        if (position < m_Range.ReadEnd)
        {
          __pipeline_memcpy_async(value, m_Arguments.Source + line + position, sizeof(T));
        }
      });
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    const size_t begin = m_Range.ReadBegin + size_t{ m_Segment } * Length;
    if (begin + Length > m_Range.ReadEnd)
    {
      T * const values = GetSegment();
      for (unsigned int k = begin < m_Range.ReadEnd ? static_cast<unsigned int>(m_Range.ReadEnd - begin) : 0;
           k < Length;
           ++k)
      {
        values[k] = m_TileLast;
      }
    }
  }

  __device__ void
  LoadQuad(unsigned int quad, T (&x)[4]) const
  {
    using Vector = typename Vector16<T>::Type;
    constexpr unsigned int perVector = 16 / sizeof(T);
    const Vector * const   vectors = reinterpret_cast<const Vector *>(GetSegment() + 4 * quad);
#pragma unroll
    for (unsigned int v = 0; v < 4 / perVector; ++v)
    {
      const Vector vector = vectors[v];
      const T *    values = reinterpret_cast<const T *>(&vector);
#pragma unroll
      for (unsigned int k = 0; k < perVector; ++k)
      {
        x[v * perVector + k] = values[k] - m_First;
      }
    }
  }

  __device__ void
  WriteTotals(const SweepStates<T> & ends)
  {
    SweepStates<T> inclusive = ScanWarp(ends);
    StoreWarpTotals(inclusive);
    if (threadIdx.x < NumberOfStates)
    {
      const PolePairState<T> total = CombineWarps(threadIdx.x, PolePairState<T>{}, blockDim.x / WarpSize);
      m_Arguments.TileStates[GetTileStateIndex(threadIdx.x)] = total;
    }
  }

  __device__ SweepStates<T>
             Scan(const SweepStates<T> & ends)
  {
    const SweepStates<T> inclusive = ScanWarp(ends);
    const SweepStates<T> warpStart = GetWarpStarts(inclusive);
    const unsigned int   lane = m_Lane % m_Width;
    SweepStates<T>       starts;
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates; ++state)
    {
      const bool               anticausal = state >= NumberOfPolePairs;
      const PolePairState<T> & own = inclusive.Sweep[state / NumberOfPolePairs].Pair[state % NumberOfPolePairs];
      PolePairState<T>         before = Neighbour(own, 1, anticausal);
      const unsigned int       distance = anticausal ? m_Width - 1 - lane : lane;
      if (distance == 0)
      {
        before = PolePairState<T>{};
      }
      PolePairState<T> start = warpStart.Sweep[state / NumberOfPolePairs].Pair[state % NumberOfPolePairs];
      for (unsigned int k = 0; (1u << k) < m_Width; ++k)
      {
        if (distance >> k & 1u)
        {
          start = Apply(m_Arguments.Powers.Power[k][state % NumberOfPolePairs], start);
        }
      }
      start.U += before.U;
      start.V += before.V;
      starts.Sweep[state / NumberOfPolePairs].Pair[state % NumberOfPolePairs] = start;
    }
    return starts;
  }

  /** The result takes the place of the segment, so that the warp can write whole rows. */
  __device__ void
  Store(const T (&y)[Length])
  {
    const T   offset = m_Arguments.Coefficients.OffsetResponse * m_First;
    T * const values = GetSegment();
    using Vector = typename Vector16<T>::Type;
    constexpr unsigned int perVector = 16 / sizeof(T);
#pragma unroll
    for (unsigned int v = 0; v < Length / perVector; ++v)
    {
      Vector vector;
      T *    elements = reinterpret_cast<T *>(&vector);
#pragma unroll
      for (unsigned int k = 0; k < perVector; ++k)
      {
        elements[k] = y[v * perVector + k] + offset;
      }
      reinterpret_cast<Vector *>(values)[v] = vector;
    }
    __syncwarp();
    if (m_Arguments.Geometry.Aligned)
    {
      ForEachElement<perVector>([this](T * value, size_t line, size_t position) {
        T * const destination = m_Arguments.Destination + line + position;
        if (position >= m_Range.WriteBegin && position + perVector <= m_Range.WriteEnd)
        {
          *reinterpret_cast<Vector *>(destination) = *reinterpret_cast<const Vector *>(value);
          return;
        }
        for (unsigned int k = 0; k < perVector; ++k)
        {
          StoreElement(destination + k, value[k], position + k);
        }
      });
    }
    else
    {
      ForEachElement<1>([this](T * value, size_t line, size_t position) {
        StoreElement(m_Arguments.Destination + line + position, *value, position);
      });
    }
  }

private:
  template <typename U, int VDummy = 0>
  struct Vector16;
  template <int VDummy>
  struct Vector16<float, VDummy>
  {
    using Type = float4;
  };
  template <int VDummy>
  struct Vector16<double, VDummy>
  {
    using Type = double2;
  };

  __device__ size_t
  ClampLine(size_t line) const
  {
    return min(line, m_Arguments.Geometry.OuterCount - 1);
  }

  __device__ T *
  GetSegment() const
  {
    return reinterpret_cast<T *>(m_WarpValues + m_Lane * PaddedSegmentBytes);
  }

  __device__ void
  StoreElement(T * destination, T value, size_t position) const
  {
    if (position >= m_Range.WriteBegin && position < m_Range.WriteEnd)
    {
      *destination = value;
    }
  }

  /** Calls f(place in shared memory, start of the line, position on the line) for every VCount-th element of the warp's
   * segments, neighbouring lanes on neighbouring elements. */
  template <unsigned int VCount, typename TFunction>
  __device__ void
  ForEachElement(const TFunction & f) const
  {
    constexpr unsigned int perSegment = Length / VCount;
    const unsigned int     warpSegment = m_Warp * WarpSize;
#pragma unroll 4
    for (unsigned int i = m_Lane; i < WarpSize * perSegment; i += WarpSize)
    {
      const unsigned int inWarp = i / perSegment;
      const unsigned int element = i % perSegment * VCount;
      // A warp's segments belong to one line, or to several lines of a power of two of segments.
      const unsigned int lineInBlock =
        m_ThreadsPerLine >= WarpSize ? m_LineInBlock : (warpSegment + inWarp) >> m_LogWidth;
      const unsigned int segment = m_ThreadsPerLine >= WarpSize ? m_Segment - m_Lane + inWarp : inWarp & (m_Width - 1);
      const size_t       line = m_BlockLine + lineInBlock;
      if (line < m_Arguments.Geometry.OuterCount)
      {
        T * const value = reinterpret_cast<T *>(m_WarpValues + inWarp * PaddedSegmentBytes) + element;
        f(value, line * m_Arguments.Geometry.OuterStride, m_Range.ReadBegin + size_t{ segment } * Length + element);
      }
    }
  }

  __device__ PolePairState<T>
             Neighbour(const PolePairState<T> & state, unsigned int distance, bool anticausal) const
  {
    PolePairState<T> other;
    other.U = anticausal ? ShuffleDown(state.U, distance, m_Width) : ShuffleUp(state.U, distance, m_Width);
    other.V = anticausal ? ShuffleDown(state.V, distance, m_Width) : ShuffleUp(state.V, distance, m_Width);
    return other;
  }

  /** End states of the segments up to and including the own one, from zero state before the warp's part of the line
   * (Kogge and Stone's scan). */
  __device__ SweepStates<T>
             ScanWarp(SweepStates<T> states) const
  {
    const unsigned int lane = m_Lane % m_Width;
    for (unsigned int k = 0; (1u << k) < m_Width; ++k)
    {
      const unsigned int distance = 1u << k;
#pragma unroll
      for (unsigned int state = 0; state < NumberOfStates; ++state)
      {
        const bool             anticausal = state >= NumberOfPolePairs;
        PolePairState<T> &     own = states.Sweep[state / NumberOfPolePairs].Pair[state % NumberOfPolePairs];
        const PolePairState<T> other = Neighbour(own, distance, anticausal);
        if (anticausal ? lane + distance < m_Width : lane >= distance)
        {
          own = Combine(own, m_Arguments.Powers.Power[k][state % NumberOfPolePairs], other);
        }
      }
    }
    return states;
  }

  __device__ void
  StoreWarpTotals(const SweepStates<T> & inclusive)
  {
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates; ++state)
    {
      const unsigned int lastLane = state >= NumberOfPolePairs ? 0 : WarpSize - 1;
      if (m_Lane == lastLane)
      {
        m_WarpTotals[m_Warp * NumberOfStates + state] =
          inclusive.Sweep[state / NumberOfPolePairs].Pair[state % NumberOfPolePairs];
      }
    }
    __syncthreads();
  }

  /** State behind `count` warps of the line, from the side where the sweep begins. */
  __device__ PolePairState<T>
             CombineWarps(unsigned int state, PolePairState<T> start, unsigned int count) const
  {
    const bool         anticausal = state >= NumberOfPolePairs;
    const unsigned int warpsPerLine = m_ThreadsPerLine / WarpSize;
    const unsigned int firstWarp = m_LineInBlock * warpsPerLine;
    const auto &       power = m_Arguments.Powers.Power[5][state % NumberOfPolePairs];
    for (unsigned int i = 0; i < count; ++i)
    {
      const unsigned int warp = firstWarp + (anticausal ? warpsPerLine - 1 - i : i);
      start = Combine(m_WarpTotals[warp * NumberOfStates + state], power, start);
    }
    return start;
  }

  __device__ PolePairState<T>
             GetLineStart(unsigned int state) const
  {
    if (VTask == TileTask::FilterFromStates)
    {
      return m_Arguments.TileStates[GetTileStateIndex(state)];
    }
    const T edge = state >= NumberOfPolePairs ? m_TileLast : m_TileFirst;
    return SteadyState(m_Arguments.Coefficients.Section[state % NumberOfPolePairs], edge - m_First);
  }

  /** States before the warp's part of the line. */
  __device__ SweepStates<T>
             GetWarpStarts(const SweepStates<T> & inclusive)
  {
    const bool     severalWarps = m_ThreadsPerLine > WarpSize;
    SweepStates<T> starts;
    if (severalWarps)
    {
      StoreWarpTotals(inclusive);
      const unsigned int warpInLine = m_Segment / WarpSize;
      const unsigned int warpsPerLine = m_ThreadsPerLine / WarpSize;
      const unsigned int state = m_Lane % NumberOfStates;
      const bool         anticausal = state >= NumberOfPolePairs;
      const auto         own =
        CombineWarps(state, GetLineStart(state), anticausal ? warpsPerLine - 1 - warpInLine : warpInLine);
#pragma unroll
      for (unsigned int s = 0; s < NumberOfStates; ++s)
      {
        PolePairState<T> & start = starts.Sweep[s / NumberOfPolePairs].Pair[s % NumberOfPolePairs];
        start.U = __shfl_sync(0xffffffffu, own.U, s);
        start.V = __shfl_sync(0xffffffffu, own.V, s);
      }
      return starts;
    }
#pragma unroll
    for (unsigned int s = 0; s < NumberOfStates; ++s)
    {
      starts.Sweep[s / NumberOfPolePairs].Pair[s % NumberOfPolePairs] = GetLineStart(s);
    }
    return starts;
  }

  /** Only for lines with a block of their own. */
  __device__ size_t
  GetTileStateIndex(unsigned int state) const
  {
    return (m_Tile * NumberOfStates + state) * m_Arguments.Geometry.OuterCount + m_BlockLine;
  }

  const LinePassArguments<T> & m_Arguments;
  unsigned char *              m_WarpValues; // [lane][padded segment]
  PolePairState<T> *           m_WarpTotals; // [warp][state]
  TileRange                    m_Range;
  size_t                       m_Tile, m_BlockLine;
  unsigned int                 m_Lane, m_Warp, m_ThreadsPerLine, m_Width, m_LogWidth, m_LineInBlock, m_Segment;
  T                            m_First, m_TileFirst, m_TileLast;
};

/** End states of the thread's segment, each sweep from zero state. */
template <typename T, typename TTile>
__device__ inline SweepStates<T>
GetSegmentEnds(const TTile & tile, const LineCoefficients<T> & coefficients)
{
  constexpr unsigned int quads = TTile::Length / 4;
  SweepStates<T>         states;
#pragma unroll
  for (unsigned int q = 0; q < quads; ++q)
  {
    T fromBegin[4], fromEnd[4];
    tile.LoadQuad(q, fromBegin);
    tile.LoadQuad(quads - 1 - q, fromEnd);
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      Advance(states.Sweep[0], coefficients, fromBegin[k]);
      Advance(states.Sweep[1], coefficients, fromEnd[3 - k]);
    }
  }
  return states;
}

/** Response of the thread's segment, without the line's offset. */
template <typename T, typename TTile>
__device__ inline void
FilterSegment(const TTile &               tile,
              const LineCoefficients<T> & coefficients,
              SweepStates<T>              states,
              T (&y)[SegmentLength<T>])
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
      Advance(states.Sweep[0], coefficients, x[k]);
      y[4 * q + k] = Response(states.Sweep[0], coefficients);
    }
  }
#pragma unroll
  for (unsigned int q = quads; q-- > 0;)
  {
    T x[4];
    tile.LoadQuad(q, x);
#pragma unroll
    for (unsigned int k = 4; k-- > 0;)
    {
      Advance(states.Sweep[1], coefficients, x[k]);
      const T anticausal = Response(states.Sweep[1], coefficients) - coefficients.CentralValue * x[k];
      y[4 * q + k] += coefficients.AnticausalSign * anticausal;
    }
  }
}

template <typename T, AxisKind VKind, TileTask VTask>
__global__ void
__launch_bounds__(VKind == AxisKind::Strided ? MaximumThreads<T> : MaximumContiguousSegments<T>)
  LinePassKernel(const __grid_constant__ LinePassArguments<T> arguments)
{
  using Tile = std::conditional_t<VKind == AxisKind::Strided, StridedTile<T, VTask>, ContiguousTile<T, VTask>>;
  Tile tile(arguments);
  tile.Load();
  const SweepStates<T> ends = GetSegmentEnds<T>(tile, arguments.Coefficients);
  if constexpr (VTask == TileTask::WriteTotals)
  {
    tile.WriteTotals(ends);
  }
  else
  {
    const SweepStates<T> starts = tile.Scan(ends);
    T                    y[SegmentLength<T>];
    FilterSegment<T>(tile, arguments.Coefficients, starts, y);
    tile.Store(y);
  }
}

/** Second step of Partition: turns the totals of the tiles into their start states, one thread for each line and state.
 */
template <typename T>
__global__ void
ScanTilesKernel(const __grid_constant__ LinePassArguments<T> arguments,
                const StateMatrix<T>                         power0,
                const StateMatrix<T>                         power1)
{
  const LineGeometry & geometry = arguments.Geometry;
  const size_t         lines = geometry.InnerCount * geometry.OuterCount;
  const size_t         index = size_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  if (index >= NumberOfStates * lines)
  {
    return;
  }
  const unsigned int   state = static_cast<unsigned int>(index / lines);
  const size_t         line = index % lines;
  const bool           anticausal = state >= NumberOfPolePairs;
  const unsigned int   pair = state % NumberOfPolePairs;
  const StateMatrix<T> power = pair == 0 ? power0 : power1;
  const T * const      pixels =
    arguments.Source + line / geometry.InnerCount * geometry.OuterStride + line % geometry.InnerCount;

  const T          last = anticausal ? pixels[(geometry.LineLength - 1) * geometry.LineStride] : pixels[0];
  PolePairState<T> start = SteadyState(arguments.Coefficients.Section[pair], last - pixels[0]);
  const size_t     tiles = arguments.Schedule.NumberOfTiles;
#pragma unroll 4
  for (size_t i = 0; i < tiles; ++i)
  {
    const size_t           tile = anticausal ? tiles - 1 - i : i;
    PolePairState<T> &     entry = arguments.TileStates[(tile * NumberOfStates + state) * lines + line];
    const PolePairState<T> total = entry;
    entry = start;
    start = Combine(total, power, start);
  }
}
} // namespace itk::cuda::gaussian

#endif
