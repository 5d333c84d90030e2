// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianContiguousTile_cuh
#define itkCudaGaussianContiguousTile_cuh

#include "itkCudaGaussianTile.cuh"

namespace itk::cuda::gaussian
{
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
    m_TileFirst = line[m_Range.Begin];
    m_TileLast = line[m_Range.Begin + m_Range.ReadEnd - 1];
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
      ForEachElement<16 / sizeof(T)>([this](T * value, size_t begin, unsigned int position) {
        if (position < m_Range.ReadEnd)
        {
          CopyVectorAsync(value, m_Arguments.Source + begin + position, m_Range.ReadEnd - position);
        }
      });
    }
    else
    {
      ForEachElement<1>([this](T * value, size_t begin, unsigned int position) {
        if (position < m_Range.ReadEnd)
        {
          __pipeline_memcpy_async(value, m_Arguments.Source + begin + position, sizeof(T));
        }
      });
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    const unsigned int begin = m_Segment * Length;
    if (begin + Length > m_Range.ReadEnd)
    {
      T * const values = GetSegment();
      for (unsigned int k = begin < m_Range.ReadEnd ? m_Range.ReadEnd - begin : 0; k < Length; ++k)
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
  Store(const T (&y)[Length], const LinePassResult<T> & result)
  {
    const T   offset = result.Response.OffsetResponse * m_First;
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
      ForEachElement<perVector>([this, &result](T * value, size_t begin, unsigned int position) {
        T * const destination = result.Destination + begin + position;
        if (position >= m_Range.WriteBegin && position + perVector <= m_Range.WriteEnd)
        {
          StoreVector<Vector>(destination, value, result.Combine);
          return;
        }
        for (unsigned int k = 0; k < perVector; ++k)
        {
          StoreElement(destination + k, value[k], position + k, result.Combine);
        }
      });
    }
    else
    {
      ForEachElement<1>([this, &result](T * value, size_t begin, unsigned int position) {
        StoreElement(result.Destination + begin + position, *value, position, result.Combine);
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
  StoreElement(T * destination, T value, unsigned int position, CudaGaussianCombine combine) const
  {
    if (position >= m_Range.WriteBegin && position < m_Range.WriteEnd)
    {
      *destination = CombineValues(combine, ReadsDestination(combine) ? *destination : T(0), value);
    }
  }

  template <typename TVector>
  __device__ void
  StoreVector(T * destination, const T * values, CudaGaussianCombine combine) const
  {
    TVector vector = *reinterpret_cast<const TVector *>(values);
    if (combine != CudaGaussianCombine::Store)
    {
      const TVector old = ReadsDestination(combine) ? *reinterpret_cast<const TVector *>(destination) : TVector{};
#pragma unroll
      for (unsigned int k = 0; k < sizeof(TVector) / sizeof(T); ++k)
      {
        T & value = reinterpret_cast<T *>(&vector)[k];
        value = CombineValues(combine, reinterpret_cast<const T *>(&old)[k], value);
      }
    }
    *reinterpret_cast<TVector *>(destination) = vector;
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
        f(value, line * m_Arguments.Geometry.OuterStride + m_Range.Begin, segment * Length + element);
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
    return SteadyState(m_Arguments.Dynamics.Section[state % NumberOfPolePairs], edge - m_First);
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
} // namespace itk::cuda::gaussian

#endif
