// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_MoveProposals_h
#define CudaFilters_partition_refine_MoveProposals_h

#include "partition/refine/NodeProposals.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// Two ways to propose the moves of a round: with a work item for each candidate position or edge, which suits a device,
// and with a work item for each node, which suits few threads.
namespace itk::cuda::partition
{
/** The ends of a directed edge when its sums from the candidates around its tail were computed. The sums depend on
 * these positions only. */
struct KeptEdge
{
  LatticePoint At;
  LatticePoint Far;

  bool
  Is(const LatticePoint & at, const LatticePoint & far) const
  {
    using region::operator==;
    return At == at && Far == far;
  }
};

/** Sums by directed edge and candidate (a non-owning view). */
struct KeptSumsView
{
  KeptEdge * Edges; // null if no sums are kept
  Moments *  Sums;
};

/** \class KeptSums
 * \brief Keeps the sums of edges from candidate positions between the rounds and phases of moves.
 *
 * Most nodes that propose a move again have not moved, nor have their neighbours, so that a node finds most of its sums
 * here. An entry stays valid whatever happens to the map, because a node compares the positions. */
template <typename TExecutor>
class KeptSums
{
public:
  /** Makes room for the directed edges of a map, unless they would take too much memory. Keeps no sums then. */
  void
  Reserve(const TExecutor & executor, size_t numberOfEdges, size_t numberOfPixels)
  {
    const size_t number = 2 * numberOfEdges;
    if (number * (sizeof(KeptEdge) + NumberOfCandidates * sizeof(Moments)) > BytesPerPixel * numberOfPixels)
    {
      *this = {};
    }
    else if (number > m_Capacity)
    {
      m_Arrays.Clear();
      m_Arrays.Allocate(executor, number, m_View.Edges);
      m_Arrays.Allocate(executor, number * NumberOfCandidates, m_View.Sums);
      m_Capacity = number;
      executor.Fill(m_View.Edges, number, 0xff); // (-1, -1) is not a position of a node
    }
  }
  KeptSumsView
  View() const
  {
    return m_View;
  }

private:
  static constexpr size_t BytesPerPixel = 12;

  KeptSumsView          m_View{};
  ArrayGroup<TExecutor> m_Arrays;
  size_t                m_Capacity{ 0 };
};

namespace functors
{
/** Candidate positions of the nodes of a part of a round, whose gains are in memory at a time, and their edges. */
struct MoveArrays
{
  static constexpr size_t EdgesOfNode = static_cast<size_t>(NumberOfCandidates) * MapNode::MaximumDegree;

  size_t     First;   // first node of the part in the round
  size_t     Maximum; // number of nodes
  uint32_t * Work;
  Moments *  Sums;       // of each edge from the candidate to its far end, in the order of CandidateEdge
  double *   DeltaCosts; // per candidate; 0 if the gain is too small or the move is not possible
  uint32_t * Gaining;    // candidates with a gain, in any order

  /** Returns the number of nodes of the part if the round has `work` nodes. */
  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfNodes(size_t work) const
  {
    const size_t left = work > First ? work - First : 0;
    return left < Maximum ? left : Maximum;
  }
  /** Returns the sums of a node's edge j from a candidate. */
  ITK_CUDA_HOST_DEVICE const Moments &
  GetSums(size_t node, uint32_t j, size_t candidate) const
  {
    return Sums[node * EdgesOfNode + j * static_cast<size_t>(NumberOfCandidates) + candidate];
  }
};

/** The i-th edge of the candidates. The candidates of one edge of a node are consecutive: they are close together in
 * the image and have nearly the same length, so that neighbouring work items take about the same time and read the
 * same memory. */
struct CandidateEdge
{
  size_t   Candidate; // index among the candidates of the part
  uint32_t J;         // index of the edge at its node

  ITK_CUDA_HOST_DEVICE explicit CandidateEdge(size_t i)
    : Candidate(i / MoveArrays::EdgesOfNode * NumberOfCandidates + i % NumberOfCandidates)
    , J(static_cast<uint32_t>(i % MoveArrays::EdgesOfNode / NumberOfCandidates))
  {}
};

/** A candidate position of a node. */
struct MoveCandidate
{
  uint32_t     Node;
  LatticePoint To;
  bool         IsInside; // whether the position is allowed

