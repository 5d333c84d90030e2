// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include "itkMacro.h"

#include <algorithm>
#include <limits>

namespace itk::cuda::partition
{
namespace
{
using Point = CudaSnakePoint;
using Ring = CudaSnakePolygon;
constexpr size_t None = std::numeric_limits<size_t>::max();

struct Direction
{
  int64_t X, Y;
};

// Coordinates are at most 2^30, so that sums of two products of their differences fit into 64 bits.
int64_t
Cross(const Direction & a, const Direction & b)
{
  return a.X * b.Y - a.Y * b.X;
}

/** Classifies the clockwise angle from `origin` to `direction`: less than half a turn (0), half a turn (1), more (2), a
 * full turn (3). */
int
GetHalf(const Direction & origin, const Direction & direction)
{
  const int64_t cross = Cross(origin, direction);
  if (cross != 0)
  {
    return cross < 0 ? 0 : 2;
  }
  return origin.X * direction.X + origin.Y * direction.Y < 0 ? 1 : 3;
}

/** Returns whether `a` comes before `b` in a clockwise turn that begins just after `origin`. */
bool
ComesBefore(const Direction & origin, const Direction & a, const Direction & b)
{
  const int halfOfA = GetHalf(origin, a);
  const int halfOfB = GetHalf(origin, b);
  return halfOfA != halfOfB ? halfOfA < halfOfB : Cross(a, b) < 0;
}

/** Returns whether the hole is inside the outer ring, by testing the midpoint of its first edge, which is on no other
 * edge. */
bool
LiesIn(const Ring & hole, const Ring & outer)
{
  // Units of half a pixel: coordinates are at most 2^31, so that cross products are below 2^63.
  const Direction middle{ int64_t{ hole[0].X } + hole[1].X, int64_t{ hole[0].Y } + hole[1].Y };
  bool            inside = false;
  for (size_t i = 0; i < outer.size(); ++i)
  {
    Direction     low{ int64_t{ outer[i].X } * 2, int64_t{ outer[i].Y } * 2 };
    const Point & next = outer[i + 1 < outer.size() ? i + 1 : 0];
    Direction     high{ int64_t{ next.X } * 2, int64_t{ next.Y } * 2 };
    if (low.Y > high.Y)
    {
      std::swap(low, high);
    }
    if (low.Y <= middle.Y && middle.Y < high.Y)
    {
      const Direction edge{ high.X - low.X, high.Y - low.Y };
      inside ^= Cross(edge, { middle.X - low.X, middle.Y - low.Y }) < 0;
    }
  }
  return inside;
}

class RingMaker
{
public:
  RingMaker(std::vector<RingEdge> && edges, const std::vector<Point> & nodes)
    : m_Nodes(nodes)
    , m_Edges(std::move(edges))
    , m_Used(m_Edges.size(), false)
    , m_Places(m_Edges.size(), None)
  {
    std::sort(m_Edges.begin(), m_Edges.end(), [](const RingEdge & a, const RingEdge & b) {
      return a.Start != b.Start ? a.Start < b.Start : a.End < b.End;
    });
  }

  std::vector<Ring>
  Make()
  {
    for (size_t first = 0; first < m_Edges.size(); ++first)
    {
      if (!m_Used[first])
      {
        this->Walk(first);
      }
    }
    return this->Arrange();
  }

private:
  Direction
  GetDirection(uint32_t from, uint32_t to) const
  {
    return { int64_t{ m_Nodes[to].X } - m_Nodes[from].X, int64_t{ m_Nodes[to].Y } - m_Nodes[from].Y };
  }

  /** Returns the first edge that leaves the node. */
  size_t
  FindEdgesOf(uint32_t node) const
  {
    const auto edge = std::lower_bound(
      m_Edges.begin(), m_Edges.end(), node, [](const RingEdge & e, uint32_t n) { return e.Start < n; });
    if (edge == m_Edges.end() || edge->Start != node)
    {
      itkGenericExceptionMacro("The edges of a region end at node " << node << " and form no ring");
    }
    return static_cast<size_t>(edge - m_Edges.begin());
  }

  /** Returns the edge that continues around the same corner of the region. It is the next one clockwise, because the
   * region is to the left of the arriving edge. */
  size_t
  GetNext(size_t arriving) const
  {
    const RingEdge & edge = m_Edges[arriving];
    const Direction  back = this->GetDirection(edge.End, edge.Start);
    size_t           next = this->FindEdgesOf(edge.End);
    for (size_t i = next + 1; i < m_Edges.size() && m_Edges[i].Start == edge.End; ++i)
    {
      if (ComesBefore(
            back, this->GetDirection(edge.End, m_Edges[i].End), this->GetDirection(edge.End, m_Edges[next].End)))
      {
        next = i;
      }
    }
    return next;
  }

