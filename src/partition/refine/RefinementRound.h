// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_RefinementRound_h
#define CudaFilters_partition_refine_RefinementRound_h

#include "runtime/HostDevice.h"
#include "executor/SerialTeam.h"
#include "partition/map/ExecutorMap.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

// A round of changes as its work items see it: proposals, what decides between them, and how a change alters the map.
namespace itk::cuda::partition
{
/** The minimum gain of a change, in nats. */
constexpr double MinimumGain = 0.01;

/** Threads per team: for the rows of an edge, mostly a few dozen, and for the cells of a change. */
constexpr uint32_t LanesOfEdge = 8;
constexpr uint32_t LanesOfChange = 16;

/** The changes of the valid-pixel counts of the regions that a proposal concerns. There are at most as many regions as
 * meet at a node. */
struct CountChanges
{
  struct Entry
  {
    uint32_t Region{ Outside }; // unused entry
    int64_t  Change{ 0 };
  };

  Entry Entries[4];

  ITK_CUDA_HOST_DEVICE void
  Add(uint32_t region, int64_t change)
  {
    bool isAdded = region == Outside;
    ITK_CUDA_UNROLL
    for (Entry & entry : Entries)
    {
      const bool isOwn = !isAdded && (entry.Region == region || entry.Region == Outside);
      entry.Region = isOwn ? region : entry.Region;
      entry.Change += isOwn ? change : 0;
      isAdded = isAdded || isOwn;
    }
  }
};

/** A proposed change with its gain (a negative number) and an identifier. */
struct RankedProposal
{
  double       DeltaCost{ 0.0 };
  uint32_t     Id{ 0 };
  CountChanges Counts;

  /** Returns the priority; smaller is better. Proposals are ordered by gain, in single precision, and then by Id. */
  ITK_CUDA_HOST_DEVICE uint64_t
  GetKey() const
  {
    const auto gain = static_cast<float>(-DeltaCost);
    uint32_t   bits; // ordered as the values, which are positive
    memcpy(&bits, &gain, sizeof(bits));
    return (static_cast<uint64_t>(~bits) << 32) | Id;
  }
};

/** Returns the number of pixels that every change must leave to a region. */
ITK_CUDA_HOST_DEVICE inline int64_t
GetMinimumNumberOfPixels(const Moments & region, uint64_t minimumNumberOfPixels)
{
  constexpr uint64_t largest = 1ull << 62;
  const uint64_t     minimum = minimumNumberOfPixels < 1 ? 1 : minimumNumberOfPixels;
  const auto         least = static_cast<int64_t>(minimum < largest ? minimum : largest);
  return region.Count < least ? region.Count : least;
}

/** Returns whether the changes alone leave each region its minimum number of pixels. */
ITK_CUDA_HOST_DEVICE inline bool
LeavesEnoughPixels(const CountChanges & changes, const Moments * regions, uint64_t minimumNumberOfPixels)
{
  for (const CountChanges::Entry & entry : changes.Entries)
  {
    if (entry.Region != Outside && entry.Change < 0 &&
        regions[entry.Region].Count + entry.Change <
          GetMinimumNumberOfPixels(regions[entry.Region], minimumNumberOfPixels))
    {
      return false;
    }
  }
  return true;
}
/** Returns the contribution of an edge, summed by all threads of the team. */
template <typename TIntegrator, typename TTeam>
ITK_CUDA_HOST_DEVICE Moments
SumEdge(const TIntegrator & integrator, const LatticePoint & p, const LatticePoint & q, const TTeam & team)
{
  if constexpr (TTeam::NumberOfLanes == 1)
  {
    return integrator.SumEdge(p, q);
  }
  else
  {
    return integrator.SumEdge(p, q, team);
  }
}

/** The tangents of the regions on the two sides of a boundary. */
struct BoundaryTangents
{
  LinearForm Left;
  LinearForm Right;

  /** Returns the first-order change of the description if the left region takes `change` from the right one. */
  ITK_CUDA_HOST_DEVICE double
  DeltaCostOf(const Moments & change) const
  {
    return Left(change) - Right(change);
  }
};

/** Placeholder for kernels that sum no edges and therefore do not depend on the image type. */
struct NoIntegrator
{};

/** \class RefinementRound
 * \brief A refinement round, as its work items see it.
 */
template <typename TIntegrator, typename TAtomics>
struct RefinementRound : MapRound
{
  using Atomics = TAtomics;

  TIntegrator Integrator;

  ITK_CUDA_HOST_DEVICE bool
  Allows(const CountChanges & changes) const
  {
    return LeavesEnoughPixels(changes, Regions, MinimumNumberOfPixels);
  }
  ITK_CUDA_HOST_DEVICE BoundaryTangents
  GetTangents(uint32_t left, uint32_t right) const
  {
    return { Tangents[left], Tangents[right] };
  }
  ITK_CUDA_HOST_DEVICE double
  DeltaCostOf(uint32_t left, uint32_t right, const Moments & change) const
  {
    return this->GetTangents(left, right).DeltaCostOf(change);
  }
  ITK_CUDA_HOST_DEVICE void
  AddToGrid(uint32_t edge, const StridedRange & share) const
  {
    const auto add = [this, edge](size_t cell) {
      const uint32_t index = TAtomics::FetchIncrement(Counters->Added);
      if (index < Grid.Capacity)
      {
        Grid.Added[index] = { edge, TAtomics::Exchange(Grid.Last[cell], index) };
      }
    };
    ForCellsOfEdge(Grid.Layout, this->GetMap(), edge, add, share);
  }
  ITK_CUDA_HOST_DEVICE void
  Transfer(uint32_t left, uint32_t right, const Moments & change) const
  {
    if (left != Outside)
    {
      TAtomics::Add(Regions[left], change);
    }
    if (right != Outside)
    {
      TAtomics::Add(Regions[right], Moments{} - change);
    }
  }
  ITK_CUDA_HOST_DEVICE void
  CountRemovedEdges(size_t number) const
  {
    TAtomics::Add(Counters->RemovedEdges, static_cast<uint32_t>(number));
  }

