// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionMergeRounds_h
#define itkCudaPartitionMergeRounds_h

#include "itkCudaHostDevice.h"
#include "itkCudaPartitionEdgeTable.h"
#include "itkCudaPartitionGraphSteps.h"
#include "itkCudaPartitionModel.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

// Rounds of merging over a list of edges, without the host: how many edges a round has is known to the processor alone.
// A round is three loops. What passes of one loop write is read by the next loop only, but for atomic operations, whose
// order does not matter.
namespace itk::cuda::partition
{
/** A list of edges in memory of a processor. */
struct EdgeView
{
  uint64_t * Keys;
  uint32_t * Cracks;  // of new edges: their slot in the table
  double *   Changes; // of the description by the merge, less what its boundary is worth; not of new edges
};

/** What a round begins with, and what it did. */
struct MergeRound
{
  uint32_t Staying; // edges whose regions did not merge in the round before, at the front of the list
  uint32_t New;     // other edges, at the end of the list's memory
  uint32_t Pairs;   // that merged
};

/** Rounds that run without the host. */
struct MergeRoundSeries
{
  static constexpr uint32_t Number = 32; // even: the last round leaves its edges where the first one found them
  MergeRound                Rounds[Number + 1];
};

/** The regions, and the edges between them in any order. Each pair of neighbours has one edge. */
struct GraphView
{
  static constexpr uint32_t None = 0xffffffffu;

  EdgeCode           Code;
  EdgeView           Edges;
  EdgeView           Others; // takes what a round leaves
  size_t             Capacity;
  EdgeTableView      Table;
  Moments *          Sums;
  double *           Descriptions;
  uint32_t *         Parents; // itself, or the smaller region that it became part of
  uint64_t *         Best;    // the lowest change, as GetOrder()
  uint32_t *         Choices; // the neighbour to merge with
  MergeRoundSeries * Series;

  /** Negative changes as integers: larger for lower changes. */
  static ITK_CUDA_HOST_DEVICE uint64_t
  GetOrder(double change)
  {
    uint64_t bits;
    memcpy(&bits, &change, sizeof(bits));
    return bits;
  }
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

/** A round of a series, over whose edges each of its loops goes. */
struct RoundView
{
  GraphView Graph;
  uint32_t  Round; // of the series

  ITK_CUDA_HOST_DEVICE MergeRound &
  GetRound(uint32_t round) const
  {
    return Graph.Series->Rounds[round];
  }
  /** After a round without pairs nothing is left to do. */
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    const bool isOver = Round > 0 && GetRound(Round - 1).Pairs == 0;
    return isOver ? 0 : size_t{ GetRound(Round).Staying } + GetRound(Round).New;
  }
  ITK_CUDA_HOST_DEVICE const EdgeView &
  GetEdges() const
  {
    return Round % 2 == 0 ? Graph.Edges : Graph.Others;
  }
  ITK_CUDA_HOST_DEVICE const EdgeView &
  GetNextEdges() const
  {
    return Round % 2 == 0 ? Graph.Others : Graph.Edges;
  }
  ITK_CUDA_HOST_DEVICE bool
  IsNew(size_t i) const
  {
    return i >= GetRound(Round).Staying;
  }
  /** Where the round's edge number i is. */
  ITK_CUDA_HOST_DEVICE size_t
  Locate(size_t i) const
  {
    return IsNew(i) ? PlaceOfNew(i - GetRound(Round).Staying) : i;
  }
  ITK_CUDA_HOST_DEVICE size_t
  PlaceOfNew(size_t number) const
  {
    return Graph.Capacity - 1 - number;
  }
};

namespace steps
{
/** Makes the first round of a series begin with so many edges. */
struct BeginSeries
{
  MergeRoundSeries * Series;
  uint32_t           Staying;
  uint32_t           New;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t round) const
  {
    Series->Rounds[round] = { round == 0 ? Staying : 0, round == 0 ? New : 0, 0 };
  }
};

/** Finds the lowest change of each region. New edges get theirs before. */
template <typename TAtomics>
struct OfferChanges : RoundView
{
  Model Law;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const size_t     edge = Locate(i);
    const EdgeView & edges = GetEdges();
    const uint32_t   u = Graph.Code.GetFirst(edges.Keys[edge]);
    const uint32_t   v = Graph.Code.GetSecond(edges.Keys[edge]);
    const double     change = IsNew(i) ? this->Settle(edges, edge, u, v) : edges.Changes[edge];
    Graph.Choices[u] = GraphView::None; // for the next loop
    Graph.Choices[v] = GraphView::None;
    if (change < 0.0)
    {
      const uint64_t order = GraphView::GetOrder(change);
      TAtomics::Maximum(Graph.Best[u], order);
      TAtomics::Maximum(Graph.Best[v], order);
    }
  }

private:
  ITK_CUDA_HOST_DEVICE double
  Settle(const EdgeView & edges, size_t edge, uint32_t u, uint32_t v) const
  {
    const uint32_t cracks = Graph.Table.Take(edges.Cracks[edge]);
    const double   change =
      ChangeByMerge(Law, Graph.Sums[u], Graph.Sums[v], Graph.Descriptions[u], Graph.Descriptions[v], cracks);
    edges.Cracks[edge] = cracks;
    edges.Changes[edge] = change;
    return change;
  }
};

