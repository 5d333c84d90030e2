// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianStridedTile_cuh
#define itkCudaGaussianStridedTile_cuh

#include "itkCudaGaussianTile.cuh"

namespace itk::cuda::gaussian
{
/** 32 adjacent lines; warp s holds segment s of each, lane i the line i. Segments lie one after the other in slots of
 * shared memory, from the first slot on and then from the beginning again. */
template <typename T, unsigned int VPairs, TileTask VTask>
class StridedTile
{
public:
  static constexpr unsigned int Length = SegmentLength<T>;
  static constexpr bool         ReadsTwice = true;

  __device__ explicit StridedTile(const LinePassArguments<T, VPairs> & arguments)
    : StridedTile(arguments, blockIdx.x, arguments.Schedule.Segments, 0)
  {}

  /** Number `block` of all blocks' tiles. */
  __device__
  StridedTile(const LinePassArguments<T, VPairs> & arguments,
              unsigned int                         block,
              unsigned int                         slots,
              unsigned int                         firstSlot)
    : m_Arguments(arguments)
    , m_Slots(slots)
    , m_FirstSlot(firstSlot)
  {
    m_Rows = arguments.Schedule.Segments * Length;
    m_Values = reinterpret_cast<T *>(GetSharedMemory());
    m_States = reinterpret_cast<PolePairState<T> *>(m_Values + slots * Length * WarpSize);

    const LineGeometry & geometry = arguments.Geometry;
    // The grid counts blocks in 32 bits.
    const unsigned int columnBlocks = static_cast<unsigned int>((geometry.InnerCount + WarpSize - 1) / WarpSize);
    const unsigned int tiles = static_cast<unsigned int>(arguments.Schedule.NumberOfTiles);
    const unsigned int rest = block / columnBlocks;
    m_Tile = rest % tiles;
    m_Outer = rest / tiles;
    m_FirstColumn = size_t{ block % columnBlocks } * WarpSize;
    m_Base = m_Outer * geometry.OuterStride + m_FirstColumn;
    m_Range = GetTileRange(arguments.Schedule, geometry.LineLength, m_Tile);
    const unsigned int columns =
      static_cast<unsigned int>(min(geometry.InnerCount - m_FirstColumn, size_t{ WarpSize }));
    m_Columns = columns;
    m_Lane = threadIdx.x % WarpSize;
    m_Segment = threadIdx.x / WarpSize;
  }

  __device__ void
  Load()
  {
    StartLoad(0, m_Arguments.Schedule.Segments);
    FinishLoad<0>();
  }

  /** Starts to load segments, as a group of copies. Rows beyond the end of the line repeat its last value. */
  __device__ void
  StartLoad(unsigned int firstSegment, unsigned int endSegment) const
  {
    const LineGeometry & geometry = m_Arguments.Geometry;
    const unsigned int   end = endSegment * Length;
    if (geometry.Aligned)
    {
      constexpr unsigned int perVector = 16 / sizeof(T);
      constexpr unsigned int vectors = WarpSize / perVector;
      const unsigned int     column = threadIdx.x % vectors * perVector;
      const unsigned int     valid = m_Columns > column ? m_Columns - column : 0;
      for (unsigned int row = firstSegment * Length + threadIdx.x / vectors; row < end; row += blockDim.x / vectors)
      {
        T * const destination = GetValues(row) + column;
        CopyVectorAsync(destination, valid > 0 ? GetRow(row) + column : m_Arguments.Sources[0], valid);
      }
    }
    else
    {
      const bool valid = m_Lane < m_Columns;
      for (unsigned int row = firstSegment * Length + m_Segment; row < end; row += blockDim.x / WarpSize)
      {
        T * const destination = GetValues(row) + m_Lane;
        __pipeline_memcpy_async(
          destination, valid ? GetRow(row) + m_Lane : m_Arguments.Sources[0], sizeof(T), valid ? 0 : sizeof(T));
      }
    }
    __pipeline_commit();
  }

  /** Waits for the loads but for the last groups. */
  template <unsigned int VGroups>
  __device__ void
  FinishLoad()
  {
    m_First = m_Lane < m_Columns ? m_Arguments.Sources[0][m_Base + m_Lane] : T(0);
    __pipeline_wait_prior(VGroups);
    __syncthreads();
  }

