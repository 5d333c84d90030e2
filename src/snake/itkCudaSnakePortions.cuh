// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakePortions_cuh
#define itkCudaSnakePortions_cuh

#include "itkCudaSnakeBlockGroup.cuh"
#include "itkCudaSnakePhases.h"

// The first block's work after a conclusion or a portion of work: it divides the next one into units.
namespace itk::cuda::snake
{
namespace kernels
{
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
ListChunks(BlockGroup<VLimited> & group, DeviceSnake & snake, ConclusionScratch & scratch, int32_t stepsPerPortion)
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
  const int64_t share = group.Sum(all, 0).Sums.Count * snake.GetItemsPerNode() / (UnitsPerWarp * WarpsOfGrid());
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
PrepareNext(DeviceSnake & snake, ConclusionScratch & scratch, int32_t stepsPerPortion)
{
  BlockGroup<VLimited> group(snake, scratch, stepsPerPortion);
  if (threadIdx.x == 0)
  {
    scratch.Count = 0;
  }
  else if (VLimited && threadIdx.x == ThreadsPerBlock - 1)
  {
    snake.Progress = PhaseProgress();
    snake.Progress.NodesPerPortion = WarpsOfGrid() * Maximum(1, stepsPerPortion / snake.NumberOfNodes);
  }
  PreparePolygon(group, snake);
  const int slices = ListChunks(group, snake, scratch, stepsPerPortion);
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

/** Called by the first block. It draws the part of the conclusion for which the launch has the time, and prepares what
 * comes next. A state that is observed is left as it is: the next launch prepares the phase that follows. */
__device__ inline void
ConcludeInPortions(DeviceSnake &        snake,
                   const LatticePoint * polygon,
                   ConclusionScratch &  scratch,
                   const LaunchLimits & limits)
{
  const bool       measuring = snake.Control.Next == SnakeControl::Phase::Measure;
  const uint32_t   entries = snake.NumberOfEntries;
  BlockGroup<true> group(snake, scratch, limits.StepsPerPortion);
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
    PrepareNext<true>(snake, scratch, limits.StepsPerPortion);
  }
}

/** By the first block of a limited launch, after the other work of a portion. */
__device__ inline void
EndPortion(DeviceSnake & snake, const LatticePoint * polygon, ConclusionScratch & scratch, const LaunchLimits & limits)
{
  using Stage = PhaseProgress::Stage;
  if (threadIdx.x == ThreadsPerBlock - 1)
  {
    // Called by a warp that has less to do than the first warp.
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
} // namespace kernels
} // namespace itk::cuda::snake

#endif
