// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeFunctors_h
#define CudaFilters_partition_refine_NodeFunctors_h

#include "partition/map/MapArrays.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Moves and removals of single nodes as parallel loops.
namespace itk::cuda::partition
{
namespace functors
{
/** Begins a round and lists the active nodes. The list stays empty if the grid does not contain all edges. */
template <typename TAtomics>
struct BeginNodeRound
{
  MapRound        Round;
  size_t          NumberOfRegions;
  size_t          NumberOfNodes;
  const uint8_t * IsActive;
  uint32_t *      Work;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfRegions > NumberOfNodes ? NumberOfRegions : NumberOfNodes;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfRegions)
    {
      BeginMapRound{ Round }(i);
    }
    if (i < NumberOfNodes && IsActive[i] != 0 && Round.Nodes[i].Degree > 0 && !Round.IsGridFull())
    {
      Work[TAtomics::FetchIncrement(Round.Counts->Work)] = static_cast<uint32_t>(i);
    }
  }
};

/** The arrays of a phase. */
template <typename TProposal>
struct NodeArrays
{
  uint8_t *   IsActive;
  uint32_t *  Work;
  TProposal * Proposals;
  uint8_t *   Wins; // whether a proposal owns all of its cells
};

/** Base of the kernels of a round: the round, and the arrays of its phase. */
template <typename TRound, typename TProposal>
struct NodeKernel
{
  TRound                Round;
  NodeArrays<TProposal> Arrays;

protected:
  /** Calls function(cell) for this thread's share of the cells that a proposal sweeps, until it returns false. */
  template <typename TFunction, typename TTile>
  ITK_CUDA_HOST_DEVICE bool
  ForCells(const TProposal & proposal, const TFunction & function, const TTile & tile) const
  {
    return ForCellsOf(Round.Cells, Round.GetMap(), proposal, function, tile.GetShare());
  }
  /** Lists a proposal, and reserves its cells. */
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  Propose(const TProposal & proposal, const TTile & tile) const
  {
    tile.Once([&] { Arrays.Proposals[TRound::Atomics::FetchIncrement(Round.Counts->Proposals)] = proposal; });
    const auto reserve = [this, key = proposal.GetKey()](size_t cell) { return Round.Reserve(cell, key); };
    this->ForCells(proposal, reserve, tile);
  }
};

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
  static constexpr uint32_t TileSize = LanesOfEdge;

  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Arrays.GetNumberOfNodes(Round.Counts->Work) * MoveArrays::EdgesOfNode;
  }
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTile & tile) const
  {
    const CandidateEdge edge(i);
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, edge.Candidate);
    const MapNode &     node = map.Nodes[candidate.Node];
    if (candidate.IsInside && edge.J < node.Degree)
    {
      const LatticePoint far = map.At(map.Edges[node.Edges[edge.J]].GetOther(candidate.Node));
      const Moments      sums = SumEdge(Round.Pixels, candidate.To, far, tile);
      tile.Once([&] { Arrays.Sums[i] = sums; });
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
      const MovingNode node = DescribeNode(map, candidate.Node);
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
  static constexpr uint32_t TileSize = LanesOfChange;

  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return size_t{ Round.Counts->Candidates } * MapNode::MaximumDegree;
  }
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTile & tile) const
  {
    const uint32_t      number = Arrays.Gaining[i / MapNode::MaximumDegree];
    const auto          j = static_cast<uint32_t>(i % MapNode::MaximumDegree);
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, number);
    if (j < map.Nodes[candidate.Node].Degree &&
        !TriangleIsClear(map, Round.Grid, candidate.Node, j, candidate.To, tile.GetShare()))
    {
      Arrays.DeltaCosts[number] = 0.0;
    }
  }
};

/** Proposes the best candidate of each node, and reserves its cells. */
template <typename TRound>
struct ProposeMoves : NodeKernel<TRound, Move>
{
  static constexpr uint32_t TileSize = LanesOfChange;

