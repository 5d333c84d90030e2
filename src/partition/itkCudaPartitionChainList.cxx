// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionChainList.h"

#include <algorithm>

namespace itk::cuda::partition
{
ChainList::ChainList(const MapData & map)
  : m_ChainOfEdge(map.Edges.size(), None)
{
  const auto followFrom = [&](uint32_t node) {
    for (uint32_t j = 0; j < map.Nodes[node].Degree; ++j)
    {
      const uint32_t edge = map.Nodes[node].Edges[j];
      if (m_ChainOfEdge[edge] == None && !map.Edges[edge].IsBorder())
      {
        this->Follow(map, node, edge);
      }
    }
  };
  for (uint32_t i = 0; i < map.Nodes.size(); ++i)
  {
    if (map.Nodes[i].Degree > 2)
    {
      followFrom(i);
    }
  }
  for (uint32_t i = 0; i < map.Nodes.size(); ++i) // closed lines
  {
    if (map.Nodes[i].Degree == 2)
    {
      followFrom(i);
    }
  }
}

/** Adds the line that leaves the node by the edge. */
void
ChainList::Follow(const MapData & map, uint32_t node, uint32_t edge)
{
  m_LineNodes.assign(1, node);
  m_LineEdges.clear();
  uint32_t present = node;
  do
  {
    m_LineEdges.push_back(edge);
    present = map.Edges[edge].GetOther(present);
    m_LineNodes.push_back(present);
    edge = map.Nodes[present].OtherEdge(edge);
  } while (present != node && map.Nodes[present].Degree == 2);

  const size_t length = m_LineEdges.size();
  const size_t step = length > LongestChain ? CutLength : length;
  for (size_t begin = 0; begin < length; begin += step)
  {
    this->AddPiece(begin, std::min(begin + step, length));
  }
}

/** Adds edges begin to end - 1 of the line as a chain. */
void
ChainList::AddPiece(size_t begin, size_t end)
{
  const auto number = static_cast<uint32_t>(this->GetNumber());
  for (size_t i = begin; i < end; ++i)
  {
    m_ChainOfEdge[m_LineEdges[i]] = number;
    m_Nodes.push_back(m_LineNodes[i]);
    m_Edges.push_back(m_LineEdges[i]);
  }
  m_Nodes.push_back(m_LineNodes[end]);
  m_Edges.push_back(None);
  m_First.push_back(m_Nodes.size());
}
} // namespace itk::cuda::partition
