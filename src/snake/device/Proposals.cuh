// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_Proposals_cuh
#define CudaFilters_snake_device_Proposals_cuh

#include "snake/device/BlockGroup.cuh"
#include "snake/Phases.h"
#include "snake/device/DeviceState.cuh"

// Prepares and makes the proposals of a phase. After a conclusion or a portion of work the first block divides the next
// phase or portion into units. All warps then work on these units and propose changes.
namespace itk::cuda::snake
{
namespace kernels
{
/** Larger numbers of rows are clamped to this one. */
constexpr int MaximumRowsOfNode = 1 << 30;

/** Returns the number of rows of the edges at node i whose sums the next phase needs, or -1 if it needs no sums of the
 * node. */
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
      const int  colours = NumberOfColors(n, snake.Plan.InTurns);
      const bool needed = (staleIn >> snake.Control.GetCache()) & 1 && ColorOf(i, n, colours) == snake.Control.Color;
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

/** Lists the row chunks of the next phase, which are units of work of about equal size, for the first slice of their
 * rows. Returns the number of slices. */
template <typename TTeam>
__device__ int
ListChunks(GroupOf<TTeam> & group, DeviceSnake & snake, ConclusionScratch & scratch, int32_t stepsPerPortion)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  const int            n = snake.NumberOfNodes;
  const int            own = static_cast<int>(threadIdx.x);
  const int            rowsOfOwn = own < n ? RowsOfNode(snake, polygon, own, snake.IsStale[own]) : -1;
  const auto rowsOf = [&](int i) { return i == own ? rowsOfOwn : RowsOfNode(snake, polygon, i, snake.IsStale[i]); };
  Moments    all; // only Count is used, for the number of rows
  for (int i = own; i < n; i += TTeam::Threads)
  {
    all.Count += Maximum(0, rowsOf(i));
  }
  const int64_t share =
    group.Sum(all, 0).Sums.Count * snake.GetItemsPerNode() / (UnitsPerWorker * TTeam::GetNumberOfWorkers());
  const int rowsPerUnit = share < MaximumRowsOfNode
                            ? Maximum(static_cast<int>(share), MinimumRowsPerLane * TTeam::LanesOfWorker)
                            : MaximumRowsOfNode;
  const int slices = !TTeam::IsLimited || rowsPerUnit <= stepsPerPortion ? 1 : 1 + (rowsPerUnit - 1) / stepsPerPortion;
  for (int i = own; i < n; i += TTeam::Threads)
  {
    const int rows = rowsOf(i);
    if (rows >= 0)
    {
      // A node gets a chunk even if its edges have no rows, because its candidates' edges may have some.
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

/** Prepares the state for the next phase: scales the polygon to the cells of its level and lists the chunks. */
template <typename TTeam>
__device__ void
PrepareNext(DeviceSnake & snake, ConclusionScratch & scratch, int32_t stepsPerPortion)
{
  GroupOf<TTeam> group(snake, scratch, stepsPerPortion);
  if (threadIdx.x == 0)
  {
    scratch.Count = 0;
  }
  else if (TTeam::IsLimited && threadIdx.x == TTeam::Threads - 1)
  {
    snake.Progress = PhaseProgress();
    snake.Progress.NodesPerPortion = TTeam::GetNumberOfWarps() * Maximum(1, stepsPerPortion / snake.NumberOfNodes);
  }
  PreparePolygon(group, snake);
  const int slices = ListChunks<TTeam>(group, snake, scratch, stepsPerPortion);
  if (threadIdx.x == 0)
  {
    snake.NumberOfChunks = scratch.Count;
    snake.IsPrepared = true;
    if (TTeam::IsLimited)
    {
      snake.Progress.Slices = slices;
    }
  }
  __syncthreads();
}

/** Advances the listed chunks to the next slice of their rows. */
__device__ inline void
ListNextSlice(const DeviceSnake & snake)
{
  for (int i = static_cast<int>(threadIdx.x); i < snake.NumberOfChunks; i += ThreadsPerBlock)
  {
    snake.Chunks[i].Part += snake.Chunks[i].Parts / snake.Progress.Slices;
  }
}

/** Records where the next portion of the phase begins. Called by the first block after each portion except the last one
 * before the conclusion. */
__device__ inline void
ContinueAt(DeviceSnake & snake, PhaseProgress::Stage stage, int first, const ConclusionScratch & scratch)
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

/** Concludes the phase as far as the launch's time allows, and prepares the next phase. Called by the first block. If
 * an observer is to see the state, it is left unchanged, and the next launch prepares the next phase. */
__device__ inline void
ConcludeInPortions(DeviceSnake &        snake,
                   const LatticePoint * polygon,
                   ConclusionScratch &  scratch,
                   const LaunchLimits & limits)
{
  using Team = GridTeam<true>;
  const bool     measuring = snake.Control.Next == SnakeControl::Phase::Measure;
  const uint32_t entries = snake.NumberOfEntries;
  GroupOf<Team>  group(snake, scratch, limits.StepsPerPortion);
  Conclude(group, snake, polygon);
  const bool news = snake.NumberOfEntries > entries;
  const bool isShown = news && limits.PauseAtSteps;
  if (threadIdx.x == 0)
  {
    snake.Pause = isShown || (news && measuring && limits.PauseAtLevels) || scratch.TimeIsUp;
    snake.IsPrepared = !isShown;
  }
  __syncthreads();
  if (!scratch.IsInterrupted && !isShown)
  {
    PrepareNext<Team>(snake, scratch, limits.StepsPerPortion);
  }
}

/** Ends a portion: records where the next one begins, or concludes the phase. Called by the first block of a limited
 * launch. */
__device__ inline void
EndPortion(DeviceSnake & snake, const LatticePoint * polygon, ConclusionScratch & scratch, const LaunchLimits & limits)
{
  using Stage = PhaseProgress::Stage;
  if (threadIdx.x == ThreadsPerBlock - 1)
  {
    // The last warp does this, because it has less work than the first one.
    CheckTimeLimit(scratch);
    scratch.IsInterrupted = false;
  }
  if (!snake.Progress.SumsEnd())
  {
    ListNextSlice(snake);
    ContinueAt(snake, Stage::Sums, snake.Progress.First + 1, scratch);
  }
  else if (snake.Control.Next != SnakeControl::Phase::Measure && EndOfNodes(snake) < snake.NumberOfNodes)
  {
    ContinueAt(snake, Stage::Proposals, EndOfNodes(snake), scratch);
  }
  else
  {
    ConcludeInPortions(snake, polygon, scratch, limits);
  }
}
} // namespace kernels
} // namespace itk::cuda::snake

// The work of a phase that all warps of the grid share: the sums of its items, and a proposal for each node.
namespace itk::cuda::snake
{
namespace kernels
{
/** Returns the chain whose sums are item w of node i in the next phase. */
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
      const int          edge = w - snake.Control.MaximumRun;
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

/** Adds the listed chunks' shares of all items to ItemSums. */
template <typename TTeam, typename TLevel>
__device__ void
SumItems(const TLevel & level, const DeviceSnake & snake, const LatticePoint * polygon)
{
  constexpr int lanes = TTeam::LanesOfWorker;
  const int     items = snake.GetItemsPerNode();
  const auto    units = static_cast<int64_t>(snake.NumberOfChunks) * items;
  // A block takes successive units, because their edges cross the same rows at nearby columns.
  const int  first = static_cast<int>(units * TTeam::GetBlock() / TTeam::GetNumberOfBlocks());
  const int  last = static_cast<int>(units * (TTeam::GetBlock() + 1) / TTeam::GetNumberOfBlocks());
  const bool measure = snake.Control.Next == SnakeControl::Phase::Measure;
  const int  lane = static_cast<int>(threadIdx.x) % lanes;
  for (int unit = first + static_cast<int>(threadIdx.x) / lanes; unit < last; unit += TTeam::Threads / lanes)
  {
    const RowChunk     chunk = snake.Chunks[unit / items];
    const int          w = unit % items;
    const LatticeChain chain = ItemOf(snake, polygon, chunk.Node, w, level.Width, level.Height);
    Moments            sum = SumChainRows(level, chain, chunk.Part * lanes + lane, chunk.Parts * lanes);
    if constexpr (lanes == WarpSize)
    {
      sum = SumOverWarp(sum);
    }
    if (lane == 0)
    {
      AtomicAdd(snake.ItemSums[measure ? 0 : chunk.Node * items + w], sum);
    }
  }
}

/** Broadcasts the value of one lane to all lanes of the warp. */
__device__ inline Moments
ValueOfLane(const Moments & m, int lane)
{
  return { __shfl_sync(AllLanes, static_cast<long long>(m.Count), lane),
           __shfl_sync(AllLanes, static_cast<unsigned long long>(m.Sum), lane),
           __shfl_sync(AllLanes, static_cast<unsigned long long>(m.SumOfSquares), lane) };
}

/** Returns in all lanes whether the polygon stays simple if the chain over `at` replaces its edges between the nodes
 * `before` and `after`. Called by a whole warp. */
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

/** Returns whether the polygon stays simple with node i at the lane's own position `at`. Called by a whole warp. The
 * lanes together find the edges near any of their positions, and each lane tests its own position against these edges.
 * Testing the positions one after the other would take long where the polygon is narrow, because most positions fail
 * there. */
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

/** The minimum of a number over the lanes of the warp, and the first lane that has it. */
struct BestOfWarp
{
  double DeltaCost;
  int    Lane;

