// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_MergeRounds_h
#define CudaFilters_partition_labels_MergeRounds_h

#include "runtime/HostDevice.h"
#include "partition/labels/EdgeTable.h"
#include "partition/MergeRule.h"
#include "partition/Model.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

// Merges the regions of labels in rounds, in groups that FindMergeRoot() gives. A series of rounds runs without
// returning to the host. A round consists of two parallel loops. Only the next loop reads what a work item
// writes, except for atomic operations, whose order does not matter.
namespace itk::cuda::partition
{
/** A list of edges in executor memory. A work item changes its own edge only. */
struct EdgeView
{
  static constexpr uint64_t Hole = ~uint64_t{ 0 };        // key of a deleted edge
  static constexpr uint64_t NewBit = uint64_t{ 1 } << 63; // in keys of new edges, whose change is not computed yet

  uint64_t * Keys;
  uint32_t * Lengths; // of the boundary, in sides of pixels; of a new edge, without the length in the table
  /** Change of the description in nats if the two regions merge, less MergeGainPerLength for each side of a pixel along
   * their boundary; negative is better. While the key has NewBit, the slot of the edge in the table. */
  double * Changes;
};

/** The state of a region in a round. */
struct alignas(16) GraphRegion
{
  Moments Sums;
  int64_t PixelsBeforeRound; // number of pixels when the round began; its merges change the sums
};

/** Number of tabulated parameter costs in executor memory. The costs of larger regions are computed when needed. */
constexpr size_t MaximumCachedCosts = size_t{ 1 } << 16;

/** The results of a series of rounds that ran without the host. */
struct MergeSeries
{
  static constexpr uint32_t MaximumNumberOfRounds = 128;
  uint32_t                  Merged[MaximumNumberOfRounds]; // regions that were merged into others in each round
  uint32_t                  NumberOfEdges;                 // remaining edges
};

/** A merge of a region with a neighbour, encoded for comparison by integer maximum: a larger decrease of the
 * description (in single precision) wins, and among equal ones the smaller neighbour. */
struct MergeCandidate
{
  uint64_t Word; // 0 if the merge does not lower the description

  static ITK_CUDA_HOST_DEVICE MergeCandidate
  Of(double change, uint32_t neighbor)
  {
    const float gain = change < 0.0 ? static_cast<float>(-change) : 0.0f;
    uint32_t    bits; // ordered as the values, which are positive
    memcpy(&bits, &gain, sizeof(bits));
    return { gain > 0.0f ? (static_cast<uint64_t>(bits) << 32) | (None - neighbor) : 0 };
  }
  /** Returns by how much the merge lowers the description. */
  ITK_CUDA_HOST_DEVICE float
  GetGain() const
  {
    const auto bits = static_cast<uint32_t>(Word >> 32);
    float      gain;
    memcpy(&gain, &bits, sizeof(gain));
    return gain;
  }
  /** Returns the neighbour; None for word 0. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetNeighbor() const
  {
    return None - static_cast<uint32_t>(Word);
  }
};

/** The regions, and the edges between them in any order. Each pair of neighbours has one edge. */
struct GraphView
{
  EdgeCode      Code;
  EdgeView      Edges;
  EdgeView      Others; // receives the remaining edges of a series
  EdgeTableView Table;  // empty between series; between the loops of a round it holds new edges only
  GraphRegion * Regions;
  uint32_t *    Parents;    // the region itself, or the smaller region that it was merged into
  uint64_t *    BestOfEven; // best merge of each region in even rounds, encoded as MergeCandidate
  uint64_t *    BestOfOdd;
  MergeSeries * Series;

  ITK_CUDA_HOST_DEVICE uint32_t
  GetFirst(size_t edge) const
  {
    return Code.GetFirst(Edges.Keys[edge]);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetSecond(size_t edge) const
  {
    return Code.GetSecond(Edges.Keys[edge]);
  }
};

/** A round of a series. Each of its loops visits all edges of the series. Some also initialize the regions for the
 * next loop, because the regions are contiguous in memory and the ends of edges are not. */
struct RoundView
{
  GraphView Graph;
  size_t    NumberOfRegions; // of the series, including merged regions
  size_t    NumberOfEdges;   // including edges that its rounds delete
  uint32_t  Round;
  bool      LoopsCheckDone; // whether each loop checks if the series is over, because the loop executor does not

