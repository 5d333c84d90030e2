// SPDX-License-Identifier: Apache-2.0
#include "partition/map/EdgeGrid.h"

#include "region/Threads.h"

#include <algorithm>
#include <atomic>

namespace itk::cuda::partition
{
void
EdgeGrid::Rebuild(const MapData & map, const region::Threads & threads)
{
  std::vector<std::atomic<uint32_t>> left(m_Last.size()); // edges of each cell that are not stored yet
  const auto                         forCells = [&](const auto & function) {
    threads.ForRanges(map.Edges.size(), 1024, [&](size_t begin, size_t end) {
      for (auto i = static_cast<uint32_t>(begin); i < end; ++i)
      {
        if (map.Edges[i].IsAlive())
        {
          ForCellsOfEdge(m_Layout, map, i, [&function, i](size_t cell) { function(cell, i); });
        }
      }
    });
  };
  forCells([&](size_t cell, uint32_t) { left[cell].fetch_add(1, std::memory_order_relaxed); });
  for (size_t cell = 0; cell < left.size(); ++cell)
  {
    m_First[cell + 1] = m_First[cell] + left[cell].load(std::memory_order_relaxed);
  }
  m_Edges.resize(m_First.back());
  // The order within a cell is arbitrary, because a test must hold for all edges of a cell.
  forCells([&](size_t cell, uint32_t edge) {
    m_Edges[m_First[cell] + left[cell].fetch_sub(1, std::memory_order_relaxed) - 1] = edge;
  });
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