  __device__ explicit BestOfWarp(double deltaCost)
    : DeltaCost(deltaCost)
    , Lane(LaneIndex())
  {
    for (int offset = WarpSize / 2; offset > 0; offset /= 2)
    {
      const double otherDeltaCost = __shfl_xor_sync(AllLanes, DeltaCost, offset);
      const int    other = __shfl_xor_sync(AllLanes, Lane, offset);
      if (otherDeltaCost < DeltaCost || (otherDeltaCost == DeltaCost && other < Lane))
      {
        DeltaCost = otherDeltaCost;
        Lane = other;
      }
    }
  }
};

/** Proposes the best possible move of each node of the current colour. One warp handles a node, and one lane a
 * candidate. */
template <typename TTeam>
__device__ void
ProposeMoves(const DeviceSnake & snake, const LatticePoint * polygon, int32_t width, int32_t height)
{
  const int     n = snake.NumberOfNodes;
  const int     colours = NumberOfColors(n, snake.Plan.InTurns);
  const int     candidates = Directions * snake.Plan.Rings;
  const int     w = LaneIndex();
  const int32_t cacheBit = 1 << snake.Control.GetCache();
  const int     end = TTeam::IsLimited ? EndOfNodes(snake) : n;
  for (int i = (TTeam::IsLimited ? FirstNode(snake) : 0) + TTeam::GetWarp(); i < end; i += TTeam::GetNumberOfWarps())
  {
    if (w == 0)
    {
      snake.Proposals[i].Node = -1;
    }
    if (ColorOf(i, n, colours) != snake.Control.Color)
    {
      continue;
    }
    const LatticePoint at = polygon[i];
    LatticePoint       position = at;
    Moments            change;
    double             deltaCost = 0.0;
    const int32_t      staleIn = snake.IsStale[i];
    const bool         stale = (staleIn & cacheBit) != 0;
    Moments            item;
    if (stale && w <= candidates)
    {
      item = snake.TakeItemSum(i * (candidates + 1) + w);
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
      deltaCost = snake.DeltaCostOf(change);
    }
    __syncwarp();
    if (w == 0)
    {
      snake.IsStale[i] = staleIn & ~cacheBit;
    }
    const bool pays = deltaCost < -snake.Plan.MinimumGain;
    if (!__any_sync(AllLanes, pays))
    {
      continue;
    }
    const bool       possible = MoveKeepsSimple(polygon, n, i, pays ? position : at);
    const BestOfWarp best(pays && possible ? deltaCost : 0.0);
    if (best.DeltaCost < 0.0 && w == best.Lane)
    {
      snake.Proposals[i] = { i, position, deltaCost, change };
    }
  }
}

/** Proposes the edges that can be divided, with the change of the sums. One warp handles an edge. */
template <typename TTeam>
__device__ void
ProposeInsertions(const DeviceSnake & snake, const LatticePoint * polygon)
{
  const int n = snake.NumberOfNodes;
  const int end = TTeam::IsLimited ? EndOfNodes(snake) : n;
  for (int i = (TTeam::IsLimited ? FirstNode(snake) : 0) + TTeam::GetWarp(); i < end; i += TTeam::GetNumberOfWarps())
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
      // The change is zero for exact midpoints, for which no sums are made.
      const Moments change = snake.TakeItemSum(2 * i) - snake.TakeItemSum(2 * i + 1);
      snake.Proposals[i] = { possible ? i : -1, middle, exact ? 1.0 : 0.0, change };
    }
  }
}

/** Returns in all lanes whether the polygon stays simple without `run` nodes from i on. Called by a whole warp. */
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

/** Proposes the best removal of a run of nodes that begins at each node. One warp handles a node, and one lane a length
 * of the run. */
template <typename TTeam>
__device__ void
ProposeRemovals(const DeviceSnake & snake, const LatticePoint * polygon)
{
  const int n = snake.NumberOfNodes;
  const int maximumRun = snake.Control.MaximumRun;
  const int items = ItemsOfRemoval(maximumRun);
  const int run = LaneIndex() + 1;
  const int end = TTeam::IsLimited ? EndOfNodes(snake) : n;
  for (int i = (TTeam::IsLimited ? FirstNode(snake) : 0) + TTeam::GetWarp(); i < end; i += TTeam::GetNumberOfWarps())
  {
    Moments item;
    if (LaneIndex() < items)
    {
      item = snake.TakeItemSum(i * items + LaneIndex());
    }
    Moments present = ValueOfLane(item, maximumRun);
    Moments change;
    for (int k = 1; k <= maximumRun; ++k)
    {
      present += ValueOfLane(item, maximumRun + k);
      change = k == run ? item - present : change;
    }
    double deltaCost = run <= Minimum(maximumRun, n - 3) ? snake.DeltaCostOfRemoval(change, run) : 0.0;
    if (LaneIndex() == 0)
    {
      snake.Proposals[i].Node = -1;
    }
    __syncwarp();
    while (true)
    {
      const BestOfWarp best(deltaCost);
      if (!(best.DeltaCost < -snake.Plan.MinimumGain))
      {
        break;
      }
      if (ChordKeepsSimpleByWarp(polygon, n, i, best.Lane + 1))
      {
        if (LaneIndex() == best.Lane)
        {
          snake.Proposals[i] = { i, polygon[i], deltaCost, change, run };
        }
        break;
      }
      deltaCost = LaneIndex() == best.Lane ? 0.0 : deltaCost;
    }
  }
}

/** Makes the proposals of a phase from its sums, for the nodes of the current portion. */
template <typename TTeam>
__device__ void
Propose(const DeviceSnake & snake, const LatticePoint * polygon, int32_t width, int32_t height)
{
  switch (snake.Control.Next)
  {
    case SnakeControl::Phase::Move:
      ProposeMoves<TTeam>(snake, polygon, width, height);
      break;
    case SnakeControl::Phase::Insert:
      ProposeInsertions<TTeam>(snake, polygon);
      break;
    case SnakeControl::Phase::Remove:
      ProposeRemovals<TTeam>(snake, polygon);
      break;
    default:
      break;
  }
}
} // namespace kernels
} // namespace itk::cuda::snake

#endif
