// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionNodeRounds.h"
#include "itkCudaPartitionTopology.h"

namespace itk::cuda::partition
{
namespace
{
/** Gain of a node that goes from the image's border, where nothing else changes. */
constexpr double GainOnBorder = -1.0;

class Removals
{
public:
  struct Proposal : Bid // Id: the node
  {
    uint32_t Nodes[3]; // the node between its neighbours
  };

  explicit Removals(Refinement & refinement)
    : m_Refinement(refinement)
    , m_Map(refinement.Map)
  {}

  void
  Prepare(const std::vector<uint32_t> &)
  {}

  bool
  Propose(size_t, uint32_t i, Proposal & proposal) const
  {
    const MapNode & node = m_Map.Nodes[i];
    if (node.Degree != 2 || m_Map.KindOf(node.Position).IsCorner())
    {
      return false;
    }
    const uint32_t a = m_Map.Edges[node.Edges[0]].GetOther(i);
    const uint32_t b = m_Map.Edges[node.Edges[1]].GetOther(i);
    if (a == b)
    {
      return false;
    }
    const MapEdge first = m_Map.Edges[node.Edges[0]].From(a);
    const MapEdge second = m_Map.Edges[node.Edges[1]].From(i);
    const Moments change = m_Refinement.Pixels.SumEdge(m_Map.At(a), m_Map.At(b)) - (first.Sums + second.Sums);
    proposal.Gain = (first.IsBorder() ? GainOnBorder : -m_Refinement.Description.SegmentCost) +
                    m_Refinement.GainOf(first.Left, first.Right, change);
    proposal.Id = i;
    proposal.Counts.Add(first.Left, change.Count);
    proposal.Counts.Add(first.Right, -change.Count);
    proposal.Nodes[0] = a;
    proposal.Nodes[1] = i;
    proposal.Nodes[2] = b;
    return proposal.Gain < -MinimumGain && m_Refinement.Allows(proposal.Counts) &&
           ChordKeepsTopology(m_Map, m_Refinement.Grid, { proposal.Nodes, 3 }, [i](uint32_t, const MapEdge & edge) {
             return edge.Start == i || edge.End == i;
           });
  }

  template <typename TFunction>
  bool
  ForCells(const Proposal & proposal, const TFunction & function) const
  {
    return ForCellsOfTriangle(m_Refinement.Cells.GetLayout(),
                              m_Map.At(proposal.Nodes[0]),
                              m_Map.At(proposal.Nodes[1]),
                              m_Map.At(proposal.Nodes[2]),
                              function);
  }

  void
  Apply(const Proposal & proposal)
  {
    const MapNode  node = m_Map.Nodes[proposal.Id];
    const uint32_t edges[] = { node.Edges[0], node.Edges[1] };
    ReplaceByChord(m_Refinement, proposal.Nodes, edges, 2);
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
  MapData &    m_Map;
};
} // namespace

bool
RemoveNodes(Refinement & refinement)
{
  refinement.Tidy();
  Removals             phase(refinement);
  NodeRounds<Removals> rounds(refinement, phase);
  return rounds.Run(refinement.Map.Nodes.size() + 1); // each but the last takes out a node
}
} // namespace itk::cuda::partition
