// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeLoop_cuh
#define itkCudaSnakeLoop_cuh

#include "itkCudaSnakeKernels.cuh"

#include <cuda/atomic>

// The whole schedule in one cooperative kernel. Each phase is work that all warps share - edges, candidates, tests of
// simplicity - and a conclusion that the first block draws, while the others wait: which proposals stay, what becomes
// of the polygon, what comes next. A limited launch (VLimited) does work that might take long in portions, after each
// of which the first block looks at the clock: if the launch has had its time it ends there, and the next one goes on
// with the next portion. Other launches run to the end of the schedule; what portions need is left out of their kernel,
// because asking for it takes 2 to 5 % of a phase.
namespace itk::cuda::snake
{
namespace kernels
{
/** Some rows of the edges at one node, by one warp per item of the phase: number Part of Parts. */
struct alignas(16) RowChunk
{
  int32_t Node;
  int32_t Part;
  int32_t Parts;
};

/** Sums for the removal of a node: chords over it and its followers, and the edges that they replace. */
ITK_CUDA_HOST_DEVICE constexpr int
ItemsOfRemoval(int longestRun)
{
  return 2 * longestRun + 1;
}
static_assert(ItemsOfRemoval(MaximumRemovedRun) <= Directions + 1,
              "Room for the sums of candidates is enough for those of removals");

/** How far a phase is, in portions that all blocks have done. */
struct PhaseProgress
{
  enum class Stage : int32_t
  {
    Sums,      // First: of the slices of the chunks' rows
    Proposals, // First: of the nodes
    Conclusion // First: of the listed proposals
  };
  Stage   Now{ Stage::Sums };
  int32_t First{ 0 };             // what comes next of the stage
  int32_t Slices{ 1 };            // of the chunks' rows
  int32_t NodesPerPortion{ 0 };   // of proposals
  int32_t NumberOfProposals{ 0 }; // in the list of an interrupted conclusion

  /** What comes next of a stage that is not over. */
  __device__ int
  FirstOf(Stage stage) const
  {
    return Now == stage ? First : 0;
  }
  /** Whether the phase's sums are complete when the present portion is. */
  __device__ bool
  SumsEnd() const
  {
    return Now != Stage::Sums || First + 1 >= Slices;
  }
};

/** The snake in device memory. */
struct DeviceSnake
{
  SnakePlan      Plan;
  LawDescription Law;
  Moments        Total;

  SnakeControl Control;
  Moments      Sums;
  double       Criterion{ 0.0 };
  double       BeforeIteration{ 0.0 };
  LinearForm   Gain;
  int32_t      NumberOfNodes{ 0 };
  int32_t      Current{ 0 };        // of the two polygons
  int32_t      NumberOfChunks{ 0 }; // of the next phase
  uint32_t     NumberOfEntries{ 0 };
  uint32_t     KnownEntries{ 0 };   // of the record, to the host
  bool         IsPrepared{ false }; // for the next phase
  bool         Pause{ false };

  PhaseProgress Progress;

  LatticePoint *        Polygons[2]{};
  RowChunk *            Chunks{ nullptr };
  Moments *             ItemSums{ nullptr };     // of the items of each node; zero between phases
  Moments *             Changes{ nullptr };      // of the candidates, in rows; one array of rows per cache
  int32_t *             Rows{ nullptr };         // of each node in Changes
  int32_t *             IsStale{ nullptr };      // bit c: in cache c
  Proposal *            Slots{ nullptr };        // one per node; Node is -1 where there is no proposal
  int32_t *             Proposed{ nullptr };     // list of nodes with a proposal
  int32_t *             IsSuppressed{ nullptr }; // of each node with a proposal
  CudaRegionSnakeStep * Record{ nullptr };
  uint32_t              RecordCapacity{ 0 };
  uint32_t              NodeCapacity{ 0 };

  /** Sums that a phase needs of each node. */
  __device__ int
  GetItemsPerNode() const
  {
    switch (Control.Next)
    {
      case SnakeControl::Phase::Measure:
        return 1;
      case SnakeControl::Phase::Move:
        return Directions * Plan.Rings + 1;
      case SnakeControl::Phase::Remove:
        return ItemsOfRemoval(Control.LongestRun);
      default:
        return 2;
    }
  }
  __device__ Moments *
  GetChanges(int node) const
  {
    const size_t row = static_cast<size_t>(Control.GetCache()) * NodeCapacity + Rows[node];
    return Changes + row * MaximumCandidates;
  }
};

/** What the loop leaves to the host, in memory that both can reach. */
struct LoopResults
{
  DeviceSnake         State;
  LatticePoint        Polygon[1024]; // unless it has more nodes
  CudaRegionSnakeStep Record[1024];  // new entries, unless there are more
};

constexpr int32_t AllCaches = (1 << SnakeControl::NumberOfCaches) - 1;

// Work of a phase is divided into about so many units per warp, but none has less rows than these.
constexpr int UnitsPerWarp = 2;
constexpr int MinimumRowsPerUnit = 4 * WarpSize;

/** When a limited launch ends before the schedule does. */
struct LaunchLimits
{
  bool     PauseAtSteps{ false };
  bool     PauseAtLevels{ false };
  int32_t  StepsPerPortion{ 1 << 18 }; // tests of edges or rows one after the other, by a warp: some milliseconds
  uint64_t Nanoseconds{ 0 };           // after which it ends with the next portion
};

/** The device's clock, in nanoseconds. */
__device__ inline uint64_t
ReadClock()
{
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/** How the blocks wait for each other; zero before the launch. */
struct GridBarrierState
{
  alignas(128) uint32_t Arrivals;
  alignas(128) uint32_t Releases;
};

/** Waits of all blocks for each other. In the order of memory, what a block did before it arrived comes before what
 * others do after they have waited. All blocks make the same calls. */
class GridBarrier
{
public:
  __device__ explicit GridBarrier(GridBarrierState & state)
    : m_Arrivals(state.Arrivals)
    , m_Releases(state.Releases)
  {}

  /** Waits until all blocks have arrived. */
  __device__ void
  Sync()
  {
    this->Arrive();
    this->WaitForArrivals();
  }

  /** Lets the first block call `function` alone when all blocks have arrived, and the others wait for that. */
  template <typename TFunction>
  __device__ void
  RunOnFirstBlock(const TFunction & function)
  {
    this->Arrive();
    ++m_ReleasesDue;
    if (blockIdx.x == 0)
    {
      this->WaitForArrivals();
      function();
      __syncthreads();
      if (threadIdx.x == 0)
      {
        m_Releases.store(m_ReleasesDue, ::cuda::memory_order_release);
      }
      return;
    }
    if (threadIdx.x == 0)
    {
      while (m_Releases.load(::cuda::memory_order_acquire) != m_ReleasesDue)
      {}
    }
    __syncthreads();
  }

private:
  ::cuda::atomic_ref<uint32_t, ::cuda::thread_scope_device> m_Arrivals;
  ::cuda::atomic_ref<uint32_t, ::cuda::thread_scope_device> m_Releases;
  uint32_t                                                  m_ArrivalsDue{ 0 };
  uint32_t                                                  m_ReleasesDue{ 0 };

  __device__ void
  Arrive()
  {
    m_ArrivalsDue += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0)
    {
      m_Arrivals.fetch_add(1, ::cuda::memory_order_release);
    }
  }

  __device__ void
  WaitForArrivals()
  {
    if (threadIdx.x == 0)
    {
      // Others may be one barrier ahead. The counts wrap around together.
      while (static_cast<int32_t>(m_Arrivals.load(::cuda::memory_order_acquire) - m_ArrivalsDue) < 0)
      {}
    }
    __syncthreads();
  }
};

/** What the first block holds on chip while it draws a conclusion. */
struct ConclusionScratch
{
  static constexpr int MaximumListed = 1024; // nodes; of more the lists are in device memory

