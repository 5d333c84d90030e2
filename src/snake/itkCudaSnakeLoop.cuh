// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeLoop_cuh
#define itkCudaSnakeLoop_cuh

#include "itkCudaSnakeKernels.cuh"

// The whole schedule in one cooperative kernel. Each phase is work that all warps share - edges, candidates, tests of
// simplicity - and a conclusion that the first block draws, while the others wait: which proposals stay, what becomes
// of the polygon, what comes next.
namespace itk::cuda
{
namespace kernels
{
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
  int32_t      Current{ 0 };            // of the two polygons
  int32_t      NumberOfStaleNodes{ 0 }; // those to be summed in the next phase
  int32_t      Split{ 1 };              // warps per item
  uint32_t     NumberOfEntries{ 0 };
  bool         Pause{ false };
  Moments      Measured; // sums of the polygon's edges, added up by all warps

  LatticePoint *        Polygons[2]{};
  Moments *             Partials{ nullptr }; // of the items of stale nodes, `Split` for each
  Moments *             Changes{ nullptr };  // of the candidates of each node
  int32_t *             IsStale{ nullptr };
  int32_t *             StaleNodes{ nullptr };    // list
  int32_t *             StalePosition{ nullptr }; // of each node in the list
  Proposal *            Slots{ nullptr };         // one per node; Node is -1 where there is no proposal
  int32_t *             Proposed{ nullptr };      // list of nodes with a proposal
  int32_t *             IsBeaten{ nullptr };      // of each node with a proposal
  CudaRegionSnakeStep * Record{ nullptr };
  uint32_t              RecordCapacity{ 0 };
};

/** What the first block holds on chip while it draws a conclusion. */
struct ConclusionScratch
{
  static constexpr int MaximumBoxes = 1024;

  LatticeBox Boxes[MaximumBoxes];
  int32_t    Count;
  int32_t    Kept;
  int32_t    Verdict;
  Moments    Sums;
  int32_t    WarpCounts[WarpsPerBlock];
  int32_t    Base;
};

constexpr int32_t TakeNone = -1;
constexpr int32_t TakeUnbeaten = -2; // others: the one node that is taken

// ---- Work that all warps share

/** Sums over the items of stale nodes: candidates, and the edges as they are. */
template <typename TLevel>
__device__ void
SumStaleNodes(const TLevel & level, const DeviceSnake & snake)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  const int            n = snake.NumberOfNodes;
  const int            candidates = Directions * snake.Plan.Rings;
  const int            split = snake.Split;
  const int            items = snake.NumberOfStaleNodes * (candidates + 1);
  for (int unit = WarpOfGrid(); unit < items * split; unit += WarpsOfGrid())
  {
    const int          item = unit / split;
    const int          part = unit - item * split;
    const int          position = item / (candidates + 1);
    const int          w = item - position * (candidates + 1);
    const int          i = snake.StaleNodes[position];
    const LatticePoint before = polygon[Previous(i, n)];
    const LatticePoint after = polygon[Next(i, n)];
    const LatticePoint at =
      w < candidates ? CandidatePosition(polygon[i], w, snake.Control.Step, level.Width, level.Height) : polygon[i];
    const int32_t row = part * WarpSize + LaneIndex();
    const int32_t stride = split * WarpSize;
    const Moments sum = SumOverWarp(SumEdgeRows(level, MakeEdge(before, at), row, stride) +
                                    SumEdgeRows(level, MakeEdge(at, after), row, stride));
    if (LaneIndex() == 0)
    {
      snake.Partials[unit] = sum;
    }
  }
}

