// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeRounds_h
#define CudaFilters_partition_refine_NodeRounds_h

#include "partition/refine/Refinement.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** The rounds of a phase that changes single nodes. A node without a proposal becomes active again when it or a
 * neighbour has changed. `TPhase` has a type Proposal, derived from RankedProposal, and
 *   NodesPerPiece                                  minimum number of nodes per thread
 *   bool Propose(uint32_t node, Proposal &) const  called concurrently by all threads
 *   bool ForCells(const Proposal &, function) const  visits the cells that it sweeps, until function returns false
 *   void Apply(const Proposal &)
 *   void ForChanged(const Proposal &, function)      visits the nodes that become active again with their neighbours
 */
template <typename TPhase>
class NodeRounds
{
public:
  NodeRounds(Refinement & refinement, TPhase & phase)
    : m_Refinement(refinement)
    , m_Phase(phase)
    , m_IsActive(refinement.Map.Nodes.size(), 1)
  {}

  /** Runs the rounds. Returns false if the run is to end. */
  bool
  Run(size_t maximumNumberOfRounds)
  {
    bool goesOn = true;
    m_HasWon = true;
    for (size_t round = 0; round < maximumNumberOfRounds && goesOn && m_HasWon; ++round)
    {
      goesOn = this->RunRound();
    }
    return goesOn;
  }

private:
  using Proposal = typename TPhase::Proposal;

  Refinement &                m_Refinement;
  TPhase &                    m_Phase;
  std::vector<uint8_t>        m_IsActive;
  std::vector<uint32_t>       m_Work;
  std::vector<Proposal>       m_Proposals;
  std::vector<RankedProposal> m_RankedProposals;
  bool                        m_HasWon{ true };

  bool
  RunRound()
  {
    if (!m_Refinement.BeginRound())
    {
      return false;
    }
    this->ListWork();
    this->Propose();
    const auto winners = m_Refinement.ChooseWinners(m_RankedProposals, [this](size_t i, const auto & function) {
      return m_Phase.ForCells(m_Proposals[i], function);
    });
    for (const size_t i : winners)
    {
      m_Phase.Apply(m_Proposals[i]);
    }
    for (const size_t i : winners)
    {
      m_Phase.ForChanged(m_Proposals[i], [this](uint32_t node) { this->Wake(node); });
    }
    m_HasWon = !winners.empty();
    return true;
  }

  void
  ListWork()
  {
    m_Work.clear();
    for (uint32_t i = 0; i < m_IsActive.size(); ++i)
    {
      if (m_IsActive[i] != 0 && m_Refinement.Map.Nodes[i].Degree > 0)
      {
        m_Work.push_back(i);
      }
    }
    m_Refinement.Shuffle(m_Work);
  }

  /** Collects the proposals of all active nodes, and their proposals. */
  void
  Propose()
  {
    m_Proposals.resize(m_Work.size());
    m_Refinement.Threads.ForRanges(m_Work.size(), TPhase::NodesPerPiece, [this](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
      {
        m_Proposals[i] = {};
        m_IsActive[m_Work[i]] = m_Phase.Propose(m_Work[i], m_Proposals[i]) ? 1 : 0;
      }
    });
    size_t number = 0;
    for (size_t i = 0; i < m_Work.size(); ++i)
    {
      if (m_IsActive[m_Work[i]] != 0)
      {
        m_Proposals[number++] = m_Proposals[i];
      }
    }
    m_Proposals.resize(number);
    m_Refinement.Shuffle(m_Proposals);
    m_RankedProposals.assign(m_Proposals.begin(), m_Proposals.end());
  }

  void
  Wake(uint32_t node)
  {
    const MapNode & n = m_Refinement.Map.Nodes[node];
    m_IsActive[node] = 1;
    for (uint32_t i = 0; i < n.Degree; ++i)
    {
      m_IsActive[m_Refinement.Map.Edges[n.Edges[i]].GetOther(node)] = 1;
    }
  }
};
} // namespace itk::cuda::partition

#endif
