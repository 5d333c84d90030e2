// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_PipelinedStrip_cuh
#define CudaFilters_gaussian_device_PipelinedStrip_cuh

#include "gaussian/device/Tile.cuh"

#include <nv/target>

#include <type_traits>

// Strided lines as a stream: a block of threads takes strips of 64 adjacent lines and moves along them in chunks of 128
// rows. One warp keeps the copy engine busy with a ring of chunks in shared memory; the others compute:
//
//   arrival  of chunk s: every thread reduces its segment of 16 pixels to end states
//   scan     of chunk a = s - H: its start states follow from the totals of the H chunks before it and of the H chunks
//            behind it, which have arrived
//   filter   of chunk a, in place; the copy engine writes it
//
// States decay over H chunks to less than the rounding of a float, as for the overlapping tiles (GetWindowSigmas()); if
// a line has H + 1 chunks at most, nothing is left out. Which chunks a result depends on does not depend on how a line
// is divided among blocks of threads, and neither do its bits.
//
// Larger sigmas take two streams: one that only writes the chunks' totals, and after a scan over the totals
// (ScanChunksKernel) one that filters each chunk from its true start states. Where lines have few chunks and there are
// strips for all multiprocessors, one stream does the same, to the bit: all chunks of a strip arrive, and the totals
// stay on chip. The first chunks, whose places in the ring the last ones need, are read from memory once more.

// Streams of a mask's weights or valid pixels have a second ring, of the mask's bytes. What a pixel is follows from
// both whenever it is read.

