// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Control_h
#define CudaFilters_snake_Control_h

#include "runtime/HostDevice.h"
#include "itkCudaRegionSnakeTypes.h"
#include "snake/Tuning.h"

#include <cstdint>

namespace itk::cuda::snake
{
/** The part of the schedule that is fixed before the first step, as plain data. */
struct SnakePlan
{
  static constexpr int MaximumLevels = 2;

  int      NumberOfLevels{ 1 };
  uint32_t Exponent[MaximumLevels]{}; // of the levels' cells, coarsest level first
  int32_t  FirstStep{ 1 };
  int      Rings{ 1 };       // 1 to 3: candidates at distances of 1, 2 and 4 steps
  bool     InTurns{ false }; // nodes move in groups, one after the other
  bool     Removal{ false }; // nodes are removed at the end
  int64_t  MinimumSquaredLength{ 1 };
  double   ShareToLeave{ 0.0 }; // a step is left when an iteration gains less than this share of the step's gain
  double   MinimumGain{ 0.0 };
  double   NodeCost{ 0.0 }; // log N
  int64_t  MinimumRegionSize{ 1 };
  uint32_t MaximumNumberOfNodes{ 0 };
  uint32_t MaximumNumberOfIterations{ 0 };
};

/** The order of the snake's phases. The result of a phase decides which phase comes next. Host and device run the same
 * code. */
class SnakeControl
{
public:
  static constexpr int NumberOfCaches = 2;

  enum class Phase : int32_t
  {
    Measure, // sums of the polygon on a new level, to which its coordinates are scaled
    Move,
    Insert,
    Remove,
    Finished
  };

  Phase               Next{ Phase::Measure };
  int                 Level{ 0 }; // index of the level in the plan
  int32_t             Step{ 1 };
  int                 Color{ 0 };
  int                 MaximumRun{ 1 }; // maximum number of consecutive nodes that one proposal removes
  uint32_t            Iterations{ 0 };
  CudaRegionSnakeStop Stop{ CudaRegionSnakeStop::Converged };

  SnakeControl() = default;

  ITK_CUDA_HOST_DEVICE
  SnakeControl(const SnakePlan & plan, int firstLevel)
    : Level(firstLevel)
    , Step(firstLevel == 0 ? plan.FirstStep : StepOnEntering(plan, firstLevel))
  {}

  /** Returns the index of the cache of the candidates' changes for the current step. While nodes are removed, the step
   * alternates between two values. Each value has its own cache, so that the changes of most nodes stay valid from one
   * round to the next. */
  ITK_CUDA_HOST_DEVICE int
  GetCache() const
  {
    return m_Removing && Step == StepAfterRemoval ? 1 : 0;
  }

  /** Returns whether the candidates have other positions than in a phase that began on `level` with `step`. */
  ITK_CUDA_HOST_DEVICE bool
  ChangesCandidates(int level, int32_t step) const
  {
    return Level != level || (Step != step && !m_Removing);
  }

  /** Makes the removal of nodes the next phase. The level must be the finest. */
  ITK_CUDA_HOST_DEVICE void
  BeginRemoval()
  {
    m_Removing = true;
    Next = Phase::Remove;
  }

  ITK_CUDA_HOST_DEVICE void
  AfterMeasure()
  {
    Next = Phase::Move;
  }

  /** Advances the control after a phase of moves. `gain` is the decrease of the criterion since the iteration began.
   * Returns whether the phase was the last one of the iteration. */
  ITK_CUDA_HOST_DEVICE bool
  AfterMove(const SnakePlan & plan, bool moved, double gain, int numberOfColors)
  {
    m_Moved = m_Moved || moved;
    ++Color;
    if (Color < numberOfColors)
    {
      return false;
    }
    Color = 0;
    ++Iterations;
    m_GainOfStep += gain;
    const bool settled = !m_Moved;
    m_Moved = false;
    if (settled || (this->SmallerMovesFollow(plan) && gain < plan.ShareToLeave * m_GainOfStep))
    {
      m_GainOfStep = 0.0;
      this->AfterSettling(plan);
    }
    if (Next == Phase::Move && Iterations >= plan.MaximumNumberOfIterations)
    {
      Stop = CudaRegionSnakeStop::MaximumNumberOfIterations;
      Next = Phase::Finished;
    }
    return true;
  }

