// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Phases_h
#define CudaFilters_snake_Phases_h

#include "snake/Core.h"
#include "snake/Group.h"
#include "snake/State.h"

// Concludes a phase: decides which of its proposals are accepted, and changes the snake accordingly. The code is shared
// by the host and the device, where a group of threads works together; see SerialGroup.
namespace itk::cuda::snake
{
// Values of SnakeState::Accepted. Any other value is the index of the only node whose proposal is accepted.
constexpr int32_t AcceptNone = -1;
constexpr int32_t AcceptNonConflicting = -2;

/** Suppresses one proposal of each conflicting pair in the list: the one that does not have priority according to
 * `beats(x, y)`. With `neighborsConflict`, proposals of neighbouring nodes always conflict. Other pairs conflict if
 * `conflict(x, y)` holds. This is only possible if the bounding boxes of their chains overlap, so the boxes are tested
 * first if the group has room for them. Returns whether there was time for all pairs. */
template <typename TGroup, typename TChain, typename TBeats, typename TConflict>
ITK_CUDA_HOST_DEVICE bool
SuppressConflicts(TGroup &             group,
                  const SnakeState &   snake,
                  const ProposalList & list,
                  const TChain &       chainOf,
                  bool                 neighborsConflict,
                  const TBeats &       beats,
                  const TConflict &    conflict)
{
  const int n = snake.NumberOfNodes;
  group.ForEach(list.HasBoxes ? list.Count : 0, [&](int s) {
    const LatticeChain chain = chainOf(snake.Proposals[list.Nodes[s]]);
    group.GetBox(s) = BoxOf(chain.Before, chain.At, chain.After);
  });
  group.Sync();
  return group.ForEachPair(list, [&](int s, int t) {
    const int  i = list.Nodes[s];
    const int  j = list.Nodes[t];
    const int  distance = RingDistance(i, j, n);
    const bool neighbors = neighborsConflict && (distance == 1 || distance == n - 1);
    if (!neighbors && list.HasBoxes && BoxesAreApart(group.GetBox(s), group.GetBox(t)))
    {
      return;
    }
    if (neighbors || conflict(snake.Proposals[i], snake.Proposals[j]))
    {
      list.IsSuppressed[beats(snake.Proposals[i], snake.Proposals[j]) ? j : i] = 1;
    }
  });
}

/** Suppresses each proposed removal that conflicts with one of higher priority. Only removals of nearby nodes can
 * conflict, unless RemoveOneAtATime() holds. In this case each conflicts with all others. */
template <typename TGroup>
ITK_CUDA_HOST_DEVICE void
SuppressConflictingRemovals(TGroup & group, const SnakeState & snake, const ProposalList & list)
{
  const int  n = snake.NumberOfNodes;
  const bool all = RemoveOneAtATime(n, snake.Control.MaximumRun);
  const int  reach = snake.Control.MaximumRun;
  group.ForEach(list.Count, [&](int s) {
    const int        i = list.Nodes[s];
    const Proposal & own = snake.Proposals[i];
    int              j = all ? i : (i + n - reach) % n;
    for (int k = 0; k < (all ? n : 2 * reach + 1); ++k, j = Next(j, n))
    {
      const Proposal & other = snake.Proposals[j];
      if (j != i && other.Node >= 0 && (all || RemovalsConflict(n, own, other)) && ComesBefore(other, own))
      {
        list.IsSuppressed[i] = 1;
      }
    }
  });
  group.Sync();
}

/** Accepts a change of the sums if it is allowed and lowers J by at least MinimumGain. Each of its `number` nodes
 * adds `cost` to J. Returns whether the change was accepted. */
ITK_CUDA_HOST_DEVICE inline bool
TryChange(SnakeState & snake, const Moments & change, int number, double cost)
{
  if (!snake.Allows(change))
  {
    return false;
  }
  const Moments sums = snake.Sums + change;
  const double  criterion = snake.CriterionOf(sums);
  if (!IsImprovement(criterion, cost, number, snake.Criterion, snake.Plan.MinimumGain))
  {
    return false;
  }
  snake.Sums = sums;
  snake.Criterion = criterion;
  return true;
}

/** Returns the node of the listed proposal with the highest priority. Called by one thread. */
ITK_CUDA_HOST_DEVICE inline int
FindBest(const SnakeState & snake, const ProposalList & list)
{
  int best = list.Nodes[0];
  for (int s = 1; s < list.Count; ++s)
  {
    best = ComesBefore(snake.Proposals[list.Nodes[s]], snake.Proposals[best]) ? list.Nodes[s] : best;
  }
  return best;
}

/** Decides which of the listed proposals are accepted: all that are not suppressed, or only the best one if rounding or
 * the size of a region rules out accepting all, or no proposal. Stores the decision in snake.Accepted, and updates the
 * snake's sums, criterion and tangent. */
template <typename TGroup>
ITK_CUDA_HOST_DEVICE void
Decide(TGroup & group, SnakeState & snake, const ProposalList & list, double cost)
{
  Moments own;
  int     ownNumber = 0;
  group.ForEach(list.Count, [&](int s) {
    const int i = list.Nodes[s];
    if (!list.IsSuppressed[i])
    {
      own += snake.Proposals[i].Change;
      ownNumber += snake.Proposals[i].NumberOfRemovedNodes;
    }
  });
  const GroupSum & kept = group.Sum(own, ownNumber);
  const Moments    sumsOfKept = snake.Sums + kept.Sums;
  group.Sync();
  LinearForm tangent;
  group.RunOnSecondThread([&]() {
    // Speculatively computes the tangent that the next phase most likely needs, while the first thread decides.
    tangent = list.Count > 0 ? snake.TangentAt(sumsOfKept) : LinearForm{};
  });
  group.RunOnFirstThread([&]() {
    snake.Accepted = AcceptNone;
    if (list.Count == 0)
    {
      return;
    }
    if (TryChange(snake, kept.Sums, kept.Number, cost))
    {
      snake.Accepted = AcceptNonConflicting;
      return;
    }
    const int best = FindBest(snake, list);
    if (TryChange(snake, snake.Proposals[best].Change, snake.Proposals[best].NumberOfRemovedNodes, cost))
    {
      snake.Accepted = best;
      snake.Tangent = snake.TangentAt(snake.Sums);
    }
  });
  group.Sync();
  group.RunOnSecondThread([&]() {
    if (snake.Accepted == AcceptNonConflicting)
    {
      snake.Tangent = tangent;
    }
  });
}

ITK_CUDA_HOST_DEVICE inline bool
IsAccepted(const SnakeState & snake, const ProposalList & list, int i)
{
  return snake.Accepted == AcceptNonConflicting ? !list.IsSuppressed[i] : snake.Accepted == i;
}

/** Moves the nodes whose proposals are accepted, and returns whether any node moved. `before` is the polygon at the
 * beginning of the phase. */
template <typename TGroup>
ITK_CUDA_HOST_DEVICE bool
ConcludeMoves(TGroup & group, SnakeState & snake, const LatticePoint * before)
{
  LatticePoint *     polygon = snake.Polygons[snake.Current];
  const int          n = snake.NumberOfNodes;
  const ProposalList list = group.SelectProposals(snake, [&](int i) { return snake.Proposals[i].Node >= 0; });
  const bool         all = SuppressConflicts(
    group,
    snake,
    list,
    [=](const Proposal & move) { return ChainOf(before, n, move); },
    true,
    [](const Proposal & x, const Proposal & y) { return ComesBefore(x, y); },
    [=](const Proposal & x, const Proposal & y) { return MovesConflict(before, n, x, y); });
  if (!all)
  {
    return false;
  }
  Decide(group, snake, list, 0.0);
  group.ForEach(list.Count, [&](int s) {
    const int i = list.Nodes[s];
    if (IsAccepted(snake, list, i))
    {
      polygon[i] = snake.Proposals[i].Position;
      snake.IsStale[Previous(i, n)] = SnakeState::AllCaches;
      snake.IsStale[i] = SnakeState::AllCaches;
      snake.IsStale[Next(i, n)] = SnakeState::AllCaches;
    }
  });
  group.Sync();
  return snake.Accepted != AcceptNone;
}

/** The data of an edge in the compaction of insertions: whether its midpoint is to be inserted if there is room. */
struct InsertionItem
{
  bool IsCounted{ false };
};

/** Inserts the proposed midpoints that are not suppressed, and returns whether any node was inserted. `cutShort` is set
 * to whether the maximum number of nodes left no room for some of them. */
template <typename TGroup>
ITK_CUDA_HOST_DEVICE bool
ConcludeInsertions(TGroup & group, SnakeState & snake, bool & cutShort)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  LatticePoint *       longer = snake.Polygons[1 - snake.Current];
  const int            n = snake.NumberOfNodes;
  // A midpoint that lies exactly on its edge (DeltaCost 1) conflicts with no other and need not be selected.
  const ProposalList list = group.SelectProposals(
    snake, [&](int i) { return snake.Proposals[i].Node >= 0 && snake.Proposals[i].DeltaCost == 0.0; });
  const bool all = SuppressConflicts(
    group,
    snake,
    list,
    [=](const Proposal & insertion) {
      return LatticeChain{ polygon[insertion.Node], insertion.Position, polygon[Next(insertion.Node, n)] };
    },
    false,
    [](const Proposal & x, const Proposal & y) { return x.Node < y.Node; },
    [=](const Proposal & x, const Proposal & y) { return InsertionsConflict(polygon, n, x.Node, y.Node); });
  if (!all)
  {
    return false;
  }
  const int maximum = static_cast<int>(snake.Plan.MaximumNumberOfNodes);
  const int room = maximum > n ? maximum - n : 0;
  Moments   change;
  const int wanted = group.ForEachWithRank(
    n,
    [&](int i) { return InsertionItem{ snake.Proposals[i].Node >= 0 && !list.IsSuppressed[i] }; },
    [&](int i, const InsertionItem & item, int rank) {
      const int place = i + Minimum(rank, room);
      longer[place] = polygon[i];
      if (item.IsCounted && rank < room)
      {
        longer[place + 1] = snake.Proposals[i].Position;
        change += snake.Proposals[i].Change;
      }
    });
  const GroupSum & inserted = group.Sum(change, 0);
  const int        number = Minimum(wanted, room);
  const bool       accepted = number > 0 && snake.Allows(inserted.Sums);
  cutShort = wanted > room;
  group.Sync();
  if (accepted)
  {
    group.RunOnFirstThread([&]() {
      snake.NumberOfNodes = n + number;
      snake.Current = 1 - snake.Current;
      snake.SetSums(snake.Sums + inserted.Sums);
    });
  }
  group.Sync();
  return accepted;
}

