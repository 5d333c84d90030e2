// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionEdgeGrid_h
#define itkCudaPartitionEdgeGrid_h

#include "itkCudaPartitionGeometry.h"
#include "itkCudaPartitionMapData.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** The edges near each place of a map, for tests of its topology: those of each cell of 16 pixels a side.
 *
 * Sorting all edges takes long beside a round that changes few of them. An edge that changes is therefore added where
 * it lies now. It stays listed where it was, which changes no test: an edge that is in the way has a point, and so a
 * cell, in common with what it is in the way of. */
class EdgeGrid
{
public:
  EdgeGrid(int32_t width, int32_t height)
    : m_Layout(width, height, 4)
    , m_First(m_Layout.GetNumber() + 1, 0)
    , m_Last(m_Layout.GetNumber(), None)
  {}

  const CellLayout &
  GetLayout() const
  {
    return m_Layout;
  }

  /** Sorts the map's present edges into the cells, if that has not been done or many were added since. */
  void
  Update(const MapData & map)
  {
    if (!m_IsSorted || m_Added.size() > m_Edges.size() / 4)
    {
      this->Rebuild(map);
    }
  }
  /** The edge was changed or is new. */
  void
  Add(const MapData & map, uint32_t edge);
  /** All edges have other numbers. */
  void
  Discard()
  {
    m_IsSorted = false;
  }

  /** Calls function(edge's number, edge) for the present edges of a cell, for some of them twice, and for some that
   * have left it, until it returns false. Returns whether all calls returned true. */
  template <typename TFunction>
  bool
  ForEdges(const MapData & map, size_t cell, const TFunction & function) const
  {
    const auto allows = [&](uint32_t number) {
      const MapEdge & edge = map.Edges[number];
      return !edge.IsAlive() || function(number, edge);
    };
    for (uint32_t i = m_First[cell]; i < m_First[cell + 1]; ++i)
    {
      if (!allows(m_Edges[i]))
      {
        return false;
      }
    }
    for (uint32_t i = m_Last[cell]; i != None; i = m_Added[i].Before)
    {
      if (!allows(m_Added[i].Edge))
      {
        return false;
      }
    }
    return true;
  }

private:
  struct AddedEdge
  {
    uint32_t Edge;
    uint32_t Before; // number of the one that was added to the cell before, or None
  };

  CellLayout             m_Layout;
  std::vector<uint32_t>  m_First;
  std::vector<uint32_t>  m_Edges;
  std::vector<uint32_t>  m_Last; // that was added to each cell
  std::vector<AddedEdge> m_Added;
  bool                   m_IsSorted{ false };

  void
  Rebuild(const MapData & map);

  template <typename TFunction>
  void
  ForCellsOf(const MapData & map, uint32_t i, const TFunction & function) const
  {
    const LatticePoint & start = map.At(map.Edges[i].Start);
    const LatticePoint & end = map.At(map.Edges[i].End);
    ForCellsOfTriangle(m_Layout, start, end, end, [&function, i](size_t cell) {
      function(cell, i);
      return true;
    });
  }
  template <typename TFunction>
  void
  ForCells(const MapData & map, const TFunction & function) const
  {
    for (uint32_t i = 0; i < map.Edges.size(); ++i)
    {
      if (map.Edges[i].IsAlive())
      {
        this->ForCellsOf(map, i, function);
      }
    }
  }
};
} // namespace itk::cuda::partition

#endif
