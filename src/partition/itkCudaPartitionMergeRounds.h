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

// Rounds of merging over a list of edges, without the host: whether a round has anything to do is known to the
// processor alone. A round is three loops. What passes of one loop write is read by the next loop only, but for atomic
// operations, whose order does not matter.
namespace itk::cuda::partition
{
/** A list of edges in memory of a processor. A pass of a loop changes its own edge only. */
struct EdgeView
{
  static constexpr uint64_t Hole = ~uint64_t{ 0 };        // the key where an edge is no more
  static constexpr uint64_t NewBit = uint64_t{ 1 } << 63; // of keys of new edges, whose change is not known

  uint64_t * Keys;
  uint32_t * Cracks;  // of new edges: without those in the table
  double *   Changes; // of the description by the merge, less what its boundary is worth; of new edges: their slot
};

/** What a change asks of a region: one access to memory. */
struct alignas(16) GraphRegion
{
  Moments Sums;
  double  Description;
};

/** What a series of rounds did, which run without the host. */
struct MergeSeries
{
  static constexpr uint32_t MostRounds = 128;
  uint32_t                  Pairs[MostRounds]; // that merged in each round
  uint32_t                  NumberOfEdges;     // that are left
};

/** The regions, and the edges between them in any order. Each pair of neighbours has one edge. */
struct GraphView
{
  static constexpr uint32_t None = 0xffffffffu;

  EdgeCode      Code;
  EdgeView      Edges;
  EdgeView      Others; // takes the edges that a series leaves
  EdgeTableView Table;  // is empty between the loops of rounds, but for new edges
  GraphRegion * Regions;
  uint32_t *    Parents; // itself, or the smaller region that it became part of
  uint64_t *    Best;    // the lowest change, as GetOrder(); 0 between rounds
  uint32_t *    Choices; // the neighbour to merge with
  MergeSeries * Series;

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

/** A round of a series. Each of its loops goes over all edges of the series. Some also write what the next loop begins
 * its regions with: the regions are adjacent in memory, the ends of edges are not. */
struct RoundView
{
  GraphView Graph;
  size_t    NumberOfRegions; // of the series, with those that became part of others
  size_t    NumberOfEdges;   // with those that its rounds drop
  uint32_t  Round;

  /** After a round without pairs nothing is left to do. */
  ITK_CUDA_HOST_DEVICE bool
  IsOver() const
  {
    return Round > 0 && Graph.Series->Pairs[Round - 1] == 0;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->IsOver() ? 0 : NumberOfEdges;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfAll() const
  {
    return this->IsOver() ? 0 : this->GetMostOfAll();
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetMostOfAll() const
  {
    return NumberOfEdges > NumberOfRegions ? NumberOfEdges : NumberOfRegions;
  }
};

namespace steps
{
struct BeginSeries
{
  MergeSeries * Series;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return MergeSeries::MostRounds;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t round) const
  {
    Series->Pairs[round] = 0;
    if (round == 0)
    {
      Series->NumberOfEdges = 0;
    }
  }
};

/** Finds the lowest change of each region. New edges get theirs before. */
template <typename TAtomics>
struct OfferChanges : RoundView
{
  Model Law;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->GetNumberOfAll();
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfRegions)
    {
      Graph.Choices[i] = GraphView::None; // for the next loop
    }
    if (i < NumberOfEdges && Graph.Edges.Keys[i] != EdgeView::Hole)
    {
      this->Offer(i);
    }
  }

private:
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  Offer(size_t edge) const
  {
    const uint64_t key = Graph.Edges.Keys[edge] & ~EdgeView::NewBit;
    const bool     isNew = Graph.Edges.Keys[edge] != key;
    const double   change = isNew ? this->Settle(edge, key) : Graph.Edges.Changes[edge];
    if (change < 0.0)
    {
      const uint64_t order = GraphView::GetOrder(change);
      TAtomics::Maximum(Graph.Best[Graph.Code.GetFirst(key)], order);
      TAtomics::Maximum(Graph.Best[Graph.Code.GetSecond(key)], order);
    }
  }
  ITK_CUDA_HOST_DEVICE double
  Settle(size_t edge, uint64_t key) const
  {
    // The regions are loaded before the table is written: for all that a compiler knows they are the same memory.
    const GraphRegion first = Graph.Regions[Graph.Code.GetFirst(key)];
    const GraphRegion second = Graph.Regions[Graph.Code.GetSecond(key)];
    const auto        slot = static_cast<uint32_t>(Graph.Edges.Changes[edge]);
    const uint32_t    cracks = Graph.Edges.Cracks[edge] + Graph.Table.Take(slot);
    const double change = ChangeByMerge(Law, first.Sums, second.Sums, first.Description, second.Description, cracks);
    Graph.Edges.Keys[edge] = key;
    Graph.Edges.Cracks[edge] = cracks;
    Graph.Edges.Changes[edge] = change;
    return change;
  }
};

/** Finds the smallest neighbour with that change. */
template <typename TAtomics>
struct ChooseNeighbors : RoundView
{
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Graph.Edges.Keys[edge] == EdgeView::Hole || !(Graph.Edges.Changes[edge] < 0.0))
    {
      return;
    }
    const uint64_t order = GraphView::GetOrder(Graph.Edges.Changes[edge]);
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    if (Graph.Best[u] == order)
    {
      TAtomics::Minimum(Graph.Choices[u], v);
    }
    if (Graph.Best[v] == order)
    {
      TAtomics::Minimum(Graph.Choices[v], u);
    }
  }
};

