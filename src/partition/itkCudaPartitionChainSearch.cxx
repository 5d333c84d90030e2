// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionChainSearch.h"

#include "itkCudaPartitionTopology.h"

#include <algorithm>
#include <limits>

namespace itk::cuda::partition
{
ChainSearch::ChainSearch(const Refinement & refinement, const ChainList & chains)
  : m_Refinement(refinement)
  , m_Chains(chains)
{}

bool
ChainSearch::Run(size_t number, Bid & bid, uint8_t * isKept)
{
  const Chain  chain = m_Chains.Get(number);
  const size_t edges = chain.NumberOfEdges;
  if (edges < 2)
  {
    return false;
  }
  this->Load(chain);
  bid.Id = chain.Edges[0];
  bid.Gain = this->FindBest(edges) - static_cast<double>(edges) * m_Refinement.Description.SegmentCost;
  if (!(bid.Gain < -MinimumGain))
  {
    return false;
  }
  this->Trace(edges);
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
  std::fill_n(isKept, edges + 1, uint8_t{ 0 });
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

/** What the chord between two of the chain's nodes brings to the region on its left. */
Moments
ChainSearch::GetChange(size_t from, size_t to) const
{
  return to == from + 1 ? Moments{}
                        : m_Refinement.Pixels.SumEdge(m_Positions[from], m_Positions[to]) - (m_Sums[to] - m_Sums[from]);
}

/** The least cost of a polyline to the last node; m_From has the way. Among equal ones the node that comes first wins.
 */
double
ChainSearch::FindBest(size_t edges)
{
  using region::operator==;
  const double  segment = m_Refinement.Description.SegmentCost;
  m_Costs[0] = 0.0;
  for (size_t j = 1; j <= edges; ++j)
  {
    m_Costs[j] = std::numeric_limits<double>::infinity();
    for (size_t i = j - std::min(j, ChainWindow); i < j; ++i)
    {
      if (m_Positions[i] == m_Positions[j])
      {
        continue;
      }
      const double cost = m_Costs[i] + (segment + m_Refinement.GainOf(m_Left, m_Right, this->GetChange(i, j)));
      if (cost < m_Costs[j])
      {
        m_Costs[j] = cost;
        m_From[j] = static_cast<uint16_t>(i);
      }
    }
  }
  return m_Costs[edges];
}

/** Lists the nodes of the best polyline. */
void
ChainSearch::Trace(size_t edges)
{
  m_NumberKept = 0;
  for (size_t j = edges; j > 0; j = m_From[j])
  {
    m_Kept[m_NumberKept++] = static_cast<uint16_t>(j);
  }
  m_Kept[m_NumberKept++] = 0;
  std::reverse(m_Kept.begin(), m_Kept.begin() + static_cast<ptrdiff_t>(m_NumberKept));
}

/** Whether the best polyline has a point twice, other than the node where a closed one begins and ends. */
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
  const auto isOwn = [&](uint32_t edge, const MapEdge &) { return m_Chains.GetChainOf(edge) == number; };
  for (size_t i = 0; i + 1 < m_NumberKept; ++i)
  {
    const size_t from = m_Kept[i];
    const size_t to = m_Kept[i + 1];
    const Line   line{ chain.Nodes + from, static_cast<int32_t>(to - from + 1) };
    if (to > from + 1 && !ChordKeepsTopology(m_Refinement.Map, m_Refinement.Grid, line, isOwn))
    {
      return false;
    }
  }
  return true;
}
} // namespace itk::cuda::partition
