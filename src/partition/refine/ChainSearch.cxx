// SPDX-License-Identifier: Apache-2.0
#include "partition/refine/ChainSearch.h"

#include "partition/map/Topology.h"

#include <algorithm>

namespace itk::cuda::partition
{
ChainSearch::ChainSearch(const Refinement & refinement, const ChainList & chains)
  : m_Refinement(refinement)
  , m_Chains(chains)
{}

bool
ChainSearch::Run(size_t number, RankedProposal & bid, uint8_t * isKept)
{
  const Chain  chain = m_Chains.Get(number);
  const size_t edges = chain.NumberOfEdges;
  if (edges < 2)
  {
    return false;
  }
  this->Load(chain);
  this->FindBest(edges);
  return this->Shortens(chain, m_Costs[edges], bid) && this->Propose(chain, number, bid, isKept);
}

/** Computes the gain of a polyline with this cost, and sets the bid's gain and Id. Returns whether the gain is
 * sufficient. */
bool
ChainSearch::Shortens(const Chain & chain, double cost, RankedProposal & bid) const
{
  bid.Id = chain.Edges[0];
  bid.Gain = cost - static_cast<double>(chain.NumberOfEdges) * m_Refinement.Description.SegmentCost;
  return bid.Gain < -MinimumGain;
}

/** Completes the proposal of the best polyline. Returns whether the polyline is possible. */
bool
ChainSearch::Propose(const Chain & chain, size_t number, RankedProposal & bid, uint8_t * isKept)
{
  this->Trace(chain.NumberOfEdges);
  int64_t change = 0;
  for (size_t i = 0; i + 1 < m_NumberKept; ++i)
  {
    change += this->GetChange(m_Kept[i], m_Kept[i + 1]).Count;
  }
  bid.Counts = {};
  bid.Counts.Add(m_Left, change);
  bid.Counts.Add(m_Right, -change);
  if (!m_Refinement.Allows(bid.Counts) || this->MeetsItself(chain.IsClosed()) || !this->ChordsAreSafe(chain, number))
  {
    return false;
  }
  std::fill_n(isKept, chain.NumberOfEdges + 1, uint8_t{ 0 });
  for (size_t i = 0; i < m_NumberKept; ++i)
  {
    isKept[m_Kept[i]] = 1;
  }
  return true;
}

void
ChainSearch::Load(const Chain & chain)
{
  const MapData & map = m_Refinement.Map;
  const MapEdge   first = map.Edges[chain.Edges[0]].From(chain.Nodes[0]);
  m_Left = first.Left;
  m_Right = first.Right;
  m_Sums[0] = {};
  m_Positions[0] = map.At(chain.Nodes[0]);
  for (size_t i = 0; i < chain.NumberOfEdges; ++i)
  {
    m_Sums[i + 1] = m_Sums[i] + map.Edges[chain.Edges[i]].From(chain.Nodes[i]).Sums;
    m_Positions[i + 1] = map.At(chain.Nodes[i + 1]);
  }
}

/** Returns the sums that the region to the left gains by a chord between two of the chain's nodes. */
Moments
ChainSearch::GetChange(size_t from, size_t to) const
{
  return to == from + 1 ? Moments{}
                        : m_Refinement.Pixels.SumEdge(m_Positions[from], m_Positions[to]) - (m_Sums[to] - m_Sums[from]);
}

void
ChainSearch::FindBest(size_t edges)
{
  const BoundaryTangents tangents = m_Refinement.GetTangents(m_Left, m_Right);
  const double           segmentCost = m_Refinement.Description.SegmentCost;
  ChordWindow            window(m_Refinement.Pixels, m_Prefixes);
  const auto             costOfChord = [&](size_t i, size_t j) {
    window.MoveTo(j, m_Positions.data(), edges);
    return CostOfChord(
      window, tangents, segmentCost, m_Positions[i], m_Positions[j], m_Sums[j] - m_Sums[i], j == i + 1, SerialTile{});
  };
  FindBestPolylines(edges, costOfChord, m_Costs.data(), m_Spans.data());
}

/** Lists the nodes of the best polyline. */
void
ChainSearch::Trace(size_t edges)
{
  m_NumberKept = 0;
  for (size_t j = edges; j > 0; j -= m_Spans[j])
  {
    m_Kept[m_NumberKept++] = static_cast<uint16_t>(j);
  }
  m_Kept[m_NumberKept++] = 0;
  std::reverse(m_Kept.begin(), m_Kept.begin() + static_cast<ptrdiff_t>(m_NumberKept));
}

/** Returns whether the best polyline touches itself, other than at the node where a closed one begins and ends. */
bool
ChainSearch::MeetsItself(bool isClosed) const
{
  const size_t segments = m_NumberKept - 1;
  if (isClosed && segments < 3)
  {
    return true;
  }
  for (size_t i = 0; i + 1 < segments; ++i)
  {
    if (region::FoldsBack(this->KeptAt(i + 1), this->KeptAt(i), this->KeptAt(i + 2)))
    {
      return true;
    }
    for (size_t j = i + 2; j < segments; ++j)
    {
      const bool meet =
        isClosed && i == 0 && j + 1 == segments
          ? region::FoldsBack(this->KeptAt(0), this->KeptAt(1), this->KeptAt(j))
          : region::SegmentsMeet(this->KeptAt(i), this->KeptAt(i + 1), this->KeptAt(j), this->KeptAt(j + 1));
      if (meet)
      {
        return true;
      }
    }
  }
  return false;
}

bool
ChainSearch::ChordsAreSafe(const Chain & chain, size_t number) const
{
  const auto isOwn = [&](const GridEdge & edge) { return m_Chains.GetChainOf(edge.Number) == number; };
  for (size_t i = 0; i + 1 < m_NumberKept; ++i)
  {
    const size_t from = m_Kept[i];
    const size_t to = m_Kept[i + 1];
    const Line   line{
      chain.Nodes[from], chain.Nodes[to], m_Positions.data() + from, static_cast<int32_t>(to - from + 1)
    };
    if (to > from + 1 && !ChordKeepsTopology(m_Refinement.Map, m_Refinement.GetGrid(), line, isOwn))
    {
      return false;
    }
  }
  return true;
}
} // namespace itk::cuda::partition
