// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionEdgeGrid.h"

#include <algorithm>

namespace itk::cuda::partition
{
void
EdgeGrid::Rebuild(const MapData & map)
{
  std::fill(m_First.begin(), m_First.end(), 0u);
  this->ForCells(map, [this](size_t cell, uint32_t) { ++m_First[cell]; });
  // First[cell] becomes the end of the cell's edges, and then, counted down, their beginning.
  uint32_t number = 0;
  for (uint32_t & first : m_First)
  {
    number += first;
    first = number;
  }
  m_Edges.resize(number);
  this->ForCells(map, [this](size_t cell, uint32_t edge) { m_Edges[--m_First[cell]] = edge; });
  std::fill(m_Last.begin(), m_Last.end(), None);
  m_Added.clear();
  m_IsSorted = true;
}

void
EdgeGrid::Add(const MapData & map, uint32_t edge)
{
  ForCellsOfEdge(m_Layout, map, edge, [this, edge](size_t cell) {
    m_Added.push_back({ edge, m_Last[cell] });
    m_Last[cell] = static_cast<uint32_t>(m_Added.size() - 1);
  });
}
} // namespace itk::cuda::partition