/** The data that is moved with a node when nodes are removed. */
struct RemovalItem
{
  bool    IsCounted{ false }; // whether the node stays
  int32_t StaleIn{ 0 };
  int32_t Row{ 0 };
};

/** Removes the nodes whose proposals are accepted, and returns whether any node was removed. */
template <typename TGroup>
ITK_CUDA_HOST_DEVICE bool
ConcludeRemovals(TGroup & group, SnakeState & snake)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  LatticePoint *       shorter = snake.Polygons[1 - snake.Current];
  const int            n = snake.NumberOfNodes;
  if (n <= 3)
  {
    return false;
  }
  const ProposalList list = group.SelectProposals(snake, [&](int i) { return snake.Proposals[i].Node >= 0; });
  SuppressConflictingRemovals(group, snake, list);
  Decide(group, snake, list, -snake.Plan.NodeCost);
  if (snake.Accepted == AcceptNone)
  {
    return false;
  }
  const auto stays = [&](int i) {
    for (int k = 0, j = i; k < MaximumRemovedRun; ++k, j = Previous(j, n))
    {
      if (snake.Proposals[j].Node >= 0 && k < snake.Proposals[j].NumberOfRemovedNodes && IsAccepted(snake, list, j))
      {
        return false;
      }
    }
    return true;
  };
  // Moves the data of the remaining nodes to lower indices, in place.
  const int left = group.ForEachWithRank(
    n,
    [&](int i) {
      const bool kept = stays(i);
      const bool nextToRemoved = kept && (!stays(Previous(i, n)) || !stays(Next(i, n)));
      return RemovalItem{ kept,
                          kept && !nextToRemoved ? snake.IsStale[i] : SnakeState::AllCaches,
                          kept ? snake.CacheRows[i] : 0 };
    },
    [&](int i, const RemovalItem & item, int rank) {
      if (item.IsCounted)
      {
        shorter[rank] = polygon[i];
        snake.IsStale[rank] = item.StaleIn;
        snake.CacheRows[rank] = item.Row;
      }
    });
  group.RunOnFirstThread([&]() {
    snake.NumberOfNodes = left;
    snake.Current = 1 - snake.Current;
  });
  group.Sync();
  return true;
}

