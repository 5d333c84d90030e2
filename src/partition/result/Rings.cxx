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

// Coordinates are at most 2^30, so that products of their differences and sums of two of them hold in 64 bits.
int64_t
Cross(const Direction & a, const Direction & b)
{
  return a.X * b.Y - a.Y * b.X;
}

/** How far `direction` is clockwise of `origin`: less than half a turn, half of one, more, a whole one. */
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

/** Whether `a` comes before `b` in a clockwise turn that begins behind `origin`. */
bool
ComesBefore(const Direction & origin, const Direction & a, const Direction & b)
{
  const int halfOfA = GetHalf(origin, a);
  const int halfOfB = GetHalf(origin, b);
  return halfOfA != halfOfB ? halfOfA < halfOfB : Cross(a, b) < 0;
}

/** Whether the middle of the hole's first edge lies in the outer ring. It lies on no other edge. */
bool
LiesIn(const Ring & hole, const Ring & outer)
{
  // In halves of pixels: at most 2^31, so cross products are below 2^63.
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

  /** The first edge that leaves the node. */
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

  /** The edge that goes on around the same corner of the region: the next one clockwise, as the region lies on the left
   * of the edge that arrives. */
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

  /** Follows the boundary from an edge until it closes, and cuts it at nodes that it visits again. */
  void
  Walk(size_t first)
  {
    std::vector<size_t> way; // of edges; one for each node, the first one that leaves it in m_Edges
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

  /** Makes a ring of the way from a place to its end, and takes it off. */
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
    int64_t Area; // twice
  };

  static void
  Sort(std::vector<MeasuredRing> & rings)
  {
    std::sort(rings.begin(), rings.end(), [](const MeasuredRing & a, const MeasuredRing & b) {
      const Point & p = a.Points.front();
      const Point & q = b.Points.front();
      // Two rings may begin at the same node.
      return p.Y != q.Y ? p.Y < q.Y : p.X != q.X ? p.X < q.X : a.Area < b.Area;
    });
  }

  /** The smallest outer ring around a hole. */
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
  std::vector<RingEdge>      m_Edges; // by their start
  std::vector<bool>          m_Used;
  std::vector<size_t>        m_Places; // on the present way, of the node of each first edge
  std::vector<MeasuredRing>  m_Outer;
  std::vector<MeasuredRing>  m_Holes;
};
} // namespace

int64_t
TwiceTheArea(const CudaSnakePolygon & ring)
{
  // Sums may leave 64 bits before they return: they are taken modulo 2^64.
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
