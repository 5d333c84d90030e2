// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_MergeRounds_h
#define CudaFilters_partition_labels_MergeRounds_h

#include "runtime/HostDevice.h"
#include "partition/executor/EdgeTable.h"
#include "partition/labels/GraphSteps.h"
#include "partition/Model.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

// Rounds of merging over a list of edges, without the host: whether a round has anything to do is known to the
// processor alone. A round is two loops. What passes of one loop write is read by the next loop only, but for atomic
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

/** What a round asks of a region. */
struct alignas(16) GraphRegion
{
  Moments Sums;
  int64_t CountAtFirst; // of pixels, when the round began: its merges change the sums
};

/** Prices in the memory of a processor: those of larger regions are found when they are asked for. */
constexpr size_t MostPrices = size_t{ 1 } << 16;

/** What a series of rounds did, which run without the host. */
struct MergeSeries
{
  static constexpr uint32_t MostRounds = 128;
  uint32_t                  Gone[MostRounds]; // regions that became part of others in each round
  uint32_t                  NumberOfEdges;    // that are left
};

/** The regions, and the edges between them in any order. Each pair of neighbours has one edge. */
struct GraphView
{
  static constexpr uint32_t None = 0xffffffffu;

  EdgeCode      Code;
  EdgeView      Edges;
  EdgeView      Others; // takes the edges that a series leaves
  EdgeTableView Table;  // is empty between series, and between the loops of rounds but for new edges
  GraphRegion * Regions;
  uint32_t *    Parents;    // itself, or the smaller region that it became part of
  uint64_t *    BestOfEven; // offer of each region, as GetOffer(), in even rounds
  uint64_t *    BestOfOdd;
  MergeSeries * Series;

