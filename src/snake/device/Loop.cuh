// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_Loop_cuh
#define CudaFilters_snake_device_Loop_cuh

#include "snake/device/BlockGroup.cuh"
#include "snake/device/Kernels.cuh"
#include "snake/device/Proposals.cuh"

// Runs the whole schedule in one cooperative kernel. A phase consists of work that all warps share (edges, candidates,
// tests of simplicity) and of a conclusion. The first block concludes the phase while the others wait: it determines
// which proposals are accepted, how the polygon changes, and which phase comes next.
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

/** Runs phases until the schedule ends, or until the launch's time is over. A limited launch also ends at a pause. The
 * launch must be cooperative, because all blocks have to be resident. The loop ends, because every phase advances the
 * control, whose loops are bounded. All functions that the phases call are inlined: without inlining, the criterion
 * and its linear form make a run 2.5 to 5.5 % longer on an H200, and the decision about proposals 7 to 12 %. */
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
  if (threadIdx.x == 0)
  {
    storage.Scratch.End = ReadClock() + limits.Nanoseconds;
  }
  const LatticePoint * polygon = LoadState(storage, *state, nullptr, 0);
  if (!snake.IsPrepared)
  {
    barrier.RunOnFirstBlock([&]() {
      PrepareNext<VLimited>(snake, storage.Scratch, limits.StepsPerPortion);
      CopyState(*state, snake);
    });
    polygon = LoadState(storage, *state, nullptr, 0);
  }
  for (uint32_t phase = 1; snake.Control.Next != SnakeControl::Phase::Finished && !snake.Pause; ++phase)
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
        BlockGroup<false> group(snake, storage.Scratch, 0);
        Conclude(group, snake, polygon);
        if (threadIdx.x == 0 && phase % PhasesPerClockCheck == 0)
        {
          snake.Pause = ReadClock() >= storage.Scratch.End;
        }
        PrepareNext<false>(snake, storage.Scratch, 0);
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
