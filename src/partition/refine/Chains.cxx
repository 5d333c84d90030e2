// SPDX-License-Identifier: Apache-2.0
#include "partition/refine/ChainList.h"
#include "partition/refine/ChainSearch.h"
#include "partition/refine/Refinement.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
namespace
{
class ChainRound
{
public:
  ChainRound(Refinement & refinement, std::vector<uint8_t> & hasNoGain)
    : m_Refinement(refinement)
    , m_IsIdle(hasNoGain)
    , m_Chains(refinement.Map, refinement.Threads)
    , m_IsKept(m_Chains.GetNumberOfNodes())
  {}

  /** Runs the round. Returns whether any chain became shorter. */
  bool
  Run()
  {
    this->Propose();
    const auto winners = m_Refinement.ChooseWinners(
      m_RankedProposals, [this](size_t i, const auto & function) { return this->ForCells(m_Work[i], function); });
    std::vector<std::vector<Moments>> sums(winners.size());
    m_Refinement.Threads.ForRanges(winners.size(), 16, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
      {
        sums[i] = this->SumChords(m_Work[winners[i]]);
      }
    });
    for (size_t i = 0; i < winners.size(); ++i)
    {
      this->Apply(m_Work[winners[i]], sums[i]);
    }
    return !winners.empty();
  }

private:
  Refinement &                m_Refinement;
  std::vector<uint8_t> &      m_IsIdle; // whether the chain that begins with an edge had no gain
  const ChainList             m_Chains;
  std::vector<uint8_t>        m_IsKept; // for the nodes of all chains, by offset
  std::vector<uint32_t>       m_Work;   // chains; finally the chains of the proposals
  std::vector<RankedProposal> m_RankedProposals;

  void
  Propose()
  {
    for (uint32_t i = 0; i < m_Chains.GetNumber(); ++i)
    {
      if (m_IsIdle[m_Chains.Get(i).Edges[0]] == 0)
      {
        m_Work.push_back(i);
      }
    }
    m_Refinement.Shuffle(m_Work);
    std::vector<RankedProposal> proposals(m_Work.size());
    m_Refinement.Threads.ForRanges(m_Work.size(), 4, [&](size_t begin, size_t end) {
      ChainSearch search(m_Refinement, m_Chains);
      for (size_t i = begin; i < end; ++i)
      {
        const ChainList::Chain chain = m_Chains.Get(m_Work[i]);
        m_IsIdle[chain.Edges[0]] = search.Run(m_Work[i], proposals[i], m_IsKept.data() + chain.Offset) ? 0 : 1;
      }
    });
    this->DropWithoutGain(proposals);
  }

  void
  DropWithoutGain(const std::vector<RankedProposal> & proposals)
  {
    size_t number = 0;
    for (size_t i = 0; i < m_Work.size(); ++i)
    {
      if (m_IsIdle[m_Chains.Get(m_Work[i]).Edges[0]] == 0)
      {
        m_Work[number++] = m_Work[i];
        m_RankedProposals.push_back(proposals[i]);
      }
    }
    m_Work.resize(number);
  }

  /** Calls function(from, to) for the pieces of the best polyline until it returns false. Returns whether all calls
   * returned true. */
  template <typename TFunction>
  bool
  ForPieces(const ChainList::Chain & chain, const TFunction & function) const
  {
    size_t from = 0;
    for (size_t to = 1; to <= chain.NumberOfEdges; ++to)
    {
      if (m_IsKept[chain.Offset + to] != 0)
      {
        if (!function(from, to))
        {
          return false;
        }
        from = to;
      }
    }
    return true;
  }

  /** Calls the function for the cells between the chain and its best polyline: a fan of triangles from the beginning of
   * each chord. */
  template <typename TFunction>
  bool
  ForCells(uint32_t number, const TFunction & function) const
  {
    const ChainList::Chain chain = m_Chains.Get(number);
    const MapData &        map = m_Refinement.Map;
    return this->ForPieces(chain, [&](size_t from, size_t to) {
      for (size_t j = from; j < to; ++j)
      {
        if (!ForCellsOfTriangle(m_Refinement.Cells.GetLayout(),
                                map.At(chain.Nodes[from]),
                                map.At(chain.Nodes[j]),
                                map.At(chain.Nodes[j + 1]),
                                function))
        {
          return false;
        }
      }
      return true;
    });
  }

  /** Calls function(from, to) for the pieces of the best polyline that replace several edges. */
  template <typename TFunction>
  void
  ForChords(const ChainList::Chain & chain, const TFunction & function) const
  {
    this->ForPieces(chain, [&function](size_t from, size_t to) {
      if (to > from + 1)
      {
        function(from, to);
      }
      return true;
    });
  }

  /** Returns the contributions of a chain's chords. */
  std::vector<Moments>
  SumChords(uint32_t number) const
  {
    const ChainList::Chain chain = m_Chains.Get(number);
    const MapData &        map = m_Refinement.Map;
    std::vector<Moments>   sums;
    this->ForChords(chain, [&](size_t from, size_t to) {
      sums.push_back(m_Refinement.SumEdge(map.At(chain.Nodes[from]), map.At(chain.Nodes[to])));
    });
    return sums;
  }

  void
  Apply(uint32_t number, const std::vector<Moments> & sums)
  {
    const ChainList::Chain chain = m_Chains.Get(number);
    auto                   ofChord = sums.begin();
    this->ForChords(chain, [&](size_t from, size_t to) {
      m_Refinement.AddToGrid(
        ReplaceByChord(m_Refinement, chain.Nodes + from, chain.Edges + from, to - from, *ofChord++));
    });
  }
};

/** Compacts the map if many nodes and edges were removed, because the first rounds remove most of them. The flags are
 * compacted with the edges, whose order does not change. */
void
CompactWithFlags(Refinement & refinement, std::vector<uint8_t> & flags)
{
  const std::vector<MapEdge> & edges = refinement.Map.Edges;
  std::vector<uint8_t>         ofPresentEdges;
  for (size_t i = 0; i < edges.size(); ++i)
  {
    if (edges[i].IsAlive())
    {
      ofPresentEdges.push_back(flags[i]);
    }
  }
  refinement.CompactIfSparse();
  if (edges.size() != flags.size())
  {
    flags = std::move(ofPresentEdges);
  }
}
} // namespace

bool
SimplifyChains(Refinement & refinement)
{
  refinement.CompactIfSparse();
  std::vector<uint8_t> hasNoGain(refinement.Map.Edges.size(), 0);
  bool                 hasWon = true;
  for (int round = 0; round < MaximumNumberOfChainRounds && hasWon; ++round)
  {
    CompactWithFlags(refinement, hasNoGain);
    if (!refinement.BeginRound())
    {
      return false;
    }
    hasWon = ChainRound(refinement, hasNoGain).Run();
  }
  return true;
}
} // namespace itk::cuda::partition
