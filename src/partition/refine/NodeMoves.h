// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeMoves_h
#define CudaFilters_partition_refine_NodeMoves_h

#include "partition/map/KeptSums.h"
#include "partition/refine/NodeFunctors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace itk::cuda::partition::functors
{
/** Proposes the best possible candidate of each node, and reserves its cells, in one work item per node, for executors
 * with IsCoarseGrained. It loads a node once, finds most of its sums among the kept ones, and tests candidates from the
 * best one on until one is possible, whereas SumCandidates, WeighCandidates, TestCandidates and ProposeMoves test all
 * candidates concurrently. */
template <typename TRound>
struct ProposeMovesByNode : NodeKernel<TRound, Move>
{
  static constexpr size_t Grain = 8;

  KeptSumsView Kept;

  size_t
  GetNumber() const
  {
    return this->Round.Counts->Work;
  }
  void
  operator()(size_t i) const
  {
    const MapView  map = this->Round.GetMap();
    const uint32_t number = this->Arrays.Work[i];
    Move           move;
    const bool     proposes = !map.KindOf(map.At(number)).IsCorner() && this->FindBest(map, number, move);
    this->Arrays.IsActive[number] = proposes ? 1 : 0;
    if (proposes)
    {
      this->Propose(move, SerialTile{});
    }
  }

private:
  /** Finds the best possible candidate of a node. Returns false if no candidate with a gain is possible. */
  bool
  FindBest(const MapView & map, uint32_t number, Move & move) const
  {
    const TRound &   round = this->Round;
    const MovingNode node = DescribeNode(map, number);
    Moments          ownSums[MoveArrays::EdgesOfNode];
    const Moments *  sums[MapNode::MaximumDegree];
    bool             isInside[NumberOfCandidates];
    double           deltaCosts[NumberOfCandidates];
    for (int candidate = 0; candidate < NumberOfCandidates; ++candidate)
    {
      isInside[candidate] = map.Allows(node.Position, CandidateOf(node.Position, candidate));
    }
    for (uint32_t j = 0; j < node.NumberOfEdges; ++j)
    {
      sums[j] = this->FindSums(map, number, node, j, isInside, ownSums + j * NumberOfCandidates);
    }
    for (int candidate = 0; candidate < NumberOfCandidates; ++candidate)
    {
      deltaCosts[candidate] =
        isInside[candidate]
          ? DeltaCostOfMove(node, round.Tangents, [&](uint32_t j) { return sums[j][candidate] - node.Edges[j].Sums; })
          : 0.0;
    }
    for (int tried = 0; tried < NumberOfCandidates; ++tried)
    {
      const auto best = static_cast<int>(std::min_element(deltaCosts, deltaCosts + NumberOfCandidates) - deltaCosts);
      if (deltaCosts[best] == 0.0)
      {
        return false;
      }
      move.DeltaCost = deltaCosts[best];
      move.Id = number;
      move.To = CandidateOf(node.Position, best);
      for (uint32_t j = 0; j < MapNode::MaximumDegree; ++j)
      {
        move.Sums[j] = j < node.NumberOfEdges ? sums[j][best] : Moments{};
      }
      move.Counts = CountMove(node, [&](uint32_t j) { return move.Sums[j] - node.Edges[j].Sums; });
      if (round.Allows(move.Counts) && MoveKeepsTopology(map, round.Grid, number, move.To))
      {
        return true;
      }
      deltaCosts[best] = 0.0; // excludes the candidate, because the changes of the description are negative
    }
    return false;
  }

  /** Returns the sums of edge j of a node from the candidates. \param ownSums storage for sums that are not kept */
  const Moments *
  FindSums(const MapView &    map,
           uint32_t           number,
           const MovingNode & node,
           uint32_t           j,
           const bool *       isInside,
           Moments *          ownSums) const
  {
    const LatticePoint far = node.Edges[j].Far;
    KeptEdge *         kept = nullptr;
    Moments *          sums = ownSums;
    if (Kept.Edges != nullptr)
    {
      const uint32_t edge = map.Nodes[number].Edges[j];
      const size_t   directed = 2 * static_cast<size_t>(edge) + (map.Edges[edge].Start == number ? 0 : 1);
      kept = Kept.Edges + directed;
      sums = Kept.Sums + directed * NumberOfCandidates;
      if (kept->Is(node.Position, far))
      {
        return sums;
      }
      *kept = { node.Position, far };
    }
    for (int candidate = 0; candidate < NumberOfCandidates; ++candidate)
    {
      if (isInside[candidate])
      {
        sums[candidate] = this->Round.Pixels.SumEdge(CandidateOf(node.Position, candidate), far);
      }
    }
    return sums;
  }
};
} // namespace itk::cuda::partition::functors

#endif
