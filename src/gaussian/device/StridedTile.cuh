// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_StridedTile_cuh
#define CudaFilters_gaussian_device_StridedTile_cuh

#include "gaussian/device/Tile.cuh"

// Defines a tile of a pass along any other axis than the first. Neighbours along the line are a stride apart, and 32
// adjacent lines make a tile.

namespace itk::cuda::gaussian
{
/** A tile of 32 adjacent lines in shared memory. Warp s holds segment s of each line, and lane i the line i. Tiles
 * begin at chunk boundaries. */
template <typename T, unsigned int VPairs, TileTask VTask>
class StridedTile
{
public:
  static constexpr unsigned int Length = SegmentLength<T>;
  static constexpr unsigned int SegmentsOfChunk = ChunkSegments<T>;
  static constexpr bool         ReadsTwice = true;

  __device__ explicit StridedTile(const LinePassArguments<T, VPairs> & arguments)
    : m_Arguments(arguments)
  {
    m_Rows = arguments.Schedule.Segments * Length;
    m_Values = reinterpret_cast<T *>(GetSharedMemory());
    m_States = reinterpret_cast<PolePairState<T> *>(m_Values + m_Rows * WarpSize);
    m_Edges = m_States + NumberOfStates<VPairs> * arguments.Schedule.Segments * WarpSize;

    const LineGeometry & geometry = arguments.Geometry;
    // 32 bits suffice, because the grid's number of blocks has 32 bits.
    const unsigned int columnBlocks = static_cast<unsigned int>((geometry.InnerCount + WarpSize - 1) / WarpSize);
    const unsigned int tiles = static_cast<unsigned int>(arguments.Schedule.NumberOfTiles);
    const unsigned int rest = blockIdx.x / columnBlocks;
    m_Tile = tiles > 1 ? rest % tiles : 0;
    m_Outer = tiles > 1 ? rest / tiles : rest;
    m_FirstColumn = size_t{ blockIdx.x % columnBlocks } * WarpSize;
    m_Base = m_Outer * geometry.OuterStride + m_FirstColumn;
    m_Range = GetTileRange(arguments.Schedule, geometry.LineLength, m_Tile);
    m_EndSegment = (m_Range.ReadEnd + Length - 1) / Length;
    m_Chunks = (m_EndSegment + SegmentsOfChunk - 1) / SegmentsOfChunk;
    const unsigned int columns =
      static_cast<unsigned int>(min(geometry.InnerCount - m_FirstColumn, size_t{ WarpSize }));
    m_Columns = columns;
    m_Lane = threadIdx.x % WarpSize;
    m_Segment = threadIdx.x / WarpSize;
  }

  /** Loads the tile. Rows beyond the end of the line repeat its last value, or continue it as the boundary mode says.
   */
  __device__ void
  Load()
  {
    if constexpr (VTask == TileTask::FilterMask)
    {
      LoadByMask([](size_t) { return T(1); });
    }
    else if constexpr (VTask == TileTask::FilterValid)
    {
      const T * const column = m_Arguments.Sources[0] + m_Base + min(m_Lane, m_Columns - 1);
      const T         subtracted = *m_Arguments.Reference;
      LoadByMask([column, subtracted](size_t offset) { return column[offset] - subtracted; });
    }
    else if (m_Arguments.Aligned)
    {
      LoadVectors();
    }
    else
    {
      const bool valid = m_Lane < m_Columns;
      for (unsigned int row = m_Segment; row < m_Rows; row += blockDim.x / WarpSize)
      {
        __pipeline_memcpy_async(m_Values + row * WarpSize + m_Lane,
                                valid ? GetRow(row) + m_Lane : m_Arguments.Sources[0],
                                sizeof(T),
                                valid ? 0 : sizeof(T));
      }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (m_Arguments.Edges[0])
    {
      PadLines();
    }
    // The first pixels are read from shared memory if the tile has them, because the block would wait for global
    // memory.
    const bool isInTile = m_Range.Begin == 0 && m_Arguments.First == m_Arguments.Sources[0];
    m_First =
      isInTile
        ? m_Values[m_Lane]
        : (m_Lane < m_Columns ? m_Arguments.First[m_Outer * m_Arguments.FirstStride + m_FirstColumn + m_Lane] : T(0));
    if (isInTile)
    {
      __syncthreads(); // TakeQuad() overwrites the first pixels
    }
  }

  /** Returns four pixels of the thread's segment after subtracting the line's first pixel. The tile, too, holds the
   * differences from here on. */
  __device__ void
  TakeQuad(unsigned int quad, T (&x)[4]) const
  {
    T * const values = GetQuad(quad);
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      x[k] = values[k * WarpSize] - m_First;
      values[k * WarpSize] = x[k];
    }
  }

