// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_PipelinedStrip_cuh
#define CudaFilters_gaussian_device_PipelinedStrip_cuh

#include "gaussian/device/Tile.cuh"

#include <nv/target>

#include <type_traits>

// The method Strip for strided lines. A block of threads takes strips of 64 adjacent lines and moves along them in
// chunks of 128 rows. One warp keeps the copy engine busy with a ring of chunks in shared memory. The other warps
// compute, in each step s with a look-ahead of H chunks:
//
//   arrival  of chunk s: every thread reduces its segment of 16 pixels to end states
//   scan     of chunk a = s - H: its start states are computed from the end
//            states of the H chunks before it and of the H chunks behind it,
//            which have arrived
//   filter   of chunk a, in place; the copy engine writes it
//
// States decay over H chunks to less than the rounding of a float, as for the overlapping tiles (GetWindowSigmas()). If
// a line has at most H + 1 chunks, all pixels contribute. The chunks on which a result depends do not depend on how a
// line is divided among blocks of threads, and therefore neither do its bits.
//
// Larger sigmas need two launches. The first only writes the chunks' end states; after a scan over the end states
// (ScanChunksKernel) the second filters each chunk from its true start states. If lines have few chunks and there are
// strips for all multiprocessors, one launch does this with the same bits: all chunks of a strip arrive, and the
// end states stay on chip. The first chunks, whose ring buffers the last ones need, are then read from memory a second
// time.

// Strips of a mask's weights or of valid pixels have a second ring for the mask's bytes. A pixel is computed from both
// whenever it is read.

namespace itk::cuda::gaussian
{
/** The chunks [WriteBegin, WriteEnd) of one strip of lines, and the range of chunks that must be loaded for them. */
struct StripPiece
{
  unsigned int Strip, Outer;
  unsigned int LoadBegin, WriteBegin, WriteEnd, LoadEnd;
  // FilterFromEndStates in the mode Wrap: chunks at the line's other end, which continue it. They are loaded first.
  unsigned int PreloadBegin{ 0 }, PreloadEnd{ 0 };
};

template <typename T>
struct StripArguments
{
  const T *                First; // the pixels that are subtracted, one per line
  size_t                   FirstStride;
  const T *                Source; // read by threads in other modes than Nearest
  const PolePairState<T> * Edges;  // edge states, [sweep and pole pair][line]; nullptr: lines continue with edge values
  CudaGaussianBoundary     Boundary;
  PolePairState<T> *       States; // [chunk][sweep and pole pair][line]; unused by TileTask::Filter
  LineGeometry             Geometry;
  unsigned int             StripsPerRow;
  unsigned int             NumberOfChunks; // of a line
  unsigned int             LastChunk; // the line continues behind it with its last value; invalid if the line is cut
  bool EndStatesHoldEdges; // for TileTask::WriteEndStates: whether end states include the continuation beyond the
                           // edges, as for TileTask::Filter
  unsigned int                                      PiecesPerLine;
  unsigned int                                      NumberOfPieces; // of all lines
  LineDynamics<T, StripPolePairs>                   Dynamics;
  StateMatrix<T>                                    SegmentPower[StripPolePairs];
  StateMatrix<T>                                    ChunkPower[StripPolePairs];
  EndWeights<T, StripPolePairs, StripSegmentLength> Ends;
  LineResponse<T, StripPolePairs>                   Response;
  EdgeStateSolver<T, StripPolePairs>                EdgeSolver; // for TileTask::FilterFromEndStates
  CUtensorMap                                       SourceMap;  // a chunk is a box
  CUtensorMap                                       DestinationMap;
  const unsigned char *                             Valid;     // the mask, with the strides of the image
  const T *                                         Reference; // subtracted from valid pixels
  CUtensorMap                                       ValidMap;
};

/** Shared memory for states that only some tasks need. */
template <typename T, TileTask VTask>
struct StripTaskStates
{};
/** The end states of the chunks of whole lines, which are later replaced by their start states. */
template <typename T>
struct StripTaskStates<T, TileTask::FilterWholeLines>
{
  PolePairState<T> ChunkStates[StripGroups][NumberOfStates<StripPolePairs>][MaximumWholeLineChunks][WarpSize];
};
/** The end states from which edge states are computed: for each sweep the end state, from zero state, over the window
 * of chunks in which it leaves the line, or over the whole line. */
template <typename T>
struct StripTaskStates<T, TileTask::FilterFromEndStates>
{
  PolePairState<T> WindowEnds[StripGroups][NumberOfStates<StripPolePairs>][WarpSize];
};

/** The mask of the chunks in the ring, for tasks that read a mask. */
template <TileTask VTask, unsigned int VRingLength, typename = void>
struct StripMask
{};
template <TileTask VTask, unsigned int VRingLength>
struct StripMask<VTask, VRingLength, std::enable_if_t<ReadsMask<VTask>>>
{
  alignas(StripAlignment) unsigned char Valid[VRingLength][ChunkLength][StripColumns];
};

template <TileTask VTask, unsigned int VLookAhead>
constexpr unsigned int StripRingLengthOf = ReadsMask<VTask> ? MaskedStripRingLength : StripRingLength<VLookAhead>;

/** Layout of a block's shared memory: the ring and the states. */
template <typename T, TileTask VTask, unsigned int VLookAhead>
struct StripMemory
  : StripTaskStates<T, VTask>
  , StripMask<VTask, StripRingLengthOf<VTask, VLookAhead>>
{
  static constexpr unsigned int RingLength = StripRingLengthOf<VTask, VLookAhead>;
  static constexpr unsigned int Slots = VLookAhead + 1;

  alignas(StripAlignment) T Ring[RingLength][ChunkLength][StripColumns];
  PolePairState<T> States[StripGroups][Slots][NumberOfStates<StripPolePairs>][StripSegments][WarpSize];
  TileBarrier      Loaded[RingLength];   // completes when a chunk has arrived
  TileBarrier      Finished[RingLength]; // completes when all warps are done with the chunk
};

/** Returns whether edge states are computed from a window of chunks at the other end of the line. */
template <typename T>
__device__ inline bool
TakesOtherEnd(const EdgeStateSolver<T, StripPolePairs> & solver)
{
  return solver.Mode == CudaFiltersEnums::BoundaryMode::Wrap && !solver.OfWholeLine;
}

template <TileTask VTask, typename T>
__device__ inline StripPiece
GetStripPiece(const StripArguments<T> & arguments, unsigned int index, unsigned int lookAhead)
{
  const unsigned int rest = index / arguments.StripsPerRow;
  const unsigned int chunks = arguments.NumberOfChunks;
  const unsigned int pieces = arguments.PiecesPerLine;
  const unsigned int number = rest % pieces;
  // If the pieces cannot be equal, the first ones have one more chunk.
  const unsigned int length = chunks / pieces;
  const unsigned int longer = chunks % pieces;
  StripPiece         piece;
  piece.Strip = index % arguments.StripsPerRow;
  piece.Outer = rest / pieces;
  piece.WriteBegin = number * length + min(number, longer);
  piece.WriteEnd = piece.WriteBegin + length + (number < longer ? 1 : 0);
  piece.LoadBegin = piece.WriteBegin > lookAhead ? piece.WriteBegin - lookAhead : 0;
  piece.LoadEnd = min(piece.WriteEnd + lookAhead, chunks);
  if constexpr (VTask == TileTask::FilterFromEndStates)
  {
    // A piece with the first chunks preloads the last ones. It need not preload the first ones, even if it also has the
    // last chunk, because it has kept their end states.
    const bool takesOtherEnd = TakesOtherEnd(arguments.EdgeSolver);
    if (takesOtherEnd && piece.LoadBegin == 0)
    {
      piece.PreloadBegin = chunks - lookAhead;
      piece.PreloadEnd = chunks;
    }
    else if (takesOtherEnd && piece.LoadEnd == chunks)
    {
      piece.PreloadEnd = lookAhead;
    }
  }
  return piece;
}

/** The order in which the chunks of a piece are loaded, and later given back. */
template <TileTask VTask, unsigned int VRingLength>
class StripOrder
{
public:
  __device__ explicit StripOrder(const StripPiece & piece)
    : m_Piece(piece)
  {}