__device__ inline Moments
SumParts(const DeviceSnake & snake, int item)
{
  Moments sum;
  for (int part = 0; part < snake.Split; ++part)
  {
    sum += snake.Partials[static_cast<size_t>(item) * snake.Split + part];
  }
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

/** The best possible move of each node of the colour, one warp per node and one lane per candidate. */
__device__ inline void
ProposeMoves(const DeviceSnake & snake, int32_t width, int32_t height)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  const int            n = snake.NumberOfNodes;
  const int            colours = NumberOfColours(n, snake.Plan.InTurns);
  const int            candidates = Directions * snake.Plan.Rings;
  const int            w = LaneIndex();
  for (int i = WarpOfGrid(); i < n; i += WarpsOfGrid())
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
    if (w < candidates)
    {
      position = CandidatePosition(at, w, snake.Control.Step, width, height);
      Moments & kept = snake.Changes[static_cast<size_t>(i) * MaximumCandidates + w];
      if (snake.IsStale[i])
      {
        const int firstItem = snake.StalePosition[i] * (candidates + 1);
        change = position == at ? Moments{} : SumParts(snake, firstItem + w) - SumParts(snake, firstItem + candidates);
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
      snake.IsStale[i] = 0;
    }
    while (true)
    {
      double bestGain = gain;
      int    best = w;
      for (int offset = WarpSize / 2; offset > 0; offset /= 2)
      {
        const double otherGain = __shfl_xor_sync(AllLanes, bestGain, offset);
        const int    other = __shfl_xor_sync(AllLanes, best, offset);
        if (otherGain < bestGain || (otherGain == bestGain && other < best))
        {
          bestGain = otherGain;
          best = other;
        }
      }
      if (!(bestGain < -snake.Plan.MinimumGain))
      {
        break;
      }
      const LatticePoint target{ __shfl_sync(AllLanes, position.X, best), __shfl_sync(AllLanes, position.Y, best) };
      if (ChainKeepsSimpleByWarp(polygon, n, Previous(i, n), target, Next(i, n)))
      {
        if (w == best)
        {
          snake.Slots[i] = { i, position, gain, change };
        }
        break;
      }
      gain = w == best ? 0.0 : gain;
    }
  }
}

/** Which edges can be divided, and what that changes; one warp per edge. */
template <typename TLevel>
__device__ void
ProposeInsertions(const TLevel & level, const DeviceSnake & snake)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  const int            n = snake.NumberOfNodes;
  for (int i = WarpOfGrid(); i < n; i += WarpsOfGrid())
  {
    const LatticePoint p = polygon[i];
    const LatticePoint q = polygon[Next(i, n)];
    const LatticePoint middle = MidpointOf(p, q);
    const bool         exact = MidpointIsExact(p, q);
    bool               possible = SquaredLength(p, q) >= snake.Plan.MinimumSquaredLength;
    Moments            change;
    if (possible && !exact)
    {
      possible = ChainKeepsSimpleByWarp(polygon, n, i, middle, Next(i, n));
      change = SumEdgeByWarp(level, p, middle) + SumEdgeByWarp(level, middle, q) - SumEdgeByWarp(level, p, q);
    }
    if (LaneIndex() == 0)
    {
      snake.Slots[i] = { possible ? i : -1, middle, exact ? 1.0 : 0.0, change };
    }
  }
}

/** What the removal of each node gains; one warp per node. */
template <typename TLevel>
__device__ void
ProposeRemovals(const TLevel & level, const DeviceSnake & snake)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  const int            n = snake.NumberOfNodes;
  for (int i = WarpOfGrid(); i < n; i += WarpsOfGrid())
  {
    const LatticePoint before = polygon[Previous(i, n)];
    const LatticePoint at = polygon[i];
    const LatticePoint after = polygon[Next(i, n)];
    const Moments      change =
      SumEdgeByWarp(level, before, after) - SumEdgeByWarp(level, before, at) - SumEdgeByWarp(level, at, after);
    const double gain = snake.Gain(change) - snake.Plan.NodeCost;
    bool         possible = gain < -snake.Plan.MinimumGain && IsCountAllowed(snake.Sums.Count + change.Count,
                                                                     snake.Sums.Count,
                                                                     snake.Total.Count,
                                                                     snake.Plan.MinimumRegionSize);
    if (possible)
    {
      bool meets = false;
      for (int j = LaneIndex(); j < n - 2; j += WarpSize)
      {
        meets = meets || ChordOverNodeMeetsEdge(polygon, n, i, RemainingEdge(j, Next(i, n), n));
      }
      possible = !__any_sync(AllLanes, meets);
    }
    if (LaneIndex() == 0)
    {
      snake.Slots[i] = { possible ? i : -1, at, gain, change };
    }
  }
}

