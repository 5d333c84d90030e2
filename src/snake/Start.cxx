// SPDX-License-Identifier: Apache-2.0
#include "snake/Start.h"

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Lattice.h"
#include "itkMacro.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

// Makes the polygons that a snake starts from: rectangles, the user's polygon after its checks, and the outline of a
// mask. TraceMask() walks around the mask's largest component and then removes nodes from the polygon that it finds.
// The search for the best rectangle is in Rectangles.cxx for the host, and in device/Snake.cu for the device.

namespace itk::cuda::snake
{
namespace
{
/** Returns whether the signed area is negative. The result is exact, because partial sums wrap around modulo 2^64, and
 * the total does not overflow. */
bool
AreaIsNegative(const CudaSnakePolygon & polygon)
{
  uint64_t  twice = 0;
  const int n = static_cast<int>(polygon.size());
  for (int i = 0; i < n; ++i)
  {
    const LatticePoint & p = polygon[i];
    const LatticePoint & q = polygon[Next(i, n)];
    twice += static_cast<uint64_t>(static_cast<int64_t>(p.X) * q.Y - static_cast<int64_t>(q.X) * p.Y);
  }
  return static_cast<int64_t>(twice) < 0;
}

CudaSnakePolygon
WithoutRepetitions(const CudaSnakePolygon & polygon)
{
  CudaSnakePolygon result;
  for (const LatticePoint & p : polygon)
  {
    if (result.empty() || !(result.back() == p))
    {
      result.push_back(p);
    }
  }
  while (result.size() > 1 && result.back() == result.front())
  {
    result.pop_back();
  }
  return result;
}

/** A binary grid of cells with a border of one cell that is not set. */
class CellGrid
{
public:
  CellGrid(int32_t width, int32_t height)
    : Width(width)
    , Height(height)
    , m_Stride(static_cast<size_t>(width) + 2)
    , m_Cells(m_Stride * (static_cast<size_t>(height) + 2), 0)
  {}

  const int32_t Width;
  const int32_t Height;