/** Finds the smallest neighbour with that change. */
template <typename TAtomics>
struct ChooseNeighbors : RoundView
{
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const size_t     edge = Locate(i);
    const EdgeView & edges = GetEdges();
    const double     change = edges.Changes[edge];
    if (change < 0.0)
    {
      const uint64_t order = GraphView::GetOrder(change);
      const uint32_t u = Graph.Code.GetFirst(edges.Keys[edge]);
      const uint32_t v = Graph.Code.GetSecond(edges.Keys[edge]);
      if (Graph.Best[u] == order)
      {
        TAtomics::Minimum(Graph.Choices[u], v);
      }
      if (Graph.Best[v] == order)
      {
        TAtomics::Minimum(Graph.Choices[v], u);
      }
    }
  }
};

/** Two regions that chose each other become one: no region is in two such pairs. Edges of regions that merge get new
 * ends, and are new. Two that then have the same ends become one. None of them has the ends of an edge that stays. */
template <typename TAtomics>
struct MergePairs : RoundView
{
  Model Law;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const size_t     edge = Locate(i);
    const EdgeView & edges = GetEdges();
    const uint32_t   u = Graph.Code.GetFirst(edges.Keys[edge]);
    const uint32_t   v = Graph.Code.GetSecond(edges.Keys[edge]);
    const uint32_t   newU = GetRegion(u);
    const uint32_t   newV = GetRegion(v);
    Graph.Best[u] = 0; // for the next round
    Graph.Best[v] = 0;
    if (newU == newV)
    {
      this->Merge(u, v);
    }
    else if (this->HasMerged(u) || this->HasMerged(v))
    {
      this->AddNew(Graph.Code.Encode(newU, newV), edges.Cracks[edge]);
    }
    else
    {
      this->Keep(edges, edge);
    }
  }

private:
  /** Whether a region merges in this round. */
  ITK_CUDA_HOST_DEVICE bool
  HasMerged(uint32_t region) const
  {
    const uint32_t choice = Graph.Choices[region];
    return choice != GraphView::None && Graph.Choices[choice] == region;
  }
  /** What it is after this round. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetRegion(uint32_t region) const
  {
    return this->HasMerged(region) && Graph.Choices[region] < region ? Graph.Choices[region] : region;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  Merge(uint32_t u, uint32_t v) const
  {
    Graph.Sums[u] += Graph.Sums[v];
    Graph.Descriptions[u] = Law.Describe(Graph.Sums[u]);
    Graph.Parents[v] = u;
    TAtomics::Add(GetRound(Round).Pairs, 1u);
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  AddNew(uint64_t key, uint32_t cracks) const
  {
    const auto place = Graph.Table.template Add<TAtomics>(key, cracks, EdgeTableView::GetSize(GetNumber()));
    if (place.IsNew)
    {
      const size_t to = PlaceOfNew(TAtomics::Next(GetRound(Round + 1).New));
      GetNextEdges().Keys[to] = key;
      GetNextEdges().Cracks[to] = place.Slot;
    }
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  Keep(const EdgeView & edges, size_t edge) const
  {
    const size_t     to = TAtomics::Next(GetRound(Round + 1).Staying);
    const EdgeView & next = GetNextEdges();
    next.Keys[to] = edges.Keys[edge];
    next.Cracks[to] = edges.Cracks[edge];
    next.Changes[to] = edges.Changes[edge];
  }
};
} // namespace steps

/** A series of rounds as loops one after the other. A processor runs it: its loops begin when those before have ended,
 * and know their numbers of passes by themselves. */
template <typename TAtomics>
struct RunMergeRounds
{
  GraphView Graph;
  Model     Law;

  ITK_CUDA_AS_ARGUMENTS
  template <typename TLoops>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoops & loops) const
  {
    for (uint32_t number = 0; number < MergeRoundSeries::Number; ++number)
    {
      const RoundView round{ Graph, number };
      if (loops.IsOver(round))
      {
        return;
      }
      loops.For(steps::OfferChanges<TAtomics>{ round, Law });
      loops.For(steps::ChooseNeighbors<TAtomics>{ round });
      loops.For(steps::MergePairs<TAtomics>{ round, Law });
    }
  }
};
} // namespace itk::cuda::partition

#endif