namespace itk::cuda::gaussian
{
/** Chunks [WriteBegin, WriteEnd) of one strip of lines, and the chunks that must be loaded for them. */
struct StreamPiece
{
  unsigned int Strip, Outer;
  unsigned int LoadBegin, WriteBegin, WriteEnd, LoadEnd;
  // FilterFromTotals: chunks at the line's other end, which continue it in the mode Wrap. They are loaded first.
  unsigned int PreloadBegin{ 0 }, PreloadEnd{ 0 };
};

template <typename T>
struct StreamArguments
{
  const T *                        First; // the pixels that are subtracted, one for each line
  size_t                           FirstStride;
  const T *                        Source; // read by threads in other modes than Nearest
  const PolePairState<T> *         Edges;  // as in LinePassArguments
  CudaGaussianBoundary             Boundary;
  PolePairState<T> *               States; // as in ScanArguments; not for TileTask::Filter
  LineGeometry                     Geometry;
  unsigned int                     StripsPerRow;
  unsigned int                     NumberOfChunks; // of a line
  unsigned int                     LastChunk; // behind which a line continues with its last value; none if it is cut
  bool                             TotalsHoldEdges; // for TileTask::WriteTotals: as those of TileTask::Filter
  unsigned int                     PiecesPerLine;
  unsigned int                     NumberOfPieces; // of all lines
  LineDynamics<T, StreamPolePairs> Dynamics;
  StateMatrix<T>                   SegmentPower[StreamPolePairs];
  StateMatrix<T>                   ChunkPower[StreamPolePairs];
  EndWeights<T, StreamPolePairs, StreamSegmentLength> Ends;
  LineResponse<T, StreamPolePairs>                    Response;
  EdgeClosure<T, StreamPolePairs>                     Closure;   // for TileTask::FilterFromTotals
  CUtensorMap                                         SourceMap; // a box is a chunk
  CUtensorMap                                         DestinationMap;
  const unsigned char *                               Valid;      // the mask, with the strides of the image
  const T *                                           Subtracted; // from valid pixels
  CUtensorMap                                         ValidMap;
};

/** States that only some tasks keep. */
template <typename T, TileTask VTask>
struct StreamTaskStates
{};
/** Totals of the chunks of whole lines, then their start states. */
template <typename T>
struct StreamTaskStates<T, TileTask::FilterWholeLines>
{
  PolePairState<T> ChunkStates[StreamGroups][NumberOfStates<StreamPolePairs>][MaximumWholeLineChunks][WarpSize];
};
/** What edge states follow from: of each sweep the end state, from zero state, over the window of chunks in which it
 * leaves the line, or over the whole line. */
template <typename T>
struct StreamTaskStates<T, TileTask::FilterFromTotals>
{
  PolePairState<T> WindowEnds[StreamGroups][NumberOfStates<StreamPolePairs>][WarpSize];
};

/** The mask of the chunks in the ring. */
template <TileTask VTask, unsigned int VRingLength, typename = void>
struct StreamMask
{};
template <TileTask VTask, unsigned int VRingLength>
struct StreamMask<VTask, VRingLength, std::enable_if_t<ReadsMask<VTask>>>
{
  alignas(StreamAlignment) unsigned char Valid[VRingLength][ChunkLength][StreamColumns];
};

template <TileTask VTask, unsigned int VLookAhead>
constexpr unsigned int StreamRingLengthOf = ReadsMask<VTask> ? MaskedStreamRingLength : StreamRingLength<VLookAhead>;

/** The ring and the states of a block of threads in shared memory. */
template <typename T, TileTask VTask, unsigned int VLookAhead>
struct StreamMemory
  : StreamTaskStates<T, VTask>
  , StreamMask<VTask, StreamRingLengthOf<VTask, VLookAhead>>
{
  static constexpr unsigned int RingLength = StreamRingLengthOf<VTask, VLookAhead>;
  static constexpr unsigned int Slots = VLookAhead + 1;

  alignas(StreamAlignment) T Ring[RingLength][ChunkLength][StreamColumns];
  PolePairState<T> States[StreamGroups][Slots][NumberOfStates<StreamPolePairs>][StreamSegments][WarpSize];
  TileBarrier      Loaded[RingLength];   // a chunk has arrived
  TileBarrier      Finished[RingLength]; // all warps are done with it
};

/** Whether edge states follow from chunks of a window at the other end of the line. */
template <typename T>
__device__ inline bool
TakesOtherEnd(const EdgeClosure<T, StreamPolePairs> & closure)
{
  return closure.Mode == CudaFiltersEnums::BoundaryMode::Wrap && !closure.OfWholeLine;
}

template <TileTask VTask, typename T>
__device__ inline StreamPiece
GetStreamPiece(const StreamArguments<T> & arguments, unsigned int index, unsigned int lookAhead)
{
  const unsigned int rest = index / arguments.StripsPerRow;
  const unsigned int chunks = arguments.NumberOfChunks;
  const unsigned int pieces = arguments.PiecesPerLine;
  const unsigned int number = rest % pieces;
  // The first pieces have one more chunk if the pieces cannot be equal.
  const unsigned int length = chunks / pieces;
  const unsigned int longer = chunks % pieces;
  StreamPiece        piece;
  piece.Strip = index % arguments.StripsPerRow;
  piece.Outer = rest / pieces;
  piece.WriteBegin = number * length + min(number, longer);
  piece.WriteEnd = piece.WriteBegin + length + (number < longer ? 1 : 0);
  piece.LoadBegin = piece.WriteBegin > lookAhead ? piece.WriteBegin - lookAhead : 0;
  piece.LoadEnd = min(piece.WriteEnd + lookAhead, chunks);
  if constexpr (VTask == TileTask::FilterFromTotals)
  {
    // A piece that holds the first chunks keeps their totals for its other end.
    const bool takesOtherEnd = TakesOtherEnd(arguments.Closure);
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

/** The chunks of a piece in the order in which they are loaded, and later given back. */
template <TileTask VTask, unsigned int VRingLength>
class StreamOrder
{
public:
  __device__ explicit StreamOrder(const StreamPiece & piece)
    : m_Piece(piece)
  {}

  /** Those that come before the piece, for their totals. */
  __device__ unsigned int
  GetNumberOfPreloads() const
  {
    return VTask == TileTask::FilterFromTotals ? m_Piece.PreloadEnd - m_Piece.PreloadBegin : 0;
  }

  /** Of whole lines, those that come once more. */
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
    if constexpr (VTask == TileTask::FilterFromTotals)
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
    return VTask != TileTask::WriteTotals && load >= this->GetNumberOfPreloads() && chunk >= m_Piece.WriteBegin &&
           chunk < m_Piece.WriteEnd;
  }

private:
  __device__ unsigned int
  GetNumberOfChunks() const
  {
    return m_Piece.LoadEnd - m_Piece.LoadBegin;
  }

  StreamPiece m_Piece;
};

/** A place in the ring, and the parity of the phase that its barriers are in. */
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

/** The thread that moves chunks. It walks along the block's pieces twice: ahead to load, and behind to store. */
template <typename T, TileTask VTask, unsigned int VLookAhead>
class StreamProducer
{
public:
  using Memory = StreamMemory<T, VTask, VLookAhead>;
  using Order = StreamOrder<VTask, Memory::RingLength>;

  __device__
  StreamProducer(const StreamArguments<T> & arguments, Memory & memory)
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
      const StreamPiece piece = GetStreamPiece<VTask>(m_Arguments, index, VLookAhead);
      const Order       order(piece);
      for (unsigned int load = 0; load < order.GetNumberOfLoads(); ++load)
      {
        m_Memory.Finished[position.Index].Wait(position.Parity);
        if (order.IsStored(load))
        {
          StoreBox(
            m_Arguments.DestinationMap, GetBoxPosition(piece, order.GetChunk(load)), m_Memory.Ring[position.Index]);
        }
        // The place that has just become free.
        this->LoadNext();
        position.Advance();
      }
    }
  }

private:
  __device__ static BoxPosition
  GetBoxPosition(const StreamPiece & piece, unsigned int chunk)
  {
    return { { static_cast<int>(piece.Strip * StreamColumns),
               static_cast<int>(chunk * ChunkLength),
               static_cast<int>(piece.Outer) } };
  }