  /** Consecutive rounds use different arrays. */
  ITK_CUDA_HOST_DEVICE uint64_t *
  GetBestOf(uint32_t round) const
  {
    return round % 2 == 0 ? Graph.BestOfEven : Graph.BestOfOdd;
  }
  /** A series is over after a round without merges. */
  ITK_CUDA_HOST_DEVICE bool
  IsDone() const
  {
    return Round > 0 && Graph.Series->Merged[Round - 1] == 0;
  }
  ITK_CUDA_HOST_DEVICE bool
  HasNoWork() const
  {
    return LoopsCheckDone && this->IsDone();
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetMaximumNumber() const
  {
    return NumberOfEdges > NumberOfRegions ? NumberOfEdges : NumberOfRegions;
  }
};

namespace functors
{
/** Clears the results of a series, and the best merges of its first round. */
struct BeginSeries
{
  GraphView Graph;
  size_t    NumberOfRegions;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfRegions > MergeSeries::MaximumNumberOfRounds ? NumberOfRegions : MergeSeries::MaximumNumberOfRounds;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < MergeSeries::MaximumNumberOfRounds)
    {
      Graph.Series->Merged[i] = 0;
    }
    if (i == 0)
    {
      Graph.Series->NumberOfEdges = 0;
    }
    if (i < NumberOfRegions)
    {
      Graph.BestOfEven[i] = 0;
    }
  }
};

/** Completes a new edge: adds the lengths of all edges that it replaced, and computes its change, which is returned. */
ITK_CUDA_HOST_DEVICE inline double
CompleteEdge(const GraphView & graph, const CachedModel & model, size_t edge)
{
  // Load the regions first: the compiler must assume that the table aliases them. The descriptions of the regions are
  // recomputed for each edge, because the sums of a group are complete only after the loop that merges.
  const uint64_t key = graph.Edges.Keys[edge] & ~EdgeView::NewBit;
  const Moments  first = graph.Regions[graph.Code.GetFirst(key)].Sums;
  const Moments  second = graph.Regions[graph.Code.GetSecond(key)].Sums;
  const auto     slot = static_cast<uint32_t>(graph.Edges.Changes[edge]);
  const uint32_t length = graph.Edges.Lengths[edge] + graph.Table.Take(slot);
  const double   change = ChangeByMerge(model, first, second, length);
  graph.Edges.Keys[edge] = key;
  graph.Edges.Lengths[edge] = length;
  graph.Edges.Changes[edge] = change;
  return change;
}

/** Finds the best merge of each region, after completing new edges. */
template <typename TAtomics>
struct FindBestMerges : RoundView
{
  CachedModel Model;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->HasNoWork() ? 0 : this->GetMaximumNumber();
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfRegions)
    {
      this->GetBestOf(Round + 1)[i] = 0; // for the next round
      Graph.Regions[i].PixelsBeforeRound = Graph.Regions[i].Sums.Count;
    }
    if (i < NumberOfEdges && Graph.Edges.Keys[i] != EdgeView::Hole)
    {
      this->AddCandidates(i);
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  AddCandidates(size_t edge) const
  {
    const uint64_t key = Graph.Edges.Keys[edge] & ~EdgeView::NewBit;
    const bool     isNew = Graph.Edges.Keys[edge] != key;
    const double   change = isNew ? CompleteEdge(Graph, Model, edge) : Graph.Edges.Changes[edge];
    const uint32_t u = Graph.Code.GetFirst(key);
    const uint32_t v = Graph.Code.GetSecond(key);
    const uint64_t ofU = MergeCandidate::Of(change, v).Word;
    if (ofU != 0)
    {
      TAtomics::Maximum(this->GetBestOf(Round)[u], ofU);
      TAtomics::Maximum(this->GetBestOf(Round)[v], MergeCandidate::Of(change, u).Word);
    }
  }
};

/** Merges pairs of regions that chose each other, and regions that join such pairs. The groups are disjoint. The edges
 * of merged regions get new ends; edges that become equal are merged into one, which counts as new. An edge whose
 * regions did not merge never has the same ends as a new one. */
template <typename TAtomics>
struct MergeGroups : RoundView
{
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->HasNoWork() ? 0 : NumberOfEdges;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Graph.Edges.Keys[edge] != EdgeView::Hole)
    {
      this->UpdateEnds(edge);
    }
  }

private:
  /** Updates the ends of an edge after the merges of its regions. */
  ITK_CUDA_HOST_DEVICE void
  UpdateEnds(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    const uint32_t rootOfU = this->GetMergeRoot(u);
    const uint32_t rootOfV = this->GetMergeRoot(v);
    if (rootOfU == None && rootOfV == None)
    {
      return;
    }
    if (rootOfU == rootOfV)
    {
      this->MergeAlong(u, v, rootOfU);
      this->MergeAlong(v, u, rootOfU);
      Graph.Edges.Keys[edge] = EdgeView::Hole;
    }
    else
    {
      this->Rewire(edge, rootOfU < u ? rootOfU : u, rootOfV < v ? rootOfV : v);
    }
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetMergeRoot(uint32_t region) const
  {
    const uint64_t * const best = this->GetBestOf(Round);
    return FindMergeRoot(
      region,
      [best](uint32_t i) { return MergeCandidate{ best[i] }; },
      [this](uint32_t i) { return Graph.Regions[i].PixelsBeforeRound; });
  }
  /** Merges a region into `root` if the edge leads to the region's best neighbour. Exactly one edge of a merging
   * region does, so that one work item adds the region. */
  ITK_CUDA_HOST_DEVICE void
  MergeAlong(uint32_t region, uint32_t neighbor, uint32_t root) const
  {
    if (region != root && MergeCandidate{ this->GetBestOf(Round)[region] }.GetNeighbor() == neighbor)
    {
      TAtomics::Add(Graph.Regions[root].Sums, Graph.Regions[region].Sums);
      Graph.Parents[region] = root;
      TAtomics::WarpAggregatedIncrement(Graph.Series->Merged[Round]);
    }
  }
  ITK_CUDA_HOST_DEVICE void
  Rewire(size_t edge, uint32_t u, uint32_t v) const
  {
    const uint64_t key = Graph.Code.Encode(u, v);
    const auto     entry =
      Graph.Table.template AddToOthers<TAtomics>(key, Graph.Edges.Lengths[edge], EdgeTableView::GetSize(NumberOfEdges));
    Graph.Edges.Keys[edge] = entry.IsNew ? key | EdgeView::NewBit : EdgeView::Hole;
    Graph.Edges.Changes[edge] = static_cast<double>(entry.Slot);
  }
};

/** Compacts the remaining edges after the last round, and completes new ones. */
template <typename TAtomics>
struct CollectEdges
{
  GraphView   Graph;
  CachedModel Model;
  size_t      NumberOfEdges;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfEdges;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Graph.Edges.Keys[edge] != EdgeView::Hole)
    {
      if ((Graph.Edges.Keys[edge] & EdgeView::NewBit) != 0)
      {
        CompleteEdge(Graph, Model, edge);
      }
      const uint32_t to = TAtomics::FetchIncrement(Graph.Series->NumberOfEdges);
      Graph.Others.Keys[to] = Graph.Edges.Keys[edge];
      Graph.Others.Lengths[to] = Graph.Edges.Lengths[edge];
      Graph.Others.Changes[to] = Graph.Edges.Changes[edge];
    }
  }
};
} // namespace functors

