// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_Loop_cuh
#define CudaFilters_snake_device_Loop_cuh

#include "snake/device/BlockGroup.cuh"
#include "snake/device/Kernels.cuh"
#include "snake/device/Proposals.cuh"

// Runs the whole schedule of a snake in one kernel. A phase consists of work that all warps of the team share (edges,
// candidates, tests of simplicity) and of a conclusion. The team's first block concludes the phase while the others
// wait: it determines which proposals are accepted, how the polygon changes, and which phase comes next. SnakeKernel is
// a cooperative kernel for one snake. BatchKernel in Batch.cu runs a snake in each block.
//
// A limited launch (VLimited) divides long work into portions. After each portion the first block checks the clock.
// If the launch's time is over, the launch ends there, and the next launch continues with the next portion. The
// kernel for other launches has no code for portions, because the tests for them take 2 to 5 % of a phase. It checks
// the clock every PhasesPerClockCheck phases.

namespace itk::cuda::snake
{
namespace kernels
{
/** Copies an array to `results` with all threads of the block, if it fits. */
template <int VRoom, typename T>
__device__ void
WriteResults(T (&results)[VRoom], const T * from, int number)
{
  for (int i = static_cast<int>(threadIdx.x); number <= VRoom && i < number; i += ThreadsPerBlock)
  {
    results[i] = from[i];
  }
}

/** Runs phases with a team until the schedule ends, or until the team ends the run after a phase. A limited launch also
 * ends at a pause. The loop ends, because every phase advances the control, whose loops are bounded. Returns the
 * polygon. All functions that the phases call are inlined: without inlining, the criterion and its linear form make a
 * run 2.5 to 5.5 % longer on an H200, and the decision about proposals 7 to 12 %. */
template <typename TTeam, typename TPixels>
__device__ __forceinline__ const LatticePoint *
RunPhases(TTeam &              team,
          const TPixels &      pixels,
          const DeviceCells &  cells,
          BlockStorage &       storage,
          const LaunchLimits & limits)
{
  using Stage = PhaseProgress::Stage;
  DeviceSnake &        snake = storage.Snake;
  const LatticePoint * polygon = team.Load(storage, nullptr, 0);
  if (!snake.IsPrepared)
  {
    team.RunOnFirstBlock(snake, [&]() { PrepareNext<TTeam>(snake, storage.Scratch, limits.StepsPerPortion); });
    polygon = team.Load(storage, nullptr, 0);
  }
  for (uint32_t phase = 1; snake.Control.Next != SnakeControl::Phase::Finished && !snake.Pause; ++phase)
  {
    const LatticePoint * const source = snake.Polygons[snake.Current];
    const int                  numberOfNodes = snake.NumberOfNodes;
    const bool                 ofPixels = !TTeam::HasCells || snake.Plan.Exponent[snake.Control.Level] == 0;
    const bool                 summing = !TTeam::IsLimited || snake.Progress.Now == Stage::Sums;
    if (summing && ofPixels)
    {
      SumItems<TTeam>(pixels, snake, polygon);
    }
    else if (summing)
    {
      SumItems<TTeam>(cells, snake, polygon);
    }
    if (snake.Control.Next != SnakeControl::Phase::Measure && (!TTeam::IsLimited || snake.Progress.SumsEnd()))
    {
      if (summing)
      {
        team.Sync();
      }
      Propose<TTeam>(snake, polygon, ofPixels ? pixels.Width : cells.Width, ofPixels ? pixels.Height : cells.Height);
    }
    team.RunOnFirstBlock(snake, [&]() {
      if constexpr (TTeam::IsLimited)
      {
        EndPortion(snake, polygon, storage.Scratch, limits);
      }
      else
      {
        GroupOf<TTeam> group(snake, storage.Scratch, 0);
        Conclude(group, snake, polygon);
        if (threadIdx.x == 0)
        {
          snake.Pause = team.EndsAfter(phase, storage);
        }
        PrepareNext<TTeam>(snake, storage.Scratch, 0);
      }
    });
    polygon = team.Load(storage, source, numberOfNodes);
  }
  return polygon;
}

/** Runs the phases of one snake. The launch must be cooperative, because all blocks have to be resident. It ends when
 * the schedule or the time of the launch ends. */
template <typename TSample, bool VMask, bool VLimited>
__global__ void
__launch_bounds__(ThreadsPerBlock, 1) SnakeKernel(DevicePixels<TSample, VMask> pixels,
                                                  DeviceCells                  cells,
                                                  DeviceSnake *                state,
                                                  GridBarrierState *           barrierState,
                                                  LoopResults *                results,
                                                  LaunchLimits                 limits)
{
  __shared__ SharedStorage<BlockStorage> shared;
  BlockStorage &                         storage = shared.Get();
  const DeviceSnake &                    snake = storage.Snake;
  GridTeam<VLimited>                     team(*state, *barrierState);
  if (threadIdx.x == 0)
  {
    storage.Scratch.End = ReadClock() + limits.Nanoseconds;
  }
  const LatticePoint * const polygon = RunPhases(team, pixels, cells, storage, limits);
  if (blockIdx.x == 0)
  {
    CopyState<ThreadsPerBlock>(results->State, snake);
    WriteResults(results->Polygon, polygon, snake.NumberOfNodes);
    WriteResults(
      results->Record, snake.Record + snake.KnownEntries, static_cast<int>(snake.NumberOfEntries - snake.KnownEntries));
  }
}
} // namespace kernels
} // namespace itk::cuda::snake

#endif