template <typename TLevel>
__device__ void
MeasurePolygon(const TLevel & level, DeviceSnake & snake)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  const int            n = snake.NumberOfNodes;
  for (int i = WarpOfGrid(); i < n; i += WarpsOfGrid())
  {
    const Moments sum = SumEdgeByWarp(level, polygon[i], polygon[Next(i, n)]);
    if (LaneIndex() == 0)
    {
      AtomicAdd(snake.Measured, sum);
    }
  }
}

/** The work of a phase on a level; for moves the first part of it. */
template <typename TLevel>
__device__ void
DoWork(const TLevel & level, DeviceSnake & snake, SnakeControl::Phase phase)
{
  switch (phase)
  {
    case SnakeControl::Phase::Measure:
      MeasurePolygon(level, snake);
      break;
    case SnakeControl::Phase::Move:
      SumStaleNodes(level, snake);
      break;
    case SnakeControl::Phase::Insert:
      ProposeInsertions(level, snake);
      break;
    default:
      ProposeRemovals(level, snake);
      break;
  }
}

// ---- Conclusions, by the first block

/** Lists the nodes with a proposal that `select` takes, in any order; their number in scratch.Count. */
template <typename TSelect>
__device__ void
ListProposals(const DeviceSnake & snake, ConclusionScratch & scratch, const TSelect & select)
{
  if (threadIdx.x == 0)
  {
    scratch.Count = 0;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < snake.NumberOfNodes; i += ThreadsPerBlock)
  {
    snake.IsBeaten[i] = 0;
    if (snake.Slots[i].Node >= 0 && select(snake.Slots[i]))
    {
      snake.Proposed[atomicAdd(&scratch.Count, 1)] = i;
    }
  }
  __syncthreads();
}

/** Marks the beaten one of each pair of listed proposals that conflict: neighbours, if they do so wherever their chains
 * are, and those for which `conflict(x, y)` holds, which needs chains whose boxes are not apart. `beats(x, y)` says
 * whether x comes before y. */
template <typename TChain, typename TBeats, typename TConflict>
__device__ void
MarkBeaten(const DeviceSnake & snake,
           ConclusionScratch & scratch,
           const TChain &      chainOf,
           bool                neighboursConflict,
           const TBeats &      beats,
           const TConflict &   conflict)
{
  const int  n = snake.NumberOfNodes;
  const int  count = scratch.Count;
  const bool boxed = count <= ConclusionScratch::MaximumBoxes;
  for (int s = static_cast<int>(threadIdx.x); boxed && s < count; s += ThreadsPerBlock)
  {
    const LatticeChain chain = chainOf(snake.Slots[snake.Proposed[s]]);
    scratch.Boxes[s] = BoxOf(chain.Before, chain.At, chain.After);
  }
  __syncthreads();
  for (int s = WarpOfBlock(); s < count; s += WarpsPerBlock)
  {
    for (int t = s + 1 + LaneIndex(); t < count; t += WarpSize)
    {
      const int  i = snake.Proposed[s];
      const int  j = snake.Proposed[t];
      const int  distance = RingDistance(i, j, n);
      const bool neighbours = neighboursConflict && (distance == 1 || distance == n - 1);
      if (!neighbours && boxed && BoxesAreApart(scratch.Boxes[s], scratch.Boxes[t]))
      {
        continue;
      }
      if (neighbours || conflict(snake.Slots[i], snake.Slots[j]))
      {
        snake.IsBeaten[beats(snake.Slots[i], snake.Slots[j]) ? j : i] = 1;
      }
    }
  }
  __syncthreads();
}

/** What becomes of the listed proposals: all that are not beaten are taken, or the best alone, or none; in
 * scratch.Verdict. As HostSnake::Accept(). */
