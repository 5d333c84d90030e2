// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeProposals_h
#define CudaFilters_partition_refine_NodeProposals_h

#include "partition/refine/NodeChanges.h"

#include <cstddef>
#include <cstdint>

// The parallel loops of rounds that change single nodes: removals are proposed, and proposals are checked and applied.
// MoveProposals.h has the loops that propose moves.
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
  template <typename TFunction, typename TTeam>
  ITK_CUDA_HOST_DEVICE bool
  ForCells(const TProposal & proposal, const TFunction & function, const TTeam & team) const
  {
    return ForCellsOf(Round.Cells, Round.GetMap(), proposal, function, team.GetShare());
  }
  /** Lists a proposal, and reserves its cells. */
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  Propose(const TProposal & proposal, const TTeam & team) const
  {
    team.Single([&] { Arrays.Proposals[TRound::Atomics::FetchIncrement(Round.Counts->Proposals)] = proposal; });
    const auto reserve = [this, key = proposal.GetKey()](size_t cell) { return Round.Reserve(cell, key); };
    this->ForCells(proposal, reserve, team);
  }
};

/** Proposes the removal of each active node if it has a gain and is possible, and reserves its cells. */
template <typename TRound>
struct ProposeRemovals : NodeKernel<TRound, Removal>
{
  static constexpr uint32_t TeamSize = LanesOfChange;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Round.Counts->Work;
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const uint32_t number = this->Arrays.Work[i];
    Removal        removal;
    const bool     proposes = ProposeRemoval(this->Round, number, removal, team);
    team.Single([&] { this->Arrays.IsActive[number] = proposes ? 1 : 0; });
    if (proposes)
    {
      this->Propose(removal, team);
    }
  }
};

/** A loop over the proposals. */
template <typename TRound, typename TProposal>
struct PerProposalKernel : NodeKernel<TRound, TProposal>
{
  static constexpr uint32_t TeamSize = LanesOfChange;

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
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const TRound &    round = this->Round;
    const TProposal & proposal = this->Arrays.Proposals[i];
    const uint64_t    key = proposal.GetKey();
    const auto        owns = [&round, key](size_t cell) { return round.Owns(cell, key); };
    const bool        wins = team.All(this->ForCells(proposal, owns, team));
    const auto        free = [&round, key](size_t cell) { return round.FreeIfOwned(cell, key); };
    this->ForCells(proposal, free, team); // all threads have checked; two may visit one cell
    team.Single([&] {
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
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    // By reference, because a copy would read uninitialized words.
    const TProposal & proposal = this->Arrays.Proposals[i];
    if (this->Arrays.Wins[i] != 0 && this->Round.Accepts(proposal))
    {
      Apply(this->Round, proposal, team);
      team.Single([&] {
        ForNodesToActivate(proposal, [this](uint32_t node) { this->Activate(node); });
        TRound::Atomics::FetchIncrement(this->Round.Counts->Winners);
      });
    }
  }

private:
  /** Marks a node and its neighbours. Other winners may mark the same nodes. */
  ITK_CUDA_HOST_DEVICE void
  Activate(uint32_t number) const
  {
    const auto mark = [this](uint32_t node) {
      TRound::Atomics::StoreRelaxed(this->Arrays.IsActive[node], uint8_t{ 1 });
    };
    const MapNode & node = this->Round.Nodes[number];
    mark(number);
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      mark(this->Round.Edges[node.Edges[j]].GetOther(number));
    }
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
