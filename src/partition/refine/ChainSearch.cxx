// SPDX-License-Identifier: Apache-2.0
#include "partition/refine/ChainSearch.h"

#include "partition/map/Topology.h"

#include <algorithm>

namespace itk::cuda::partition
{
namespace
{
/** Number of nodes whose chords share a window. */
constexpr size_t NodesOfWindow = 16;

/** A window saves time if it has at most this many positions per chord. */
constexpr size_t PlacesOfChord = 4;
} // namespace

void
ChordWindow::Cover(const LatticeBox & box, size_t limit)
{
  const auto rows = static_cast<size_t>(box.MaximumY - box.MinimumY);
  m_Box = box;
  m_Width = static_cast<size_t>(box.MaximumX - box.MinimumX) + 1;
  m_Prefixes.resize(rows * m_Width <= limit ? rows * m_Width : 0);
  for (size_t row = 0; row * m_Width < m_Prefixes.size(); ++row)
  {
    const int32_t y = box.MinimumY + static_cast<int32_t>(row);
    m_Pixels.RowPrefixes(y, box.MinimumX, box.MaximumX, m_Prefixes.data() + row * m_Width);
  }
}

ChainSearch::ChainSearch(const Refinement & refinement, const ChainList & chains)
  : m_Refinement(refinement)
  , m_Chains(chains)
  , m_Window(refinement.Pixels)
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

/** Moves the window to the chords that end at nodes first to last. */
void
ChainSearch::MoveWindow(size_t first, size_t last)
{
  const size_t begin = first > ChainWindow ? first - ChainWindow : 0;
  LatticeBox   box = region::BoxOf(m_Positions[begin], m_Positions[last]);
  for (size_t i = begin + 1; i < last; ++i)
  {
    box = region::BoxOf({ box.MinimumX, box.MinimumY }, { box.MaximumX, box.MaximumY }, m_Positions[i]);
  }
  m_Window.Cover(box, PlacesOfChord * (last - first + 1) * (last - begin));
}

void
ChainSearch::FindBest(size_t edges)
{
  const BoundaryTangents tangents = m_Refinement.GetTangents(m_Left, m_Right);
  const double           segmentCost = m_Refinement.Description.SegmentCost;
  size_t                 endOfWindow = 0;
  const auto             costOfChord = [&](size_t i, size_t j) {
    if (j > endOfWindow) // FindBestPolylines() visits the nodes j in ascending order
    {
      endOfWindow = std::min(j + NodesOfWindow - 1, edges);
      this->MoveWindow(j, endOfWindow);
    }
    return CostOfChord(
      m_Window, tangents, segmentCost, m_Positions[i], m_Positions[j], m_Sums[j] - m_Sums[i], j == i + 1, SerialTile{});
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