  /** Returns the number of chunks that are loaded before the piece, for their end states. */
  __device__ unsigned int
  GetNumberOfPreloads() const
  {
    return VTask == TileTask::FilterFromEndStates ? m_Piece.PreloadEnd - m_Piece.PreloadBegin : 0;
  }

  /** Returns the number of chunks of whole lines that are loaded a second time. */
  __device__ unsigned int
  GetNumberOfReloads() const
  {
    return VTask == TileTask::FilterWholeLines && this->GetNumberOfChunks() > VRingLength
             ? this->GetNumberOfChunks() - VRingLength
             : 0;
  }

  __device__ unsigned int
  GetNumberOfLoads() const
  {
    return this->GetNumberOfPreloads() + this->GetNumberOfChunks() + this->GetNumberOfReloads();
  }

  __device__ unsigned int
  GetChunk(unsigned int load) const
  {
    if constexpr (VTask == TileTask::FilterFromEndStates)
    {
      const unsigned int preloads = this->GetNumberOfPreloads();
      return load < preloads ? m_Piece.PreloadBegin + load : m_Piece.LoadBegin + (load - preloads);
    }
    return m_Piece.LoadBegin + (load < this->GetNumberOfChunks() ? load : load - this->GetNumberOfChunks());
  }

  __device__ bool
  IsStored(unsigned int load) const
  {
    if (VTask == TileTask::FilterWholeLines)
    {
      return load >= this->GetNumberOfReloads();
    }
    const unsigned int chunk = this->GetChunk(load);
    return VTask != TileTask::WriteEndStates && load >= this->GetNumberOfPreloads() && chunk >= m_Piece.WriteBegin &&
           chunk < m_Piece.WriteEnd;
  }

private:
  __device__ unsigned int
  GetNumberOfChunks() const
  {
    return m_Piece.LoadEnd - m_Piece.LoadBegin;
  }

  StripPiece m_Piece;
};

/** A buffer of the ring, and the parity of the current phase of its barriers. */
template <unsigned int VLength>
struct RingPosition
{
  unsigned int Index{ 0 };
  unsigned int Parity{ 0 };