/** Two regions that chose each other become one: no region is in two such pairs. Edges of regions that merge get new
 * ends. Of those that then have the same ends one is left, which is new. None of them has the ends of an edge whose
 * regions did not merge. */
template <typename TAtomics>
struct MergePairs : RoundView
{
  Model Law;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->GetNumberOfAll();
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfRegions)
    {
      Graph.Best[i] = 0; // for the next round
    }
    if (i < NumberOfEdges && Graph.Edges.Keys[i] != EdgeView::Hole)
    {
      this->Follow(i);
    }
  }

private:
  /** Lets an edge follow its regions. */
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  Follow(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    const uint32_t partnerOfU = GetPartner(u);
    const uint32_t partnerOfV = GetPartner(v);
    if (partnerOfU == v)
    {
      this->Merge(u, v);
      Graph.Edges.Keys[edge] = EdgeView::Hole;
    }
    else if (partnerOfU != GraphView::None || partnerOfV != GraphView::None)
    {
      this->Rewire(edge, partnerOfU < u ? partnerOfU : u, partnerOfV < v ? partnerOfV : v);
    }
  }
  /** With which a region merges in this round. None is larger than all regions. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetPartner(uint32_t region) const
  {
    const uint32_t choice = Graph.Choices[region];
    return choice != GraphView::None && Graph.Choices[choice] == region ? choice : GraphView::None;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  Merge(uint32_t u, uint32_t v) const
  {
    GraphRegion whole = Graph.Regions[u];
    whole.Sums += Graph.Regions[v].Sums;
    whole.Description = Law.Describe(whole.Sums);
    Graph.Regions[u] = whole;
    Graph.Parents[v] = u;
    TAtomics::Next(Graph.Series->Pairs[Round]);
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  Rewire(size_t edge, uint32_t u, uint32_t v) const
  {
    const uint64_t key = Graph.Code.Encode(u, v);
    const auto     place =
      Graph.Table.template AddToOthers<TAtomics>(key, Graph.Edges.Cracks[edge], EdgeTableView::GetSize(NumberOfEdges));
    Graph.Edges.Keys[edge] = place.IsNew ? key | EdgeView::NewBit : EdgeView::Hole;
    Graph.Edges.Changes[edge] = static_cast<double>(place.Slot);
  }
};

/** Puts the edges that are left after the last round beside each other. */
template <typename TAtomics>
struct CollectEdges
{
  GraphView Graph;
  size_t    NumberOfEdges;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfEdges;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Graph.Edges.Keys[edge] != EdgeView::Hole)
    {
      const uint32_t to = TAtomics::Next(Graph.Series->NumberOfEdges);
      Graph.Others.Keys[to] = Graph.Edges.Keys[edge];
      Graph.Others.Cracks[to] = Graph.Edges.Cracks[edge];
      Graph.Others.Changes[to] = Graph.Edges.Changes[edge];
    }
  }
};
} // namespace steps

/** A series of rounds as loops one after the other. A processor runs it: its loops begin when those before have ended,
 * and know by themselves whether they have anything to do. */
template <typename TAtomics>
struct RunMergeRounds
{
  GraphView Graph;
  Model     Law;
  size_t    NumberOfRegions;
  size_t    NumberOfEdges;
  uint32_t  NumberOfRounds;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfLoops() const
  {
    return size_t{ 3 } * NumberOfRounds + 2;
  }

  ITK_CUDA_AS_ARGUMENTS
  template <typename TLoops>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoops & loops) const
  {
    loops.ForAtMost(MergeSeries::MostRounds, steps::BeginSeries{ Graph.Series });
    bool isOver = false;
    for (uint32_t number = 0; number < NumberOfRounds && !isOver; ++number)
    {
      const RoundView round{ Graph, NumberOfRegions, NumberOfEdges, number };
      loops.ForAtMost(round.GetMostOfAll(), steps::OfferChanges<TAtomics>{ round, Law });
      loops.ForAtMost(NumberOfEdges, steps::ChooseNeighbors<TAtomics>{ round });
      loops.ForAtMost(round.GetMostOfAll(), steps::MergePairs<TAtomics>{ round, Law });
      isOver = loops.IsOver(RoundView{ Graph, NumberOfRegions, NumberOfEdges, number + 1 });
    }
    loops.ForAtMost(NumberOfEdges, steps::CollectEdges<TAtomics>{ Graph, NumberOfEdges });
  }
};
} // namespace itk::cuda::partition

#endif