  LatticeBox Boxes[MaximumListed];
  int32_t    Proposed[MaximumListed];
  int32_t    IsSuppressed[MaximumListed];
  int32_t    Count;
  int32_t    Kept;
  int32_t    Verdict;
  int32_t    Base;
  int32_t    WarpCounts[WarpsPerBlock];
  Moments    WarpSums[WarpsPerBlock];
  Moments    Sums;
  uint64_t   End;           // of a limited launch's time, on the device's clock
  bool       TimeIsUp;      // when the first block of a limited launch looked last
  bool       IsInterrupted; // the conclusion, of a limited launch
};

/** Memory on chip, of each block. */
struct BlockStorage
{
  static constexpr int MaximumNodes = 1024;

  DeviceSnake       Snake;
  LatticePoint      Polygon[MaximumNodes];
  ConclusionScratch Scratch;
};

constexpr int32_t AcceptNone = -1;
constexpr int32_t AcceptNonConflicting = -2; // others: the one node that is taken

// ---- Work that all warps share

/** Copies the state, whose size is a multiple of four bytes, by a block. */
__device__ inline void
CopyState(DeviceSnake & to, const DeviceSnake & from)
{
  static_assert(sizeof(DeviceSnake) % sizeof(uint32_t) == 0 && std::is_trivially_copyable<DeviceSnake>::value);
  for (unsigned int word = threadIdx.x; word < sizeof(DeviceSnake) / sizeof(uint32_t); word += ThreadsPerBlock)
  {
    reinterpret_cast<uint32_t *>(&to)[word] = reinterpret_cast<const uint32_t *>(&from)[word];
  }
  __syncthreads();
}

/** The polygon of the phase that comes next, on chip if it fits. */
__device__ inline const LatticePoint *
LoadPolygon(BlockStorage & storage, const LatticePoint * polygon, int n)
{
  for (int i = static_cast<int>(threadIdx.x); n <= BlockStorage::MaximumNodes && i < n; i += ThreadsPerBlock)
  {
    storage.Polygon[i] = polygon[i];
  }
  return n <= BlockStorage::MaximumNodes ? storage.Polygon : polygon;
}

/** Loads the state and the polygon. Most phases leave the number of nodes as it was, and the polygon where it was, so
 * that both can be on their way at once. */
__device__ inline const LatticePoint *
LoadState(BlockStorage & storage, const DeviceSnake & state, const LatticePoint * lastPolygon, int lastNumberOfNodes)
{
  const LatticePoint * polygon = LoadPolygon(storage, lastPolygon, lastNumberOfNodes);
  CopyState(storage.Snake, state);
  const LatticePoint * current = storage.Snake.Polygons[storage.Snake.Current];
  if (current != lastPolygon || storage.Snake.NumberOfNodes != lastNumberOfNodes)
  {
    polygon = LoadPolygon(storage, current, storage.Snake.NumberOfNodes);
    __syncthreads();
  }
  return polygon;
}

/** The chain whose sums are item w of node i in the snake's next phase. */
__device__ inline LatticeChain
ItemOf(const DeviceSnake & snake, const LatticePoint * polygon, int i, int w, int32_t width, int32_t height)
{
  const int          n = snake.NumberOfNodes;
  const LatticePoint at = polygon[i];
  const LatticePoint after = polygon[Next(i, n)];
  switch (snake.Control.Next)
  {
    case SnakeControl::Phase::Measure:
      return { at, after, after };
    case SnakeControl::Phase::Insert:
      return { at, w == 0 ? MidpointOf(at, after) : after, after };
    case SnakeControl::Phase::Remove: {
      const int          edge = w - snake.Control.LongestRun;
      const LatticePoint before = polygon[Previous(i, n)];
      const LatticePoint end = polygon[(i + (edge < 0 ? w + 1 : edge)) % n];
      return edge <= 0 ? LatticeChain{ before, end, end } : LatticeChain{ polygon[(i + edge - 1) % n], end, end };
    }
    default: {
      const bool candidate = w < Directions * snake.Plan.Rings;
      return { polygon[Previous(i, n)],
               candidate ? CandidatePosition(at, w, snake.Control.Step, width, height) : at,
               after };
    }
  }
}

/** Sums of the items of the listed chunks. */
template <typename TLevel>
__device__ void
SumItems(const TLevel & level, const DeviceSnake & snake, const LatticePoint * polygon)
{
  const int  items = snake.GetItemsPerNode();
  const auto units = static_cast<int64_t>(snake.NumberOfChunks) * items;
  // Neighbours among the units cross the same rows close to each other, so a block takes a run of them.
  const int  first = static_cast<int>(units * blockIdx.x / gridDim.x);
  const int  last = static_cast<int>(units * (blockIdx.x + 1) / gridDim.x);
  const bool measure = snake.Control.Next == SnakeControl::Phase::Measure;
  for (int unit = first + WarpOfBlock(); unit < last; unit += WarpsPerBlock)
  {
    const RowChunk     chunk = snake.Chunks[unit / items];
    const int          w = unit % items;
    const LatticeChain chain = ItemOf(snake, polygon, chunk.Node, w, level.Width, level.Height);
    const int32_t      row = chunk.Part * WarpSize + LaneIndex();
    const int32_t      stride = chunk.Parts * WarpSize;
    const Moments      sum = SumOverWarp(SumChainRows(level, chain, row, stride));
    if (LaneIndex() == 0)
    {
      AtomicAdd(snake.ItemSums[measure ? 0 : chunk.Node * items + w], sum);
    }
  }
}

/** What a lane of the warp holds, in all of them. */
__device__ inline Moments
ValueOfLane(const Moments & m, int lane)
{
  return { __shfl_sync(AllLanes, static_cast<long long>(m.Count), lane),
           __shfl_sync(AllLanes, static_cast<unsigned long long>(m.Sum), lane),
           __shfl_sync(AllLanes, static_cast<unsigned long long>(m.SumOfSquares), lane) };
}

/** A sum that is used now, and zero again. */
__device__ inline Moments
TakeItemSum(const DeviceSnake & snake, int item)
{
  const Moments sum = snake.ItemSums[item];
  snake.ItemSums[item] = Moments{};
  return sum;
}

/** Whether the polygon stays simple with node i at another place, by a warp; in all lanes. */
__device__ inline bool
ChainKeepsSimpleByWarp(const LatticePoint * polygon, int n, int before, const LatticePoint & at, int after)
{
  const Replacement replacement = MakeReplacement(polygon, before, at, after);
  bool              meets = IsDegenerate(replacement.Chain);
  const int         remaining = RingDistance(after, before, n);
  for (int j = LaneIndex(); j < remaining; j += WarpSize)
  {
    meets = meets || ReplacementMeetsEdge(polygon, n, replacement, RemainingEdge(j, after, n));
  }
  return !__any_sync(AllLanes, meets);
}

/** Whether the polygon stays simple with node i at the place that the lane has for it. All lanes look for the edges
 * near any of these places; then each tests its own place against those: where the polygon is narrow, most places would
 * fail one after the other. */
__device__ inline bool
MoveKeepsSimple(const LatticePoint * polygon, int n, int i, const LatticePoint & at)
{
  const int         after = Next(i, n);
  const Replacement replacement = MakeReplacement(polygon, Previous(i, n), at, after);
  const LatticeBox  near{ MinimumOverWarp(replacement.Box.MinimumX),
                         MinimumOverWarp(replacement.Box.MinimumY),
                         -MinimumOverWarp(-replacement.Box.MaximumX),
                         -MinimumOverWarp(-replacement.Box.MaximumY) };
  bool              meets = IsDegenerate(replacement.Chain);
  for (int base = 0; base < n - 2; base += WarpSize)
  {
    const int  j = base + LaneIndex();
    const int  u = RemainingEdge(Minimum(j, n - 3), after, n);
    const bool isNear = j < n - 2 && !BoxesAreApart(near, BoxOf(polygon[u], polygon[Next(u, n)]));
    for (unsigned edges = __ballot_sync(AllLanes, isNear); edges != 0; edges &= edges - 1)
    {
      const int edge = RemainingEdge(base + __ffs(static_cast<int>(edges)) - 1, after, n);
      meets = meets || ReplacementMeetsEdge(polygon, n, replacement, edge);
    }
  }
  return !meets;
}

/** The smallest of the numbers of the warp's lanes, and the first lane that has it. */
struct BestOfWarp
{
  double Gain;
  int    Lane;