  /** Returns four pixels of the thread's segment. TakeQuad() must have been called for them. */
  __device__ void
  LoadQuad(unsigned int quad, T (&x)[4]) const
  {
    const T * const values = GetQuad(quad);
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      x[k] = values[k * WarpSize];
    }
  }

  __device__ void
  WriteEndStates(const SweepStates<T, VPairs> & ends)
  {
    StoreStates(ends);
    ForEachChunkState([this](unsigned int state, unsigned int chunk) {
      const PolePairState<T> endState = AccumulateChunk(state, chunk);
      if (m_Lane < m_Columns)
      {
        m_Arguments.States[GetChunkStateIndex(state, chunk)] = endState;
      }
    });
  }

  __device__ SweepStates<T, VPairs>
             Scan(const SweepStates<T, VPairs> & ends)
  {
    StoreStates(ends);
    ForEachChunkState([this](unsigned int state, unsigned int chunk) { AccumulateChunk(state, chunk); });
    __syncthreads();
    if constexpr (VTask == TileTask::FilterFromEndStates)
    {
      SolveEdgeStates();
    }
    SweepStates<T, VPairs> starts;
    if (m_Segment < m_EndSegment)
    {
#pragma unroll
      for (unsigned int state = 0; state < NumberOfStates<VPairs>; ++state)
      {
        starts.Sweep[state / VPairs].Pair[state % VPairs] = GetSegmentStart(state);
      }
    }
    return starts;
  }

  /** Returns whether any pixel of the thread's segment is written. */
  __device__ bool
  IsWritten() const
  {
    return (m_Segment + 1) * Length > m_Range.WriteBegin && m_Segment * Length < m_Range.WriteEnd;
  }

  __device__ void
  Store(const T (&y)[Length], const LinePassResult<T, VPairs> & result) const
  {
    if (m_Lane >= m_Columns)
    {
      return;
    }
    const size_t       stride = m_Arguments.Geometry.LineStride;
    const T            offset = result.Response.ConstantResponse * m_First;
    const unsigned int begin = m_Segment * Length;
    T *                destination = result.Destination + m_Base + (m_Range.Begin + begin) * stride + m_Lane;
    if (begin >= m_Range.WriteBegin && begin + Length <= m_Range.WriteEnd)
    {
#pragma unroll
      for (unsigned int k = 0; k < Length; ++k)
      {
        *destination = y[k] + offset;
        destination += stride;
      }
      return;
    }
#pragma unroll
    for (unsigned int k = 0; k < Length; ++k)
    {
      if (begin + k >= m_Range.WriteBegin && begin + k < m_Range.WriteEnd)
      {
        *destination = y[k] + offset;
      }
      destination += stride;
    }
  }

private:
  /** Fills the rows beyond the end of the line in other modes than Nearest. */
  __device__ void
  PadLines()
  {
    const unsigned int end = m_EndSegment * Length;
    const auto         line =
      GetPaddedLine(m_Arguments.Schedule, m_Arguments.Geometry, m_Arguments.Sources[0] + m_Base + m_Lane);
    for (unsigned int row = m_Range.ReadEnd + m_Segment; row < end && m_Lane < m_Columns; row += blockDim.x / WarpSize)
    {
      m_Values[row * WarpSize + m_Lane] = line.Get(static_cast<std::ptrdiff_t>(m_Range.Begin + row));
    }
    __syncthreads();
  }