  __device__ void
  Advance()
  {
    if (++Index == VLength)
    {
      Index = 0;
      Parity ^= 1;
    }
  }
};

/** The thread that moves the chunks. It iterates over the block's pieces with two positions: one ahead, which loads
 * chunks, and one behind, which stores them.
 */
template <typename T, TileTask VTask, unsigned int VLookAhead>
class StripProducer
{
public:
  using Memory = StripMemory<T, VTask, VLookAhead>;
  using Order = StripOrder<VTask, Memory::RingLength>;

  __device__
  StripProducer(const StripArguments<T> & arguments, Memory & memory)
    : m_Arguments(arguments)
    , m_Memory(memory)
    , m_LoadIndex(blockIdx.x)
  {
    this->BeginLoading();
  }

  __device__ void
  Run()
  {
    for (unsigned int i = 0; i < Memory::RingLength; ++i)
    {
      this->LoadNext();
    }
    RingPosition<Memory::RingLength> position;
    for (unsigned int index = blockIdx.x; index < m_Arguments.NumberOfPieces; index += gridDim.x)
    {
      const StripPiece piece = GetStripPiece<VTask>(m_Arguments, index, VLookAhead);
      const Order      order(piece);
      for (unsigned int load = 0; load < order.GetNumberOfLoads(); ++load)
      {
        m_Memory.Finished[position.Index].Wait(position.Parity);
        if (order.IsStored(load))
        {
          StoreBox(
            m_Arguments.DestinationMap, GetBoxPosition(piece, order.GetChunk(load)), m_Memory.Ring[position.Index]);
        }
        // This loads into the buffer that has just become free.
        this->LoadNext();
        position.Advance();
      }
    }
  }

private:
  __device__ static BoxPosition
  GetBoxPosition(const StripPiece & piece, unsigned int chunk)
  {
    return { { static_cast<int>(piece.Strip * StripColumns),
               static_cast<int>(chunk * ChunkLength),
               static_cast<int>(piece.Outer) } };
  }

  __device__ void
  BeginLoading()
  {
    if (m_LoadIndex < m_Arguments.NumberOfPieces)
    {
      m_LoadPiece = GetStripPiece<VTask>(m_Arguments, m_LoadIndex, VLookAhead);
      m_Load = 0;
    }
  }

  __device__ void
  LoadNext()
  {
    if (m_LoadIndex >= m_Arguments.NumberOfPieces)
    {
      return;
    }
    const Order order(m_LoadPiece);
    this->LoadChunk(GetBoxPosition(m_LoadPiece, order.GetChunk(m_Load)), m_LoadPosition.Index);
    m_LoadPosition.Advance();
    if (++m_Load == order.GetNumberOfLoads())
    {
      m_LoadIndex += gridDim.x;
      this->BeginLoading();
    }
  }

  __device__ void
  LoadChunk(const BoxPosition & position, unsigned int place)
  {
    constexpr unsigned int pixels = VTask == TileTask::FilterMask ? 0 : sizeof(m_Memory.Ring[0]);
    TileBarrier &          barrier = m_Memory.Loaded[place];
    if constexpr (ReadsMask<VTask>)
    {
      barrier.ArriveAndExpect(pixels + sizeof(m_Memory.Valid[0]));
      LoadBox(m_Memory.Valid[place], m_Arguments.ValidMap, position, barrier);
    }
    else
    {
      barrier.ArriveAndExpect(pixels);
    }
    if constexpr (pixels > 0)
    {
      LoadBox(m_Memory.Ring[place], m_Arguments.SourceMap, position, barrier);
    }
  }

  const StripArguments<T> &        m_Arguments;
  Memory &                         m_Memory;
  unsigned int                     m_LoadIndex;
  StripPiece                       m_LoadPiece{};
  unsigned int                     m_Load{ 0 };
  RingPosition<Memory::RingLength> m_LoadPosition;
};

/** Pixels of a thread's segment in registers, less the line's first pixel. */
template <typename T>
struct StripSegment
{
  static constexpr unsigned int Length = StripSegmentLength;
  static constexpr bool         ReadsTwice = false;

  T Pixels[Length];

  __device__ void
  TakeQuad(unsigned int quad, T (&x)[4]) const
  {
    this->LoadQuad(quad, x);
  }

  __device__ void
  LoadQuad(unsigned int quad, T (&x)[4]) const
  {
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      x[k] = Pixels[4 * quad + k];
    }
  }
};

/** A thread that computes. It owns one of its group's 32 columns, and a segment of every chunk. Each of the
 * first warps of a group also scans one state. With VHasEdges, lines continue with other values than their edge values,
 * and their edge states have been summed before the pass (StripArguments::Edges). */
template <typename T, TileTask VTask, unsigned int VLookAhead, bool VHasEdges>
class StripConsumer
{
public:
  using Memory = StripMemory<T, VTask, VLookAhead>;
  static constexpr unsigned int Length = StripSegmentLength;

  __device__
  StripConsumer(const StripArguments<T> & arguments, Memory & memory)
    : m_Arguments(arguments)
    , m_Memory(memory)
    , m_Lane(threadIdx.x % WarpSize)
    , m_Segment(threadIdx.x / WarpSize % StripSegments)
    , m_Group(threadIdx.x / WarpSize / StripSegments)
    , m_Column(m_Group * WarpSize + m_Lane)
    , m_Reference(VTask == TileTask::FilterValid ? *arguments.Reference : T(0))
  {}