  /** Returns the index of cell (x, y), -1 <= x <= Width, -1 <= y <= Height. */
  size_t
  Position(int32_t x, int32_t y) const
  {
    return static_cast<size_t>(y + 1) * m_Stride + static_cast<size_t>(x + 1);
  }
  size_t
  GetStride() const
  {
    return m_Stride;
  }
  std::vector<char> &
  GetCells()
  {
    return m_Cells;
  }
  bool
  IsSet(int32_t x, int32_t y) const
  {
    return m_Cells[this->Position(x, y)] != 0;
  }

private:
  size_t            m_Stride;
  std::vector<char> m_Cells;
};

CellGrid
MakeCells(const CudaImageView & mask, uint32_t exponent)
{
  const int32_t side = 1 << exponent;
  CellGrid      grid(static_cast<int32_t>(mask.Size[0] >> exponent), static_cast<int32_t>(mask.Size[1] >> exponent));
  for (int32_t cellY = 0; cellY < grid.Height; ++cellY)
  {
    for (int32_t cellX = 0; cellX < grid.Width; ++cellX)
    {
      int32_t count = 0;
      for (int32_t y = cellY * side; y < (cellY + 1) * side; ++y)
      {
        const auto * row = static_cast<const uint8_t *>(mask.Data) + y * mask.Stride[1] + cellX * side;
        count += static_cast<int32_t>(std::count_if(row, row + side, [](uint8_t value) { return value != 0; }));
      }
      grid.GetCells()[grid.Position(cellX, cellY)] = 2 * count > side * side ? 1 : 0;
    }
  }
  return grid;
}

/** Sets the 4-connected component of cells with the value `from` around `seed` to `to`, and returns their number. The
 * search is depth-first. It stores the way back in the cells, so that it needs no stack. */
size_t
Flood(CellGrid & grid, size_t seed, char from, char to)
{
  // A cell on the current path holds `entered` + the direction of the step that led to it. The seed holds a fifth
  // direction.
  constexpr int       directions = 4;
  constexpr char      entered = 16;
  std::vector<char> & cells = grid.GetCells();
  const size_t        stride = grid.GetStride();
  const size_t        steps[directions] = { 1, stride, size_t{ 0 } - 1, size_t{ 0 } - stride }; // modulo 2^64
  size_t              number = 0;
  size_t              position = seed;
  int                 direction = 0; // direction of the next neighbour to visit
  cells[seed] = entered + directions;
  while (true)
  {
    if (direction < directions)
    {
      // Indices before the first cell wrap around to large ones, which the test excludes.
      const size_t neighbor = position + steps[direction];
      if (neighbor < cells.size() && cells[neighbor] == from)
      {
        cells[neighbor] = static_cast<char>(entered + direction);
        position = neighbor;
        direction = 0;
      }
      else
      {
        ++direction;
      }
      continue;
    }
    const int cameFrom = cells[position] - entered;
    cells[position] = to;
    ++number;
    if (cameFrom == directions)
    {
      return number;
    }
    position -= steps[cameFrom];
    direction = cameFrom + 1;
  }
}

/** Removes all components but the largest. Returns false if there is no component. */
bool
KeepLargestComponent(CellGrid & grid)
{
  constexpr char      visited = 2;
  std::vector<char> & cells = grid.GetCells();
  size_t              largest = 0;
  size_t              seedOfLargest = 0;
  for (size_t position = 0; position < cells.size(); ++position)
  {
    if (cells[position] == 1)
    {
      const size_t number = Flood(grid, position, 1, visited);
      if (number > largest)
      {
        largest = number;
        seedOfLargest = position;
      }
    }
  }
  if (largest > 0)
  {
    Flood(grid, seedOfLargest, visited, 1);
    std::replace(cells.begin(), cells.end(), visited, char{ 0 });
  }
  return largest > 0;
}

/** Sets cells until no two set cells touch only at a corner, so that the boundary passes no corner twice. */
void
JoinDiagonals(CellGrid & grid)
{
  std::vector<char> & cells = grid.GetCells();
  const size_t        stride = grid.GetStride();
  std::vector<size_t> pending; // upper left cells of squares of 2 x 2 cells
  const auto          joins = [&](size_t upperLeft) {
    const char a = cells[upperLeft];
    const char b = cells[upperLeft + 1];
    return a == cells[upperLeft + stride + 1] && b == cells[upperLeft + stride] && a != b;
  };
  for (int32_t y = -1; y < grid.Height; ++y)
  {
    for (int32_t x = -1; x < grid.Width; ++x)
    {
      pending.push_back(grid.Position(x, y));
      while (!pending.empty())
      {
        const size_t upperLeft = pending.back();
        pending.pop_back();
        if (joins(upperLeft))
        {
          // Sets the upper of the two cells that are not set. Neither is in the border, because their neighbours are
          // set.
          const size_t filled = cells[upperLeft] == 0 ? upperLeft : upperLeft + 1;
          cells[filled] = 1;
          for (const size_t square : { filled, filled - 1, filled - stride, filled - stride - 1 })
          {
            pending.push_back(square);
          }
        }
      }
    }
  }
}

void
FillHoles(CellGrid & grid)
{
  constexpr char      outside = 2;
  std::vector<char> & cells = grid.GetCells();
  Flood(grid, 0, 0, outside);
  for (char & cell : cells)
  {
    cell = cell == outside ? 0 : 1;
  }
}

/** Returns the corners of the boundary of a component without holes, with the set cells on the right. */
CudaSnakePolygon
WalkBoundary(const CellGrid & grid)
{
  int32_t x = 0;
  int32_t y = 0;
  while (!grid.IsSet(x, y))
  {
    x = x + 1 < grid.Width ? x + 1 : 0;
    y += x == 0 ? 1 : 0;
  }
  const LatticePoint first{ x, y };
  LatticePoint       corner = first;
  LatticePoint       direction{ 1, 0 };
  CudaSnakePolygon   polygon;
  do
  {
    corner = { corner.X + direction.X, corner.Y + direction.Y };
    // The cells ahead of the corner, left and right of the direction of travel.
    const LatticePoint left{ direction.Y, -direction.X };
    const auto         cellAhead = [&](int32_t side) {
      const int32_t twiceX = 2 * corner.X + direction.X + side * left.X;
      const int32_t twiceY = 2 * corner.Y + direction.Y + side * left.Y;
      return grid.IsSet((twiceX - 1) / 2, (twiceY - 1) / 2);
    };
    const auto turn = cellAhead(1) ? 1 : (cellAhead(-1) ? 0 : -1);
    if (turn != 0)
    {
      polygon.push_back(corner);
      direction = { turn * left.X, turn * left.Y };
    }
  } while (!(corner == first));
  return polygon;
}

/** Simplifies a polygon by removing nodes, in the order of the area of the triangle that a node makes with its
 * neighbours. A node can be removed if no other node lies in this closed triangle. No edge can then cross the
 * triangle, and the polygon stays simple. */
class PolygonReducer
{
public:
  explicit PolygonReducer(const CudaSnakePolygon & polygon)
    : m_Polygon(polygon)
    , m_Previous(polygon.size())
    , m_Next(polygon.size())
    , m_Version(polygon.size(), 0)
    , m_Left(polygon.size())
  {
    const int n = static_cast<int>(polygon.size());
    for (int i = 0; i < n; ++i)
    {
      m_Previous[i] = Previous(i, n);
      m_Next[i] = Next(i, n);
      m_Buckets[BucketOf(polygon[i].X, polygon[i].Y)].push_back(i);
    }
  }

