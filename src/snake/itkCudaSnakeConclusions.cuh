// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeConclusions_cuh
#define itkCudaSnakeConclusions_cuh

#include "itkCudaSnakeDeviceState.cuh"
#include "itkCudaSnakePhases.h"

// Conclusions, by the first block: which proposals stay, and what becomes of the polygon.
namespace itk::cuda::snake
{
namespace kernels
{
/** The device's clock, in nanoseconds. */
__device__ inline uint64_t
ReadClock()
{
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

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
    snake.TakeSums(sums);
  }
  __syncthreads();
  return accepted;
}

/** Draws the conclusion of a phase, unless it is interrupted. `polygon`: the one that the phase began with. */
template <bool VLimited>
__device__ void
Conclude(DeviceSnake & snake, const LatticePoint * polygon, ConclusionScratch & scratch, const LaunchLimits & limits)
{
  using Phase = SnakeControl::Phase;
  const bool  first = threadIdx.x == 0;
  const Phase phase = snake.Control.Next;
  bool        changed = false;
  bool        cutShort = false;
  __syncthreads();
  if (phase == Phase::Measure)
  {
    if (first)
    {
      snake.TakeSums(TakeItemSum(snake, 0));
    }
  }
  else if (phase == Phase::Move)
  {
    changed = ConcludeMoves<VLimited>(snake, polygon, scratch, limits.StepsPerPortion);
  }
  else if (phase == Phase::Insert)
  {
    changed = ConcludeInsertions<VLimited>(snake, scratch, cutShort, limits.StepsPerPortion);
  }
  else
  {
    changed = ConcludeRemovals<VLimited>(snake, scratch);
  }
  if (first && !IsInterrupted<VLimited>(scratch))
  {
    EndPhase(snake, changed, cutShort);
  }
  __syncthreads();
}
} // namespace kernels
} // namespace itk::cuda::snake

#endif