  __device__ void
  Run()
  {
    // The first pixels of the next piece are loaded while the current one is computed.
    StripPiece next = GetStripPiece<VTask>(m_Arguments, blockIdx.x, VLookAhead);
    FirstPixel nextFirst = this->LoadFirst(next);
    for (unsigned int index = blockIdx.x; index < m_Arguments.NumberOfPieces;)
    {
      const StripPiece piece = next;
      m_First = this->Get(nextFirst);
      index += gridDim.x;
      if (index < m_Arguments.NumberOfPieces)
      {
        next = GetStripPiece<VTask>(m_Arguments, index, VLookAhead);
        nextFirst = this->LoadFirst(next);
      }
      if constexpr (VTask == TileTask::FilterWholeLines)
      {
        this->RunWholeLines(piece);
      }
      else
      {
        this->RunPiece(piece);
      }
    }
  }

private:
  static constexpr unsigned int NumberOfEndStates = 2 * VLookAhead + 1;
  static constexpr bool         SolvesEdgeState = VTask == TileTask::FilterFromEndStates;
  static constexpr bool         HoldsEdge = VHasEdges || SolvesEdgeState;

  /** Whether pixels stay in registers until they are filtered, and for how many chunks. A thread has 96 registers. This
   * is too few for the 16 pixels of a third chunk, or for a second chunk in addition to the data for edge states. */
  static constexpr bool         HoldsPixels = VLookAhead == 0 || (VLookAhead == 1 && !SolvesEdgeState);
  static constexpr unsigned int HeldChunks = HoldsPixels ? VLookAhead + 1 : 1;

  /** A pixel and its mask. */
  struct MaskedPixel
  {
    T             Value;
    unsigned char Valid;
  };
  using FirstPixel = std::conditional_t<ReadsMask<VTask>, MaskedPixel, T>;

  __device__ T
  Get(T pixel) const
  {
    return pixel;
  }
  __device__ T
  Get(const MaskedPixel & pixel) const
  {
    return pixel.Valid == 0 ? T(0) : (VTask == TileTask::FilterMask ? T(1) : pixel.Value - m_Reference);
  }

  /** Returns the pixel in the thread's column and in a row of the chunk in a buffer of the ring. */
  __device__ T
  GetPixel(unsigned int place, unsigned int row) const
  {
    if constexpr (ReadsMask<VTask>)
    {
      const T value = VTask == TileTask::FilterMask ? T(0) : m_Memory.Ring[place][row][m_Column];
      return this->Get(MaskedPixel{ value, m_Memory.Valid[place][row][m_Column] });
    }
    else
    {
      return m_Memory.Ring[place][row][m_Column];
    }
  }

  /** Loads the thread's segment of the chunk in a buffer of the ring. */
  __device__ StripSegment<T>
             LoadSegment(unsigned int place) const
  {
    StripSegment<T> segment;
#pragma unroll
    for (unsigned int k = 0; k < Length; ++k)
    {
      segment.Pixels[k] = this->GetPixel(place, m_Segment * Length + k) - m_First;
    }
    return segment;
  }

  /** Loads the first pixel of the thread's line in a piece. */
  __device__ FirstPixel
  LoadFirst(const StripPiece & piece) const
  {
    const size_t column = size_t{ piece.Strip } * StripColumns + m_Column;
    if constexpr (ReadsMask<VTask>)
    {
      const LineGeometry & geometry = m_Arguments.Geometry;
      const size_t         first = piece.Outer * geometry.OuterStride + min(column, geometry.InnerCount - 1);
      return { VTask == TileTask::FilterMask ? T(0) : m_Arguments.Source[first], m_Arguments.Valid[first] };
    }
    else
    {
      return column < m_Arguments.Geometry.InnerCount
               ? m_Arguments.First[piece.Outer * m_Arguments.FirstStride + column]
               : T(0);
    }
  }

  __device__ void
  BeginLines(const StripPiece & piece)
  {
    const size_t column = size_t{ piece.Strip } * StripColumns + m_Column;
    m_StateLine = size_t{ piece.Outer } * m_Arguments.Geometry.InnerCount + column;
    m_HasLine = column < m_Arguments.Geometry.InnerCount;
    m_Edge = PolePairState<T>{};
    if (VHasEdges && VTask != TileTask::FilterFromStates && m_HasLine && m_Segment < NumberOfStates<StripPolePairs>)
    {
      m_Edge = m_Arguments.Edges[m_Segment * m_Arguments.Geometry.GetNumberOfLines() + m_StateLine];
    }
  }

  /** Computes the end states of the chunks at the line's other end. */
  __device__ void
  TakeOtherEnd(const StripPiece & piece)
  {
    for (unsigned int chunk = piece.PreloadBegin; chunk < piece.PreloadEnd; ++chunk)
    {
      // Each of these chunks has a slot of its own. The piece begins with slot 0, which they leave free, so that no
      // slot is written while another warp reads it.
      const unsigned int slot = 1 + chunk - piece.PreloadBegin;
      this->Arrive(piece, chunk, slot);
      this->GiveBack();
      this->WaitForGroup();
      if (m_Segment < NumberOfStates<StripPolePairs>)
      {
        this->PushEndState(this->GetEndState(chunk, slot));
        this->GetWindowEnd(m_Segment) = this->CombineLatest(VLookAhead);
      }
    }
  }

