// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionTopology.h"

namespace itk::cuda::partition
{
namespace
{
/** One edge of a node that moves: the triangle it sweeps. */
struct SweptTriangle
{
  uint32_t     FarNode;
  LatticePoint Far;
  LatticePoint From;
  LatticePoint To;
  LatticeBox   Box;

  SweptTriangle(const MapData & map, uint32_t node, uint32_t edge, const LatticePoint & to)
    : FarNode(map.Edges[edge].GetOther(node))
    , Far(map.At(FarNode))
    , From(map.At(node))
    , To(to)
    , Box(region::BoxOf(Far, From, To))
  {}

  bool
  Contains(const LatticePoint & p) const
  {
    return TriangleContains(Far, From, To, p);
  }
  /** Whether an edge that does not end at the moving node is in the way. */
  bool
  IsMetBy(const MapData & map, const MapEdge & edge) const
  {
    const LatticePoint & p = map.At(edge.Start);
    const LatticePoint & q = map.At(edge.End);
    if (region::BoxesAreApart(Box, region::BoxOf(p, q)))
    {
      return false;
    }
    return (edge.Start != FarNode && this->Contains(p)) || (edge.End != FarNode && this->Contains(q)) ||
           region::SegmentsMeet(From, To, p, q);
  }
};

/** Whether no edge of the node runs over the far end of another one. */
bool
NeighborsAreClear(const MapData & map, uint32_t node, const LatticePoint & to)
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
} // namespace

bool
MoveKeepsTopology(const MapData & map, const EdgeGrid & grid, uint32_t node, const LatticePoint & to)
{
  if (!NeighborsAreClear(map, node, to))
  {
    return false;
  }
  const MapNode & n = map.Nodes[node];
  for (uint32_t i = 0; i < n.Degree; ++i)
  {
    const SweptTriangle swept(map, node, n.Edges[i], to);
    const bool isClear = ForCellsOfTriangle(grid.GetLayout(), swept.Far, swept.From, swept.To, [&](size_t cell) {
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

ChordTest::ChordTest(const MapData & map, const Line & line)
  : m_Map(map)
  , m_Line(line)
  , m_Box(region::BoxOf(map.At(line.GetFirst()), map.At(line.GetLast())))
{
  for (int32_t i = 1; i + 1 < line.Number; ++i)
  {
    const LatticePoint & p = map.At(line.Nodes[i]);
    m_Box = { region::Minimum(m_Box.MinimumX, p.X),
              region::Minimum(m_Box.MinimumY, p.Y),
              region::Maximum(m_Box.MaximumX, p.X),
              region::Maximum(m_Box.MaximumY, p.Y) };
  }
}

/** Whether p, which is not on the line, lies in the lobes between it and its chord. */
bool
ChordTest::Surrounds(const LatticePoint & p) const
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

bool
ChordTest::Allows(const MapEdge & edge) const
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
} // namespace itk::cuda::partition
