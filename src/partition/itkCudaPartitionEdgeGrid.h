// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionEdgeGrid_h
#define itkCudaPartitionEdgeGrid_h

#include "itkCudaPartitionGeometry.h"
#include "itkCudaPartitionMapData.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** The edges near each place of a map, for tests of its topology: those of each cell of 16 pixels a side. */
class EdgeGrid
{
public:
  EdgeGrid(int32_t width, int32_t height)
    : m_Layout(width, height, 4)
    , m_First(m_Layout.GetNumber() + 1, 0)
  {}

  const CellLayout &
  GetLayout() const
  {
    return m_Layout;
  }

  /** Sorts the map's present edges into the cells. */
  void
  Rebuild(const MapData & map);

  /** Calls function(edge's number) for the cell's edges until it returns false. Returns whether all calls returned
   * true. */
  template <typename TFunction>
  bool
  ForEdges(size_t cell, const TFunction & function) const
  {
    for (uint32_t i = m_First[cell]; i < m_First[cell + 1]; ++i)
    {
      if (!function(m_Edges[i]))
      {
        return false;
      }
    }
    return true;
  }

private:
  CellLayout            m_Layout;
  std::vector<uint32_t> m_First;
  std::vector<uint32_t> m_Edges;

  template <typename TFunction>
  void
  ForCells(const MapData & map, const TFunction & function) const
  {
    for (uint32_t i = 0; i < map.Edges.size(); ++i)
    {
      const MapEdge & edge = map.Edges[i];
      if (edge.IsAlive())
      {
        const LatticePoint & start = map.At(edge.Start);
        const LatticePoint & end = map.At(edge.End);
        ForCellsOfTriangle(m_Layout, start, end, end, [&function, i](size_t cell) {
          function(cell, i);
          return true;
        });
      }
    }
  }
};
} // namespace itk::cuda::partition

#endif