  __device__ void
  PushEndState(const PolePairState<T> & endState)
  {
#pragma unroll
    for (unsigned int i = 0; i + 1 < NumberOfEndStates; ++i)
    {
      m_EndStates[i] = m_EndStates[i + 1];
    }
    m_EndStates[NumberOfEndStates - 1] = endState;
  }

  /** Returns the end state of the warp's sweep over the latest `count` chunks. */
  __device__ PolePairState<T>
             CombineLatest(unsigned int count) const
  {
    PolePairState<T> end;
#pragma unroll
    for (unsigned int i = 0; i < NumberOfEndStates; ++i)
    {
      // These are copies, as in GetStart().
      const PolePairState<T> fromBegin = m_EndStates[i];
      const PolePairState<T> fromEnd = m_EndStates[NumberOfEndStates - 1 - i];
      PolePairState<T>       endState;
      endState.U = this->IsAnticausal() ? fromEnd.U : fromBegin.U;
      endState.V = this->IsAnticausal() ? fromEnd.V : fromBegin.V;
      if (this->IsAnticausal() ? i < count : i + count >= NumberOfEndStates)
      {
        end = Combine(endState, m_Arguments.ChunkPower[this->GetPair()], end);
      }
    }
    return end;
  }

  /** Returns the stored end state, of one sweep and pole pair, from which the edge states of the thread's column are
   * computed. */
  __device__ PolePairState<T> &
             GetWindowEnd(unsigned int state) const
  {
    return m_Memory.WindowEnds[m_Group][state][m_Lane];
  }

  /** Returns whether the chunk that has just arrived completes the window in which the warp's sweep leaves the line. */
  __device__ bool
  EndsWindow(const StripPiece & piece, unsigned int step) const
  {
    const bool isFirstWindow = this->IsAnticausal() && !m_Arguments.EdgeSolver.OfWholeLine;
    return isFirstWindow ? step + 1 == VLookAhead && piece.LoadBegin == 0 : step + 1 == m_Arguments.NumberOfChunks;
  }

  /** Returns whether the step completes the end states of the whole line. Chunks can be filtered only after it. */
  __device__ bool
  CompletesLine(unsigned int step) const
  {
    return m_Arguments.EdgeSolver.OfWholeLine && step + 1 == m_Arguments.NumberOfChunks;
  }

  /** Computes the edge state as soon as its inputs are complete, before a chunk needs it, and adds it to the end state
   * of the chunk with which the warp's sweep enters the line. */
  __device__ void
  EnterLine(unsigned int step)
  {
    const bool         ofWholeLine = m_Arguments.EdgeSolver.OfWholeLine;
    const unsigned int entrance =
      this->IsAnticausal() ? m_Arguments.NumberOfChunks - (ofWholeLine ? 1 : 0) : VLookAhead;
    if (step != entrance)
    {
      return;
    }
    m_Edge = this->ComputeEdgeState();
    const unsigned int back = this->IsAnticausal() ? (ofWholeLine ? 0 : 1) : VLookAhead;
#pragma unroll
    for (unsigned int i = 0; i <= VLookAhead; ++i)
    {
      PolePairState<T> & endState = m_EndStates[NumberOfEndStates - 1 - i];
      if (i == back)
      {
        endState = Combine(endState, m_Arguments.ChunkPower[this->GetPair()], m_Edge);
      }
    }
  }

  __device__ PolePairState<T>
             ComputeEdgeState() const
  {
    const unsigned int pair = this->GetPair();
    return GetEdgeFromEnds(m_Arguments.EdgeSolver,
                           m_Arguments.Dynamics,
                           pair,
                           this->IsAnticausal(),
                           this->GetWindowEnd(pair),
                           this->GetWindowEnd(pair + StripPolePairs),
                           m_First,
                           m_Last);
  }

  __device__ void
  RunPiece(const StripPiece & piece)
  {
    if constexpr (SolvesEdgeState)
    {
      this->TakeOtherEnd(piece);
    }
#pragma unroll
    for (PolePairState<T> & endState : m_EndStates)
    {
      endState = PolePairState<T>{};
    }
    this->BeginLines(piece);
    m_NextStart = this->LoadStart(piece.LoadBegin);
    StripSegment<T>    held[HeldChunks];
    const unsigned int end = piece.LoadEnd + VLookAhead;
    unsigned int       slot = 0;
    for (unsigned int step = piece.LoadBegin; step < end; step += HeldChunks)
    {
#pragma unroll
      for (unsigned int k = 0; k < HeldChunks; ++k)
      {
        if (k == 0 || step + k < end)
        {
          slot = this->RunStep(piece, step + k, slot, held[k], held[(k + 1) % HeldChunks]);
        }
      }
    }
  }

