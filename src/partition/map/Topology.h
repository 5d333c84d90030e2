// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_Topology_h
#define CudaFilters_partition_map_Topology_h

#include "partition/map/EdgeGrid.h"
#include "partition/map/Geometry.h"
#include "partition/map/MapData.h"

#include <cstdint>

// Predicates for changes that keep a map planar, with every node and edge on the same side of every boundary. Testing
// for crossings alone is not sufficient, because a line could jump over an island. Shared by the host and the device.
namespace itk::cuda::partition
{
/** Returns whether a node can move without touching its neighbours: it does not move onto the far end of an edge, and
 * no edge sweeps over the far end of another one. far(j) returns the far end of edge j. */
template <typename TFar>
ITK_CUDA_HOST_DEVICE bool
NeighborsAreClear(const LatticePoint & from, const LatticePoint & to, uint32_t degree, const TFar & far)
{
  using region::operator==;
  bool          areClear = true;
  ITK_CUDA_UNROLL
  for (uint32_t i = 0; i < MapNode::MaximumDegree; ++i)
  {
    areClear = areClear && (i >= degree || !(far(i) == to));
    ITK_CUDA_UNROLL
    for (uint32_t j = 0; j < MapNode::MaximumDegree; ++j)
    {
      const bool concerns = i != j && i < degree && j < degree;
      areClear = areClear && !(concerns && TriangleContains(far(i), from, to, far(j)));
    }
  }
  return areClear;
}

/** Returns whether the triangle of edge j of a moving node is clear: no other edge obstructs its sweep to the new
 * position.
 * \param share of the cells to visit
 */
template <typename TGrid>
ITK_CUDA_HOST_DEVICE bool
TriangleIsClear(const MapView &      map,
                const TGrid &        grid,
                uint32_t             node,
                uint32_t             j,
                const LatticePoint & to,
                const StridedRange & share = {})
{
  const uint32_t     farNode = map.Edges[map.Nodes[node].Edges[j]].GetOther(node);
  const LatticePoint far = map.At(farNode);
  const LatticePoint from = map.At(node);
  const LatticeBox   box = region::BoxOf(far, from, to);
  const auto         obstructs = [&](const GridEdge & edge) {
    return !region::BoxesAreApart(box, region::BoxOf(edge.P, edge.Q)) &&
           ((edge.Start != farNode && TriangleContains(far, from, to, edge.P)) ||
            (edge.End != farNode && TriangleContains(far, from, to, edge.Q)) ||
            region::SegmentsMeet(from, to, edge.P, edge.Q));
  };
  const auto isClear = [&](size_t cell) {
    return grid.ForEdges(
      map, cell, [&](const GridEdge & edge) { return edge.Start == node || edge.End == node || !obstructs(edge); });
  };
  return ForCellsOfTriangle(grid.Layout, far, from, to, isClear, share);
}

/** Returns whether the node may move to a position: the triangles between the old and the new positions of its edges
 * contain no other node and are clear. */
template <typename TGrid>
ITK_CUDA_HOST_DEVICE bool
MoveKeepsTopology(const MapView & map, const TGrid & grid, uint32_t node, const LatticePoint & to)
{
  const MapNode & n = map.Nodes[node];
  if (!NeighborsAreClear(
        n.Position, to, n.Degree, [&](uint32_t j) { return map.At(map.Edges[n.Edges[j]].GetOther(node)); }))
  {
    return false;
  }
  for (uint32_t j = 0; j < n.Degree; ++j)
  {
    if (!TriangleIsClear(map, grid, node, j, to))
    {
      return false;
    }
  }
  return true;
}

/** A polyline of edges, from its first node to its last, that is to be replaced by one chord. */
struct Line
{
  uint32_t             First; // node numbers
  uint32_t             Last;
  const LatticePoint * Positions; // of all nodes
  int32_t              Number;
};

/** Tests a polyline's chord against one edge after the other. */
class ChordTest
{
public:
  ITK_CUDA_HOST_DEVICE explicit ChordTest(const Line & line)
    : m_Line(line)
    , m_Begin(line.Positions[0])
    , m_End(line.Positions[line.Number - 1])
    , m_Box(region::BoxOf(m_Begin, m_End))
  {
    for (int32_t i = 1; i + 1 < line.Number; ++i)
    {
      const LatticePoint p = line.Positions[i];
      m_Box = { region::Minimum(m_Box.MinimumX, p.X),
                region::Minimum(m_Box.MinimumY, p.Y),
                region::Maximum(m_Box.MaximumX, p.X),
                region::Maximum(m_Box.MaximumY, p.Y) };
    }
  }