  /** Reserves a cell: stores the key if it is smaller than the present one (atomic minimum). */
  ITK_CUDA_HOST_DEVICE bool
  Reserve(size_t cell, uint64_t key) const
  {
    TAtomics::Minimum(Keys[cell], key);
    return true;
  }
  ITK_CUDA_HOST_DEVICE bool
  Owns(size_t cell, uint64_t key) const
  {
    return TAtomics::LoadRelaxed(Keys[cell]) == key;
  }
  ITK_CUDA_HOST_DEVICE bool
  Free(size_t cell) const
  {
    TAtomics::StoreRelaxed(Keys[cell], ~uint64_t{ 0 });
    return true;
  }
  /** Frees a cell if this key owns it. Only the owner frees a cell, so that other proposals may check the cell
   * concurrently. */
  ITK_CUDA_HOST_DEVICE bool
  FreeIfOwned(size_t cell, uint64_t key) const
  {
    return !this->Owns(cell, key) || this->Free(cell);
  }
  /** Adds the pixels that a proposal takes from regions. The proposal must own all its cells. */
  ITK_CUDA_HOST_DEVICE void
  AddPixelLoss(const RankedProposal & proposal) const
  {
    for (const CountChanges::Entry & entry : proposal.Counts.Entries)
    {
      if (entry.Region != Outside && entry.Change < 0)
      {
        TAtomics::Add(Excess[entry.Region], -entry.Change);
        TAtomics::Minimum(BestKeys[entry.Region], proposal.GetKey());
      }
    }
  }
  /** Returns whether a proposal is accepted. If the winners together would take too many pixels from a region, only the
   * best one that takes any is accepted. */
  ITK_CUDA_HOST_DEVICE bool
  Accepts(const RankedProposal & proposal) const
  {
    for (const CountChanges::Entry & entry : proposal.Counts.Entries)
    {
      if (entry.Region != Outside && entry.Change < 0 && Excess[entry.Region] > 0 &&
          BestKeys[entry.Region] != proposal.GetKey())
      {
        return false;
      }
    }
    return true;
  }
};

/** Returns round `number` of a batch on a map. */
template <typename TExecutor, typename TIntegrator>
RefinementRound<TIntegrator, typename TExecutor::Atomics>
MakeRefinementRound(const ExecutorMap<TExecutor> & map, uint32_t number, const TIntegrator & integrator)
{
  return { map.GetRound(number), integrator };
}

/** Replaces adjacent edges by one chord from their first node to their last, which gets the smallest of their numbers.
 * Removes the nodes between them. Returns the chord, which the caller must add to the two nodes and to the grid.
 * \param left region to the left of the chord \param change of this region's sums
 */
template <typename TRound>
ITK_CUDA_HOST_DEVICE uint32_t
ReplaceEdges(const TRound &   round,
             const uint32_t * nodes,
             const uint32_t * edges,
             uint32_t         numberOfEdges,
             uint32_t         left,
             uint32_t         right,
             const Moments &  sums,
             const Moments &  change)
{
  uint32_t chord = edges[0];
  for (uint32_t i = 0; i < numberOfEdges; ++i)
  {
    const uint32_t edge = edges[i];
    chord = edge < chord ? edge : chord;
    round.Edges[edge] = {};
    if (i > 0)
    {
      round.Nodes[nodes[i]].Degree = 0;
    }
  }
  round.Edges[chord] = { nodes[0], nodes[numberOfEdges], left, right, sums };
  round.CountRemovedEdges(numberOfEdges - 1);
  round.Transfer(left, right, change);
  return chord;
}

namespace functors
{
/** Begins the rounds of a program: clears their counters, and gives all nodes or edges the same mark.
 * \tparam TCounters counters of a round that only these rounds have */
template <typename TCounters, typename TMark>
struct BeginRounds
{
  MapCounters * Counters;
  TCounters *   OwnCounters; // of each round; may be null
  TMark *       Marks;       // may be null
  TMark         Mark;
  size_t        NumberOfMarks;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfMarks > RoundsOfGrid ? NumberOfMarks : RoundsOfGrid;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < RoundsOfGrid)
    {
      Counters->Rounds[i] = {};
      if (OwnCounters != nullptr)
      {
        OwnCounters[i] = {};
      }
    }
    if (i < NumberOfMarks && Marks != nullptr)
    {
      Marks[i] = Mark;
    }
  }
};

/** Freezes the tangents and the numbers of pixels that regions can spare. */
struct BeginMapRound
{
  MapRound Round;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    const Moments & sums = Round.Regions[region];
    Round.Tangents[region] = Round.IsRegion[region] != 0 ? Round.Model.Linearize(sums) : LinearForm{};
    Round.Excess[region] = GetMinimumNumberOfPixels(sums, Round.MinimumNumberOfPixels) - sums.Count;
    Round.BestKeys[region] = ~uint64_t{ 0 };
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