  /** Processes a step: a chunk arrives, and the chunk that arrived VLookAhead steps earlier is filtered. Returns the
   * next step's slot. */
  __device__ unsigned int
  RunStep(const StripPiece & piece,
          unsigned int       step,
          unsigned int       slot,
          StripSegment<T> &  arriving,
          StripSegment<T> &  old)
  {
    // The slots are a ring, so the oldest chunk has the slot after the arriving one's.
    const unsigned int oldSlot = slot + 1 == Memory::Slots ? 0 : slot + 1;
    if (step < piece.LoadEnd)
    {
      arriving = this->Arrive(piece, step, slot);
    }
    this->WaitForGroup();
    this->Scan(piece, step, slot, oldSlot);
    this->WaitForGroup();
    if (step >= piece.LoadBegin + VLookAhead)
    {
      const unsigned int chunk = step - VLookAhead;
      if (VTask != TileTask::WriteEndStates && chunk >= piece.WriteBegin && chunk < piece.WriteEnd)
      {
        this->Filter(HoldsPixels ? old : this->LoadSegment(m_FilterPosition.Index), oldSlot);
      }
      this->GiveBack();
    }
    return oldSlot;
  }

  /** Reads all chunks once for their end states, and then filters each chunk from its true start states. */
  __device__ void
  RunWholeLines(const StripPiece & piece)
  {
    if constexpr (VHasEdges)
    {
      this->BeginLines(piece);
    }
    const StripOrder<VTask, Memory::RingLength> order(piece);
    const unsigned int                          reloads = order.GetNumberOfReloads();
    for (unsigned int chunk = 0; chunk < piece.LoadEnd; ++chunk)
    {
      this->Arrive(piece, chunk, 0);
      this->WaitForGroup();
      if (m_Segment < NumberOfStates<StripPolePairs>)
      {
        this->GetChunkState(chunk) = this->GetEndState(chunk, 0);
      }
      this->WaitForGroup();
      if (chunk < reloads)
      {
        this->GiveBack();
      }
    }
    if (m_Segment < NumberOfStates<StripPolePairs>)
    {
      this->ScanChunks();
    }
    for (unsigned int load = reloads; load < order.GetNumberOfLoads(); ++load)
    {
      const unsigned int chunk = order.GetChunk(load);
      StripSegment<T>    segment;
      if (chunk < reloads)
      {
        segment = this->Arrive(piece, chunk, 0);
      }
      else
      {
        segment = this->LoadSegment(m_FilterPosition.Index);
        this->Reduce(segment, 0);
      }
      this->WaitForGroup();
      if (m_Segment < NumberOfStates<StripPolePairs>)
      {
        this->ScanSegments(0, this->GetChunkState(chunk));
      }
      this->WaitForGroup();
      this->Filter(segment, 0);
      this->GiveBack();
    }
  }

  /** Returns the buffer of the oldest chunk to the producer. */
  __device__ void
  GiveBack()
  {
    PublishTile();
    __syncwarp();
    if (m_Lane == 0)
    {
      m_Memory.Finished[m_FilterPosition.Index].Arrive();
    }
    m_FilterPosition.Advance();
  }

  __device__ PolePairState<T> &
             GetChunkState(unsigned int chunk) const
  {
    return m_Memory.ChunkStates[m_Group][m_Segment][chunk][m_Lane];
  }

  /** Turns the end states of the line's chunks into their start states, in place, as ScanChunksKernel does. */
  __device__ void
  ScanChunks() const
  {
    const unsigned int chunks = m_Arguments.NumberOfChunks;
    PolePairState<T>   start = VHasEdges || this->IsAnticausal() ? this->GetEdge() : PolePairState<T>{};
    for (unsigned int i = 0; i < chunks; ++i)
    {
      PolePairState<T> &     entry = this->GetChunkState(this->IsAnticausal() ? chunks - 1 - i : i);
      const PolePairState<T> endState = entry;
      entry = start;
      start = Combine(endState, m_Arguments.ChunkPower[this->GetPair()], start);
    }
  }