  /** A merge with a neighbour, for comparison: larger for lower changes, of which the size counts in single precision,
   * and among equal ones for the smaller neighbour. 0: the change is none. */
  static ITK_CUDA_HOST_DEVICE uint64_t
  GetOffer(double change, uint32_t neighbor)
  {
    const float size = GetSizeOfChange(change);
    uint32_t    bits; // in the order of the values, which are positive
    memcpy(&bits, &size, sizeof(bits));
    return size > 0.0f ? (static_cast<uint64_t>(bits) << 32) | (None - neighbor) : 0;
  }
  /** The size of the change of an offer. */
  static ITK_CUDA_HOST_DEVICE float
  GetSize(uint64_t offer)
  {
    const auto bits = static_cast<uint32_t>(offer >> 32);
    float      size;
    memcpy(&size, &bits, sizeof(size));
    return size;
  }
  /** The neighbour of an offer; None if that is none. */
  static ITK_CUDA_HOST_DEVICE uint32_t
  GetNeighbor(uint64_t offer)
  {
    return None - static_cast<uint32_t>(offer);
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
  bool      IsAsked; // whether each loop asks if the series is over: nobody else does

  /** Two rounds that follow each other have different arrays. */
  ITK_CUDA_HOST_DEVICE uint64_t *
  GetBestOf(uint32_t round) const
  {
    return round % 2 == 0 ? Graph.BestOfEven : Graph.BestOfOdd;
  }
  /** After a round without merges nothing is left to do. */
  ITK_CUDA_HOST_DEVICE bool
  IsOver() const
  {
    return Round > 0 && Graph.Series->Gone[Round - 1] == 0;
  }
  ITK_CUDA_HOST_DEVICE bool
  IsOverForLoops() const
  {
    return IsAsked && this->IsOver();
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
  GraphView Graph;
  size_t    NumberOfRegions;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfRegions > MergeSeries::MostRounds ? NumberOfRegions : MergeSeries::MostRounds;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < MergeSeries::MostRounds)
    {
      Graph.Series->Gone[i] = 0;
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

/** Gives a new edge the cracks of all that became one with it, and its change, which is returned. */
ITK_CUDA_HOST_DEVICE inline double
SettleEdge(const GraphView & graph, const PricedLaw & law, size_t edge)
{
  // The regions are loaded before the table is written: for all that a compiler knows they are the same memory. Each
  // edge describes its regions: the sums of a group are complete only when the loop that merges has ended.
  const uint64_t key = graph.Edges.Keys[edge] & ~EdgeView::NewBit;
  const Moments  first = graph.Regions[graph.Code.GetFirst(key)].Sums;
  const Moments  second = graph.Regions[graph.Code.GetSecond(key)].Sums;
  const auto     slot = static_cast<uint32_t>(graph.Edges.Changes[edge]);
  const uint32_t cracks = graph.Edges.Cracks[edge] + graph.Table.Take(slot);
  const double   change = ChangeByMerge(law, first, second, law.Describe(first), law.Describe(second), cracks);
  graph.Edges.Keys[edge] = key;
  graph.Edges.Cracks[edge] = cracks;
  graph.Edges.Changes[edge] = change;
  return change;
}

/** Finds the best offer of each region. New edges get their changes before. */
template <typename TAtomics>
struct OfferChanges : RoundView
{
  PricedLaw Law;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->IsOverForLoops() ? 0 : this->GetMostOfAll();
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfRegions)
    {
      this->GetBestOf(Round + 1)[i] = 0; // for the next round
      Graph.Regions[i].CountAtFirst = Graph.Regions[i].Sums.Count;
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
    const double   change = isNew ? SettleEdge(Graph, Law, edge) : Graph.Edges.Changes[edge];
    const uint32_t u = Graph.Code.GetFirst(key);
    const uint32_t v = Graph.Code.GetSecond(key);
    const uint64_t ofU = GraphView::GetOffer(change, v);
    if (ofU != 0)
    {
      TAtomics::Maximum(this->GetBestOf(Round)[u], ofU);
      TAtomics::Maximum(this->GetBestOf(Round)[v], GraphView::GetOffer(change, u));
    }
  }
};

/** Two regions that chose each other become one, and so do those that join them. No region is in two such groups. The
 * edges of these regions get new ends. One edge is left of those that then have the same ends, and it counts as new. An
 * edge whose regions did not merge never has the ends of a new one. */
template <typename TAtomics>
struct MergeGroups : RoundView
{
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->IsOverForLoops() ? 0 : NumberOfEdges;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Graph.Edges.Keys[edge] != EdgeView::Hole)
    {
      this->Follow(edge);
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
    const uint32_t wholeOfU = this->GetWhole(u);
    const uint32_t wholeOfV = this->GetWhole(v);
    if (wholeOfU == GraphView::None && wholeOfV == GraphView::None)
    {
      return;
    }
    if (wholeOfU == wholeOfV)
    {
      this->MergeAlong(u, v, wholeOfU);
      this->MergeAlong(v, u, wholeOfU);
      Graph.Edges.Keys[edge] = EdgeView::Hole;
    }
    else
    {
      this->Rewire(edge, wholeOfU < u ? wholeOfU : u, wholeOfV < v ? wholeOfV : v);
    }
  }
  /** The region of which a region is part after this round: the smaller one of a pair, for the pair and for those that
   * join it, whose numbers are larger. None, which is larger than all regions: it does not merge. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetWhole(uint32_t region) const
  {
    const uint64_t * const best = this->GetBestOf(Round);
    const uint64_t         offer = best[region];
    const uint32_t         neighbor = GraphView::GetNeighbor(offer);
    if (neighbor == GraphView::None)
    {
      return GraphView::None;
    }
    const uint64_t offerOfNeighbor = best[neighbor];
    const uint32_t partner = GraphView::GetNeighbor(offerOfNeighbor);
    const uint32_t whole = neighbor < partner ? neighbor : partner;
    const bool     isOfPair = partner == region;
    return isOfPair || (region > whole && GraphView::GetNeighbor(best[partner]) == neighbor &&
                        JoinsPair(GraphView::GetSize(offer),
                                  GraphView::GetSize(offerOfNeighbor),
                                  Graph.Regions[region].CountAtFirst,
                                  Graph.Regions[neighbor].CountAtFirst))
             ? whole
             : GraphView::None;
  }
  /** Adds a region to another one, if the edge leads to its best neighbour. A region that merges has one such edge,
   * whose pass adds it. */
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  MergeAlong(uint32_t region, uint32_t neighbor, uint32_t whole) const
  {
    if (region != whole && GraphView::GetNeighbor(this->GetBestOf(Round)[region]) == neighbor)
    {
      TAtomics::Add(Graph.Regions[whole].Sums, Graph.Regions[region].Sums);
      Graph.Parents[region] = whole;
      TAtomics::Increment(Graph.Series->Gone[Round]);
    }
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

/** As many passes as regions became part of others in a round. */
struct GoneOfRound
{
  const MergeSeries * Series;
  uint32_t            Round;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Series->Gone[Round];
  }
};

/** Puts the edges that are left after the last round beside each other. None of them is new any more. */
template <typename TAtomics>
struct CollectEdges
{
  GraphView Graph;
  PricedLaw Law;
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
      if ((Graph.Edges.Keys[edge] & EdgeView::NewBit) != 0)
      {
        SettleEdge(Graph, Law, edge);
      }
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
  static constexpr bool NeedsManyRegisters = false;

  GraphView Graph;
  PricedLaw Law;
  size_t    NumberOfRegions;
  size_t    NumberOfEdges;
  uint32_t  NumberOfRounds;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfLoops() const
  {
    return size_t{ 2 } * NumberOfRounds + 2;
  }

  ITK_CUDA_AS_ARGUMENTS
  template <typename TLoops>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoops & loops) const
  {
    const steps::BeginSeries begin{ Graph, NumberOfRegions };
    loops.ForAtMost(begin.GetNumber(), begin);
    bool isOver = false;
    for (uint32_t number = 0; number < NumberOfRounds && !isOver; ++number)
    {
      const RoundView round{ Graph, NumberOfRegions, NumberOfEdges, number, !loops.SeesWhenOver() };
      loops.ForAtMost(round.GetMostOfAll(), steps::OfferChanges<TAtomics>{ round, Law });
      loops.ForAtMost(NumberOfEdges, steps::MergeGroups<TAtomics>{ round });
      isOver = number + 1 < NumberOfRounds && loops.IsOver(steps::GoneOfRound{ Graph.Series, number });
    }
    loops.ForAtMost(NumberOfEdges, steps::CollectEdges<TAtomics>{ Graph, Law, NumberOfEdges });
  }
};
} // namespace itk::cuda::partition

#endif
