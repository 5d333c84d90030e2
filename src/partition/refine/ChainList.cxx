// SPDX-License-Identifier: Apache-2.0
#include "partition/refine/ChainList.h"

#include "partition/refine/Work.h"

#include <algorithm>

namespace itk::cuda::partition
{
namespace
{
constexpr size_t NodesPerPiece = 1024;

/** Appends the line that leaves the node by the edge. Returns the last edge of the line. */
uint32_t
FollowLine(const MapData & map, uint32_t node, uint32_t edge, std::vector<LineStep> & steps)
{
  uint32_t present = node;
  uint32_t next = edge;
  do
  {
    edge = next;
    steps.push_back({ present, edge });
    present = map.Edges[edge].GetOther(present);
    next = map.Nodes[present].OtherEdge(edge);
  } while (present != node && map.Nodes[present].Degree == 2);
  steps.push_back({ present, None });
  return edge;
}

/** Appends the lines that leave a junction, except for those that an earlier junction, or an earlier edge of this one,
 * lists. */
void
ListLinesOf(const MapData & map, uint32_t node, std::vector<LineStep> & steps)
{
  for (uint32_t j = 0; j < map.Nodes[node].Degree; ++j)
  {
    const uint32_t edge = map.Nodes[node].Edges[j];
    if (!map.Edges[edge].IsBorder())
    {
      const size_t   begin = steps.size();
      const uint32_t last = FollowLine(map, node, edge, steps);
      const uint32_t end = steps.back().Node;
      if (map.Nodes[end].Degree > 2 && (end < node || (end == node && last < edge)))
      {
        steps.resize(begin);
      }
    }
  }
}
} // namespace

ChainList::ChainList(const MapData & map, const region::Threads & threads)
  : m_ChainOfEdge(map.Edges.size(), None)
{
  // Each line is followed from both ends in parallel, which is faster than following it once on one thread.
  this->AddLines(
    Work(threads).Collect<LineStep>(map.Nodes.size(), NodesPerPiece, [&map](size_t i, std::vector<LineStep> & steps) {
      if (map.Nodes[i].Degree > 2)
      {
        ListLinesOf(map, static_cast<uint32_t>(i), steps);
      }
    }));
  std::vector<LineStep> closed;
  for (uint32_t i = 0; i < map.Nodes.size(); ++i)
  {
    for (uint32_t j = 0; j < 2 && map.Nodes[i].Degree == 2; ++j)
    {
      const uint32_t edge = map.Nodes[i].Edges[j];
      if (m_ChainOfEdge[edge] == None && !map.Edges[edge].IsBorder())
      {
        closed.clear();
        FollowLine(map, i, edge, closed);
        this->AddLines(closed);
      }
    }
  }
}

/** Adds lines as chains. Long lines are cut into several. */
void
ChainList::AddLines(const std::vector<LineStep> & steps)
{
  size_t end = 0;
  for (size_t begin = 0; begin < steps.size(); begin = end + 1)
  {
    for (end = begin; steps[end].Edge != None;)
    {
      ++end;
    }
    const size_t length = end - begin > LongestChain ? CutLength : end - begin;
    for (size_t i = begin; i < end; i += length)
    {
      this->AddPiece(steps, i, std::min(i + length, end));
    }
  }
}

/** Adds the edges of steps begin to end - 1 as a chain. */
void
ChainList::AddPiece(const std::vector<LineStep> & steps, size_t begin, size_t end)
{
  const auto number = static_cast<uint32_t>(this->GetNumber());
  for (size_t i = begin; i < end; ++i)
  {
    m_ChainOfEdge[steps[i].Edge] = number;
    m_Nodes.push_back(steps[i].Node);
    m_Edges.push_back(steps[i].Edge);
  }
  m_Nodes.push_back(steps[end].Node);
  m_Edges.push_back(None);
  m_First.push_back(m_Nodes.size());
}
} // namespace itk::cuda::partition