  MoveArrays Candidates;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Candidates.GetNumberOfNodes(this->Round.Counts->Work);
  }
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTile & tile) const
  {
    const TRound & round = this->Round;
    const uint32_t number = Candidates.Work[Candidates.First + i];
    if (i == 0)
    {
      tile.Once([&] { round.Counts->Candidates = 0; }); // for the next part
    }
    const double * deltaCosts = Candidates.DeltaCosts + i * NumberOfCandidates;
    int            best = 0;
    for (int candidate = 1; candidate < NumberOfCandidates; ++candidate)
    {
      best = deltaCosts[candidate] < deltaCosts[best] ? candidate : best;
    }
    tile.Once([&] { this->Arrays.IsActive[number] = deltaCosts[best] < 0.0 ? 1 : 0; });
    if (deltaCosts[best] < 0.0)
    {
      const MovingNode node = DescribeNode(round.GetMap(), number);
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
      this->Propose(move, tile);
    }
  }
};

/** Proposes the removal of each active node if it has a gain and is possible, and reserves its cells. */
template <typename TRound>
struct ProposeRemovals : NodeKernel<TRound, Removal>
{
  static constexpr uint32_t TileSize = LanesOfChange;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Round.Counts->Work;
  }
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTile & tile) const
  {
    const uint32_t number = this->Arrays.Work[i];
    Removal        removal;
    const bool     proposes = ProposeRemoval(this->Round, number, removal, tile);
    tile.Once([&] { this->Arrays.IsActive[number] = proposes ? 1 : 0; });
    if (proposes)
    {
      this->Propose(removal, tile);
    }
  }
};

/** A loop over the proposals. */
template <typename TRound, typename TProposal>
struct PerProposalKernel : NodeKernel<TRound, TProposal>
{
  static constexpr uint32_t TileSize = LanesOfChange;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Round.Counts->Proposals;
  }
};

/** Finds the proposals that own all of their cells, and frees the cells that each one owns. */
template <typename TRound, typename TProposal>
struct CheckProposals : PerProposalKernel<TRound, TProposal>
{
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTile & tile) const
  {
    const TRound &    round = this->Round;
    const TProposal & proposal = this->Arrays.Proposals[i];
    const uint64_t    key = proposal.GetKey();
    const auto        owns = [&round, key](size_t cell) { return round.Owns(cell, key); };
    const bool        wins = tile.All(this->ForCells(proposal, owns, tile));
    const auto        free = [&round, key](size_t cell) { return round.FreeIfOwned(cell, key); };
    this->ForCells(proposal, free, tile); // all threads have checked; two may visit one cell
    tile.Once([&] {
      this->Arrays.Wins[i] = wins ? 1 : 0;
      if (wins)
      {
        round.AddPixelLoss(proposal);
      }
    });
  }
};

/** Applies the accepted winners, excluding those that together take too many pixels. Winners have no common point, so
 * that none changes a node or an edge of another one. */
template <typename TRound, typename TProposal>
struct ApplyProposals : PerProposalKernel<TRound, TProposal>
{
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTile & tile) const
  {
    // By reference, because a copy would read uninitialized words.
    const TProposal & proposal = this->Arrays.Proposals[i];
    if (this->Arrays.Wins[i] != 0 && this->Round.Accepts(proposal))
    {
      Apply(this->Round, proposal, tile);
      tile.Once([&] {
        ForChanged(proposal, [this](uint32_t node) { this->Wake(node); });
        TRound::Atomics::FetchIncrement(this->Round.Counts->Winners);
      });
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  Wake(uint32_t number) const
  {
    const MapNode & node = this->Round.Nodes[number];
    this->Arrays.IsActive[number] = 1;
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      this->Arrays.IsActive[this->Round.Edges[node.Edges[j]].GetOther(number)] = 1;
    }
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
