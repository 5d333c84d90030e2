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
  uint32_t * Cracks;  // of new edges: their slot in the table
  double *   Changes; // of the description by the merge, less what its boundary is worth
};

/** What a series of rounds did, which run without the host. */
struct MergeSeries
{
  static constexpr uint32_t MostRounds = 32;
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
  Moments *     Sums;
  double *      Descriptions;
  uint32_t *    Parents; // itself, or the smaller region that it became part of
  uint64_t *    Best;    // the lowest change, as GetOrder()
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

/** A round of a series, over whose edges each of its loops goes. */
struct RoundView
{
  GraphView Graph;
  size_t    NumberOfEdges; // of the series, with those that its rounds drop
  uint32_t  Round;

  /** After a round without pairs nothing is left to do. */
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Round > 0 && Graph.Series->Pairs[Round - 1] == 0 ? 0 : NumberOfEdges;
  }
};

namespace steps
{
/** Finds the lowest change of each region. New edges get theirs before. */
template <typename TAtomics>
struct OfferChanges : RoundView
{
  Model Law;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint64_t key = Graph.Edges.Keys[edge];
    if (key == EdgeView::Hole)
    {
      return;
    }
    const bool     isNew = (key & EdgeView::NewBit) != 0;
    const double   change = isNew ? this->Settle(edge, key & ~EdgeView::NewBit) : Graph.Edges.Changes[edge];
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
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
  Settle(size_t edge, uint64_t key) const
  {
    const uint32_t cracks = Graph.Table.Take(Graph.Edges.Cracks[edge]);
    const uint32_t u = Graph.Code.GetFirst(key);
    const uint32_t v = Graph.Code.GetSecond(key);
    const double   change =
      ChangeByMerge(Law, Graph.Sums[u], Graph.Sums[v], Graph.Descriptions[u], Graph.Descriptions[v], cracks);
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

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Graph.Edges.Keys[edge] == EdgeView::Hole)
    {
      return;
    }
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    const uint32_t partnerOfU = GetPartner(u);
    const uint32_t partnerOfV = GetPartner(v);
    Graph.Best[u] = 0; // for the next round
    Graph.Best[v] = 0;
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

private:
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
    Graph.Sums[u] += Graph.Sums[v];
    Graph.Descriptions[u] = Law.Describe(Graph.Sums[u]);
    Graph.Parents[v] = u;
    TAtomics::Add(Graph.Series->Pairs[Round], 1u);
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  Rewire(size_t edge, uint32_t u, uint32_t v) const
  {
    const uint64_t key = Graph.Code.Encode(u, v);
    const auto     place =
      Graph.Table.template Add<TAtomics>(key, Graph.Edges.Cracks[edge], EdgeTableView::GetSize(NumberOfEdges));
    Graph.Edges.Keys[edge] = place.IsNew ? key | EdgeView::NewBit : EdgeView::Hole;
    Graph.Edges.Cracks[edge] = place.Slot;
  }
};

/** Puts the edges that are left beside each other. */
template <typename TAtomics>
struct CollectEdges
{
  GraphView Graph;

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
  size_t    NumberOfEdges;
  uint32_t  NumberOfRounds;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfLoops() const
  {
    return size_t{ 3 } * NumberOfRounds;
  }

  ITK_CUDA_AS_ARGUMENTS
  template <typename TLoops>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoops & loops) const
  {
    for (uint32_t number = 0; number < NumberOfRounds; ++number)
    {
      const RoundView round{ Graph, NumberOfEdges, number };
      if (loops.IsOver(round))
      {
        return;
      }
      loops.ForAtMost(NumberOfEdges, steps::OfferChanges<TAtomics>{ round, Law });
      loops.ForAtMost(NumberOfEdges, steps::ChooseNeighbors<TAtomics>{ round });
      loops.ForAtMost(NumberOfEdges, steps::MergePairs<TAtomics>{ round, Law });
    }
  }
};
} // namespace itk::cuda::partition

#endif