  __device__ explicit BestOfWarp(double gain)
    : Gain(gain)
    , Lane(LaneIndex())
  {
    for (int offset = WarpSize / 2; offset > 0; offset /= 2)
    {
      const double otherGain = __shfl_xor_sync(AllLanes, Gain, offset);
      const int    other = __shfl_xor_sync(AllLanes, Lane, offset);
      if (otherGain < Gain || (otherGain == Gain && other < Lane))
      {
        Gain = otherGain;
        Lane = other;
      }
    }
  }
};

/** First of the nodes for which the present portion of the phase makes proposals, and the first one after them. */
__device__ inline int
FirstNode(const DeviceSnake & snake)
{
  const bool proposing = snake.Progress.Now != PhaseProgress::Stage::Conclusion;
  return proposing ? snake.Progress.FirstOf(PhaseProgress::Stage::Proposals) : snake.NumberOfNodes;
}
__device__ inline int
EndOfNodes(const DeviceSnake & snake)
{
  const int first = FirstNode(snake);
  return first + Minimum(snake.NumberOfNodes - first, snake.Progress.NodesPerPortion);
}

/** The best possible move of each node of the colour, one warp per node and one lane per candidate. */
template <bool VLimited>
__device__ void
ProposeMoves(const DeviceSnake & snake, const LatticePoint * polygon, int32_t width, int32_t height)
{
  const int     n = snake.NumberOfNodes;
  const int     colours = NumberOfColours(n, snake.Plan.InTurns);
  const int     candidates = Directions * snake.Plan.Rings;
  const int     w = LaneIndex();
  const int32_t cacheBit = 1 << snake.Control.GetCache();
  const int     end = VLimited ? EndOfNodes(snake) : n;
  for (int i = (VLimited ? FirstNode(snake) : 0) + WarpOfGrid(); i < end; i += WarpsOfGrid())
  {
    if (w == 0)
    {
      snake.Slots[i].Node = -1;
    }
    if (ColourOf(i, n, colours) != snake.Control.Colour)
    {
      continue;
    }
    const LatticePoint at = polygon[i];
    LatticePoint       position = at;
    Moments            change;
    double             gain = 0.0;
    const int32_t      staleIn = snake.IsStale[i];
    const bool         stale = (staleIn & cacheBit) != 0;
    Moments            item;
    if (stale && w <= candidates)
    {
      item = TakeItemSum(snake, i * (candidates + 1) + w);
    }
    const Moments present = ValueOfLane(item, candidates);
    if (w < candidates)
    {
      position = CandidatePosition(at, w, snake.Control.Step, width, height);
      Moments & kept = snake.GetChanges(i)[w];
      if (stale)
      {
        change = position == at ? Moments{} : item - present;
        kept = change;
      }
      else
      {
        change = kept;
      }
      const bool allowed = IsCountAllowed(
        snake.Sums.Count + change.Count, snake.Sums.Count, snake.Total.Count, snake.Plan.MinimumRegionSize);
      gain = allowed ? snake.Gain(change) : 0.0;
    }
    __syncwarp();
    if (w == 0)
    {
      snake.IsStale[i] = staleIn & ~cacheBit;
    }
    const bool pays = gain < -snake.Plan.MinimumGain;
    if (!__any_sync(AllLanes, pays))
    {
      continue;
    }
    const bool       possible = MoveKeepsSimple(polygon, n, i, pays ? position : at);
    const BestOfWarp best(pays && possible ? gain : 0.0);
    if (best.Gain < 0.0 && w == best.Lane)
    {
      snake.Slots[i] = { i, position, gain, change };
    }
  }
}

/** Which edges can be divided, and what that changes; one warp per edge. */
template <bool VLimited>
__device__ void
ProposeInsertions(const DeviceSnake & snake, const LatticePoint * polygon)
{
  const int n = snake.NumberOfNodes;
  const int end = VLimited ? EndOfNodes(snake) : n;
  for (int i = (VLimited ? FirstNode(snake) : 0) + WarpOfGrid(); i < end; i += WarpsOfGrid())
  {
    const LatticePoint p = polygon[i];
    const LatticePoint q = polygon[Next(i, n)];
    const LatticePoint middle = MidpointOf(p, q);
    const bool         exact = MidpointIsExact(p, q);
    bool               possible = SquaredLength(p, q) >= snake.Plan.MinimumSquaredLength;
    if (possible && !exact)
    {
      possible = ChainKeepsSimpleByWarp(polygon, n, i, middle, Next(i, n));
    }
    if (LaneIndex() == 0)
    {
      // Zero for the exact ones, which change nothing.
      const Moments change = TakeItemSum(snake, 2 * i) - TakeItemSum(snake, 2 * i + 1);
      snake.Slots[i] = { possible ? i : -1, middle, exact ? 1.0 : 0.0, change };
    }
  }
}

/** Whether the polygon stays simple without `run` nodes from i on, by a warp; in all lanes. */
__device__ inline bool
ChordKeepsSimpleByWarp(const LatticePoint * polygon, int n, int i, int run)
{
  bool meets = false;
  for (int j = LaneIndex(); j < NumberOfRemainingEdges(n, run); j += WarpSize)
  {
    meets = meets || ChordOverNodesMeetsEdge(polygon, n, i, run, RemainingEdge(j, RingAdvance(i, run, n), n));
  }
  return !__any_sync(AllLanes, meets);
}

/** The best removal of one or some nodes from each node on, one warp per node and one lane per length of the run. */
template <bool VLimited>
__device__ void
ProposeRemovals(const DeviceSnake & snake, const LatticePoint * polygon)
{
  const int n = snake.NumberOfNodes;
  const int longestRun = snake.Control.LongestRun;
  const int items = ItemsOfRemoval(longestRun);
  const int run = LaneIndex() + 1;
  const int end = VLimited ? EndOfNodes(snake) : n;
  for (int i = (VLimited ? FirstNode(snake) : 0) + WarpOfGrid(); i < end; i += WarpsOfGrid())
  {
    Moments item;
    if (LaneIndex() < items)
    {
      item = TakeItemSum(snake, i * items + LaneIndex());
    }
    Moments present = ValueOfLane(item, longestRun);
    Moments change;
    for (int k = 1; k <= longestRun; ++k)
    {
      present += ValueOfLane(item, longestRun + k);
      change = k == run ? item - present : change;
    }
    const bool allowed = run <= Minimum(longestRun, n - 3) && IsCountAllowed(snake.Sums.Count + change.Count,
                                                                             snake.Sums.Count,
                                                                             snake.Total.Count,
                                                                             snake.Plan.MinimumRegionSize);
    double     gain = allowed ? snake.Gain(change) - snake.Plan.NodeCost * static_cast<double>(run) : 0.0;
    if (LaneIndex() == 0)
    {
      snake.Slots[i].Node = -1;
    }
    __syncwarp();
    while (true)
    {
      const BestOfWarp best(gain);
      if (!(best.Gain < -snake.Plan.MinimumGain))
      {
        break;
      }
      if (ChordKeepsSimpleByWarp(polygon, n, i, best.Lane + 1))
      {
        if (LaneIndex() == best.Lane)
        {
          snake.Slots[i] = { i, polygon[i], gain, change, run };
        }
        break;
      }
      gain = LaneIndex() == best.Lane ? 0.0 : gain;
    }
  }
}

/** Proposals of a phase, from its sums, for the nodes of a portion. */
template <bool VLimited>
__device__ void
Propose(const DeviceSnake & snake, const LatticePoint * polygon, int32_t width, int32_t height)
{
  switch (snake.Control.Next)
  {
    case SnakeControl::Phase::Move:
      ProposeMoves<VLimited>(snake, polygon, width, height);
      break;
    case SnakeControl::Phase::Insert:
      ProposeInsertions<VLimited>(snake, polygon);
      break;
    case SnakeControl::Phase::Remove:
      ProposeRemovals<VLimited>(snake, polygon);
      break;
    default:
      break;
  }
}

// ---- Conclusions, by the first block

/** The nodes with a proposal and which of them are suppressed. */
struct ProposalList
{
  int32_t * Proposed;     // nodes, in any order
  int32_t * IsSuppressed; // by node
  int32_t   Count;
  bool      OnChip;
};

/** Looks at the clock of a limited launch, by one thread. */
__device__ inline void
LookAtClock(ConclusionScratch & scratch)
{
  scratch.TimeIsUp = ReadClock() >= scratch.End;
}

template <bool VLimited>
__device__ bool
IsInterrupted(const ConclusionScratch & scratch)
{
  return VLimited && scratch.IsInterrupted;
}

/** Lists the nodes with a proposal that `select` takes, none of them suppressed; or takes up the list of a conclusion
 * that was interrupted. */
template <bool VLimited, typename TSelect>
__device__ ProposalList
ListProposals(DeviceSnake & snake, ConclusionScratch & scratch, const TSelect & select)
{
  if (VLimited && snake.Progress.Now == PhaseProgress::Stage::Conclusion)
  {
    return { snake.Proposed, snake.IsSuppressed, snake.Progress.NumberOfProposals, false };
  }
  const bool   onChip = snake.NumberOfNodes <= ConclusionScratch::MaximumListed;
  ProposalList list{
    onChip ? scratch.Proposed : snake.Proposed, onChip ? scratch.IsSuppressed : snake.IsSuppressed, 0, onChip
  };
  if (threadIdx.x == 0)
  {
    scratch.Count = 0;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < snake.NumberOfNodes; i += ThreadsPerBlock)
  {
    list.IsSuppressed[i] = 0;
    if (snake.Slots[i].Node >= 0 && select(snake.Slots[i]))
    {
      list.Proposed[atomicAdd(&scratch.Count, 1)] = i;
    }
  }
  __syncthreads();
  list.Count = scratch.Count;
  if (VLimited && threadIdx.x == 0)
  {
    snake.Progress.Now = PhaseProgress::Stage::Conclusion;
    snake.Progress.First = 0;
    snake.Progress.NumberOfProposals = list.Count;
  }
  return list;
}

/** Compares the listed proposals `first` to `end` - 1 with those that follow them in the list. */
template <typename TBeats, typename TConflict>
__device__ void
CompareProposals(const DeviceSnake &       snake,
                 const ProposalList &      list,
                 const ConclusionScratch & scratch,
                 int                       first,
                 int                       end,
                 bool                      neighboursConflict,
                 const TBeats &            beats,
                 const TConflict &         conflict)
{
  const int n = snake.NumberOfNodes;
  for (int s = first + WarpOfBlock(); s < end; s += WarpsPerBlock)
  {
    for (int t = s + 1 + LaneIndex(); t < list.Count; t += WarpSize)
    {
      const int  i = list.Proposed[s];
      const int  j = list.Proposed[t];
      const int  distance = RingDistance(i, j, n);
      const bool neighbours = neighboursConflict && (distance == 1 || distance == n - 1);
      if (!neighbours && list.OnChip && BoxesAreApart(scratch.Boxes[s], scratch.Boxes[t]))
      {
        continue;
      }
      if (neighbours || conflict(snake.Slots[i], snake.Slots[j]))
      {
        list.IsSuppressed[beats(snake.Slots[i], snake.Slots[j]) ? j : i] = 1;
      }
    }
  }
  __syncthreads();
}

/** Ends a portion of the comparisons of a list in device memory, before the one that begins with `next`; returns
 * whether the launch has the time for that. */
__device__ inline bool
EndComparisons(DeviceSnake & snake, ConclusionScratch & scratch, int next)
{
  if (threadIdx.x == 0)
  {
    snake.Progress.First = next;
    LookAtClock(scratch);
    scratch.IsInterrupted = scratch.TimeIsUp;
  }
  __syncthreads();
  return !scratch.IsInterrupted;
}

/** Suppresses the later one of each pair of listed proposals that conflict: neighbours, if they do so wherever their
 * chains are, and those for which `conflict(x, y)` holds, which needs chains whose boxes are not apart. `beats(x, y)`
 * says whether x comes before y. A limited launch works off lists in device memory in portions; returns whether it had
 * the time for all of them. */
template <bool VLimited, typename TChain, typename TBeats, typename TConflict>
__device__ bool
SuppressConflicts(DeviceSnake &        snake,
                  const ProposalList & list,
                  ConclusionScratch &  scratch,
                  const TChain &       chainOf,
                  bool                 neighboursConflict,
                  const TBeats &       beats,
                  const TConflict &    conflict,
                  int32_t              stepsPerPortion)
{
  for (int s = static_cast<int>(threadIdx.x); list.OnChip && s < list.Count; s += ThreadsPerBlock)
  {
    const LatticeChain chain = chainOf(snake.Slots[list.Proposed[s]]);
    scratch.Boxes[s] = BoxOf(chain.Before, chain.At, chain.After);
  }
  __syncthreads();
  int first = 0;
  if (VLimited && !list.OnChip)
  {
    const int portion = WarpsPerBlock * Maximum(1, stepsPerPortion / Maximum(1, list.Count / WarpSize));
    for (first = snake.Progress.First; list.Count - first > portion; first += portion)
    {
      CompareProposals(snake, list, scratch, first, first + portion, neighboursConflict, beats, conflict);
      if (!EndComparisons(snake, scratch, first + portion))
      {
        return false;
      }
    }
  }
  CompareProposals(snake, list, scratch, first, list.Count, neighboursConflict, beats, conflict);
  return true;
}

/** Sum over the block's threads, in scratch.Sums, and of a number, in scratch.Kept. */
__device__ inline void
SumOverBlock(const Moments & m, int number, ConclusionScratch & scratch)
{
  const Moments sum = SumOverWarp(m);
  const int     numberOfWarp = static_cast<int>(SumOverWarp(static_cast<uint32_t>(number)));
  if (LaneIndex() == 0)
  {
    scratch.WarpSums[WarpOfBlock()] = sum;
    scratch.WarpCounts[WarpOfBlock()] = numberOfWarp;
  }
  __syncthreads();
  if (threadIdx.x == 0)
  {
    scratch.Sums = Moments{};
    scratch.Kept = 0;
    for (int warp = 0; warp < WarpsPerBlock; ++warp)
    {
      scratch.Sums += scratch.WarpSums[warp];
      scratch.Kept += scratch.WarpCounts[warp];
    }
  }
  __syncthreads();
}

/** Sums of the listed proposals that are not suppressed, in scratch.Sums, and the number of their nodes, in
 * scratch.Kept.
 */
__device__ inline void
SumKept(const DeviceSnake & snake, const ProposalList & list, ConclusionScratch & scratch)
{
  Moments sum;
  int     kept = 0;
  for (int s = static_cast<int>(threadIdx.x); s < list.Count; s += ThreadsPerBlock)
  {
    const int i = list.Proposed[s];
    if (!list.IsSuppressed[i])
    {
      sum += snake.Slots[i].Change;
      kept += snake.Slots[i].Run;
    }
  }
  SumOverBlock(sum, kept, scratch);
}

/** What becomes of the listed proposals: all that are not suppressed are taken, or the best alone, or none; in
 * scratch.Verdict. As HostSnake::Accept(). The snake's sums, criterion and linear form follow. */
__device__ inline void
Decide(DeviceSnake & snake, const ProposalList & list, ConclusionScratch & scratch, double cost)
{
  SumKept(snake, list, scratch);
  const Moments sumsOfKept = snake.Sums + scratch.Sums;
  __syncthreads();
  LinearForm form;
  if (threadIdx.x == WarpSize && list.Count > 0)
  {
    // Most likely what the next phase needs, computed while another warp finds out.
    form = Linearize(snake.Law, sumsOfKept, snake.Total);
  }
  if (threadIdx.x == 0)
  {
    const auto attempt = [&](const Moments & sums, int number) {
      if (!IsCountAllowed(sums.Count, snake.Sums.Count, snake.Total.Count, snake.Plan.MinimumRegionSize))
      {
        return false;
      }
      const double criterion = Criterion(snake.Law, sums, snake.Total);
      if (!IsImprovement(criterion, cost, number, snake.Criterion, snake.Plan.MinimumGain))
      {
        return false;
      }
      snake.Sums = sums;
      snake.Criterion = criterion;
      return true;
    };
    scratch.Verdict = AcceptNone;
    if (list.Count > 0)
    {
      if (attempt(sumsOfKept, scratch.Kept))
      {
        scratch.Verdict = AcceptNonConflicting;
      }
      else
      {
        int best = list.Proposed[0];
        for (int s = 1; s < list.Count; ++s)
        {
          best = ComesBefore(snake.Slots[list.Proposed[s]], snake.Slots[best]) ? list.Proposed[s] : best;
        }
        if (attempt(snake.Sums + snake.Slots[best].Change, snake.Slots[best].Run))
        {
          scratch.Verdict = best;
          snake.Gain = Linearize(snake.Law, snake.Sums, snake.Total);
        }
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == WarpSize && scratch.Verdict == AcceptNonConflicting)
  {
    snake.Gain = form;
  }
}

__device__ inline bool
IsAccepted(const ProposalList & list, const ConclusionScratch & scratch, int i)
{
  return scratch.Verdict == AcceptNonConflicting ? !list.IsSuppressed[i] : scratch.Verdict == i;
}

/** `before`: the polygon that the phase began with. */
template <bool VLimited>
__device__ bool
ConcludeMoves(DeviceSnake & snake, const LatticePoint * before, ConclusionScratch & scratch, int32_t stepsPerPortion)
{
  LatticePoint *     polygon = snake.Polygons[snake.Current];
  const int          n = snake.NumberOfNodes;
  const ProposalList list = ListProposals<VLimited>(snake, scratch, [](const Proposal &) { return true; });
  const bool         all = SuppressConflicts<VLimited>(
    snake,
    list,
    scratch,
    [=](const Proposal & move) { return ChainOf(before, n, move); },
    true,
    [](const Proposal & x, const Proposal & y) { return ComesBefore(x, y); },
    [=](const Proposal & x, const Proposal & y) { return MovesConflict(before, n, x, y); },
    stepsPerPortion);
  if (!all)
  {
    return false;
  }
  Decide(snake, list, scratch, 0.0);
  for (int s = static_cast<int>(threadIdx.x); s < list.Count; s += ThreadsPerBlock)
  {
    const int i = list.Proposed[s];
    if (IsAccepted(list, scratch, i))
    {
      polygon[i] = snake.Slots[i].Position;
      snake.IsStale[Previous(i, n)] = AllCaches;
      snake.IsStale[i] = AllCaches;
      snake.IsStale[Next(i, n)] = AllCaches;
    }
  }
  __syncthreads();
  return scratch.Verdict != AcceptNone;
}

/** Number of threads before this one in the block for which `flag` holds, plus scratch.Base, which grows by all of
 * them. */
__device__ inline int
RankInBlock(bool flag, ConclusionScratch & scratch)
{
  const unsigned ballot = __ballot_sync(AllLanes, flag);
  if (LaneIndex() == 0)
  {
    scratch.WarpCounts[WarpOfBlock()] = __popc(ballot);
  }
  __syncthreads();
  int rank = scratch.Base + __popc(ballot & ((1u << LaneIndex()) - 1u));
  int all = 0;
  for (int warp = 0; warp < WarpsPerBlock; ++warp)
  {
    rank += warp < WarpOfBlock() ? scratch.WarpCounts[warp] : 0;
    all += scratch.WarpCounts[warp];
  }
  __syncthreads();
  if (threadIdx.x == 0)
  {
    scratch.Base += all;
  }
  __syncthreads();
  return rank;
}

/** Suppresses the proposals of removals that conflict with one that comes before them: those are near, or all. */
__device__ inline void
SuppressConflictingRemovals(const DeviceSnake & snake, const ProposalList & list)
{
  const int  n = snake.NumberOfNodes;
  const bool all = RemoveOneAtATime(n, snake.Control.LongestRun);
  const int  reach = snake.Control.LongestRun;
  for (int s = static_cast<int>(threadIdx.x); s < list.Count; s += ThreadsPerBlock)
  {
    const int        i = list.Proposed[s];
    const Proposal & own = snake.Slots[i];
    int              j = all ? i : (i + n - reach) % n;
    for (int k = 0; k < (all ? n : 2 * reach + 1); ++k, j = Next(j, n))
    {
      const Proposal & other = snake.Slots[j];
      if (j != i && other.Node >= 0 && (all || RemovalsConflict(n, own, other)) && ComesBefore(other, own))
      {
        list.IsSuppressed[i] = 1;
      }
    }
  }
  __syncthreads();
}

template <bool VLimited>
__device__ bool
ConcludeRemovals(DeviceSnake & snake, ConclusionScratch & scratch)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  LatticePoint *       shorter = snake.Polygons[1 - snake.Current];
  const int            n = snake.NumberOfNodes;
  if (n <= 3)
  {
    return false;
  }
  const ProposalList list = ListProposals<VLimited>(snake, scratch, [](const Proposal &) { return true; });
  SuppressConflictingRemovals(snake, list);
  Decide(snake, list, scratch, -snake.Plan.NodeCost);
  if (scratch.Verdict == AcceptNone)
  {
    return false;
  }
  if (threadIdx.x == 0)
  {
    scratch.Base = 0;
  }
  __syncthreads();
  const auto stays = [&](int i) {
    for (int k = 0, j = i; k < MaximumRemovedRun; ++k, j = Previous(j, n))
    {
      if (snake.Slots[j].Node >= 0 && k < snake.Slots[j].Run && IsAccepted(list, scratch, j))
      {
        return false;
      }
    }
    return true;
  };
  for (int base = 0; base < n; base += ThreadsPerBlock)
  {
    const int  i = base + static_cast<int>(threadIdx.x);
    const bool kept = i < n && stays(i);
    // What is kept of the nodes moves to lower indices in place: all threads have read before any writes.
    const bool    nextToRemoved = kept && (!stays(Previous(i, n)) || !stays(Next(i, n)));
    const int32_t staleIn = kept && !nextToRemoved ? snake.IsStale[i] : AllCaches;
    const int32_t row = kept ? snake.Rows[i] : 0;
    const int     rank = RankInBlock(kept, scratch);
    if (kept)
    {
      shorter[rank] = polygon[i];
      snake.IsStale[rank] = staleIn;
      snake.Rows[rank] = row;
    }
  }
  if (threadIdx.x == 0)
  {
    snake.NumberOfNodes = scratch.Base;
    snake.Current = 1 - snake.Current;
  }
  __syncthreads();
  return true;
}

template <bool VLimited>
__device__ bool
ConcludeInsertions(DeviceSnake & snake, ConclusionScratch & scratch, bool & cutShort, int32_t stepsPerPortion)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  LatticePoint *       longer = snake.Polygons[1 - snake.Current];
  const int            n = snake.NumberOfNodes;
  // Those whose midpoint is exact (Gain 1) move no edge and conflict with none.
  const ProposalList list =
    ListProposals<VLimited>(snake, scratch, [](const Proposal & insertion) { return insertion.Gain == 0.0; });
  const bool all = SuppressConflicts<VLimited>(
    snake,
    list,
    scratch,
    [=](const Proposal & insertion) {
      return LatticeChain{ polygon[insertion.Node], insertion.Position, polygon[Next(insertion.Node, n)] };
    },
    false,
    [](const Proposal & x, const Proposal & y) { return x.Node < y.Node; },
    [=](const Proposal & x, const Proposal & y) { return InsertionsConflict(polygon, n, x.Node, y.Node); },
    stepsPerPortion);
  if (!all)
  {
    return false;
  }
  const int maximum = static_cast<int>(snake.Plan.MaximumNumberOfNodes);
  const int room = maximum > n ? maximum - n : 0;
  if (threadIdx.x == 0)
  {
    scratch.Base = 0;
  }
  __syncthreads();
  Moments change;
  for (int base = 0; base < n; base += ThreadsPerBlock)
  {
    const int  i = base + static_cast<int>(threadIdx.x);
    const bool inserted = i < n && snake.Slots[i].Node >= 0 && !list.IsSuppressed[i];
    const int  rank = RankInBlock(inserted, scratch);
    if (i < n)
    {
      const int place = i + Minimum(rank, room);
      longer[place] = polygon[i];
      if (inserted && rank < room)
      {
        longer[place + 1] = snake.Slots[i].Position;
        change += snake.Slots[i].Change;
      }
    }
  }
  SumOverBlock(change, 0, scratch);
  cutShort = scratch.Base > room;
  const int     number = Minimum(scratch.Base, room);
  const Moments sums = snake.Sums + scratch.Sums;
  const bool    accepted =
    number > 0 && IsCountAllowed(sums.Count, snake.Sums.Count, snake.Total.Count, snake.Plan.MinimumRegionSize);
  __syncthreads();
  if (accepted && threadIdx.x == 0)
  {
    snake.NumberOfNodes = n + number;
    snake.Current = 1 - snake.Current;
    snake.Sums = sums;
    snake.Criterion = Criterion(snake.Law, snake.Sums, snake.Total);
    snake.Gain = Linearize(snake.Law, snake.Sums, snake.Total);
  }
  __syncthreads();
  return accepted;
}

/** By one thread. */
__device__ inline void
AddToRecord(DeviceSnake &             snake,
            CudaRegionSnakeStep::Kind kind,
            int                       level,
            int32_t                   step,
            double                    criterionBefore,
            bool                      pause)
{
  if (snake.NumberOfEntries < snake.RecordCapacity)
  {
    snake.Record[snake.NumberOfEntries] = { kind,
                                            snake.Plan.Exponent[level],
                                            static_cast<uint32_t>(step),
                                            static_cast<uint32_t>(snake.NumberOfNodes),
                                            snake.Sums.Count,
                                            snake.Criterion,
                                            snake.Criterion - criterionBefore };
    ++snake.NumberOfEntries;
  }
  snake.Pause = snake.Pause || pause;
}

/** Draws the conclusion of a phase as HostSnake::RunPhases() does, unless it is interrupted; returns whether all nodes
 * are stale now. `polygon`: the one that the phase began with. */
template <bool VLimited>
__device__ bool
Conclude(DeviceSnake & snake, const LatticePoint * polygon, ConclusionScratch & scratch, const LaunchLimits & limits)
{
  using Kind = CudaRegionSnakeStep::Kind;
  using Phase = SnakeControl::Phase;
  const bool    first = threadIdx.x == 0;
  const Phase   phase = snake.Control.Next;
  const double  before = snake.Criterion;
  const int32_t step = snake.Control.Step;
  const int     level = snake.Control.Level;
  __syncthreads();
  if (phase == Phase::Measure)
  {
    if (first)
    {
      snake.Sums = TakeItemSum(snake, 0);
      snake.Criterion = Criterion(snake.Law, snake.Sums, snake.Total);
      snake.Gain = Linearize(snake.Law, snake.Sums, snake.Total);
      snake.BeforeIteration = snake.Criterion;
      AddToRecord(snake,
                  Kind::Level,
                  level,
                  step,
                  snake.NumberOfEntries == 0 ? snake.Criterion : before,
                  VLimited && (limits.PauseAtSteps || limits.PauseAtLevels));
      snake.Control.AfterMeasure();
    }
    __syncthreads();
    return true;
  }
  if (phase == Phase::Move)
  {
    const int  colours = NumberOfColours(snake.NumberOfNodes, snake.Plan.InTurns);
    const bool moved = ConcludeMoves<VLimited>(snake, polygon, scratch, limits.StepsPerPortion);
    if (first && !IsInterrupted<VLimited>(scratch))
    {
      const bool ended = snake.Control.AfterMove(snake.Plan, moved, snake.BeforeIteration - snake.Criterion, colours);
      if (ended)
      {
        AddToRecord(snake, Kind::Iteration, level, step, snake.BeforeIteration, VLimited && limits.PauseAtSteps);
        snake.BeforeIteration = snake.Criterion;
      }
    }
    __syncthreads();
    return snake.Control.ChangesCandidates(level, step);
  }
  bool       cutShort = false;
  const bool insertion = phase == Phase::Insert;
  const bool changed = insertion ? ConcludeInsertions<VLimited>(snake, scratch, cutShort, limits.StepsPerPortion)
                                 : ConcludeRemovals<VLimited>(snake, scratch);
  if (first && !IsInterrupted<VLimited>(scratch))
  {
    if (changed)
    {
      AddToRecord(
        snake, insertion ? Kind::Insertion : Kind::Removal, level, step, before, VLimited && limits.PauseAtSteps);
    }
    if (insertion)
    {
      snake.Control.AfterInsert(snake.Plan, changed, cutShort);
    }
    else
    {
      snake.Control.AfterRemove(snake.Plan, changed);
    }
    snake.BeforeIteration = snake.Criterion;
  }
  __syncthreads();
  return insertion && (changed || snake.Control.ChangesCandidates(level, step));
}

/** More are counted as so many. */
constexpr int MaximumRowsOfNode = 1 << 30;

/** Rows of the edges whose sums the next phase needs of node i; -1 if it needs none. */
__device__ inline int
RowsOfNode(const DeviceSnake & snake, const LatticePoint * polygon, int i, int32_t staleIn)
{
  const int          n = snake.NumberOfNodes;
  const LatticePoint at = polygon[i];
  const LatticePoint after = polygon[Next(i, n)];
  const LatticePoint before = polygon[Previous(i, n)];
  const int          rowsAfter = Minimum(MakeEdge(at, after).NumberOfRows, MaximumRowsOfNode / 2);
  const int          rowsBefore = Minimum(MakeEdge(before, at).NumberOfRows, MaximumRowsOfNode / 2);
  switch (snake.Control.Next)
  {
    case SnakeControl::Phase::Measure:
      return rowsAfter;
    case SnakeControl::Phase::Move: {
      const int  colours = NumberOfColours(n, snake.Plan.InTurns);
      const bool needed = (staleIn >> snake.Control.GetCache()) & 1 && ColourOf(i, n, colours) == snake.Control.Colour;
      return needed ? rowsBefore + rowsAfter : -1;
    }
    case SnakeControl::Phase::Insert:
      return SquaredLength(at, after) >= snake.Plan.MinimumSquaredLength && !MidpointIsExact(at, after) ? rowsAfter
                                                                                                        : -1;
    case SnakeControl::Phase::Remove:
      return n > 3 ? rowsBefore + rowsAfter : -1;
    default:
      return -1;
  }
}

/** Lists the chunks of rows of the next phase, units of work of about one size, with the first slice of their rows;
 * returns the number of slices. */
template <bool VLimited>
__device__ int
ListChunks(DeviceSnake & snake, ConclusionScratch & scratch, int32_t stepsPerPortion)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  const int            n = snake.NumberOfNodes;
  const int            own = static_cast<int>(threadIdx.x);
  const int            rowsOfOwn = own < n ? RowsOfNode(snake, polygon, own, snake.IsStale[own]) : -1;
  const auto rowsOf = [&](int i) { return i == own ? rowsOfOwn : RowsOfNode(snake, polygon, i, snake.IsStale[i]); };
  Moments    all; // counts rows
  for (int i = own; i < n; i += ThreadsPerBlock)
  {
    all.Count += Maximum(0, rowsOf(i));
  }
  SumOverBlock(all, 0, scratch);
  const int64_t share = scratch.Sums.Count * snake.GetItemsPerNode() / (UnitsPerWarp * WarpsOfGrid());
  const int     rowsPerUnit =
    share < MaximumRowsOfNode ? Maximum(static_cast<int>(share), MinimumRowsPerUnit) : MaximumRowsOfNode;
  const int slices = !VLimited || rowsPerUnit <= stepsPerPortion ? 1 : 1 + (rowsPerUnit - 1) / stepsPerPortion;
  for (int i = own; i < n; i += ThreadsPerBlock)
  {
    const int rows = rowsOf(i);
    if (rows >= 0)
    {
      // Also without rows now: candidates may have some.
      const int parts = 1 + rows / (rowsPerUnit + 1);
      const int first = atomicAdd(&scratch.Count, parts);
      for (int part = 0; part < parts; ++part)
      {
        snake.Chunks[first + part] = { i, part, parts * slices };
      }
    }
  }
  __syncthreads();
  return slices;
}

/** Makes the state ready for the phase that comes next: the polygon in cells of its level, the list of chunks. */
template <bool VLimited>
__device__ void
PrepareNext(DeviceSnake & snake, ConclusionScratch & scratch, int previousLevel, bool allStale, int32_t stepsPerPortion)
{
  const int n = snake.NumberOfNodes;
  if (threadIdx.x == 0)
  {
    scratch.Count = 0;
  }
  else if (VLimited && threadIdx.x == ThreadsPerBlock - 1)
  {
    snake.Progress = PhaseProgress();
    snake.Progress.NodesPerPortion = WarpsOfGrid() * Maximum(1, stepsPerPortion / n);
  }
  const uint32_t shift = snake.Plan.Exponent[previousLevel] - snake.Plan.Exponent[snake.Control.Level];
  for (int i = static_cast<int>(threadIdx.x); (shift > 0 || allStale) && i < n; i += ThreadsPerBlock)
  {
    LatticePoint & p = snake.Polygons[snake.Current][i];
    p = { p.X << shift, p.Y << shift };
    if (allStale)
    {
      snake.IsStale[i] = AllCaches;
      snake.Rows[i] = i;
    }
  }
  __syncthreads();
  const int slices = ListChunks<VLimited>(snake, scratch, stepsPerPortion);
  if (threadIdx.x == 0)
  {
    snake.NumberOfChunks = scratch.Count;
    snake.IsPrepared = true;
    if (VLimited)
    {
      snake.Progress.Slices = slices;
    }
  }
  __syncthreads();
}

/** Makes the listed chunks those of the next slice of their rows. */
__device__ inline void
ListNextSlice(const DeviceSnake & snake)
{
  for (int i = static_cast<int>(threadIdx.x); i < snake.NumberOfChunks; i += ThreadsPerBlock)
  {
    snake.Chunks[i].Part += snake.Chunks[i].Parts / snake.Progress.Slices;
  }
}

/** By the first block, after a portion that was not the last one before the conclusion. */
__device__ inline void
GoOn(DeviceSnake & snake, PhaseProgress::Stage stage, int first, const ConclusionScratch & scratch)
{
  __syncthreads();
  if (threadIdx.x == 0)
  {
    snake.Progress.Now = stage;
    snake.Progress.First = first;
    snake.Pause = scratch.TimeIsUp;
  }
  __syncthreads();
}

/** By the first block: what of the conclusion the launch has the time for, and what comes next. */
__device__ inline void
ConcludeInPortions(DeviceSnake &        snake,
                   const LatticePoint * polygon,
                   ConclusionScratch &  scratch,
                   const LaunchLimits & limits)
{
  const int  previousLevel = snake.Control.Level;
  const bool allStale = Conclude<true>(snake, polygon, scratch, limits);
  if (threadIdx.x == 0)
  {
    snake.Pause = snake.Pause || scratch.TimeIsUp;
  }
  if (scratch.IsInterrupted)
  {
    __syncthreads();
    return;
  }
  PrepareNext<true>(snake, scratch, previousLevel, allStale, limits.StepsPerPortion);
}

/** By the first block of a limited launch, after the other work of a portion. */
__device__ inline void
EndPortion(DeviceSnake & snake, const LatticePoint * polygon, ConclusionScratch & scratch, const LaunchLimits & limits)
{
  using Stage = PhaseProgress::Stage;
  if (threadIdx.x == ThreadsPerBlock - 1)
  {
    // By a warp that has less to do than the first.
    LookAtClock(scratch);
    scratch.IsInterrupted = false;
  }
  if (!snake.Progress.SumsEnd())
  {
    ListNextSlice(snake);
    GoOn(snake, Stage::Sums, snake.Progress.First + 1, scratch);
  }
  else if (snake.Control.Next != SnakeControl::Phase::Measure && EndOfNodes(snake) < snake.NumberOfNodes)
  {
    GoOn(snake, Stage::Proposals, EndOfNodes(snake), scratch);
  }
  else
  {
    ConcludeInPortions(snake, polygon, scratch, limits);
  }
}

/** By a block. */
template <int VRoom, typename T>
__device__ void
WriteResults(T (&results)[VRoom], const T * from, int number)
{
  for (int i = static_cast<int>(threadIdx.x); number <= VRoom && i < number; i += ThreadsPerBlock)
  {
    results[i] = from[i];
  }
}

/** Runs phases until the schedule ends; a limited launch also ends where a pause is due or it has had its time.
 * Cooperative: all blocks are resident. Every phase moves the control on, whose loops are bounded. */
template <typename TSample, bool VMask, bool VLimited>
__global__ void
__launch_bounds__(ThreadsPerBlock, 1) SnakeKernel(DevicePixels<TSample, VMask> pixels,
                                                  DeviceCells                  cells,
                                                  DeviceSnake *                state,
                                                  GridBarrierState *           barrierState,
                                                  LoopResults *                results,
                                                  LaunchLimits                 limits)
{
  using Stage = PhaseProgress::Stage;
  __shared__ SharedStorage<BlockStorage> shared;
  BlockStorage &                         storage = shared.Get();
  DeviceSnake &                          snake = storage.Snake;
  GridBarrier                            barrier(*barrierState);
  if (VLimited && threadIdx.x == 0)
  {
    storage.Scratch.End = ReadClock() + limits.Nanoseconds;
  }
  const LatticePoint * polygon = LoadState(storage, *state, nullptr, 0);
  if (!snake.IsPrepared)
  {
    barrier.RunOnFirstBlock([&]() {
      PrepareNext<VLimited>(snake, storage.Scratch, snake.Control.Level, true, limits.StepsPerPortion);
      CopyState(*state, snake);
    });
    polygon = LoadState(storage, *state, nullptr, 0);
  }
  while (snake.Control.Next != SnakeControl::Phase::Finished && !snake.Pause)
  {
    const LatticePoint * const source = snake.Polygons[snake.Current];
    const int                  numberOfNodes = snake.NumberOfNodes;
    const bool                 ofPixels = snake.Plan.Exponent[snake.Control.Level] == 0;
    const bool                 summing = !VLimited || snake.Progress.Now == Stage::Sums;
    if (summing && ofPixels)
    {
      SumItems(pixels, snake, polygon);
    }
    else if (summing)
    {
      SumItems(cells, snake, polygon);
    }
    if (snake.Control.Next != SnakeControl::Phase::Measure && (!VLimited || snake.Progress.SumsEnd()))
    {
      if (summing)
      {
        barrier.Sync();
      }
      Propose<VLimited>(snake, polygon, ofPixels ? pixels.Width : cells.Width, ofPixels ? pixels.Height : cells.Height);
    }
    barrier.RunOnFirstBlock([&]() {
      if constexpr (VLimited)
      {
        EndPortion(snake, polygon, storage.Scratch, limits);
      }
      else
      {
        const int  previousLevel = snake.Control.Level;
        const bool allStale = Conclude<false>(snake, polygon, storage.Scratch, limits);
        PrepareNext<false>(snake, storage.Scratch, previousLevel, allStale, 0);
      }
      CopyState(*state, snake);
    });
    polygon = LoadState(storage, *state, source, numberOfNodes);
  }
  if (blockIdx.x == 0)
  {
    CopyState(results->State, snake);
    WriteResults(results->Polygon, polygon, snake.NumberOfNodes);
    WriteResults(
      results->Record, snake.Record + snake.KnownEntries, static_cast<int>(snake.NumberOfEntries - snake.KnownEntries));
  }
}
} // namespace kernels
} // namespace itk::cuda::snake

#endif