  /** Loads getValue(elements from the column's first pixel) where a pixel is valid, and 0 elsewhere. */
  template <typename TGetValue>
  __device__ void
  LoadByMask(const TGetValue & getValue) const
  {
    constexpr unsigned int      batch = 8; // loads in flight at a time
    const unsigned int          step = blockDim.x / WarpSize;
    const unsigned char * const column = m_Arguments.Mask + m_Base + min(m_Lane, m_Columns - 1);
    for (unsigned int begin = m_Segment; begin < m_Rows; begin += batch * step)
    {
      unsigned char valid[batch];
      T             values[batch];
#pragma unroll
      for (unsigned int i = 0; i < batch; ++i)
      {
        const size_t position = m_Range.Begin + min(begin + i * step, m_Range.ReadEnd - 1);
        const size_t offset = position * m_Arguments.Geometry.LineStride;
        valid[i] = column[offset];
        values[i] = getValue(offset); // loaded for invalid pixels, too, so that the load need not wait for the mask
      }
#pragma unroll
      for (unsigned int i = 0; i < batch; ++i)
      {
        if (begin + i * step < m_Rows)
        {
          m_Values[(begin + i * step) * WarpSize + m_Lane] = valid[i] != 0 ? values[i] : T(0);
        }
      }
    }
  }

  __device__ void
  LoadVectors() const
  {
    constexpr unsigned int perVector = 16 / sizeof(T);
    constexpr unsigned int vectors = WarpSize / perVector;
    const unsigned int     column = threadIdx.x % vectors * perVector;
    const unsigned int     begin = threadIdx.x / vectors;
    const unsigned int     step = blockDim.x / vectors;
    const unsigned int     valid = m_Columns > column ? m_Columns - column : 0;
    T *                    destination = m_Values + begin * WarpSize + column;
    if (valid >= perVector && m_Rows <= m_Range.ReadEnd)
    {
      const T * source = GetRow(begin) + column;
      for (unsigned int row = begin; row < m_Rows; row += step)
      {
        __pipeline_memcpy_async(destination, source, 16);
        destination += step * WarpSize;
        source += step * m_Arguments.Geometry.LineStride;
      }
      return;
    }
    for (unsigned int row = begin; row < m_Rows; row += step)
    {
      CopyVectorAsync(destination, valid > 0 ? GetRow(row) + column : m_Arguments.Sources[0], valid);
      destination += step * WarpSize;
    }
  }

  /** Returns the address of the first of four pixels of the thread's segment. They are WarpSize apart. */
  __device__ T *
  GetQuad(unsigned int quad) const
  {
    return m_Values + (m_Segment * Length + 4 * quad) * WarpSize + m_Lane;
  }

  __device__ const T *
  GetRow(unsigned int row) const
  {
    const size_t position = m_Range.Begin + min(row, m_Range.ReadEnd - 1);
    return m_Arguments.Sources[0] + m_Base + position * m_Arguments.Geometry.LineStride;
  }

  __device__ unsigned int
  GetStateIndex(unsigned int state, unsigned int segment) const
  {
    return (state * m_Arguments.Schedule.Segments + segment) * WarpSize + m_Lane;
  }

  __device__ size_t
  GetChunkStateIndex(unsigned int state, unsigned int chunk) const
  {
    const size_t ofLine = m_Range.Begin / ChunkLength + chunk;
    return (ofLine * NumberOfStates<VPairs> + state) * m_Arguments.Geometry.GetNumberOfLines() + GetLine();
  }

  /** Returns the index of the lane's line among all lines. */
  __device__ size_t
  GetLine() const
  {
    return m_Outer * m_Arguments.Geometry.InnerCount + m_FirstColumn + m_Lane;
  }

