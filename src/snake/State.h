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
/** The complete state of a run of the snake as plain data, on the host or on the device. A run can be continued from
 * it. */
struct SnakeState
{
  static constexpr int32_t AllCaches = (1 << SnakeControl::NumberOfCaches) - 1;

  SnakePlan      Plan;
  LawDescription Law;
  Moments        Total;

  SnakeControl Control;
  Moments      Sums;
  double       Criterion{ 0.0 };
  double       RecordedCriterion{ 0.0 }; // at the last entry of the record, or at the beginning of the run
  LinearForm   Tangent;                  // of J at Sums; the decisions of a phase are linear in it
  int32_t      NumberOfNodes{ 0 };
  int32_t      Current{ 0 };     // index in Polygons
  uint32_t     Exponent{ 0 };    // of the cells in which the polygon is given
  int32_t      Accepted{ -1 };   // which proposals of the last phase were accepted; see Decide()
  bool         AllStale{ true }; // whether no node's cached changes are valid for the next phase

  LatticePoint * Polygons[2]{};
  Moments *      ItemSums{ nullptr };                     // the sums that a phase needs for each node
  Moments *      Changes[SnakeControl::NumberOfCaches]{}; // cached changes of the candidates, MaximumCandidates per row
  int32_t *      CacheRows{ nullptr };                    // of each node: its row in Changes
  int32_t *      IsStale{ nullptr };                      // of each node: bit c is set if its row in cache c is invalid
  Proposal *     Proposals{ nullptr };                    // one per node; Node is -1 where there is no proposal
  int32_t *      Proposed{ nullptr };                     // room for a list of nodes with a proposal
  int32_t *      IsSuppressed{ nullptr }; // of each node with a proposal: whether a better one conflicts with it
  CudaRegionSnakeStep * Record{ nullptr };
  uint32_t              RecordCapacity{ 0 };
  uint32_t              NumberOfEntries{ 0 };

  /** Begins a run with a polygon of `numberOfNodes` nodes, given in cells of the control's level. */
  ITK_CUDA_HOST_DEVICE void
  Begin(const SnakeControl & control, int32_t numberOfNodes)
  {
    Control = control;
    NumberOfNodes = numberOfNodes;
    Exponent = Plan.Exponent[control.Level];
  }

  /** Begins a run, after Begin(), with the removal of nodes of a polygon that has these sums. */
  ITK_CUDA_HOST_DEVICE void
  BeginRemoval(const Moments & sums)
  {
    this->SetSums(sums);
    RecordedCriterion = Criterion;
    Control.BeginRemoval();
  }

  /** Returns J for a target with these sums. */
  ITK_CUDA_HOST_DEVICE double
  CriterionOf(const Moments & sums) const
  {
    return region::Criterion(Law, sums, Total);
  }

  /** Returns the tangent of J at these sums of the target: the change of J to first order in the change of the sums. */
  ITK_CUDA_HOST_DEVICE LinearForm
  TangentAt(const Moments & sums) const
  {
    return Linearize(Law, sums, Total);
  }

  /** Sets the sums of the polygon, and its criterion and tangent. */
  ITK_CUDA_HOST_DEVICE void
  SetSums(const Moments & sums)
  {
    Sums = sums;
    Criterion = this->CriterionOf(sums);
    Tangent = this->TangentAt(sums);
  }

  /** Returns whether the next phase of moves tries to move the node. */
  ITK_CUDA_HOST_DEVICE bool
  IsTurnOf(int node) const
  {
    return ColorOf(node, NumberOfNodes, NumberOfColors(NumberOfNodes, Plan.InTurns)) == Control.Color;
  }

  /** Returns the bit in IsStale of the cache for the current step. */
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

  /** Returns the cached changes of a node's candidates for the current step. */
  ITK_CUDA_HOST_DEVICE Moments *
  GetChanges(int node) const
  {
    return Changes[Control.GetCache()] + static_cast<size_t>(CacheRows[node]) * MaximumCandidates;
  }

  /** Returns a sum and sets it to zero. */
  ITK_CUDA_HOST_DEVICE Moments
  TakeItemSum(int item) const
  {
    const Moments sum = ItemSums[item];
    ItemSums[item] = Moments{};
    return sum;
  }

  /** Returns whether the target's number of pixels may change in this way. */
  ITK_CUDA_HOST_DEVICE bool
  Allows(const Moments & change) const
  {
    return IsCountAllowed(Sums.Count + change.Count, Sums.Count, Total.Count, Plan.MinimumRegionSize);
  }

  /** Returns the change of J by an allowed change of the sums, according to the tangent. */
  ITK_CUDA_HOST_DEVICE double
  TangentialChange(const Moments & change) const
  {
    return Law.SquaresWrap ? EvaluateChange(Tangent, Sums, change) : Tangent(change);
  }

  /** Returns the change of J by a change of the sums, according to the tangent. It is 0 if the change is not allowed.
   */
  ITK_CUDA_HOST_DEVICE double
  DeltaCostOf(const Moments & change) const
  {
    return this->Allows(change) ? this->TangentialChange(change) : 0.0;
  }

  /** Returns DeltaCostOf() for a removal of `nodes` nodes, less the cost of the nodes. */
  ITK_CUDA_HOST_DEVICE double
  DeltaCostOfRemoval(const Moments & change, int nodes) const
  {
    return this->Allows(change) ? this->TangentialChange(change) - Plan.NodeCost * static_cast<double>(nodes) : 0.0;
  }
};
} // namespace itk::cuda::snake

#endif
