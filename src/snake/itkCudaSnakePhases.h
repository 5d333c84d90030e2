// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakePhases_h
#define itkCudaSnakePhases_h

#include "itkCudaSnakeCore.h"
#include "itkCudaSnakeState.h"

// What becomes of the snake after the proposals of a phase, written once for the host and for the device.
namespace itk::cuda::snake
{
/** Adds an entry for the state as it is, if there is room; by one thread. `level`, `step`: of the phase. */
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

/** Ends a phase: its entry in the record, and which phase comes next; by one thread. `changed`: whether it moved,
 * inserted or removed anything; `cutShort`: whether it inserted less than it would have. */
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
    const int    colours = NumberOfColours(snake.NumberOfNodes, snake.Plan.InTurns);
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
} // namespace itk::cuda::snake

#endif