/** A series of rounds as a sequence of parallel loops for an executor. Each loop begins after the end of the
 * previous one and determines on the executor whether it has work. */
template <typename TAtomics>
struct RunMergeRounds
{
  static constexpr bool NeedsManyRegisters = false;

  GraphView   Graph;
  CachedModel Model;
  size_t      NumberOfRegions;
  size_t      NumberOfEdges;
  uint32_t    NumberOfRounds;

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const functors::BeginSeries begin{ Graph, NumberOfRegions };
    executor.ParallelForUpTo(begin.GetNumber(), begin);
    bool isDone = false;
    for (uint32_t number = 0; number < NumberOfRounds && !isDone; ++number)
    {
      const RoundView round{ Graph, NumberOfRegions, NumberOfEdges, number, !executor.KnowsWhenDone() };
      executor.ParallelForUpTo(round.GetMaximumNumber(), functors::FindBestMerges<TAtomics>{ round, Model });
      executor.ParallelForUpTo(NumberOfEdges, functors::MergeGroups<TAtomics>{ round });
      isDone = number + 1 < NumberOfRounds && executor.IsDone(Graph.Series->Merged + number);
    }
    executor.ParallelForUpTo(NumberOfEdges, functors::CollectEdges<TAtomics>{ Graph, Model, NumberOfEdges });
  }
};
} // namespace itk::cuda::partition

#endif