  /** Calls `function(state, chunk)` for all states of the tile's chunks. One warp calls it for each of them. */
  template <typename TFunction>
  __device__ void
  ForEachChunkState(const TFunction & function) const
  {
    for (unsigned int i = m_Segment; i < NumberOfStates<VPairs> * m_Chunks; i += blockDim.x / WarpSize)
    {
      function(i % NumberOfStates<VPairs>, i / NumberOfStates<VPairs>);
    }
  }

  __device__ static bool
  IsAnticausal(unsigned int state)
  {
    return state >= VPairs;
  }

  /** Returns the number of segments of a chunk, which is smaller at the end of the line. */
  __device__ unsigned int
  GetSegmentsOfChunk(unsigned int chunk) const
  {
    return min(SegmentsOfChunk, m_EndSegment - chunk * SegmentsOfChunk);
  }

  /** Returns the i-th segment of a chunk in the order of the state's sweep. */
  __device__ unsigned int
  GetSegment(unsigned int state, unsigned int chunk, unsigned int i) const
  {
    return chunk * SegmentsOfChunk + (IsAnticausal(state) ? GetSegmentsOfChunk(chunk) - 1 - i : i);
  }

  __device__ void
  StoreStates(const SweepStates<T, VPairs> & states)
  {
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<VPairs>; ++state)
    {
      m_States[GetStateIndex(state, m_Segment)] = states.Sweep[state / VPairs].Pair[state % VPairs];
    }
    __syncthreads();
  }

  /** Replaces the end state of each segment of a chunk by the end state of the chunk up to that segment, from zero
   * state (an inclusive scan). Returns the last one, which is the chunk's end state. */
  __device__ PolePairState<T>
             AccumulateChunk(unsigned int state, unsigned int chunk) const
  {
    const StateMatrix<T> & power = m_Arguments.Powers.Power[state % VPairs][1];
    const unsigned int     segments = GetSegmentsOfChunk(chunk);
    PolePairState<T>       endState;
#pragma unroll
    for (unsigned int i = 0; i < SegmentsOfChunk; ++i)
    {
      if (i < segments)
      {
        PolePairState<T> & entry = m_States[GetStateIndex(state, GetSegment(state, chunk, i))];
        endState = Combine(entry, power, endState);
        entry = endState;
      }
    }
    return endState;
  }

  /** Returns the end state of a chunk. AccumulateChunk() must have been called for it. */
  __device__ PolePairState<T>
             GetEndStateOfChunk(unsigned int state, unsigned int chunk) const
  {
    return m_States[GetStateIndex(state, GetSegment(state, chunk, GetSegmentsOfChunk(chunk) - 1))];
  }

  /** Returns the end state of the whole line. */
  __device__ PolePairState<T>
             GetEndStateOfLine(unsigned int state) const
  {
    PolePairState<T> endState;
    for (unsigned int i = 0; i < m_Chunks; ++i)
    {
      const unsigned int chunk = IsAnticausal(state) ? m_Chunks - 1 - i : i;
      endState = Combine(GetEndStateOfChunk(state, chunk),
                         m_Arguments.Powers.Power[state % VPairs][GetSegmentsOfChunk(chunk)],
                         endState);
    }
    return endState;
  }

  /** Computes the states with which the sweeps enter the lines. One warp computes each state. */
  __device__ void
  SolveEdgeStates() const
  {
    for (unsigned int state = m_Segment; state < NumberOfStates<VPairs>; state += blockDim.x / WarpSize)
    {
      const unsigned int pair = state % VPairs;
      m_Edges[state * WarpSize + m_Lane] = GetEdgeFromEnds(m_Arguments.EdgeSolver,
                                                           m_Arguments.Dynamics,
                                                           pair,
                                                           IsAnticausal(state),
                                                           GetEndStateOfLine(pair),
                                                           GetEndStateOfLine(pair + VPairs),
                                                           m_First,
                                                           m_Values[(m_Rows - 1) * WarpSize + m_Lane]);
    }
    __syncthreads();
  }

  /** Returns the start state of the sweep over the chunk. */
  __device__ PolePairState<T>
             GetChunkStart(unsigned int state, unsigned int chunk) const
  {
    if constexpr (VTask == TileTask::FilterFromStates)
    {
      return m_Lane < m_Columns ? m_Arguments.States[GetChunkStateIndex(state, chunk)] : PolePairState<T>{};
    }
    const unsigned int pair = state % VPairs;
    const unsigned int lookAhead = m_Arguments.Schedule.LookAhead;
    const unsigned int toEdge = IsAnticausal(state) ? m_Chunks - 1 - chunk : chunk;
    const unsigned int count = lookAhead == 0 ? toEdge : min(lookAhead, toEdge);
    PolePairState<T>   start;
    if constexpr (VTask == TileTask::FilterFromEndStates)
    {
      if (count == toEdge)
      {
        start = m_Edges[state * WarpSize + m_Lane];
      }
    }
    else if (m_Arguments.Edges[0])
    {
      if (count == toEdge && (IsAnticausal(state) ? HoldsLineEnd() : m_Range.Begin == 0) && m_Lane < m_Columns)
      {
        const LineGeometry & geometry = m_Arguments.Geometry;
        start = m_Arguments.Edges[0][state * geometry.GetNumberOfLines() + GetLine()];
      }
    }
    else if (IsAnticausal(state) && count == toEdge && HoldsLineEnd())
    {
      const T last = m_Values[(m_Rows - 1) * WarpSize + m_Lane]; // less the first pixel, because TakeQuad() has run
      start = SteadyState(m_Arguments.Dynamics.Section[pair], last);
    }
    for (unsigned int i = count; i > 0; --i)
    {
      const unsigned int neighbor = IsAnticausal(state) ? chunk + i : chunk - i;
      const unsigned int segments = GetSegmentsOfChunk(neighbor);
      start = Combine(GetEndStateOfChunk(state, neighbor), m_Arguments.Powers.Power[pair][segments], start);
    }
    return start;
  }

  /** Returns whether the tile ends where the line ends and continues with its last value. At the begin of a line no
   * such check is needed: all states are zero there, because the first pixel is zero after the subtraction. */
  __device__ bool
  HoldsLineEnd() const
  {
    return m_Range.Begin + m_Range.ReadEnd == m_Arguments.Geometry.LineLength && !m_Arguments.EndIsCut;
  }

  /** Returns the start state of the sweep over the thread's segment. */
  __device__ PolePairState<T>
             GetSegmentStart(unsigned int state) const
  {
    const unsigned int     chunk = m_Segment / SegmentsOfChunk;
    const unsigned int     inChunk = m_Segment % SegmentsOfChunk;
    const unsigned int     before = IsAnticausal(state) ? GetSegmentsOfChunk(chunk) - 1 - inChunk : inChunk;
    const PolePairState<T> start = GetChunkStart(state, chunk);
    if (before == 0)
    {
      return start;
    }
    const PolePairState<T> end = m_States[GetStateIndex(state, GetSegment(state, chunk, before - 1))];
    return Combine(end, m_Arguments.Powers.Power[state % VPairs][before], start);
  }

  const LinePassArguments<T, VPairs> & m_Arguments;
  T *                                  m_Values; // [row][lane]
  PolePairState<T> *                   m_States; // [state][segment][lane]
  PolePairState<T> *                   m_Edges;  // [state][lane], for TileTask::FilterFromEndStates
  TileRange                            m_Range;
  size_t                               m_Tile, m_Outer, m_FirstColumn, m_Base;
  unsigned int                         m_Rows, m_Columns, m_Lane, m_Segment;
  unsigned int                         m_EndSegment, m_Chunks; // of the tile's part of the line
  T                                    m_First;
};
} // namespace itk::cuda::gaussian

#endif