__device__ inline void
Decide(DeviceSnake & snake, ConclusionScratch & scratch, double cost)
{
  if (threadIdx.x == 0)
  {
    scratch.Sums = snake.Sums;
    scratch.Kept = 0;
  }
  __syncthreads();
  for (int s = static_cast<int>(threadIdx.x); s < scratch.Count; s += ThreadsPerBlock)
  {
    const int i = snake.Proposed[s];
    if (!snake.IsBeaten[i])
    {
      AtomicAdd(scratch.Sums, snake.Slots[i].Change);
      atomicAdd(&scratch.Kept, 1);
    }
  }
  __syncthreads();
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
    scratch.Verdict = TakeNone;
    if (scratch.Count > 0)
    {
      if (attempt(scratch.Sums, scratch.Kept))
      {
        scratch.Verdict = TakeUnbeaten;
      }
      else
      {
        int best = snake.Proposed[0];
        for (int s = 1; s < scratch.Count; ++s)
        {
          best = ComesBefore(snake.Slots[snake.Proposed[s]], snake.Slots[best]) ? snake.Proposed[s] : best;
        }
        if (attempt(snake.Sums + snake.Slots[best].Change, 1))
        {
          scratch.Verdict = best;
        }
      }
    }
  }
  __syncthreads();
}

__device__ inline bool
IsTaken(const DeviceSnake & snake, const ConclusionScratch & scratch, int i)
{
  return scratch.Verdict == TakeUnbeaten ? !snake.IsBeaten[i] : scratch.Verdict == i;
}