  /** Follows the boundary from an edge until it closes, and cuts off a ring at each node that it visits again. */
  void
  Walk(size_t first)
  {
    std::vector<size_t> way; // one entry per node: the first edge in m_Edges that leaves it
    size_t              edge = first;
    do
    {
      if (m_Used[edge])
      {
        itkGenericExceptionMacro("The edges of a region meet at node " << m_Edges[edge].Start << " and form no ring");
      }
      m_Used[edge] = true;
      const size_t node = this->FindEdgesOf(m_Edges[edge].Start);
      if (m_Places[node] != None)
      {
        this->Cut(way, m_Places[node]);
      }
      m_Places[node] = way.size();
      way.push_back(node);
      edge = this->GetNext(edge);
    } while (edge != first);
    this->Cut(way, 0);
  }

  /** Removes the end of the path, from `place` on, and stores it as a ring. */
  void
  Cut(std::vector<size_t> & way, size_t place)
  {
    Ring ring;
    for (size_t i = place; i < way.size(); ++i)
    {
      ring.push_back(m_Nodes[m_Edges[way[i]].Start]);
      m_Places[way[i]] = None;
    }
    way.resize(place);
    const auto smallest = std::min_element(
      ring.begin(), ring.end(), [](const Point & p, const Point & q) { return p.Y != q.Y ? p.Y < q.Y : p.X < q.X; });
    std::rotate(ring.begin(), smallest, ring.end());
    const int64_t area = TwiceTheArea(ring);
    (area > 0 ? m_Outer : m_Holes).push_back({ std::move(ring), area });
  }

  struct MeasuredRing
  {
    Ring    Points;
    int64_t Area; // twice the area
  };

  static void
  Sort(std::vector<MeasuredRing> & rings)
  {
    std::sort(rings.begin(), rings.end(), [](const MeasuredRing & a, const MeasuredRing & b) {
      const Point & p = a.Points.front();
      const Point & q = b.Points.front();
      // two rings may begin at the same node
      return p.Y != q.Y ? p.Y < q.Y : p.X != q.X ? p.X < q.X : a.Area < b.Area;
    });
  }

  /** Returns the smallest outer ring around a hole. */
  size_t
  FindOuter(const Ring & hole) const
  {
    if (m_Outer.size() == 1)
    {
      return 0;
    }
    size_t found = None;
    for (size_t i = 0; i < m_Outer.size(); ++i)
    {
      if ((found == None || m_Outer[i].Area < m_Outer[found].Area) && LiesIn(hole, m_Outer[i].Points))
      {
        found = i;
      }
    }
    if (found == None)
    {
      itkGenericExceptionMacro("The edges of a region form a hole at (" << hole[0].X << ", " << hole[0].Y
                                                                        << ") in no outer ring");
    }
    return found;
  }

  std::vector<Ring>
  Arrange()
  {
    Sort(m_Outer);
    Sort(m_Holes);
    std::vector<std::vector<Ring>> polygons(m_Outer.size());
    for (size_t i = 0; i < m_Outer.size(); ++i)
    {
      polygons[i].push_back(m_Outer[i].Points);
    }
    for (MeasuredRing & hole : m_Holes)
    {
      polygons[this->FindOuter(hole.Points)].push_back(std::move(hole.Points));
    }
    std::vector<Ring> rings;
    for (std::vector<Ring> & polygon : polygons)
    {
      std::move(polygon.begin(), polygon.end(), std::back_inserter(rings));
    }
    return rings;
  }

  const std::vector<Point> & m_Nodes;
  std::vector<RingEdge>      m_Edges; // sorted by start
  std::vector<bool>          m_Used;
  std::vector<size_t>        m_Places; // for the first edge of each node, the node's position on the current path
  std::vector<MeasuredRing>  m_Outer;
  std::vector<MeasuredRing>  m_Holes;
};
} // namespace

int64_t
TwiceTheArea(const CudaSnakePolygon & ring)
{
  // Intermediate sums may overflow 64 bits, so that they are computed modulo 2^64.
  uint64_t sum = 0;
  for (size_t i = 0; i < ring.size(); ++i)
  {
    const CudaSnakePoint & p = ring[i];
    const CudaSnakePoint & q = ring[i + 1 < ring.size() ? i + 1 : 0];
    sum += static_cast<uint64_t>(int64_t{ p.X } * q.Y - int64_t{ q.X } * p.Y);
  }
  return static_cast<int64_t>(sum);
}

std::vector<CudaSnakePolygon>
MakeRings(std::vector<RingEdge> edges, const std::vector<CudaSnakePoint> & nodes)
{
  return RingMaker(std::move(edges), nodes).Make();
}
} // namespace itk::cuda::partition