  CudaSnakePolygon
  Reduce(size_t maximumNumberOfNodes)
  {
    // Retries nodes that could not be removed because of other nodes, as long as there are too many nodes.
    size_t before;
    do
    {
      before = m_Left;
      this->RemoveNodes(maximumNumberOfNodes);
    } while (m_Left > maximumNumberOfNodes && m_Left < before);

    CudaSnakePolygon result;
    for (size_t i = 0; i < m_Polygon.size(); ++i)
    {
      if (m_Next[i] >= 0)
      {
        result.push_back(m_Polygon[i]);
      }
    }
    return result;
  }

private:
  void
  RemoveNodes(size_t maximumNumberOfNodes)
  {
    // Twice the area of a triangle that may always be removed. It covers the steps of a slanted straight boundary.
    constexpr int64_t negligible = 2;
    for (size_t i = 0; i < m_Polygon.size(); ++i)
    {
      if (m_Next[i] >= 0)
      {
        this->Enqueue(static_cast<int>(i));
      }
    }
    while (!m_Queue.empty() && m_Left > 3)
    {
      const Entry entry = m_Queue.top();
      m_Queue.pop();
      if (entry.Version != m_Version[entry.Node] || m_Next[entry.Node] < 0)
      {
        continue;
      }
      if (entry.Area > negligible && m_Left <= maximumNumberOfNodes)
      {
        break;
      }
      if (this->TriangleIsFree(entry.Node))
      {
        this->Remove(entry.Node);
      }
    }
    m_Queue = {};
  }

  struct Entry
  {
    int64_t Area;
    int     Node;
    int     Version;
    bool
    operator<(const Entry & other) const
    {
      return Area > other.Area || (Area == other.Area && Node > other.Node);
    }
  };

  static constexpr int32_t BucketSide = 8;

  const CudaSnakePolygon &                       m_Polygon;
  std::vector<int>                               m_Previous;
  std::vector<int>                               m_Next; // -1: the node is removed
  std::vector<int>                               m_Version;
  size_t                                         m_Left;
  std::priority_queue<Entry>                     m_Queue;
  std::unordered_map<uint64_t, std::vector<int>> m_Buckets;

  static uint64_t
  BucketOf(int32_t x, int32_t y)
  {
    return (static_cast<uint64_t>(static_cast<uint32_t>(y / BucketSide)) << 32) | static_cast<uint32_t>(x / BucketSide);
  }

  void
  Enqueue(int i)
  {
    const int64_t area = Orientation(m_Polygon[m_Previous[i]], m_Polygon[i], m_Polygon[m_Next[i]]);
    m_Queue.push({ area < 0 ? -area : area, i, ++m_Version[i] });
  }

  bool
  IsInTriangle(int node, int i) const
  {
    const LatticePoint & a = m_Polygon[m_Previous[i]];
    const LatticePoint & b = m_Polygon[i];
    const LatticePoint & c = m_Polygon[m_Next[i]];
    const LatticePoint & p = m_Polygon[node];
    if (node == i || node == m_Previous[i] || node == m_Next[i] || BoxesAreApart(BoxOf(a, b, c), BoxOf(p, p)))
    {
      return false;
    }
    const int s1 = Sign(Orientation(a, b, p));
    const int s2 = Sign(Orientation(b, c, p));
    const int s3 = Sign(Orientation(c, a, p));
    return (s1 >= 0 && s2 >= 0 && s3 >= 0) || (s1 <= 0 && s2 <= 0 && s3 <= 0);
  }

  bool
  TriangleIsFree(int i) const
  {
    const LatticeBox box = BoxOf(m_Polygon[m_Previous[i]], m_Polygon[i], m_Polygon[m_Next[i]]);
    for (int32_t y = box.MinimumY / BucketSide; y <= box.MaximumY / BucketSide; ++y)
    {
      for (int32_t x = box.MinimumX / BucketSide; x <= box.MaximumX / BucketSide; ++x)
      {
        const auto bucket = m_Buckets.find(BucketOf(x * BucketSide, y * BucketSide));
        if (bucket == m_Buckets.end())
        {
          continue;
        }
        for (const int node : bucket->second)
        {
          if (this->IsInTriangle(node, i))
          {
            return false;
          }
        }
      }
    }
    return true;
  }

