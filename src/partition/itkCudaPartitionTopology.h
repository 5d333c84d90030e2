// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTopology_h
#define itkCudaPartitionTopology_h

#include "itkCudaPartitionEdgeGrid.h"
#include "itkCudaPartitionGeometry.h"
#include "itkCudaPartitionMapData.h"

#include <cstdint>

// Which changes leave a map planar, with every node and edge on the same side of every boundary as before. Tests of
// crossings alone do not tell: a line could jump over an island. For the host and for the device.
namespace itk::cuda::partition
{
/** One edge of a node that moves: the triangle it sweeps. */
struct SweptTriangle
{
  uint32_t     FarNode;
  LatticePoint Far;
  LatticePoint From;
  LatticePoint To;
  LatticeBox   Box;

  ITK_CUDA_HOST_DEVICE
  SweptTriangle(const MapView & map, uint32_t node, uint32_t edge, const LatticePoint & to)
    : FarNode(map.Edges[edge].GetOther(node))
    , Far(map.At(FarNode))
    , From(map.At(node))
    , To(to)
    , Box(region::BoxOf(Far, From, To))
  {}

  ITK_CUDA_HOST_DEVICE bool
  Contains(const LatticePoint & p) const
  {
    return TriangleContains(Far, From, To, p);
  }
  /** Whether an edge that does not end at the moving node is in the way. */
  ITK_CUDA_HOST_DEVICE bool
  IsMetBy(const MapView & map, const MapEdge & edge) const
  {
    const LatticePoint p = map.At(edge.Start);
    const LatticePoint q = map.At(edge.End);
    if (region::BoxesAreApart(Box, region::BoxOf(p, q)))
    {
      return false;
    }
    return (edge.Start != FarNode && this->Contains(p)) || (edge.End != FarNode && this->Contains(q)) ||
           region::SegmentsMeet(From, To, p, q);
  }
};

/** Whether no edge of a node that moves runs over the far end of another one. */
ITK_CUDA_HOST_DEVICE inline bool
NeighborsAreClear(const MapView & map, uint32_t node, const LatticePoint & to)
{
  using region::  operator==;
  const MapNode & n = map.Nodes[node];
  for (uint32_t i = 0; i < n.Degree; ++i)
  {
    const SweptTriangle swept(map, node, n.Edges[i], to);
    if (swept.Far == to)
    {
      return false;
    }
    for (uint32_t j = 0; j < n.Degree; ++j)
    {
      if (i != j && swept.Contains(map.At(map.Edges[n.Edges[j]].GetOther(node))))
      {
        return false;
      }
    }
  }
  return true;
}

/** Whether the node may move to a place. The triangles between its edges' old and new places hold no other node, and no
 * other edge meets the way from the old place to the new one. */
ITK_CUDA_HOST_DEVICE inline bool
MoveKeepsTopology(const MapView & map, const EdgeGridView & grid, uint32_t node, const LatticePoint & to)
{
  if (!NeighborsAreClear(map, node, to))
  {
    return false;
  }
  const MapNode & n = map.Nodes[node];
  for (uint32_t i = 0; i < n.Degree; ++i)
  {
    const SweptTriangle swept(map, node, n.Edges[i], to);
    const bool          isClear = ForCellsOfTriangle(grid.Layout, swept.Far, swept.From, swept.To, [&](size_t cell) {
      return grid.ForEdges(map, cell, [&](uint32_t, const MapEdge & edge) {
        return edge.Start == node || edge.End == node || !swept.IsMetBy(map, edge);
      });
    });
    if (!isClear)
    {
      return false;
    }
  }
  return true;
}

/** Nodes of a line of edges, from the first to the last, which are to become one chord. */
struct Line
{
  const uint32_t * Nodes;
  int32_t          Number;

  ITK_CUDA_HOST_DEVICE uint32_t
  GetFirst() const
  {
    return Nodes[0];
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetLast() const
  {
    return Nodes[Number - 1];
  }
};

/** How the chord of a line lies in a map: tests it against one edge after the other. */
class ChordTest
{
public:
  ITK_CUDA_HOST_DEVICE
  ChordTest(const MapView & map, const Line & line)
    : m_Map(map)
    , m_Line(line)
    , m_Box(region::BoxOf(map.At(line.GetFirst()), map.At(line.GetLast())))
  {
    for (int32_t i = 1; i + 1 < line.Number; ++i)
    {
      const LatticePoint p = map.At(line.Nodes[i]);
      m_Box = { region::Minimum(m_Box.MinimumX, p.X),
                region::Minimum(m_Box.MinimumY, p.Y),
                region::Maximum(m_Box.MaximumX, p.X),
                region::Maximum(m_Box.MaximumY, p.Y) };
    }
  }

  /** What the line and its chord lie in. */
  ITK_CUDA_HOST_DEVICE const LatticeBox &
  GetBox() const
  {
    return m_Box;
  }

  /** Whether the chord may lie beside the edge, which is none of the line. The edge's nodes stay on their side of it,
   * and the two do not meet but at a common node. */
  ITK_CUDA_HOST_DEVICE bool
  Allows(const MapEdge & edge) const
  {
    const uint32_t     a = m_Line.GetFirst();
    const uint32_t     b = m_Line.GetLast();
    const LatticePoint p = m_Map.At(edge.Start);
    const LatticePoint q = m_Map.At(edge.End);
    if (region::BoxesAreApart(m_Box, region::BoxOf(p, q)))
    {
      return true;
    }
    const bool startIsEnd = edge.Start == a || edge.Start == b;
    const bool endIsEnd = edge.End == a || edge.End == b;
    if (startIsEnd && endIsEnd) // it is the chord
    {
      return false;
    }
    if ((!startIsEnd && this->Surrounds(p)) || (!endIsEnd && this->Surrounds(q)))
    {
      return false;
    }
    if (startIsEnd || endIsEnd)
    {
      const uint32_t common = startIsEnd ? edge.Start : edge.End;
      return !region::FoldsBack(m_Map.At(common), m_Map.At(common == a ? b : a), startIsEnd ? q : p);
    }
    return !region::SegmentsMeet(m_Map.At(a), m_Map.At(b), p, q);
  }

private:
  const MapView & m_Map;
  const Line      m_Line;
  LatticeBox      m_Box;

  /** Whether p, which is not on the line, lies in the lobes between it and its chord. */
  ITK_CUDA_HOST_DEVICE bool
  Surrounds(const LatticePoint & p) const
  {
    if (region::BoxesAreApart(m_Box, region::BoxOf(p, p)))
    {
      return false;
    }
    bool isInside = RayCrosses(p, m_Map.At(m_Line.GetLast()), m_Map.At(m_Line.GetFirst()));
    for (int32_t i = 0; i + 1 < m_Line.Number; ++i)
    {
      isInside = isInside != RayCrosses(p, m_Map.At(m_Line.Nodes[i]), m_Map.At(m_Line.Nodes[i + 1]));
    }
    return isInside;
  }
};

/** Whether a chord may replace the line; isOwn(number, edge) says which edges do not matter. */
ITK_CUDA_AS_ARGUMENTS
template <typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ChordKeepsTopology(const MapView & map, const EdgeGridView & grid, const Line & line, const TFunction & isOwn)
{
  if (line.GetFirst() == line.GetLast())
  {
    return false;
  }
  const ChordTest test(map, line);
  return ForCellsOfBox(grid.Layout, test.GetBox(), [&](size_t cell) {
    return grid.ForEdges(
      map, cell, [&](uint32_t number, const MapEdge & edge) { return isOwn(number, edge) || test.Allows(edge); });
  });
}
} // namespace itk::cuda::partition

#endif
