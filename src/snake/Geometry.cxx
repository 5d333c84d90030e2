// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"

#include "region/Lattice.h"
#include "itkMacro.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <vector>

// Computes the pixels inside a polygon, row by row, and tests whether a polygon is simple.

namespace itk::CudaDetail
{
using cuda::region::Next;
using cuda::region::operator==;

void
RequireCudaSnakeRows(const CudaSnakePolygon & polygon, int32_t height)
{
  for (const CudaSnakePoint & corner : polygon)
  {
    if (corner.Y < 0 || corner.Y > height)
    {
      itkGenericExceptionMacro("The polygon has a vertex at pixel corner ("
                               << corner.X << ", " << corner.Y << "); corners of the image's rows have Y from 0 to "
                               << height);
    }
  }
}

namespace
{
/** \class SimplicitySweep
 * \brief A sweep-line test whether edges that are not adjacent meet, for polygons without corners whose edges fold
 * back on each other.
 *
 * A sweep line passes the nodes in the order of (X, Y), like a line that is slightly rotated from the Y axis (Shamos
 * and Hoey, Geometric intersection problems, FOCS 1976). The edges that it crosses are kept in their order along the
 * line. Before the sweep passes the first point where edges meet, two of these edges become neighbours in that order.
 * It is therefore sufficient to test neighbours. Up to that point the order is well defined.
 */
class SimplicitySweep
{
public:
  explicit SimplicitySweep(const CudaSnakePolygon & polygon)
    : m_Polygon(polygon)
    , m_NumberOfNodes(static_cast<int>(polygon.size()))
    , m_Crossed(IsBelow{ *this })
    , m_Places(polygon.size())
  {}