  void
  Remove(int i)
  {
    std::vector<int> & bucket = m_Buckets[BucketOf(m_Polygon[i].X, m_Polygon[i].Y)];
    bucket.erase(std::find(bucket.begin(), bucket.end(), i));
    const int before = m_Previous[i];
    const int after = m_Next[i];
    m_Next[before] = after;
    m_Previous[after] = before;
    m_Next[i] = -1;
    --m_Left;
    this->Enqueue(before);
    this->Enqueue(after);
  }
};
} // namespace

CudaSnakePolygon
MakeRectangle(int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
  return { { x0, y0 }, { x1, y0 }, { x1, y1 }, { x0, y1 } };
}

CudaSnakePolygon
RectangleGrid::MakePolygon(int64_t number) const
{
  int32_t x0, x1, y0, y1;
  GetPair(static_cast<int32_t>(number % this->GetNumberOfColumnPairs()), x0, x1);
  GetPair(static_cast<int32_t>(number / this->GetNumberOfColumnPairs()), y0, y1);
  return MakeRectangle(this->GetColumn(x0), this->GetRow(y0), this->GetColumn(x1), this->GetRow(y1));
}

CudaSnakePolygon
MakeMarginRectangle(int32_t width, int32_t height)
{
  const int32_t marginX = width >= 3 ? std::max(1, width / 10) : 0;
  const int32_t marginY = height >= 3 ? std::max(1, height / 10) : 0;
  return MakeRectangle(marginX, marginY, width - marginX, height - marginY);
}

CudaSnakePolygon
CheckStartPolygon(const CudaSnakePolygon & start, int32_t width, int32_t height, uint32_t maximumNumberOfNodes)
{
  for (const LatticePoint & p : start)
  {
    if (p.X < 0 || p.Y < 0 || p.X > width || p.Y > height)
    {
      itkGenericExceptionMacro("The initial polygon has a vertex at pixel corner ("
                               << p.X << ", " << p.Y << "), outside the image, whose corners go from (0, 0) to ("
                               << width << ", " << height << ")");
    }
  }
  CudaSnakePolygon polygon = WithoutRepetitions(start);
  if (polygon.size() < 3)
  {
    itkGenericExceptionMacro("The initial polygon has "
                             << polygon.size() << " different vertices on the corners of pixels; it needs at least 3");
  }
  if (polygon.size() > maximumNumberOfNodes)
  {
    itkGenericExceptionMacro("The initial polygon has " << polygon.size() << " nodes; MaximumNumberOfNodes is "
                                                        << maximumNumberOfNodes);
  }
  if (!CudaSnakePolygonIsSimple(polygon))
  {
    itkGenericExceptionMacro(
      "The initial polygon, its vertices rounded to the corners of pixels, crosses or touches itself; "
      "it must be simple");
  }
  return CanonicalPolygon(polygon);
}

CudaSnakePolygon
SnapPolygon(const CudaSnakePolygon & polygon, uint32_t exponent, int32_t width, int32_t height)
{
  CudaSnakePolygon snapped;
  const int32_t    half = (1 << exponent) / 2;
  for (const LatticePoint & p : polygon)
  {
    snapped.push_back({ Minimum(width, (p.X + half) >> exponent), Minimum(height, (p.Y + half) >> exponent) });
  }
  snapped = WithoutRepetitions(snapped);
  return CudaSnakePolygonIsSimple(snapped) && !AreaIsNegative(snapped) ? snapped : CudaSnakePolygon{};
}

CudaSnakePolygon
TraceMask(const CudaImageView & mask, uint32_t exponent, uint32_t maximumNumberOfNodes)
{
  CellGrid grid = MakeCells(mask, exponent);
  if (!KeepLargestComponent(grid))
  {
    return {};
  }
  JoinDiagonals(grid);
  FillHoles(grid);
  const CudaSnakePolygon corners = WalkBoundary(grid);
  return CanonicalPolygon(PolygonReducer(corners).Reduce(maximumNumberOfNodes));
}

CudaSnakePolygon
CanonicalPolygon(CudaSnakePolygon polygon)
{
  if (AreaIsNegative(polygon))
  {
    std::reverse(polygon.begin(), polygon.end());
  }
  std::rotate(polygon.begin(),
              std::min_element(
                polygon.begin(),
                polygon.end(),
                [](const LatticePoint & p, const LatticePoint & q) { return p.Y < q.Y || (p.Y == q.Y && p.X < q.X); }),
              polygon.end());
  return polygon;
}
} // namespace itk::cuda::snake
