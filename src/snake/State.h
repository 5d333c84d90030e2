// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_State_h
#define CudaFilters_snake_State_h

#include "runtime/HostDevice.h"
#include "region/Laws.h"
#include "snake/Control.h"
#include "snake/Core.h"

#include <cstdint>

namespace itk::cuda::snake
{
/** The state from which a run of the snake goes on, as plain data, on the host or on the device. */
struct SnakeState
{
  static constexpr int32_t AllCaches = (1 << SnakeControl::NumberOfCaches) - 1;

  SnakePlan      Plan;
  LawDescription Law;
  Moments        Total;

  SnakeControl Control;
  Moments      Sums;
  double       Criterion{ 0.0 };
  double       RecordedCriterion{ 0.0 }; // of the last entry of the record, or where the run began
  LinearForm   Gain;                     // of what moves into the target
  int32_t      NumberOfNodes{ 0 };
  int32_t      Current{ 0 };     // of the two polygons
  uint32_t     Exponent{ 0 };    // of the cells that the polygon is given in
  int32_t      Accepted{ -1 };   // of the last phase's proposals; see Decide()
  bool         AllStale{ true }; // whether the last phase left no node's candidates as they were

  LatticePoint *        Polygons[2]{};
  Moments *             ItemSums{ nullptr };                     // that a phase needs of each node
  Moments *             Changes[SnakeControl::NumberOfCaches]{}; // of the candidates, in rows
  int32_t *             Rows{ nullptr };                         // of each node in Changes
  int32_t *             IsStale{ nullptr };                      // bit c: in cache c
  Proposal *            Slots{ nullptr };                        // one per node; Node is -1 where there is no proposal
  int32_t *             Proposed{ nullptr };                     // room for a list of nodes with a proposal
  int32_t *             IsSuppressed{ nullptr };                 // of each node with a proposal
  CudaRegionSnakeStep * Record{ nullptr };
  uint32_t              RecordCapacity{ 0 };
  uint32_t              NumberOfEntries{ 0 };

  /** Begins with a polygon of so many nodes in cells of the control's level. */
  ITK_CUDA_HOST_DEVICE void
  Begin(const SnakeControl & control, int32_t numberOfNodes)
  {
    Control = control;
    NumberOfNodes = numberOfNodes;
    Exponent = Plan.Exponent[control.Level];
  }

  /** Begins with the removal of nodes of such a polygon that has these sums. */
  ITK_CUDA_HOST_DEVICE void
  BeginRemoval(const Moments & sums)
  {
    this->TakeSums(sums);
    RecordedCriterion = Criterion;
    Control.BeginRemoval();
  }

  /** J of a target with these sums. */
  ITK_CUDA_HOST_DEVICE double
  CriterionOf(const Moments & sums) const
  {
    return region::Criterion(Law, sums, Total);
  }

  /** First-order change of J by what moves into such a target. */
  ITK_CUDA_HOST_DEVICE LinearForm
  LinearFormOf(const Moments & sums) const
  {
    return Linearize(Law, sums, Total);
  }

  /** Sets the sums of a polygon, and what follows from them. */
  ITK_CUDA_HOST_DEVICE void
  TakeSums(const Moments & sums)
  {
    Sums = sums;
    Criterion = this->CriterionOf(sums);
    Gain = this->LinearFormOf(sums);
  }

  /** Whether the phase of moves that comes next tries to move the node. */
  ITK_CUDA_HOST_DEVICE bool
  IsTurnOf(int node) const
  {
    return ColourOf(node, NumberOfNodes, NumberOfColours(NumberOfNodes, Plan.InTurns)) == Control.Colour;
  }

  /** The bit in IsStale of the cache for the present step. */
  ITK_CUDA_HOST_DEVICE int32_t
  GetCacheBit() const
  {
    return 1 << Control.GetCache();
  }
  ITK_CUDA_HOST_DEVICE bool
  IsStaleNow(int node) const
  {
    return (IsStale[node] & this->GetCacheBit()) != 0;
  }

  /** The changes of a node's candidates that are kept for the present step. */
  ITK_CUDA_HOST_DEVICE Moments *
  GetChanges(int node) const
  {
    return Changes[Control.GetCache()] + static_cast<size_t>(Rows[node]) * MaximumCandidates;
  }

  /** Returns a sum and sets it to zero. */
  ITK_CUDA_HOST_DEVICE Moments
  TakeItemSum(int item) const
  {
    const Moments sum = ItemSums[item];
    ItemSums[item] = Moments{};
    return sum;
  }

  /** Whether the target may have so many more pixels. */
  ITK_CUDA_HOST_DEVICE bool
  Allows(const Moments & change) const
  {
    return IsCountAllowed(Sums.Count + change.Count, Sums.Count, Total.Count, Plan.MinimumRegionSize);
  }

  /** The gain of a change of the sums by the linear form: less than 0 if it improves, 0 if it is not allowed. */
  ITK_CUDA_HOST_DEVICE double
  GainOf(const Moments & change) const
  {
    return this->Allows(change) ? Gain(change) : 0.0;
  }

  /** The same for a removal of so many nodes. */
  ITK_CUDA_HOST_DEVICE double
  GainOfRemoval(const Moments & change, int nodes) const
  {
    return this->Allows(change) ? Gain(change) - Plan.NodeCost * static_cast<double>(nodes) : 0.0;
  }
};
} // namespace itk::cuda::snake

#endif