  /** Four pixels of the thread's segment, relative to the line's first. */
  __device__ void
  LoadQuad(unsigned int quad, T (&x)[4]) const
  {
    const T * const values = GetValues(m_Segment * Length) + 4 * quad * WarpSize + m_Lane;
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      x[k] = values[k * WarpSize] - m_First;
    }
  }

  __device__ void
  WriteTotals(const SweepStates<T, VPairs> & ends)
  {
    StoreStates(ends);
    for (unsigned int state = m_Segment; state < NumberOfStates<VPairs>; state += blockDim.x / WarpSize)
    {
      const PolePairState<T> total = ScanSegments(state, PolePairState<T>{});
      if (m_Lane < m_Columns)
      {
        m_Arguments.TileStates[GetTileStateIndex(state)] = total;
      }
    }
  }

  __device__ SweepStates<T, VPairs>
             Scan(const SweepStates<T, VPairs> & ends)
  {
    StoreStates(ends);
    for (unsigned int state = m_Segment; state < NumberOfStates<VPairs>; state += blockDim.x / WarpSize)
    {
      ScanSegments(state, GetStartState(state));
    }
    __syncthreads();
    SweepStates<T, VPairs> starts;
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<VPairs>; ++state)
    {
      starts.Sweep[state / VPairs].Pair[state % VPairs] = m_States[GetStateIndex(state, m_Segment)];
    }
    return starts;
  }

  __device__ void
  Store(const T (&y)[Length], const LinePassResult<T, VPairs> & result) const
  {
    if (m_Lane >= m_Columns)
    {
      return;
    }
    const LineGeometry & geometry = m_Arguments.Geometry;
    const T              offset = result.Response.OffsetResponse * m_First;
    const unsigned int   begin = m_Segment * Length;
    T * destination = result.Destination + m_Base + (m_Range.Begin + begin) * geometry.LineStride + m_Lane;
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
  /** Where a row of the tile lies. */
  __device__ T *
  GetValues(unsigned int row) const
  {
    const unsigned int slot = m_FirstSlot + row / Length;
    return m_Values + ((slot < m_Slots ? slot : slot - m_Slots) * Length + row % Length) * WarpSize;
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
  GetTileStateIndex(unsigned int state) const
  {
    const LineGeometry & geometry = m_Arguments.Geometry;
    const size_t         line = m_Outer * geometry.InnerCount + m_FirstColumn + m_Lane;
    return (m_Tile * NumberOfStates<VPairs> + state) * (geometry.InnerCount * geometry.OuterCount) + line;
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

  __device__ PolePairState<T>
             GetStartState(unsigned int state) const
  {
    if (VTask == TileTask::FilterFromStates)
    {
      return m_Lane < m_Columns ? m_Arguments.TileStates[GetTileStateIndex(state)] : PolePairState<T>{};
    }
    const bool         anticausal = state >= VPairs;
    const unsigned int row = anticausal ? m_Rows - 1 : 0;
    const T            edge = GetValues(row)[m_Lane] - m_First;
    return SteadyState(m_Arguments.Dynamics.Section[state % VPairs], edge);
  }

  /** Replaces the end states of the line's segments by their start states; returns the state behind the last one. */
  __device__ PolePairState<T>
             ScanSegments(unsigned int state, PolePairState<T> start)
  {
    const StateMatrix<T> & power = m_Arguments.Powers.Power[state % VPairs][1];
    const bool             anticausal = state >= VPairs;
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

  const LinePassArguments<T, VPairs> & m_Arguments;
  unsigned int                         m_Slots, m_FirstSlot;
  T *                                  m_Values; // [slot][row][lane]
  PolePairState<T> *                   m_States; // [state][segment][lane]
  TileRange                            m_Range;
  size_t                               m_Tile, m_Outer, m_FirstColumn, m_Base;
  unsigned int                         m_Rows, m_Columns, m_Lane, m_Segment;
  T                                    m_First;
};
} // namespace itk::cuda::gaussian

#endif
