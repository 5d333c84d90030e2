// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTopology_h
#define itkCudaPartitionTopology_h

#include "itkCudaPartitionEdgeGrid.h"
#include "itkCudaPartitionGeometry.h"
#include "itkCudaPartitionMapData.h"

#include <cstdint>

// Which changes leave a map planar, with every node and edge on the same side of every boundary as before. Tests of
// crossings alone do not tell: a line could jump over an island.
namespace itk::cuda::partition
{
/** Whether the node may move to a place. The triangles between its edges' old and new places hold no other node, and no
 * other edge meets the way from the old place to the new one. */
bool
MoveKeepsTopology(const MapData & map, const EdgeGrid & grid, uint32_t node, const LatticePoint & to);

/** Nodes of a line of edges, from the first to the last, which are to become one chord. */
struct Line
{
  const uint32_t * Nodes;
  int32_t          Number;

  uint32_t
  GetFirst() const
  {
    return Nodes[0];
  }
  uint32_t
  GetLast() const
  {
    return Nodes[Number - 1];
  }
};

/** How the chord of a line lies in a map: tests it against one edge after the other. */
class ChordTest
{
public:
  ChordTest(const MapData & map, const Line & line);

  /** What the line and its chord lie in. */
  const LatticeBox &
  GetBox() const
  {
    return m_Box;
  }
  /** Whether the chord may lie beside the edge, which is none of the line. The edge's nodes stay on their side of it,
   * and the two do not meet but at a common node. */
  bool
  Allows(const MapEdge & edge) const;

private:
  const MapData & m_Map;
  const Line      m_Line;
  LatticeBox      m_Box;

  bool
  Surrounds(const LatticePoint & p) const;
};

/** Whether a chord may replace the line; isOwn(number, edge) says which edges do not matter. */
template <typename TFunction>
bool
ChordKeepsTopology(const MapData & map, const EdgeGrid & grid, const Line & line, const TFunction & isOwn)
{
  if (line.GetFirst() == line.GetLast())
  {
    return false;
  }
  const ChordTest test(map, line);
  return ForCellsOfBox(grid.GetLayout(), test.GetBox(), [&](size_t cell) {
    return grid.ForEdges(
      map, cell, [&](uint32_t number, const MapEdge & edge) { return isOwn(number, edge) || test.Allows(edge); });
  });
}
} // namespace itk::cuda::partition

#endif
