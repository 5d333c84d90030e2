// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionNodeRounds.h"

namespace itk::cuda::partition
{
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
    return ProposeRemoval(m_Refinement, i, proposal, OneLane{});
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
  refinement.Tidy();
  Removals             phase(refinement);
  NodeRounds<Removals> rounds(refinement, phase);
  return rounds.Run(refinement.Map.Nodes.size() + 1); // each but the last takes out a node
}
} // namespace itk::cuda::partition