__device__ inline bool
ConcludeMoves(DeviceSnake & snake, ConclusionScratch & scratch)
{
  LatticePoint * polygon = snake.Polygons[snake.Current];
  const int      n = snake.NumberOfNodes;
  ListProposals(snake, scratch, [](const Proposal &) { return true; });
  MarkBeaten(
    snake,
    scratch,
    [=](const Proposal & move) { return ChainOf(polygon, n, move); },
    true,
    [](const Proposal & x, const Proposal & y) { return ComesBefore(x, y); },
    [=](const Proposal & x, const Proposal & y) { return MovesConflict(polygon, n, x, y); });
  Decide(snake, scratch, 0.0);
  for (int s = static_cast<int>(threadIdx.x); s < scratch.Count; s += ThreadsPerBlock)
  {
    const int i = snake.Proposed[s];
    if (IsTaken(snake, scratch, i))
    {
      polygon[i] = snake.Slots[i].Position;
      snake.IsStale[Previous(i, n)] = 1;
      snake.IsStale[i] = 1;
      snake.IsStale[Next(i, n)] = 1;
    }
  }
  __syncthreads();
  return scratch.Verdict != TakeNone;
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

__device__ inline bool
ConcludeRemovals(DeviceSnake & snake, ConclusionScratch & scratch)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  LatticePoint *       shorter = snake.Polygons[1 - snake.Current];
  const int            n = snake.NumberOfNodes;
  if (n <= 3)
  {
    return false;
  }
  ListProposals(snake, scratch, [](const Proposal &) { return true; });
  for (int s = static_cast<int>(threadIdx.x); s < scratch.Count; s += ThreadsPerBlock)
  {
    const int        i = snake.Proposed[s];
    const Proposal & own = snake.Slots[i];
    for (const int j : { Previous(i, n), Next(i, n) })
    {
      if (snake.Slots[j].Node >= 0 && ComesBefore(snake.Slots[j], own))
      {
        snake.IsBeaten[i] = 1;
      }
    }
    for (int t = 0; RemoveOneAtATime(n) && t < scratch.Count; ++t)
    {
      const int j = snake.Proposed[t];
      if (j != i && ComesBefore(snake.Slots[j], own))
      {
        snake.IsBeaten[i] = 1;
      }
    }
  }
  __syncthreads();
  Decide(snake, scratch, -snake.Plan.NodeCost);
  if (scratch.Verdict == TakeNone)
  {
    return false;
  }
  if (threadIdx.x == 0)
  {
    scratch.Base = 0;
  }
  __syncthreads();
  for (int base = 0; base < n; base += ThreadsPerBlock)
  {
    const int  i = base + static_cast<int>(threadIdx.x);
    const bool stays = i < n && (snake.Slots[i].Node < 0 || !IsTaken(snake, scratch, i));
    const int  rank = RankInBlock(stays, scratch);
    if (stays)
    {
      shorter[rank] = polygon[i];
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

__device__ inline bool
ConcludeInsertions(DeviceSnake & snake, ConclusionScratch & scratch, bool & cutShort)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  LatticePoint *       longer = snake.Polygons[1 - snake.Current];
  const int            n = snake.NumberOfNodes;
  // Those whose midpoint is exact (Gain 1) move no edge and conflict with none.
  ListProposals(snake, scratch, [](const Proposal & insertion) { return insertion.Gain == 0.0; });
  MarkBeaten(
    snake,
    scratch,
    [=](const Proposal & insertion) {
      return LatticeChain{ polygon[insertion.Node], insertion.Position, polygon[Next(insertion.Node, n)] };
    },
    false,
    [](const Proposal & x, const Proposal & y) { return x.Node < y.Node; },
    [=](const Proposal & x, const Proposal & y) { return InsertionsConflict(polygon, n, x.Node, y.Node); });
  const int maximum = static_cast<int>(snake.Plan.MaximumNumberOfNodes);
  const int room = maximum > n ? maximum - n : 0;
  if (threadIdx.x == 0)
  {
    scratch.Base = 0;
    scratch.Sums = snake.Sums;
  }
  __syncthreads();
  for (int base = 0; base < n; base += ThreadsPerBlock)
  {
    const int  i = base + static_cast<int>(threadIdx.x);
    const bool inserted = i < n && snake.Slots[i].Node >= 0 && !snake.IsBeaten[i];
    const int  rank = RankInBlock(inserted, scratch);
    if (i < n)
    {
      const int place = i + Minimum(rank, room);
      longer[place] = polygon[i];
      if (inserted && rank < room)
      {
        longer[place + 1] = snake.Slots[i].Position;
        AtomicAdd(scratch.Sums, snake.Slots[i].Change);
      }
    }
  }
  __syncthreads();
  cutShort = scratch.Base > room;
  const int  number = Minimum(scratch.Base, room);
  const bool accepted =
    number > 0 && IsCountAllowed(scratch.Sums.Count, snake.Sums.Count, snake.Total.Count, snake.Plan.MinimumRegionSize);
  __syncthreads();
  if (accepted && threadIdx.x == 0)
  {
    snake.NumberOfNodes = n + number;
    snake.Current = 1 - snake.Current;
    snake.Sums = scratch.Sums;
    snake.Criterion = Criterion(snake.Law, snake.Sums, snake.Total);
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

/** Draws the conclusion of a phase as HostSnake::RunPhases() does; returns whether all nodes are stale now. */
__device__ inline bool
Conclude(DeviceSnake &       snake,
         ConclusionScratch & scratch,
         SnakeControl::Phase phase,
         bool                pauseAtSteps,
         bool                pauseAtLevels)
{
  using Kind = CudaRegionSnakeStep::Kind;
  const bool    first = threadIdx.x == 0;
  const double  before = snake.Criterion;
  const int32_t step = snake.Control.Step;
  const int     level = snake.Control.Level;
  __syncthreads();
  if (phase == SnakeControl::Phase::Measure)
  {
    if (first)
    {
      snake.Sums = snake.Measured;
      snake.Criterion = Criterion(snake.Law, snake.Sums, snake.Total);
      snake.BeforeIteration = snake.Criterion;
      AddToRecord(snake,
                  Kind::Level,
                  level,
                  step,
                  snake.NumberOfEntries == 0 ? snake.Criterion : before,
                  pauseAtSteps || pauseAtLevels);
      snake.Control.AfterMeasure();
    }
    return true;
  }
  if (phase == SnakeControl::Phase::Move)
  {
    const int  colours = NumberOfColours(snake.NumberOfNodes, snake.Plan.InTurns);
    const bool moved = ConcludeMoves(snake, scratch);
    if (first)
    {
      const bool ended = snake.Control.AfterMove(snake.Plan, moved, colours);
      if (ended)
      {
        AddToRecord(snake, Kind::Iteration, level, step, snake.BeforeIteration, pauseAtSteps);
        snake.BeforeIteration = snake.Criterion;
      }
    }
    __syncthreads();
    return snake.Control.Step != step;
  }
  bool       cutShort = false;
  const bool insertion = phase == SnakeControl::Phase::Insert;
  const bool changed = insertion ? ConcludeInsertions(snake, scratch, cutShort) : ConcludeRemovals(snake, scratch);
  if (first)
  {
    if (changed)
    {
      AddToRecord(snake, insertion ? Kind::Insertion : Kind::Removal, level, step, before, pauseAtSteps);
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
  return true;
}

/** Makes the state ready for the phase that comes next: the polygon in cells of its level, the linear form, the list of
 * stale nodes. */
__device__ inline void
PrepareNext(DeviceSnake & snake, ConclusionScratch & scratch, int previousLevel, bool allStale)
{
  const int n = snake.NumberOfNodes;
  if (threadIdx.x == 0)
  {
    scratch.Count = 0;
    snake.Measured = {};
    snake.Gain = Linearize(snake.Law, snake.Sums, snake.Total);
  }
  __syncthreads();
  const uint32_t shift = snake.Plan.Exponent[previousLevel] - snake.Plan.Exponent[snake.Control.Level];
  const int      colours = NumberOfColours(n, snake.Plan.InTurns);
  for (int i = static_cast<int>(threadIdx.x); i < n; i += ThreadsPerBlock)
  {
    LatticePoint & p = snake.Polygons[snake.Current][i];
    p = { p.X << shift, p.Y << shift };
    const bool stale = allStale || snake.IsStale[i];
    snake.IsStale[i] = stale ? 1 : 0;
    if (stale && ColourOf(i, n, colours) == snake.Control.Colour)
    {
      const int position = atomicAdd(&scratch.Count, 1);
      snake.StaleNodes[position] = i;
      snake.StalePosition[i] = position;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
  {
    snake.NumberOfStaleNodes = scratch.Count;
    const int items = scratch.Count * (Directions * snake.Plan.Rings + 1);
    snake.Split = items > 0 ? Maximum(1, Minimum(MaximumSplit, WarpsOfGrid() / items)) : 1;
  }
  __syncthreads();
}

/** Runs phases until the schedule ends or a pause is due. Cooperative: all blocks are resident. Every phase moves the
 * control on, whose loops are bounded. */
template <typename TSample, bool VMask>
__global__ void
__launch_bounds__(ThreadsPerBlock, 1) SnakeKernel(PixelLevel<TSample, true, VMask> pixels,
                                                  BlockLevel                       blocks,
                                                  DeviceSnake *                    state,
                                                  bool                             pauseAtSteps,
                                                  bool                             pauseAtLevels)
{
  __shared__ SharedStorage<ConclusionScratch> storage;
  ConclusionScratch &                         scratch = storage.Get();
  const cooperative_groups::grid_group        grid = cooperative_groups::this_grid();
  DeviceSnake &                               snake = *state;
  while (true)
  {
    const SnakeControl::Phase phase = snake.Control.Next;
    if (phase == SnakeControl::Phase::Finished || snake.Pause)
    {
      return;
    }
    const int  level = snake.Control.Level;
    const bool onPixels = snake.Plan.Exponent[level] == 0;
    if (onPixels)
    {
      DoWork(pixels, snake, phase);
    }
    else
    {
      DoWork(blocks, snake, phase);
    }
    grid.sync();
    if (phase == SnakeControl::Phase::Move)
    {
      ProposeMoves(snake, onPixels ? pixels.Width : blocks.Width, onPixels ? pixels.Height : blocks.Height);
      grid.sync();
    }
    if (blockIdx.x == 0)
    {
      const bool allStale = Conclude(snake, scratch, phase, pauseAtSteps, pauseAtLevels);
      __syncthreads();
      PrepareNext(snake, scratch, level, allStale);
    }
    grid.sync();
  }
}
} // namespace kernels
} // namespace itk::cuda

#endif