  ITK_CUDA_HOST_DEVICE void
  AfterInsert(const SnakePlan & plan, bool inserted, bool cutShort)
  {
    if (cutShort)
    {
      Stop = CudaRegionSnakeStop::MaximumNumberOfNodes;
    }
    const bool last = Level + 1 == plan.NumberOfLevels;
    if (Step == 1 && !inserted)
    {
      this->LeaveLevel(plan);
      return;
    }
    m_LastRound = Step == 1 && !last;
    Step = Step > 1 ? Step / 2 : 1;
    this->BeginMoves(plan);
  }

  /** Advances the control after a phase of removals. Nodes are removed until no removal pays. The remaining nodes then
   * move until no move pays, after which more removals may pay. */
  ITK_CUDA_HOST_DEVICE void
  AfterRemove(const SnakePlan & plan, bool removed)
  {
    if (removed)
    {
      MaximumRun = 1;
      m_Removed = true;
    }
    else if (m_Removed)
    {
      m_Removed = false;
      Step = StepAfterRemoval;
      this->BeginMoves(plan);
    }
    else
    {
      // Runs of nodes are tried only when no single removal pays. Otherwise they would always win, because the gain of
      // a run is the sum of its nodes' gains.
      Next = MaximumRun < MaximumRemovedRun ? Phase::Remove : Phase::Finished;
      MaximumRun = MaximumRemovedRun;
    }
  }

private:
  double m_GainOfStep{ 0.0 };
  bool   m_Moved{ false };
  bool   m_LastRound{ false }; // final round of moves on a level that is not the last; no insertion follows
  bool   m_Removing{ false };
  bool   m_Removed{ false }; // whether nodes were removed since the last moves

  /** Returns whether more nodes, a smaller step or smaller cells are certain to follow. The current step then need not
   * converge. */
  ITK_CUDA_HOST_DEVICE bool
  SmallerMovesFollow(const SnakePlan & plan) const
  {
    return !m_Removing && (Step > 1 || Level + 1 < plan.NumberOfLevels);
  }

  static ITK_CUDA_HOST_DEVICE int32_t
  StepOnEntering(const SnakePlan & plan, int level)
  {
    return static_cast<int32_t>(1u << (plan.Exponent[level - 1] - plan.Exponent[level]));
  }

  ITK_CUDA_HOST_DEVICE void
  BeginMoves(const SnakePlan & plan)
  {
    Next = Phase::Move;
    if (Iterations >= plan.MaximumNumberOfIterations)
    {
      Stop = CudaRegionSnakeStop::MaximumNumberOfIterations;
      Next = Phase::Finished;
    }
  }

  ITK_CUDA_HOST_DEVICE void
  AfterSettling(const SnakePlan & plan)
  {
    if (m_Removing)
    {
      if (Step > 1)
      {
        Step = 1;
      }
      else
      {
        Next = Phase::Remove;
      }
    }
    else if (Step == 1 && m_LastRound)
    {
      this->LeaveLevel(plan);
    }
    else
    {
      Next = Phase::Insert;
    }
  }

  ITK_CUDA_HOST_DEVICE void
  LeaveLevel(const SnakePlan & plan)
  {
    m_LastRound = false;
    if (Level + 1 < plan.NumberOfLevels)
    {
      ++Level;
      Step = StepOnEntering(plan, Level);
      Next = Phase::Measure;
    }
    else if (plan.Removal)
    {
      this->BeginRemoval();
    }
    else
    {
      Next = Phase::Finished;
    }
  }
};
} // namespace itk::cuda::snake

#endif