  ITK_CUDA_HOST_DEVICE
  MoveCandidate(const MapView & map, const MoveArrays & arrays, size_t candidate)
    : Node(arrays.Work[arrays.First + candidate / NumberOfCandidates])
    , To(CandidateOf(map.At(Node), static_cast<int>(candidate % NumberOfCandidates)))
    , IsInside(!map.KindOf(map.At(Node)).IsCorner() && map.Allows(map.At(Node), To))
  {}
};

/** Sums the edges from each candidate position. Each work item sums one edge. */
template <typename TRound>
struct SumCandidates
{
  static constexpr uint32_t TeamSize = LanesOfEdge;

  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Arrays.GetNumberOfNodes(Round.Counts->Work) * MoveArrays::EdgesOfNode;
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const CandidateEdge edge(i);
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, edge.Candidate);
    const MapNode &     node = map.Nodes[candidate.Node];
    if (candidate.IsInside && edge.J < node.Degree)
    {
      const LatticePoint far = map.At(map.Edges[node.Edges[edge.J]].GetOther(candidate.Node));
      const Moments      sums = SumEdge(Round.Integrator, candidate.To, far, team);
      team.Single([&] { Arrays.Sums[i] = sums; });
    }
  }
};

/** Computes the gain of each candidate, and lists the few with a gain. */
template <typename TRound>
struct WeighCandidates
{
  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Arrays.GetNumberOfNodes(Round.Counts->Work) * NumberOfCandidates;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, i);
    double              deltaCost = 0.0;
    if (candidate.IsInside)
    {
      const MovingNode node = LoadNode(map, candidate.Node);
      const auto       changeOf = [&](uint32_t j) {
        return Arrays.GetSums(i / NumberOfCandidates, j, i % NumberOfCandidates) - node.Edges[j].Sums;
      };
      deltaCost = DeltaCostOfMove(node, Round.Tangents, changeOf);
      const auto farEndOf = [&node](uint32_t j) { return node.Edges[j].Far; };
      const bool isPossible = deltaCost < 0.0 && Round.Allows(CountMove(node, changeOf)) &&
                              NeighborsAreClear(node.Position, candidate.To, node.NumberOfEdges, farEndOf);
      deltaCost = isPossible ? deltaCost : 0.0;
    }
    Arrays.DeltaCosts[i] = deltaCost;
    if (deltaCost < 0.0)
    {
      Arrays.Gaining[TRound::Atomics::FetchIncrement(Round.Counts->Candidates)] = static_cast<uint32_t>(i);
    }
  }
};

/** Discards candidates that are obstructed by another edge. One work item tests one edge of the node. */
template <typename TRound>
struct TestCandidates
{
  static constexpr uint32_t TeamSize = LanesOfChange;

  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return size_t{ Round.Counts->Candidates } * MapNode::MaximumDegree;
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const uint32_t      number = Arrays.Gaining[i / MapNode::MaximumDegree];
    const auto          j = static_cast<uint32_t>(i % MapNode::MaximumDegree);
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, number);
    if (j < map.Nodes[candidate.Node].Degree &&
        !TriangleIsClear(map, Round.Grid, candidate.Node, j, candidate.To, team.GetShare()))
    {
      Arrays.DeltaCosts[number] = 0.0;
    }
  }
};

/** Proposes the best candidate of each node, and reserves its cells. */
template <typename TRound>
struct ProposeMoves : NodeKernel<TRound, Move>
{
  static constexpr uint32_t TeamSize = LanesOfChange;

  MoveArrays Candidates;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Candidates.GetNumberOfNodes(this->Round.Counts->Work);
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const TRound & round = this->Round;
    const uint32_t number = Candidates.Work[Candidates.First + i];
    if (i == 0)
    {
      team.Single([&] { round.Counts->Candidates = 0; }); // for the next part
    }
    const double * deltaCosts = Candidates.DeltaCosts + i * NumberOfCandidates;
    int            best = 0;
    for (int candidate = 1; candidate < NumberOfCandidates; ++candidate)
    {
      best = deltaCosts[candidate] < deltaCosts[best] ? candidate : best;
    }
    team.Single([&] { this->Arrays.IsActive[number] = deltaCosts[best] < 0.0 ? 1 : 0; });
    if (deltaCosts[best] < 0.0)
    {
      const MovingNode node = LoadNode(round.GetMap(), number);
      Move             move;
      move.DeltaCost = deltaCosts[best];
      move.Id = number;
      move.To = CandidateOf(node.Position, best);
      ITK_CUDA_UNROLL
      for (uint32_t j = 0; j < MapNode::MaximumDegree; ++j)
      {
        move.Sums[j] = j < node.NumberOfEdges ? Candidates.GetSums(i, j, static_cast<size_t>(best)) : Moments{};
      }
      move.Counts = CountMove(node, [&](uint32_t j) { return move.Sums[j] - node.Edges[j].Sums; });
      this->Propose(move, team);
    }
  }
};

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
      this->Propose(move, SerialTeam{});
    }
  }

private:
  /** Finds the best possible candidate of a node. Returns false if no candidate with a gain is possible. */
  bool
  FindBest(const MapView & map, uint32_t number, Move & move) const
  {
    const TRound &   round = this->Round;
    const MovingNode node = LoadNode(map, number);
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
        sums[candidate] = this->Round.Integrator.SumEdge(CandidateOf(node.Position, candidate), far);
      }
    }
    return sums;
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