  bool
  Run()
  {
    std::vector<int> nodes(m_Polygon.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    std::sort(nodes.begin(), nodes.end(), [this](int i, int j) { return ComesBefore(m_Polygon[i], m_Polygon[j]); });
    const auto samePlace = [this](int i, int j) { return m_Polygon[i] == m_Polygon[j]; };
    if (std::adjacent_find(nodes.begin(), nodes.end(), samePlace) != nodes.end())
    {
      return false;
    }
    return std::all_of(nodes.begin(), nodes.end(), [this](int node) { return this->Pass(node); });
  }

private:
  struct IsBelow
  {
    const SimplicitySweep & Sweep;
    bool
    operator()(int x, int y) const
    {
      return Sweep.Compare(x, y);
    }
  };
  using Order = std::set<int, IsBelow>;

  const CudaSnakePolygon &     m_Polygon;
  const int                    m_NumberOfNodes;
  Order                        m_Crossed; // edges, each by the index of its first node
  std::vector<Order::iterator> m_Places;  // of each edge: its iterator in m_Crossed

  static bool
  ComesBefore(const CudaSnakePoint & p, const CudaSnakePoint & q)
  {
    return p.X < q.X || (p.X == q.X && p.Y < q.Y);
  }
  const CudaSnakePoint &
  GetStart(int edge) const
  {
    return std::min(m_Polygon[edge], m_Polygon[Next(edge, m_NumberOfNodes)], ComesBefore);
  }
  const CudaSnakePoint &
  GetEnd(int edge) const
  {
    return std::max(m_Polygon[edge], m_Polygon[Next(edge, m_NumberOfNodes)], ComesBefore);
  }

  /** Returns whether edge x lies below edge y where the sweep line crosses both, tested at the later one's start. */
  bool
  Compare(int x, int y) const
  {
    const CudaSnakePoint & startOfX = this->GetStart(x);
    const CudaSnakePoint & startOfY = this->GetStart(y);
    int64_t                above;
    if (startOfX == startOfY)
    {
      above = cuda::region::Orientation(startOfX, this->GetEnd(x), this->GetEnd(y));
    }
    else if (ComesBefore(startOfX, startOfY))
    {
      above = cuda::region::Orientation(startOfX, this->GetEnd(x), startOfY);
    }
    else
    {
      above = -cuda::region::Orientation(startOfY, this->GetEnd(y), startOfX);
    }
    return above > 0 || (above == 0 && x < y);
  }

  bool
  Meet(int x, int y) const
  {
    const bool adjacent = Next(x, m_NumberOfNodes) == y || Next(y, m_NumberOfNodes) == x;
    return !adjacent &&
           cuda::region::SegmentsMeet(
             m_Polygon[x], m_Polygon[Next(x, m_NumberOfNodes)], m_Polygon[y], m_Polygon[Next(y, m_NumberOfNodes)]);
  }

  /** Moves the sweep line past a node. Returns false if edges were found to meet. */
  bool
  Pass(int node)
  {
    const int edges[] = { cuda::region::Previous(node, m_NumberOfNodes), node };
    for (const int edge : edges)
    {
      if (this->GetEnd(edge) == m_Polygon[node] && !this->Leave(edge))
      {
        return false;
      }
    }
    for (const int edge : edges)
    {
      if (this->GetStart(edge) == m_Polygon[node] && !this->Enter(edge))
      {
        return false;
      }
    }
    return true;
  }

  bool
  Leave(int edge)
  {
    const auto above = m_Crossed.erase(m_Places[edge]);
    return above == m_Crossed.begin() || above == m_Crossed.end() || !this->Meet(*std::prev(above), *above);
  }

  bool
  Enter(int edge)
  {
    const auto at = m_Crossed.insert(edge).first;
    m_Places[edge] = at;
    const auto above = std::next(at);
    return (at == m_Crossed.begin() || !this->Meet(*std::prev(at), edge)) &&
           (above == m_Crossed.end() || !this->Meet(edge, *above));
  }
};
} // namespace

CudaSnakeRowSpans
ComputeCudaSnakeRowSpans(const CudaSnakePolygon & polygon, int32_t height)
{
  RequireCudaSnakeRows(polygon, height);
  const int         n = static_cast<int>(polygon.size());
  CudaSnakeRowSpans spans;
  spans.First.assign(static_cast<size_t>(height) + 1, 0);
  for (int i = 0; i < n; ++i)
  {
    const cuda::region::LatticeEdge edge = cuda::region::MakeEdge(polygon[i], polygon[Next(i, n)]);
    for (int32_t row = 0; row < edge.NumberOfRows; ++row)
    {
      ++spans.First[static_cast<size_t>(edge.Top.Y + row) + 1];
    }
  }
  for (size_t y = 0; y < static_cast<size_t>(height); ++y)
  {
    spans.First[y + 1] += spans.First[y];
  }
  spans.Columns.resize(spans.First.back());
  std::vector<size_t> next(spans.First.begin(), spans.First.end() - 1);
  for (int i = 0; i < n; ++i)
  {
    const cuda::region::LatticeEdge edge = cuda::region::MakeEdge(polygon[i], polygon[Next(i, n)]);
    if (edge.NumberOfRows == 0)
    {
      continue;
    }
    cuda::region::CrossingWalker walker(edge, 0, 1);
    for (int32_t row = 0; row < edge.NumberOfRows; ++row)
    {
      spans.Columns[next[edge.Top.Y + row]++] = walker.GetColumn();
      walker.Advance();
    }
  }
  for (size_t y = 0; y < static_cast<size_t>(height); ++y)
  {
    std::sort(spans.Columns.begin() + spans.First[y], spans.Columns.begin() + spans.First[y + 1]);
  }
  return spans;
}

bool
CudaSnakePolygonIsSimple(const CudaSnakePolygon & polygon)
{
  const int n = static_cast<int>(polygon.size());
  if (n < 3)
  {
    return false;
  }
  for (int i = 0; i < n; ++i)
  {
    const int corner = Next(i, n);
    if (cuda::region::FoldsBack(polygon[corner], polygon[i], polygon[Next(corner, n)]))
    {
      return false;
    }
  }
  return SimplicitySweep(polygon).Run();
}
} // end namespace itk::CudaDetail