/** Appends an entry for the current state to the record if there is room. `level` and `step` are the values of the
 * phase. Called by one thread. */
ITK_CUDA_HOST_DEVICE inline void
AddToRecord(SnakeState & snake, CudaRegionSnakeStep::Kind kind, int level, int32_t step)
{
  if (snake.NumberOfEntries < snake.RecordCapacity)
  {
    snake.Record[snake.NumberOfEntries] = { kind,
                                            snake.Plan.Exponent[level],
                                            static_cast<uint32_t>(step),
                                            static_cast<uint32_t>(snake.NumberOfNodes),
                                            snake.Sums.Count,
                                            snake.Criterion,
                                            snake.Criterion - snake.RecordedCriterion };
    ++snake.NumberOfEntries;
  }
  snake.RecordedCriterion = snake.Criterion;
}

/** Ends a phase: adds its entry to the record and determines the next phase. `changed` says whether the phase moved,
 * inserted or removed a node, and `cutShort` whether the maximum number of nodes prevented an insertion. Called by one
 * thread. */
ITK_CUDA_HOST_DEVICE inline void
EndPhase(SnakeState & snake, bool changed, bool cutShort)
{
  using Kind = CudaRegionSnakeStep::Kind;
  using Phase = SnakeControl::Phase;
  const int     level = snake.Control.Level;
  const int32_t step = snake.Control.Step;
  if (snake.Control.Next == Phase::Measure)
  {
    if (snake.NumberOfEntries == 0)
    {
      snake.RecordedCriterion = snake.Criterion;
    }
    AddToRecord(snake, Kind::Level, level, step);
    snake.Control.AfterMeasure();
    snake.AllStale = true;
  }
  else if (snake.Control.Next == Phase::Move)
  {
    const int    colours = NumberOfColors(snake.NumberOfNodes, snake.Plan.InTurns);
    const double gain = snake.RecordedCriterion - snake.Criterion;
    if (snake.Control.AfterMove(snake.Plan, changed, gain, colours))
    {
      AddToRecord(snake, Kind::Iteration, level, step);
    }
    snake.AllStale = snake.Control.ChangesCandidates(level, step);
  }
  else
  {
    const bool insertion = snake.Control.Next == Phase::Insert;
    if (changed)
    {
      AddToRecord(snake, insertion ? Kind::Insertion : Kind::Removal, level, step);
    }
    if (insertion)
    {
      snake.Control.AfterInsert(snake.Plan, changed, cutShort);
    }
    else
    {
      snake.Control.AfterRemove(snake.Plan, changed);
    }
    snake.AllStale = insertion && (changed || snake.Control.ChangesCandidates(level, step));
  }
}

