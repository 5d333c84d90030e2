// SPDX-License-Identifier: Apache-2.0
#include "partition/refine/MoveSums.h"
#include "partition/refine/NodeRounds.h"

#include <algorithm>
#include <array>

namespace itk::cuda::partition
{
namespace
{
class Moves
{
public:
  using Proposal = Move;
  static constexpr size_t NodesPerPiece = 8;

  explicit Moves(Refinement & refinement)
    : m_Refinement(refinement)
    , m_Map(refinement.Map)
  {}

  /** Proposes the allowed candidate with the largest gain. */
  bool
  Propose(uint32_t i, Proposal & proposal) const
  {
    if (m_Map.KindOf(m_Map.At(i)).IsCorner())
    {
      return false;
    }
    proposal.Id = i;
    const MovingNode      node = DescribeNode(m_Map, i);
    CandidateSums         room[MapNode::MaximumDegree];
    const CandidateSums * sums[MapNode::MaximumDegree];
    this->FindSums(i, node, room, sums);
    const auto sumsFrom = [&](int candidate, uint32_t j) { return sums[j]->Sums[static_cast<size_t>(candidate)]; };
    return this->ChooseAllowed(node, this->Weigh(node, sumsFrom), sumsFrom, proposal);
  }

  template <typename TFunction>
  bool
  ForCells(const Proposal & proposal, const TFunction & function) const
  {
    return ForCellsOfMove(m_Refinement.Cells.GetLayout(), m_Map, proposal, function);
  }

  void
  Apply(const Proposal & proposal)
  {
    ApplyMove(m_Refinement, proposal);
    const MapNode & node = m_Map.Nodes[proposal.Id];
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      m_Refinement.AddToGrid(node.Edges[j]);
    }
  }

  template <typename TFunction>
  void
  ForChanged(const Proposal & proposal, const TFunction & function) const
  {
    function(proposal.Id);
  }

private:
  using Gains = std::array<double, NumberOfCandidates>;

  Refinement & m_Refinement;
  MapData &    m_Map;

  /** Finds the sums of the node's edges from the candidates. \param room storage for sums that the cache does not hold
   */
  void
  FindSums(uint32_t i, const MovingNode & node, CandidateSums * room, const CandidateSums ** sums) const
  {
    for (uint32_t j = 0; j < node.NumberOfEdges; ++j)
    {
      CandidateSums * const kept = m_Refinement.KeptSums.Find(m_Map, m_Map.Nodes[i].Edges[j], i);
      CandidateSums &       found = kept != nullptr ? *kept : room[j];
      this->Update(found, node.Position, node.Edges[j].Far);
      sums[j] = &found;
    }
  }

  /** Recomputes cached sums if they are not for an edge between these two positions. */
  void
  Update(CandidateSums & sums, const LatticePoint & at, const LatticePoint & far) const
  {
    using region::operator==;
    if (sums.At == at && sums.Far == far)
    {
      return;
    }
    sums.At = at;
    sums.Far = far;
    for (int candidate = 0; candidate < NumberOfCandidates; ++candidate)
    {
      const LatticePoint to = CandidateOf(at, candidate);
      if (m_Map.GetExtent().Allows(at, to))
      {
        sums.Sums[candidate] = m_Refinement.Pixels.SumEdge(to, far);
      }
    }
  }

  /** Returns the gains of the candidates. sumsFrom(candidate, j) returns the sums of edge j from the candidate. */
  template <typename TFunction>
  Gains
  Weigh(const MovingNode & node, const TFunction & sumsFrom) const
  {
    Gains gains{};
    for (int candidate = 0; candidate < NumberOfCandidates; ++candidate)
    {
      if (m_Map.GetExtent().Allows(node.Position, CandidateOf(node.Position, candidate)))
      {
        gains[static_cast<size_t>(candidate)] = GainOfMove(node, m_Refinement.GetTangents().data(), [&](uint32_t j) {
          return sumsFrom(candidate, j) - node.Edges[j].Sums;
        });
      }
    }
    return gains;
  }

  /** Chooses the first candidate, by gain and then by number, that leaves regions large enough and keeps the topology.
   */
  template <typename TFunction>
  bool
  ChooseAllowed(const MovingNode & node, Gains gains, const TFunction & sumsFrom, Proposal & proposal) const
  {
    for (int tried = 0; tried < NumberOfCandidates; ++tried)
    {
      const auto best = std::min_element(gains.begin(), gains.end());
      const int  candidate = static_cast<int>(best - gains.begin());
      if (*best == 0.0)
      {
        return false;
      }
      proposal.Gain = *best;
      proposal.To = CandidateOf(node.Position, candidate);
      for (uint32_t j = 0; j < node.NumberOfEdges; ++j)
      {
        proposal.Sums[j] = sumsFrom(candidate, j);
      }
      proposal.Counts = CountMove(node, [&](uint32_t j) { return proposal.Sums[j] - node.Edges[j].Sums; });
      if (m_Refinement.Allows(proposal.Counts) &&
          MoveKeepsTopology(m_Map, m_Refinement.GetGrid(), proposal.Id, proposal.To))
      {
        return true;
      }
      *best = 0.0; // larger than every gain, which is negative
    }
    return false;
  }
};
} // namespace

bool
MoveNodes(Refinement & refinement, int maximumNumberOfRounds)
{
  refinement.CompactIfSparse();
  refinement.KeptSums.Reserve(refinement.Map);
  Moves             phase(refinement);
  NodeRounds<Moves> rounds(refinement, phase);
  return rounds.Run(static_cast<size_t>(maximumNumberOfRounds));
}

namespace
{
class Removals
{
public:
  using Proposal = Removal;
  static constexpr size_t NodesPerPiece = 64;

  explicit Removals(Refinement & refinement)
    : m_Refinement(refinement)
  {}

  bool
  Propose(uint32_t i, Proposal & proposal) const
  {
    return ProposeRemoval(m_Refinement, i, proposal, SerialTile{});
  }

  template <typename TFunction>
  bool
  ForCells(const Proposal & proposal, const TFunction & function) const
  {
    return ForCellsOfRemoval(m_Refinement.Cells.GetLayout(), m_Refinement.Map, proposal, function);
  }

  void
  Apply(const Proposal & proposal)
  {
    m_Refinement.AddToGrid(ApplyRemoval(m_Refinement, proposal));
  }

  template <typename TFunction>
  void
  ForChanged(const Proposal & proposal, const TFunction & function) const
  {
    function(proposal.Nodes[0]);
    function(proposal.Nodes[2]);
  }

private:
  Refinement & m_Refinement;
};
} // namespace

bool
RemoveNodes(Refinement & refinement)
{
  refinement.CompactIfSparse();
  Removals             phase(refinement);
  NodeRounds<Removals> rounds(refinement, phase);
  return rounds.Run(refinement.Map.Nodes.size() + 1); // every round but the last removes at least one node
}
} // namespace itk::cuda::partition
