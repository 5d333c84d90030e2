// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeConclusions_cuh
#define itkCudaSnakeConclusions_cuh

#include "itkCudaSnakeBlockGroup.cuh"
#include "itkCudaSnakePhases.h"

// Conclusions, by the first block: which proposals stay, and what becomes of the polygon.
namespace itk::cuda::snake
{
namespace kernels
{
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

template <bool VLimited>
__device__ bool
ConcludeRemovals(BlockGroup<VLimited> & group, DeviceSnake & snake, ConclusionScratch & scratch)
{
  const LatticePoint * polygon = snake.Polygons[snake.Current];
  LatticePoint *       shorter = snake.Polygons[1 - snake.Current];
  const int            n = snake.NumberOfNodes;
  if (n <= 3)
  {
    return false;
  }
  const ProposalList list = group.List(snake, [&](int i) { return snake.Slots[i].Node >= 0; });
  SuppressConflictingRemovals(group, snake, list);
  Decide(group, snake, list, -snake.Plan.NodeCost);
  if (snake.Accepted == AcceptNone)
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
      if (snake.Slots[j].Node >= 0 && k < snake.Slots[j].Run && IsAccepted(snake, list, j))
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
    const int32_t staleIn = kept && !nextToRemoved ? snake.IsStale[i] : SnakeState::AllCaches;
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

/** Draws the conclusion of a phase, unless it is interrupted. `polygon`: the one that the phase began with. */
template <bool VLimited>
__device__ void
Conclude(DeviceSnake & snake, const LatticePoint * polygon, ConclusionScratch & scratch, const LaunchLimits & limits)
{
  using Phase = SnakeControl::Phase;
  BlockGroup<VLimited> group(snake, scratch, limits.StepsPerPortion);
  const Phase          phase = snake.Control.Next;
  bool                 changed = false;
  bool                 cutShort = false;
  group.Sync();
  if (phase == Phase::Measure)
  {
    group.OnFirst([&]() { snake.TakeSums(TakeItemSum(snake, 0)); });
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
    changed = ConcludeRemovals(group, snake, scratch);
  }
  if (!group.IsInterrupted())
  {
    group.OnFirst([&]() { EndPhase(snake, changed, cutShort); });
  }
  group.Sync();
}
} // namespace kernels
} // namespace itk::cuda::snake

#endif