/** Concludes a phase, unless it is interrupted. `polygon` is the polygon at the beginning of the phase. */
template <typename TGroup>
ITK_CUDA_HOST_DEVICE void
Conclude(TGroup & group, SnakeState & snake, const LatticePoint * polygon)
{
  using Phase = SnakeControl::Phase;
  const Phase phase = snake.Control.Next;
  bool        changed = false;
  bool        cutShort = false;
  group.Sync();
  if (phase == Phase::Measure)
  {
    group.RunOnFirstThread([&]() { snake.SetSums(snake.TakeItemSum(0)); });
  }
  else if (phase == Phase::Move)
  {
    changed = ConcludeMoves(group, snake, polygon);
  }
  else if (phase == Phase::Insert)
  {
    changed = ConcludeInsertions(group, snake, cutShort);
  }
  else
  {
    changed = ConcludeRemovals(group, snake);
  }
  if (!group.IsInterrupted())
  {
    group.RunOnFirstThread([&]() { EndPhase(snake, changed, cutShort); });
  }
  group.Sync();
}

/** Scales the polygon to the cells of the next phase's level. If all candidates are stale, also invalidates the cached
 * changes of all nodes. */
template <typename TGroup>
ITK_CUDA_HOST_DEVICE void
PreparePolygon(TGroup & group, SnakeState & snake)
{
  LatticePoint * const polygon = snake.Polygons[snake.Current];
  const uint32_t       exponent = snake.Plan.Exponent[snake.Control.Level];
  const uint32_t       shift = snake.Exponent - exponent;
  group.ForEach(shift > 0 || snake.AllStale ? snake.NumberOfNodes : 0, [&](int i) {
    polygon[i] = { polygon[i].X << shift, polygon[i].Y << shift };
    if (snake.AllStale)
    {
      snake.IsStale[i] = SnakeState::AllCaches;
      snake.CacheRows[i] = i;
    }
  });
  group.Sync();
  group.RunOnFirstThread([&]() { snake.Exponent = exponent; });
}
} // namespace itk::cuda::snake

#endif
