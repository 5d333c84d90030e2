// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionMoveSums.h"
#include "itkCudaPartitionNodeRounds.h"
#include "itkCudaPartitionTopology.h"

namespace itk::cuda::partition
{
namespace
{
LatticePoint
CandidateOf(const LatticePoint & position, int candidate)
{
  static constexpr int32_t x[NumberOfDirections] = { 1, 1, 0, -1, -1, -1, 0, 1 };
  static constexpr int32_t y[NumberOfDirections] = { 0, 1, 1, 1, 0, -1, -1, -1 };
  const int                direction = candidate % NumberOfDirections;
  const int32_t            distance = 1 << (candidate / NumberOfDirections);
  return { position.X + distance * x[direction], position.Y + distance * y[direction] };
}

/** Whether a node of the kind may lie there: inside the image, or on its side of the border. */
bool
IsPossible(const MapData & map, const BorderKind & kind, const LatticePoint & from, const LatticePoint & to)
{
  const bool xIsInside = to.X > 0 && to.X < map.Width;
  const bool yIsInside = to.Y > 0 && to.Y < map.Height;
  return (kind.FixesX ? to.X == from.X : xIsInside) && (kind.FixesY ? to.Y == from.Y : yIsInside);
}

class Moves
{
public:
  struct Proposal : Bid // Id: the node
  {
    LatticePoint To;
  };

  explicit Moves(Refinement & refinement)
    : m_Refinement(refinement)
    , m_Map(refinement.Map)
  {}

  /** The candidate that gains most of those that are allowed. */
  bool
  Propose(uint32_t i, Proposal & proposal) const
  {
    const MapNode &  node = m_Map.Nodes[i];
    const BorderKind kind = m_Map.KindOf(node.Position);
    if (kind.IsCorner())
    {
      return false;
    }
    CandidateSums  room[MapNode::MaximumDegree];
    const Incident incident = this->GetIncident(i, room);
    Proposal       candidates[NumberOfCandidates];
    int            number = 0;
    for (int candidate = 0; candidate < NumberOfCandidates; ++candidate)
    {
      const LatticePoint to = CandidateOf(node.Position, candidate);
      if (IsPossible(m_Map, kind, node.Position, to) && this->Evaluate(incident, candidate, candidates[number]))
      {
        candidates[number].Id = i;
        candidates[number++].To = to;
      }
    }
    return this->ChooseSafe(candidates, number, proposal);
  }

  template <typename TFunction>
  bool
  ForCells(const Proposal & proposal, const TFunction & function) const
  {
    const MapNode & node = m_Map.Nodes[proposal.Id];
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      const LatticePoint & far = m_Map.At(m_Map.Edges[node.Edges[j]].GetOther(proposal.Id));
      if (!ForCellsOfTriangle(m_Refinement.Cells.GetLayout(), far, node.Position, proposal.To, function))
      {
        return false;
      }
    }
    return true;
  }

  void
  Apply(const Proposal & proposal)
  {
    MapNode & node = m_Map.Nodes[proposal.Id];
    node.Position = proposal.To;
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      MapEdge &     edge = m_Map.Edges[node.Edges[j]];
      const Moments sums = m_Refinement.Pixels.SumEdge(m_Map.At(edge.Start), m_Map.At(edge.End));
      m_Map.Transfer(edge.Left, edge.Right, sums - edge.Sums);
      edge.Sums = sums;
    }
  }

  template <typename TFunction>
  void
  ForChanged(const Proposal & proposal, const TFunction & function) const
  {
    function(proposal.Id);
  }

private:
  Refinement & m_Refinement;
  MapData &    m_Map;

  /** The edges of a node, in the order of their numbers, as they leave it. */
  struct Incident
  {
    MapEdge               Edges[MapNode::MaximumDegree];
    const CandidateSums * Sums[MapNode::MaximumDegree];
    uint32_t              Number;
  };

  /** `room`: for sums that are not kept. */
  Incident
  GetIncident(uint32_t i, CandidateSums * room) const
  {
    const MapNode & node = m_Map.Nodes[i];
    Incident        incident;
    incident.Number = node.Degree;
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      incident.Edges[j] = m_Map.Edges[node.Edges[j]].From(i);
      CandidateSums * const kept = m_Refinement.KeptSums.Find(m_Map, node.Edges[j], i);
      CandidateSums &       sums = kept != nullptr ? *kept : room[j];
      this->Update(sums, node.Position, m_Map.At(incident.Edges[j].End));
      incident.Sums[j] = &sums;
    }
    return incident;
  }

  /** Makes the sums be those of an edge that leads from a node at one place to one at another. */
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
      if (IsPossible(m_Map, m_Map.KindOf(at), at, to))
      {
        sums.Sums[candidate] = m_Refinement.Pixels.SumEdge(to, far);
      }
    }
  }

  /** What the move changes. Returns whether it gains enough and leaves regions large enough. */
  bool
  Evaluate(const Incident & incident, int candidate, Proposal & proposal) const
  {
    int64_t counts[MapNode::MaximumDegree];
    proposal.Gain = 0.0;
    for (uint32_t j = 0; j < incident.Number; ++j)
    {
      const MapEdge & edge = incident.Edges[j];
      const Moments   change = incident.Sums[j]->Sums[candidate] - edge.Sums;
      proposal.Gain += m_Refinement.GainOf(edge.Left, edge.Right, change);
      counts[j] = change.Count;
    }
    if (!(proposal.Gain < -MinimumGain))
    {
      return false;
    }
    proposal.Counts = {};
    for (uint32_t j = 0; j < incident.Number; ++j)
    {
      proposal.Counts.Add(incident.Edges[j].Left, counts[j]);
      proposal.Counts.Add(incident.Edges[j].Right, -counts[j]);
    }
    return m_Refinement.Allows(proposal.Counts);
  }

  /** The first one, by gain and number, that keeps the topology. */
  bool
  ChooseSafe(Proposal * candidates, int number, Proposal & proposal) const
  {
    const auto isBetter = [](const Proposal & x, const Proposal & y) { return x.Gain < y.Gain; };
    for (int tried = 0; tried < number; ++tried)
    {
      Proposal & best = *std::min_element(candidates, candidates + number, isBetter);
      if (MoveKeepsTopology(m_Map, m_Refinement.Grid, best.Id, best.To))
      {
        proposal = best;
        return true;
      }
      best.Gain = 0.0; // above all others
    }
    return false;
  }
};
} // namespace

bool
MoveNodes(Refinement & refinement, int maximumNumberOfRounds)
{
  refinement.Tidy();
  refinement.KeptSums.Reserve(refinement.Map);
  Moves             phase(refinement);
  NodeRounds<Moves> rounds(refinement, phase);
  return rounds.Run(static_cast<size_t>(maximumNumberOfRounds));
}
} // namespace itk::cuda::partition