  __device__ void
  WaitForGroup() const
  {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + m_Group), "n"(StripSegments * WarpSize) : "memory");
  }

  /** Waits for those warps of the group that scan. */
  __device__ void
  WaitForScans() const
  {
    constexpr unsigned int threads = NumberOfStates<StripPolePairs> * WarpSize;
    asm volatile("bar.sync %0, %1;" ::"r"(1 + StripGroups + m_Group), "n"(threads) : "memory");
  }

  __device__ StripSegment<T>
             Arrive(const StripPiece & piece, unsigned int chunk, unsigned int slot)
  {
    const unsigned int place = m_LoadPosition.Index;
    m_Memory.Loaded[place].Wait(m_LoadPosition.Parity);
    m_LoadPosition.Advance();
    if (chunk + 1 == m_Arguments.NumberOfChunks)
    {
      this->PadLine(piece, chunk, place);
    }
    const StripSegment<T> segment = this->LoadSegment(place);
    this->Reduce(segment, slot);
    return segment;
  }

  /** Stores the end states of the thread's segment. */
  __device__ void
  Reduce(const StripSegment<T> & segment, unsigned int slot)
  {
    const SweepStates<T, StripPolePairs> ends = GetSegmentEnds<T>(segment, m_Arguments.Ends);
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<StripPolePairs>; ++state)
    {
      m_Memory.States[m_Group][slot][state][m_Segment][m_Lane] =
        ends.Sweep[state / StripPolePairs].Pair[state % StripPolePairs];
    }
  }

  /** Fills the pixels beyond the end of the line: they repeat its last value, or continue it as the boundary mode says.
   */
  __device__ void
  PadLine(const StripPiece & piece, unsigned int chunk, unsigned int place)
  {
    const unsigned int end = static_cast<unsigned int>(m_Arguments.Geometry.LineLength - size_t{ chunk } * ChunkLength);
    T(&values)[ChunkLength][StripColumns] = m_Memory.Ring[place];
    if constexpr (VHasEdges)
    {
      const LineGeometry & geometry = m_Arguments.Geometry;
      const size_t         column = m_HasLine ? size_t{ piece.Strip } * StripColumns + m_Column : 0;
      const PaddedLine<T>  line{ m_Arguments.Source + piece.Outer * geometry.OuterStride + column,
                                geometry.LineStride,
                                geometry.LineLength,
                                m_Arguments.Boundary.Mode,
                                static_cast<T>(m_Arguments.Boundary.Value) };
      for (unsigned int row = max(end, m_Segment * Length); row < (m_Segment + 1) * Length; ++row)
      {
        values[row][m_Column] = line.Get(static_cast<std::ptrdiff_t>(size_t{ chunk } * ChunkLength + row));
      }
      return;
    }
    const T last = values[end - 1][m_Column];
    m_Last = (ReadsMask<VTask> ? this->GetPixel(place, end - 1) : last) - m_First;
    for (unsigned int row = max(end, m_Segment * Length); row < (m_Segment + 1) * Length; ++row)
    {
      values[row][m_Column] = last;
      if constexpr (ReadsMask<VTask>)
      {
        m_Memory.Valid[place][row][m_Column] = m_Memory.Valid[place][end - 1][m_Column];
      }
    }
  }

  /** Scans one state of all columns of the group, in each of the first warps. Computes the end state of the arriving
   * chunk, and the start states of the segments of the chunk that arrived VLookAhead steps earlier. */
  __device__ void
  Scan(const StripPiece & piece, unsigned int step, unsigned int slot, unsigned int oldSlot)
  {
    if (m_Segment >= NumberOfStates<StripPolePairs>)
    {
      return;
    }
    if (VTask != TileTask::FilterFromStates)
    {
      const PolePairState<T> endState = step < piece.LoadEnd ? this->GetEndState(step, slot) : PolePairState<T>{};
      if (VTask == TileTask::WriteEndStates)
      {
        if (m_HasLine)
        {
          m_Arguments.States[this->GetChunkStateIndex(step)] = endState;
        }
        return;
      }
      this->PushEndState(endState);
    }
    if constexpr (SolvesEdgeState)
    {
      if (this->EndsWindow(piece, step))
      {
        this->GetWindowEnd(m_Segment) = this->CombineLatest(VLookAhead + (m_Arguments.EdgeSolver.OfWholeLine ? 1 : 0));
      }
      if (this->CompletesLine(step))
      {
        this->WaitForScans();
      }
      this->EnterLine(step);
    }
    if (step >= piece.LoadBegin + VLookAhead)
    {
      this->ScanSegments(oldSlot, this->GetStart(step - VLookAhead));
    }
  }

  /** Turns the end states of a chunk's segments into their start states, in place. */
  __device__ void
  ScanSegments(unsigned int slot, PolePairState<T> start) const
  {
    // All are loaded first, because the compiler would otherwise wait for a load after each store.
    PolePairState<T> ends[StripSegments];
#pragma unroll
    for (unsigned int i = 0; i < StripSegments; ++i)
    {
      ends[i] = this->GetState(slot, i);
    }
#pragma unroll
    for (unsigned int i = 0; i < StripSegments; ++i)
    {
      this->GetState(slot, i) = start;
      start = Combine(ends[i], this->GetSegmentPower(), start);
    }
  }

  __device__ bool
  IsAnticausal() const
  {
    return m_Segment >= StripPolePairs;
  }
  __device__ unsigned int
  GetPair() const
  {
    return m_Segment % StripPolePairs;
  }
  __device__ const StateMatrix<T> &
                   GetSegmentPower() const
  {
    return m_Arguments.SegmentPower[this->GetPair()];
  }

  /** Returns the state of the i-th segment in the order of the warp's sweep. */
  __device__ PolePairState<T> &
             GetState(unsigned int slot, unsigned int i) const
  {
    return m_Memory.States[m_Group][slot][m_Segment][this->IsAnticausal() ? StripSegments - 1 - i : i][m_Lane];
  }


  /** Returns whether the warp's sweep enters the line with this chunk, in a state that may differ from zero. */
  __device__ bool
  IsEntrance(unsigned int chunk) const
  {
    return this->IsAnticausal() ? chunk == m_Arguments.LastChunk : HoldsEdge && chunk == 0;
  }

  /** Returns the state with which the warp's sweep enters the line. The causal state is zero before a line that
   * continues with its edge value. */
  __device__ PolePairState<T>
             GetEdge() const
  {
    if constexpr (HoldsEdge)
    {
      return m_Edge;
    }
    else
    {
      return SteadyState(m_Arguments.Dynamics.Section[this->GetPair()], m_Last);
    }
  }

  /** Returns the end state of a chunk. For some tasks, the end states of the first and the last chunk include the
   * line's continuation. */
  __device__ PolePairState<T>
             GetEndState(unsigned int chunk, unsigned int slot) const
  {
    PolePairState<T> endState;
    const bool       holdsEdge = VTask == TileTask::Filter || ReadsMask<VTask> ||
                           (VTask == TileTask::WriteEndStates && m_Arguments.EndStatesHoldEdges);
    if (holdsEdge && this->IsEntrance(chunk))
    {
      endState = this->GetEdge();
    }
#pragma unroll
    for (unsigned int i = 0; i < StripSegments; ++i)
    {
      endState = Combine(this->GetState(slot, i), this->GetSegmentPower(), endState);
    }
    return endState;
  }

  /** Returns the start state of the warp's sweep over the chunk. */
  __device__ PolePairState<T>
             GetStart(unsigned int chunk)
  {
    if (VTask == TileTask::FilterFromStates)
    {
      const PolePairState<T> start = m_NextStart;
      m_NextStart = this->LoadStart(chunk + 1);
      return start;
    }
    if (this->IsEntrance(chunk))
    {
      return this->GetEdge();
    }
    // m_EndStates[VLookAhead] is the end state of the chunk itself. End states before the line are zero.
    PolePairState<T> start;
    if constexpr (VLookAhead > 0)
    {
#pragma unroll
      for (unsigned int i = 0; i < VLookAhead; ++i)
      {
        // These are copies, because a reference to one of two array elements would keep the array in local memory
        // instead of registers.
        const PolePairState<T> before = m_EndStates[i];
        const PolePairState<T> behind = m_EndStates[NumberOfEndStates - 1 - i];
        PolePairState<T>       neighbor;
        neighbor.U = this->IsAnticausal() ? behind.U : before.U;
        neighbor.V = this->IsAnticausal() ? behind.V : before.V;
        start = Combine(neighbor, m_Arguments.ChunkPower[this->GetPair()], start);
      }
    }
    return start;
  }

  __device__ size_t
  GetChunkStateIndex(unsigned int chunk) const
  {
    const LineGeometry & geometry = m_Arguments.Geometry;
    return (size_t{ chunk } * NumberOfStates<StripPolePairs> + m_Segment) *
             (geometry.InnerCount * geometry.OuterCount) +
           m_StateLine;
  }

  __device__ PolePairState<T>
             LoadStart(unsigned int chunk) const
  {
    const bool needed = VTask == TileTask::FilterFromStates && m_Segment < NumberOfStates<StripPolePairs> &&
                        m_HasLine && chunk < m_Arguments.NumberOfChunks;
    return needed ? m_Arguments.States[this->GetChunkStateIndex(chunk)] : PolePairState<T>{};
  }

  /** Overwrites the oldest chunk in the ring by its result. */
  __device__ void
  Filter(const StripSegment<T> & segment, unsigned int slot)
  {
    SweepStates<T, StripPolePairs> starts;
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<StripPolePairs>; ++state)
    {
      starts.Sweep[state / StripPolePairs].Pair[state % StripPolePairs] =
        m_Memory.States[m_Group][slot][state][m_Segment][m_Lane];
    }
    T y[Length];
    FilterSegment<T>(segment, m_Arguments.Dynamics, m_Arguments.Response, starts, y);
    const T offset = m_Arguments.Response.ConstantResponse * m_First;