  __device__ void
  BeginLoading()
  {
    if (m_LoadIndex < m_Arguments.NumberOfPieces)
    {
      m_LoadPiece = GetStreamPiece<VTask>(m_Arguments, m_LoadIndex, VLookAhead);
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

  const StreamArguments<T> &       m_Arguments;
  Memory &                         m_Memory;
  unsigned int                     m_LoadIndex;
  StreamPiece                      m_LoadPiece{};
  unsigned int                     m_Load{ 0 };
  RingPosition<Memory::RingLength> m_LoadPosition;
};

/** Pixels of a thread's segment, relative to the line's first, in registers. */
template <typename T>
struct StreamSegment
{
  static constexpr unsigned int Length = StreamSegmentLength;
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

/** A thread that computes. It owns one of its group's 32 columns and a segment of every chunk. The first warps of a
 * group also scan one state each. With VHasEdges lines continue otherwise than with their edge values. */
template <typename T, TileTask VTask, unsigned int VLookAhead, bool VHasEdges>
class StreamConsumer
{
public:
  using Memory = StreamMemory<T, VTask, VLookAhead>;
  static constexpr unsigned int Length = StreamSegmentLength;

  __device__
  StreamConsumer(const StreamArguments<T> & arguments, Memory & memory)
    : m_Arguments(arguments)
    , m_Memory(memory)
    , m_Lane(threadIdx.x % WarpSize)
    , m_Segment(threadIdx.x / WarpSize % StreamSegments)
    , m_Group(threadIdx.x / WarpSize / StreamSegments)
    , m_Column(m_Group * WarpSize + m_Lane)
    , m_Subtracted(VTask == TileTask::FilterValid ? *arguments.Subtracted : T(0))
  {}

  __device__ void
  Run()
  {
    // The first pixels of the next piece are under way while one is worked on.
    StreamPiece next = GetStreamPiece<VTask>(m_Arguments, blockIdx.x, VLookAhead);
    FirstPixel  nextFirst = this->LoadFirst(next);
    for (unsigned int index = blockIdx.x; index < m_Arguments.NumberOfPieces;)
    {
      const StreamPiece piece = next;
      m_First = this->Get(nextFirst);
      index += gridDim.x;
      if (index < m_Arguments.NumberOfPieces)
      {
        next = GetStreamPiece<VTask>(m_Arguments, index, VLookAhead);
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
  static constexpr unsigned int NumberOfTotals = 2 * VLookAhead + 1;
  static constexpr bool         FollowsFromTotals = VTask == TileTask::FilterFromTotals;
  static constexpr bool         HoldsEdge = VHasEdges || FollowsFromTotals;

  /** Whether pixels stay in registers until they are filtered, and of how many chunks then. A thread has 96 registers,
   * too few for a third chunk's 16 pixels, or for a second one's beside what edge states follow from. */
  static constexpr bool         HoldsPixels = VLookAhead == 0 || (VLookAhead == 1 && !FollowsFromTotals);
  static constexpr unsigned int HeldChunks = HoldsPixels ? VLookAhead + 1 : 1;

  /** A pixel under a mask. */
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
    return pixel.Valid == 0 ? T(0) : (VTask == TileTask::FilterMask ? T(1) : pixel.Value - m_Subtracted);
  }

  /** The pixel of the thread's column in a row of the chunk at a place of the ring. */
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

  /** The thread's segment of the chunk at a place of the ring. */
  __device__ StreamSegment<T>
             LoadSegment(unsigned int place) const
  {
    StreamSegment<T> segment;
#pragma unroll
    for (unsigned int k = 0; k < Length; ++k)
    {
      segment.Pixels[k] = this->GetPixel(place, m_Segment * Length + k) - m_First;
    }
    return segment;
  }

  /** First pixel of the thread's line in a piece. */
  __device__ FirstPixel
  LoadFirst(const StreamPiece & piece) const
  {
    const size_t column = size_t{ piece.Strip } * StreamColumns + m_Column;
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
  BeginLines(const StreamPiece & piece)
  {
    const size_t column = size_t{ piece.Strip } * StreamColumns + m_Column;
    m_StateLine = size_t{ piece.Outer } * m_Arguments.Geometry.InnerCount + column;
    m_HasLine = column < m_Arguments.Geometry.InnerCount;
    m_Edge = PolePairState<T>{};
    if (VHasEdges && VTask != TileTask::FilterFromStates && m_HasLine && m_Segment < NumberOfStates<StreamPolePairs>)
    {
      m_Edge = m_Arguments.Edges[m_Segment * m_Arguments.Geometry.GetNumberOfLines() + m_StateLine];
    }
  }

  /** Takes the totals of the chunks at the line's other end. */
  __device__ void
  TakeOtherEnd(const StreamPiece & piece)
  {
    for (unsigned int chunk = piece.PreloadBegin; chunk < piece.PreloadEnd; ++chunk)
    {
      // There are as many of these chunks as slots but the first one, with which the piece begins: none is written
      // while it is read.
      const unsigned int slot = 1 + chunk - piece.PreloadBegin;
      this->Arrive(piece, chunk, slot);
      this->GiveBack();
      this->WaitForGroup();
      if (m_Segment < NumberOfStates<StreamPolePairs>)
      {
        this->PushTotal(this->GetTotal(chunk, slot));
        this->GetWindowEnd(m_Segment) = this->CombineLatest(VLookAhead);
      }
    }
  }

  __device__ void
  PushTotal(const PolePairState<T> & total)
  {
#pragma unroll
    for (unsigned int i = 0; i + 1 < NumberOfTotals; ++i)
    {
      m_Totals[i] = m_Totals[i + 1];
    }
    m_Totals[NumberOfTotals - 1] = total;
  }

  /** End state of the warp's sweep over the latest `count` chunks. */
  __device__ PolePairState<T>
             CombineLatest(unsigned int count) const
  {
    PolePairState<T> end;
#pragma unroll
    for (unsigned int i = 0; i < NumberOfTotals; ++i)
    {
      // Copies, as in GetStart().
      const PolePairState<T> fromBegin = m_Totals[i];
      const PolePairState<T> fromEnd = m_Totals[NumberOfTotals - 1 - i];
      PolePairState<T>       total;
      total.U = this->IsAnticausal() ? fromEnd.U : fromBegin.U;
      total.V = this->IsAnticausal() ? fromEnd.V : fromBegin.V;
      if (this->IsAnticausal() ? i < count : i + count >= NumberOfTotals)
      {
        end = Combine(total, m_Arguments.ChunkPower[this->GetPair()], end);
      }
    }
    return end;
  }

  /** What the edge states of the warp's column follow from, of one sweep and pole pair. */
  __device__ PolePairState<T> &
             GetWindowEnd(unsigned int state) const
  {
    return m_Memory.WindowEnds[m_Group][state][m_Lane];
  }

  /** Whether the chunk that has just arrived is the last one of the window in which the warp's sweep leaves the line.
   */
  __device__ bool
  EndsWindow(const StreamPiece & piece, unsigned int step) const
  {
    const bool isFirstWindow = this->IsAnticausal() && !m_Arguments.Closure.OfWholeLine;
    return isFirstWindow ? step + 1 == VLookAhead && piece.LoadBegin == 0 : step + 1 == m_Arguments.NumberOfChunks;
  }

  /** Whether chunks can be filtered only from now on, with the edge states of the whole line. */
  __device__ bool
  CompletesLine(unsigned int step) const
  {
    return m_Arguments.Closure.OfWholeLine && step + 1 == m_Arguments.NumberOfChunks;
  }

  /** Makes the edge state as soon as it follows, before a chunk needs it, and adds it to the total of the chunk with
   * which the warp's sweep enters the line. */
  __device__ void
  EnterLine(unsigned int step)
  {
    const bool         ofWholeLine = m_Arguments.Closure.OfWholeLine;
    const unsigned int entrance =
      this->IsAnticausal() ? m_Arguments.NumberOfChunks - (ofWholeLine ? 1 : 0) : VLookAhead;
    if (step != entrance)
    {
      return;
    }
    m_Edge = this->GetFollowingEdge();
    const unsigned int back = this->IsAnticausal() ? (ofWholeLine ? 0 : 1) : VLookAhead;
#pragma unroll
    for (unsigned int i = 0; i <= VLookAhead; ++i)
    {
      PolePairState<T> & total = m_Totals[NumberOfTotals - 1 - i];
      if (i == back)
      {
        total = Combine(total, m_Arguments.ChunkPower[this->GetPair()], m_Edge);
      }
    }
  }

  __device__ PolePairState<T>
             GetFollowingEdge() const
  {
    const unsigned int pair = this->GetPair();
    return GetEdgeFromEnds(m_Arguments.Closure,
                           m_Arguments.Dynamics,
                           pair,
                           this->IsAnticausal(),
                           this->GetWindowEnd(pair),
                           this->GetWindowEnd(pair + StreamPolePairs),
                           m_First,
                           m_Last);
  }

  __device__ void
  RunPiece(const StreamPiece & piece)
  {
    if constexpr (FollowsFromTotals)
    {
      this->TakeOtherEnd(piece);
    }
#pragma unroll
    for (PolePairState<T> & total : m_Totals)
    {
      total = PolePairState<T>{};
    }
    this->BeginLines(piece);
    m_NextStart = this->LoadStart(piece.LoadBegin);
    StreamSegment<T>   held[HeldChunks];
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

  /** A chunk arrives, and the one that arrived VLookAhead steps ago is filtered. Returns the next step's slot. */
  __device__ unsigned int
  RunStep(const StreamPiece & piece,
          unsigned int        step,
          unsigned int        slot,
          StreamSegment<T> &  arriving,
          StreamSegment<T> &  old)
  {
    // The slot after the arriving chunk's is the one of the old chunk.
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
      if (VTask != TileTask::WriteTotals && chunk >= piece.WriteBegin && chunk < piece.WriteEnd)
      {
        this->Filter(HoldsPixels ? old : this->LoadSegment(m_FilterPosition.Index), oldSlot);
      }
      this->GiveBack();
    }
    return oldSlot;
  }

  /** Reads all chunks once for their totals, and then filters each chunk from its true start states. */
  __device__ void
  RunWholeLines(const StreamPiece & piece)
  {
    if constexpr (VHasEdges)
    {
      this->BeginLines(piece);
    }
    const StreamOrder<VTask, Memory::RingLength> order(piece);
    const unsigned int                           reloads = order.GetNumberOfReloads();
    for (unsigned int chunk = 0; chunk < piece.LoadEnd; ++chunk)
    {
      this->Arrive(piece, chunk, 0);
      this->WaitForGroup();
      if (m_Segment < NumberOfStates<StreamPolePairs>)
      {
        this->GetChunkState(chunk) = this->GetTotal(chunk, 0);
      }
      this->WaitForGroup();
      if (chunk < reloads)
      {
        this->GiveBack();
      }
    }
    if (m_Segment < NumberOfStates<StreamPolePairs>)
    {
      this->ScanChunks();
    }
    for (unsigned int load = reloads; load < order.GetNumberOfLoads(); ++load)
    {
      const unsigned int chunk = order.GetChunk(load);
      StreamSegment<T>   segment;
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
      if (m_Segment < NumberOfStates<StreamPolePairs>)
      {
        this->ScanSegments(0, this->GetChunkState(chunk));
      }
      this->WaitForGroup();
      this->Filter(segment, 0);
      this->GiveBack();
    }
  }

  /** Gives the place of the oldest chunk to the producer. */
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

  /** Turns the totals of the line's chunks into their start states, as ScanChunksKernel does. */
  __device__ void
  ScanChunks() const
  {
    const unsigned int chunks = m_Arguments.NumberOfChunks;
    PolePairState<T>   start = VHasEdges || this->IsAnticausal() ? this->GetEdge() : PolePairState<T>{};
    for (unsigned int i = 0; i < chunks; ++i)
    {
      PolePairState<T> &     entry = this->GetChunkState(this->IsAnticausal() ? chunks - 1 - i : i);
      const PolePairState<T> total = entry;
      entry = start;
      start = Combine(total, m_Arguments.ChunkPower[this->GetPair()], start);
    }
  }

  __device__ void
  WaitForGroup() const
  {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + m_Group), "n"(StreamSegments * WarpSize) : "memory");
  }

  /** Waits for the group's warps that scan. */
  __device__ void
  WaitForScans() const
  {
    constexpr unsigned int threads = NumberOfStates<StreamPolePairs> * WarpSize;
    asm volatile("bar.sync %0, %1;" ::"r"(1 + StreamGroups + m_Group), "n"(threads) : "memory");
  }

  __device__ StreamSegment<T>
             Arrive(const StreamPiece & piece, unsigned int chunk, unsigned int slot)
  {
    const unsigned int place = m_LoadPosition.Index;
    m_Memory.Loaded[place].Wait(m_LoadPosition.Parity);
    m_LoadPosition.Advance();
    if (chunk + 1 == m_Arguments.NumberOfChunks)
    {
      this->ContinueLine(piece, chunk, place);
    }
    const StreamSegment<T> segment = this->LoadSegment(place);
    this->Reduce(segment, slot);
    return segment;
  }

  /** End states of the thread's segment. */
  __device__ void
  Reduce(const StreamSegment<T> & segment, unsigned int slot)
  {
    const SweepStates<T, StreamPolePairs> ends = GetSegmentEnds<T>(segment, m_Arguments.Ends);
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<StreamPolePairs>; ++state)
    {
      m_Memory.States[m_Group][slot][state][m_Segment][m_Lane] =
        ends.Sweep[state / StreamPolePairs].Pair[state % StreamPolePairs];
    }
  }

  /** Pixels beyond the end of the line repeat its last value, or continue it as the boundary mode says. */
  __device__ void
  ContinueLine(const StreamPiece & piece, unsigned int chunk, unsigned int place)
  {
    const unsigned int end = static_cast<unsigned int>(m_Arguments.Geometry.LineLength - size_t{ chunk } * ChunkLength);
    T(&values)[ChunkLength][StreamColumns] = m_Memory.Ring[place];
    if constexpr (VHasEdges)
    {
      const LineGeometry &   geometry = m_Arguments.Geometry;
      const size_t           column = m_HasLine ? size_t{ piece.Strip } * StreamColumns + m_Column : 0;
      const ContinuedLine<T> line{ m_Arguments.Source + piece.Outer * geometry.OuterStride + column,
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

  /** One state of all columns of the group for each of the first warps: the total of the arriving chunk, and the start
   * states of the segments of the chunk that arrived VLookAhead steps ago. */
  __device__ void
  Scan(const StreamPiece & piece, unsigned int step, unsigned int slot, unsigned int oldSlot)
  {
    if (m_Segment >= NumberOfStates<StreamPolePairs>)
    {
      return;
    }
    if (VTask != TileTask::FilterFromStates)
    {
      const PolePairState<T> total = step < piece.LoadEnd ? this->GetTotal(step, slot) : PolePairState<T>{};
      if (VTask == TileTask::WriteTotals)
      {
        if (m_HasLine)
        {
          m_Arguments.States[this->GetChunkStateIndex(step)] = total;
        }
        return;
      }
      this->PushTotal(total);
    }
    if constexpr (FollowsFromTotals)
    {
      if (this->EndsWindow(piece, step))
      {
        this->GetWindowEnd(m_Segment) = this->CombineLatest(VLookAhead + (m_Arguments.Closure.OfWholeLine ? 1 : 0));
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

  /** Turns the end states of a chunk's segments into their start states. */
  __device__ void
  ScanSegments(unsigned int slot, PolePairState<T> start) const
  {
    // These are loaded together: the compiler would wait for the next one after each store.
    PolePairState<T> ends[StreamSegments];
#pragma unroll
    for (unsigned int i = 0; i < StreamSegments; ++i)
    {
      ends[i] = this->GetState(slot, i);
    }
#pragma unroll
    for (unsigned int i = 0; i < StreamSegments; ++i)
    {
      this->GetState(slot, i) = start;
      start = Combine(ends[i], this->GetSegmentPower(), start);
    }
  }

  __device__ bool
  IsAnticausal() const
  {
    return m_Segment >= StreamPolePairs;
  }
  __device__ unsigned int
  GetPair() const
  {
    return m_Segment % StreamPolePairs;
  }
  __device__ const StateMatrix<T> &
                   GetSegmentPower() const
  {
    return m_Arguments.SegmentPower[this->GetPair()];
  }

  /** State of the warp's sweep in the i-th segment that it meets. */
  __device__ PolePairState<T> &
             GetState(unsigned int slot, unsigned int i) const
  {
    return m_Memory.States[m_Group][slot][m_Segment][this->IsAnticausal() ? StreamSegments - 1 - i : i][m_Lane];
  }


  /** Whether the warp's sweep enters the line with this chunk, in another state than zero. */
  __device__ bool
  IsEntrance(unsigned int chunk) const
  {
    return this->IsAnticausal() ? chunk == m_Arguments.LastChunk : HoldsEdge && chunk == 0;
  }

  /** The state with which it does. Before a line that continues with its edge value all states are zero. */
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

  /** End state of a whole chunk. Those of the first and the last chunk include the continuation of the line. */
  __device__ PolePairState<T>
             GetTotal(unsigned int chunk, unsigned int slot) const
  {
    PolePairState<T> total;
    const bool       holdsEdge =
      VTask == TileTask::Filter || ReadsMask<VTask> || (VTask == TileTask::WriteTotals && m_Arguments.TotalsHoldEdges);
    if (holdsEdge && this->IsEntrance(chunk))
    {
      total = this->GetEdge();
    }
#pragma unroll
    for (unsigned int i = 0; i < StreamSegments; ++i)
    {
      total = Combine(this->GetState(slot, i), this->GetSegmentPower(), total);
    }
    return total;
  }

  /** State at the side of the chunk where the warp's sweep begins. */
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
    // m_Totals[VLookAhead] is the total of the chunk itself. Before the line all totals are zero.
    PolePairState<T> start;
    if constexpr (VLookAhead > 0)
    {
#pragma unroll
      for (unsigned int i = 0; i < VLookAhead; ++i)
      {
        // These are copies: a reference to one of two would keep all of them in memory.
        const PolePairState<T> before = m_Totals[i];
        const PolePairState<T> behind = m_Totals[NumberOfTotals - 1 - i];
        PolePairState<T>       neighbour;
        neighbour.U = this->IsAnticausal() ? behind.U : before.U;
        neighbour.V = this->IsAnticausal() ? behind.V : before.V;
        start = Combine(neighbour, m_Arguments.ChunkPower[this->GetPair()], start);
      }
    }
    return start;
  }

  __device__ size_t
  GetChunkStateIndex(unsigned int chunk) const
  {
    const LineGeometry & geometry = m_Arguments.Geometry;
    return (size_t{ chunk } * NumberOfStates<StreamPolePairs> + m_Segment) *
             (geometry.InnerCount * geometry.OuterCount) +
           m_StateLine;
  }

  __device__ PolePairState<T>
             LoadStart(unsigned int chunk) const
  {
    const bool needed = VTask == TileTask::FilterFromStates && m_Segment < NumberOfStates<StreamPolePairs> &&
                        m_HasLine && chunk < m_Arguments.NumberOfChunks;
    return needed ? m_Arguments.States[this->GetChunkStateIndex(chunk)] : PolePairState<T>{};
  }

  /** Writes the result of the oldest chunk in its place. */
  __device__ void
  Filter(const StreamSegment<T> & segment, unsigned int slot)
  {
    SweepStates<T, StreamPolePairs> starts;
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<StreamPolePairs>; ++state)
    {
      starts.Sweep[state / StreamPolePairs].Pair[state % StreamPolePairs] =
        m_Memory.States[m_Group][slot][state][m_Segment][m_Lane];
    }
    T y[Length];
    FilterSegment<T>(segment, m_Arguments.Dynamics, m_Arguments.Response, starts, y);
    const T offset = m_Arguments.Response.OffsetResponse * m_First;
#pragma unroll
    for (unsigned int k = 0; k < Length; ++k)
    {
      m_Memory.Ring[m_FilterPosition.Index][m_Segment * Length + k][m_Column] = y[k] + offset;
    }
  }

  const StreamArguments<T> &       m_Arguments;
  Memory &                         m_Memory;
  unsigned int                     m_Lane, m_Segment, m_Group, m_Column;
  RingPosition<Memory::RingLength> m_LoadPosition, m_FilterPosition;
  T                                m_Subtracted;
  T                                m_First{ 0 };
  T                                m_Last{ 0 }; // less m_First, without other edges
  PolePairState<T>                 m_Edge;      // with which the warp's sweep enters the line, with other edges
  PolePairState<T>                 m_Totals[NumberOfTotals];
  size_t                           m_StateLine{ 0 }; // of all lines
  bool                             m_HasLine{ false };
  PolePairState<T>                 m_NextStart; // of the next chunk, under way
};

template <typename T, TileTask VTask, unsigned int VLookAhead, bool VHasEdges>
__device__ inline void
RunStream(const StreamArguments<T> & arguments)
{
  using Memory = StreamMemory<T, VTask, VLookAhead>;
  Memory & memory = *reinterpret_cast<Memory *>(GetSharedMemory());
  if (threadIdx.x == 0)
  {
    for (unsigned int i = 0; i < Memory::RingLength; ++i)
    {
      memory.Loaded[i].Initialize(1);
      memory.Finished[i].Initialize(StreamGroups * StreamSegments);
    }
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x < StreamConsumers)
  {
    StreamConsumer<T, VTask, VLookAhead, VHasEdges>(arguments, memory).Run();
  }
  else if (threadIdx.x == StreamConsumers)
  {
    StreamProducer<T, VTask, VLookAhead>(arguments, memory).Run();
  }
}

/** One result of one pass; the last warp moves the chunks. */
template <typename T, TileTask VTask, unsigned int VLookAhead, bool VHasEdges>
__global__ void
__launch_bounds__(StreamConsumers + WarpSize, 1) StreamKernel(const __grid_constant__ StreamArguments<T> arguments)
{
  NV_IF_TARGET(NV_PROVIDES_SM_90, ((RunStream<T, VTask, VLookAhead, VHasEdges>(arguments));))
}
} // namespace itk::cuda::gaussian

#endif