  /** Returns the bounding box of the polyline and its chord. */
  ITK_CUDA_HOST_DEVICE const LatticeBox &
  GetBox() const
  {
    return m_Box;
  }
  ITK_CUDA_HOST_DEVICE bool
  IsApartFrom(const GridEdge & edge) const
  {
    return region::BoxesAreApart(m_Box, region::BoxOf(edge.P, edge.Q));
  }

  /** Returns whether the chord is compatible with an edge. The edge must not be apart from the chord and not belong to
   * the polyline. The chord is compatible if the edge's nodes stay on their side of it and the two meet only at a
   * common node. */
  ITK_CUDA_HOST_DEVICE bool
  Allows(const GridEdge & edge) const
  {
    const bool startIsEnd = this->IsEnd(edge.Start);
    const bool endIsEnd = this->IsEnd(edge.End);
    if (startIsEnd && endIsEnd) // the edge coincides with the chord
    {
      return false;
    }
    if ((!startIsEnd && this->Surrounds(edge.P)) || (!endIsEnd && this->Surrounds(edge.Q)))
    {
      return false;
    }
    if (startIsEnd || endIsEnd)
    {
      const bool isFirst = (startIsEnd ? edge.Start : edge.End) == m_Line.First;
      return !region::FoldsBack(isFirst ? m_Begin : m_End, isFirst ? m_End : m_Begin, startIsEnd ? edge.Q : edge.P);
    }
    return !region::SegmentsMeet(m_Begin, m_End, edge.P, edge.Q);
  }

private:
  const Line         m_Line;
  const LatticePoint m_Begin;
  const LatticePoint m_End;
  LatticeBox         m_Box;

  ITK_CUDA_HOST_DEVICE bool
  IsEnd(uint32_t node) const
  {
    return node == m_Line.First || node == m_Line.Last;
  }
  /** Returns whether p, which is not on the polyline, is in the lobes between it and its chord. */
  ITK_CUDA_HOST_DEVICE bool
  Surrounds(const LatticePoint & p) const
  {
    if (region::BoxesAreApart(m_Box, region::BoxOf(p, p)))
    {
      return false;
    }
    bool         isInside = RayCrosses(p, m_End, m_Begin);
    LatticePoint q = m_Begin;
    for (int32_t i = 1; i < m_Line.Number; ++i)
    {
      const LatticePoint next = m_Line.Positions[i];
      isInside = isInside != RayCrosses(p, q, next);
      q = next;
    }
    return isInside;
  }
};

/** Returns whether a chord may replace the polyline; isOwn(edge) marks the edges that are ignored.
 * \param share of the cells to visit, and of their edges
 */
template <typename TGrid, typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ChordKeepsTopology(const MapView &      map,
                   const TGrid &        grid,
                   const Line &         line,
                   const TFunction &    isOwn,
                   const StridedRange & share = {})
{
  if (line.First == line.Last)
  {
    return false;
  }
  const ChordTest test(line);
  const auto allows = [&](const GridEdge & edge) { return test.IsApartFrom(edge) || isOwn(edge) || test.Allows(edge); };
  if (line.Number == 3) // The polyline and its chord form a triangle. If it is long, it touches fewer cells than its
                        // box.
  {
    const auto isClear = [&](size_t cell) { return grid.ForEdges(map, cell, allows); };
    return ForCellsOfTriangle(grid.Layout, line.Positions[0], line.Positions[1], line.Positions[2], isClear, share);
  }
  const NestedStridedRange nested(share, CountCellsOfBox(grid.Layout, test.GetBox()));
  const auto               isClear = [&](size_t cell) { return grid.ForEdges(map, cell, allows, nested.Inner); };
  return ForCellsOfBox(grid.Layout, test.GetBox(), isClear, nested.Outer);
}
} // namespace itk::cuda::partition

#endif