#pragma unroll
    for (unsigned int k = 0; k < Length; ++k)
    {
      m_Memory.Ring[m_FilterPosition.Index][m_Segment * Length + k][m_Column] = y[k] + offset;
    }
  }

  const StripArguments<T> &        m_Arguments;
  Memory &                         m_Memory;
  unsigned int                     m_Lane, m_Segment, m_Group, m_Column;
  RingPosition<Memory::RingLength> m_LoadPosition, m_FilterPosition;
  T                                m_Reference;
  T                                m_First{ 0 };
  T                                m_Last{ 0 }; // less m_First; only without VHasEdges
  PolePairState<T> m_Edge; // the state with which the warp's sweep enters the line, if VHasEdges or SolvesEdgeState
  PolePairState<T> m_EndStates[NumberOfEndStates];
  size_t           m_StateLine{ 0 }; // index of the thread's line among all lines
  bool             m_HasLine{ false };
  PolePairState<T> m_NextStart; // start state of the next chunk, loaded ahead
};

template <typename T, TileTask VTask, unsigned int VLookAhead, bool VHasEdges>
__device__ inline void
RunStrip(const StripArguments<T> & arguments)
{
  using Memory = StripMemory<T, VTask, VLookAhead>;
  Memory & memory = *reinterpret_cast<Memory *>(GetSharedMemory());
  if (threadIdx.x == 0)
  {
    for (unsigned int i = 0; i < Memory::RingLength; ++i)
    {
      memory.Loaded[i].Initialize(1);
      memory.Finished[i].Initialize(StripGroups * StripSegments);
    }
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x < StripConsumers)
  {
    StripConsumer<T, VTask, VLookAhead, VHasEdges>(arguments, memory).Run();
  }
  else if (threadIdx.x == StripConsumers)
  {
    StripProducer<T, VTask, VLookAhead>(arguments, memory).Run();
  }
}

/** Filters the strips of a pass with one result. The last warp moves the chunks. */
template <typename T, TileTask VTask, unsigned int VLookAhead, bool VHasEdges>
__global__ void
__launch_bounds__(StripConsumers + WarpSize, 1) StripKernel(const __grid_constant__ StripArguments<T> arguments)
{
  NV_IF_TARGET(NV_PROVIDES_SM_90, ((RunStrip<T, VTask, VLookAhead, VHasEdges>(arguments));))
}
} // namespace itk::cuda::gaussian

#endif
