// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Lattice.h"
#include "snake/Core.h"
#include "itkMacro.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace
{
using itk::CudaSnakePoint;
using itk::CudaSnakePolygon;
using namespace itk::cuda::region;
using namespace itk::cuda::snake;

/** Winding number of a polygon around the centre of pixel (x, y), moved right by less than any edge can tell: crossings
 * of the ray from there downward. Coordinates are scaled so that all numbers are integers and no vertex lies on the
 * ray. */
int
WindingNumber(const CudaSnakePolygon & polygon, int64_t x, int64_t y)
{
  constexpr int64_t scale = 1024;
  const int64_t     pointX = scale * (2 * x + 1) + 1;
  const int64_t     pointY = scale * (2 * y + 1);
  const int         n = static_cast<int>(polygon.size());
  int               winding = 0;
  for (int i = 0; i < n; ++i)
  {
    const int64_t ax = 2 * scale * polygon[i].X;
    const int64_t ay = 2 * scale * polygon[i].Y;
    const int64_t bx = 2 * scale * polygon[Next(i, n)].X;
    const int64_t by = 2 * scale * polygon[Next(i, n)].Y;
    if ((ax < pointX) == (bx < pointX))
    {
      continue;
    }
    // The ray meets the edge where its Y at pointX is larger: (by - ay) (pointX - ax) / (bx - ax) + ay > pointY.
    const int64_t difference = (by - ay) * (pointX - ax) + (ay - pointY) * (bx - ax);
    if ((difference > 0) == (bx > ax))
    {
      winding += bx > ax ? -1 : 1;
    }
  }
  return winding;
}

/** Sums of pixel values and counts weighted with winding numbers, from the edges. */
template <typename TLookUp>
void
SumEdges(const CudaSnakePolygon & polygon, int64_t & count, int64_t & sum, const TLookUp & prefix)
{
  const int n = static_cast<int>(polygon.size());
  for (int i = 0; i < n; ++i)
  {
    const LatticeEdge edge = MakeEdge(polygon[i], polygon[Next(i, n)]);
    if (edge.NumberOfRows == 0)
    {
      continue;
    }
    CrossingWalker walker(edge, 0, 1);
    for (int32_t row = 0; row < edge.NumberOfRows; ++row)
    {
      const int sign = edge.Upward ? -1 : 1;
      count += sign * walker.GetColumn();
      sum += sign * prefix(edge.Top.Y + row, walker.GetColumn());
      walker.Advance();
    }
  }
}

/** Whether two closed segments have a common point, by solving for it: independent of the library's test. */
bool
SegmentsMeetBySolving(const CudaSnakePoint & a,
                      const CudaSnakePoint & b,
                      const CudaSnakePoint & c,
                      const CudaSnakePoint & d)
{
  const int64_t rx = b.X - a.X, ry = b.Y - a.Y, sx = d.X - c.X, sy = d.Y - c.Y, qx = c.X - a.X, qy = c.Y - a.Y;
  const int64_t determinant = rx * sy - ry * sx;
  if (determinant != 0)
  {
    const int64_t sign = determinant > 0 ? 1 : -1;
    const int64_t t = sign * (qx * sy - qy * sx);
    const int64_t u = sign * (qx * ry - qy * rx);
    return t >= 0 && t <= sign * determinant && u >= 0 && u <= sign * determinant;
  }
  if (qx * ry - qy * rx != 0)
  {
    return false;
  }
  const auto overlap = [](int64_t p, int64_t q, int64_t r, int64_t s) {
    return std::max(std::min(p, q), std::min(r, s)) <= std::min(std::max(p, q), std::max(r, s));
  };
  return overlap(a.X, b.X, c.X, d.X) && overlap(a.Y, b.Y, c.Y, d.Y);
}

/** Simplicity from scratch: edges that are not adjacent do not meet; adjacent ones meet in their common node only. */
bool
IsSimpleByPairs(const CudaSnakePolygon & polygon)
{
  const int n = static_cast<int>(polygon.size());
  for (int i = 0; i < n; ++i)
  {
    const CudaSnakePoint a = polygon[i];
    const CudaSnakePoint b = polygon[Next(i, n)];
    if (a.X == b.X && a.Y == b.Y)
    {
      return false;
    }
    for (int j = 0; j < n; ++j)
    {
      const CudaSnakePoint c = polygon[j];
      const CudaSnakePoint d = polygon[Next(j, n)];
      if (j == Next(i, n))
      {
        // b is common. The rest of bd meets ab only if the directions from b are the same.
        const int64_t ux = a.X - b.X, uy = a.Y - b.Y, vx = d.X - b.X, vy = d.Y - b.Y;
        if (ux * vy == uy * vx && ux * vx + uy * vy > 0)
        {
          return false;
        }
      }
      else if (j != i && i != Next(j, n) && SegmentsMeetBySolving(a, b, c, d))
      {
        return false;
      }
    }
  }
  return true;
}

class Random
{
public:
  explicit Random(unsigned int seed)
    : m_Engine(seed)
  {
    std::cout << "seed " << seed << std::endl;
  }
  int
  operator()(int lower, int upper)
  {
    return lower + static_cast<int>(m_Engine() % static_cast<unsigned int>(upper - lower + 1));
  }
  CudaSnakePoint
  Point(int side)
  {
    return { (*this)(0, side), (*this)(0, side) };
  }
  CudaSnakePolygon
  Polygon(int n, int side)
  {
    CudaSnakePolygon polygon;
    for (int i = 0; i < n; ++i)
    {
      polygon.push_back(this->Point(side));
    }
    return polygon;
  }
  /** Grown from a triangle by points that keep it simple; may stay smaller than n. */
  CudaSnakePolygon
  SimplePolygon(int n, int side)
  {
    CudaSnakePolygon polygon;
    do
    {
      polygon = this->Polygon(3, side);
    } while (!IsSimpleByPairs(polygon));
    for (int attempt = 0; attempt < 20 * n && static_cast<int>(polygon.size()) < n; ++attempt)
    {
      CudaSnakePolygon longer = polygon;
      longer.insert(longer.begin() + (*this)(0, static_cast<int>(polygon.size())), this->Point(side));
      if (IsSimpleByPairs(longer))
      {
        polygon = longer;
      }
    }
    return polygon;
  }

private:
  std::mt19937 m_Engine;
};

/** A simple polygon of long narrow teeth on a base, with random lengths. */
CudaSnakePolygon
MakeComb(Random & random, int teeth)
{
  CudaSnakePolygon comb;
  int              x = 0;
  for (int i = 0; i < teeth; ++i)
  {
    const int valley = random(1, 3);
    comb.push_back({ x, valley });
    comb.push_back({ x + 1, random(4, 60) });
    comb.push_back({ x + 2, random(4, 60) });
    comb.push_back({ x + 3, random(1, 3) });
    x += random(4, 6);
  }
  comb.front().Y = comb.back().Y = 0;
  return comb;
}

CudaSnakePolygon
WithMoves(CudaSnakePolygon polygon, const std::vector<Proposal> & moves)
{
  for (const auto & move : moves)
  {
    polygon[move.Node] = move.Position;
  }
  return polygon;
}

CudaSnakePolygon
Without(const CudaSnakePolygon & polygon, const std::vector<int> & nodes)
{
  CudaSnakePolygon result;
  for (int i = 0; i < static_cast<int>(polygon.size()); ++i)
  {
    if (std::find(nodes.begin(), nodes.end(), i) == nodes.end())
    {
      result.push_back(polygon[i]);
    }
  }
  return result;
}

/** `run` nodes from i on. */
std::vector<int>
NodesOf(int i, int run, int n)
{
  std::vector<int> nodes;
  for (int k = 0; k < run; ++k)
  {
    nodes.push_back((i + k) % n);
  }
  return nodes;
}

CudaSnakePolygon
WithMidpoints(const CudaSnakePolygon & polygon, const std::vector<int> & edges)
{
  CudaSnakePolygon result;
  const int        n = static_cast<int>(polygon.size());
  for (int i = 0; i < n; ++i)
  {
    result.push_back(polygon[i]);
    if (std::find(edges.begin(), edges.end(), i) != edges.end())
    {
      result.push_back(MidpointOf(polygon[i], polygon[Next(i, n)]));
    }
  }
  return result;
}
/** Writes the labels of random polygons, and expects them to be those of the winding numbers, and nothing else to be
 * written. */
template <typename TPixel>
void
ExpectLabelsOfWindingNumbers()
{
  constexpr int32_t sides[][2] = { { 1, 1 }, { 1, 60 }, { 60, 1 }, { 2, 3 }, { 40, 33 }, { 129, 70 } };
  constexpr size_t  guard = 64;
  Random            random(7);
  for (unsigned int trial = 0; trial < 240; ++trial)
  {
    const auto [width, height] = sides[trial % 6];
    const unsigned int threads = 1 + trial / 6 % 8;
    const auto         threader = itk::MultiThreaderBase::New();
    threader->SetMaximumNumberOfThreads(threads);
    threader->SetNumberOfWorkUnits(threads);
    // Corners in some of the rows, so that others have no spans.
    CudaSnakePolygon polygon(random(0, 7) == 0 ? 0 : static_cast<size_t>(random(3, 9)));
    const int        first = random(0, height);
    const int        last = random(first, height);
    for (CudaSnakePoint & corner : polygon)
    {
      corner = { random(0, width), random(first, last) };
    }
    // Every byte would be seen that is not written, or written beyond the image; that of bool in every second trial.
    const auto   number = static_cast<size_t>(width) * static_cast<size_t>(height);
    const auto   poison = static_cast<TPixel>(0x55);
    const TPixel values[] = { static_cast<TPixel>(0), static_cast<TPixel>(77) };
    const TPixel inside = values[trial % 2];
    const TPixel outside = values[1 - trial % 2];
    const auto   pixels = std::make_unique<TPixel[]>(number + 2 * guard);
    std::fill_n(pixels.get(), number + 2 * guard, poison);
    const auto                                     spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(polygon, height);
    const itk::CudaDetail::CudaSnakeLabels<TPixel> labels{ spans, static_cast<size_t>(width), inside, outside };
    labels.Write(pixels.get() + guard, *threader);
    for (size_t i = 0; i < number; ++i)
    {
      const auto x = static_cast<int64_t>(i) % width;
      const bool isInside = WindingNumber(polygon, x, static_cast<int64_t>(i) / width) % 2 != 0;
      ASSERT_EQ(pixels[guard + i], isInside ? inside : outside)
        << "pixel " << i << " of " << width << " x " << height << ", trial " << trial << ", threads " << threads;
    }
    const auto isPoison = [poison](TPixel value) { return value == poison; };
    EXPECT_TRUE(std::all_of(pixels.get(), pixels.get() + guard, isPoison));
    EXPECT_TRUE(std::all_of(pixels.get() + guard + number, pixels.get() + number + 2 * guard, isPoison));
  }
}
} // namespace

TEST(CudaSnakeLattice, WalkerStartsAnywhereAndTakesAnyStride)
{
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial)
  {
    const auto p = random.Point(1000);
    const auto q = random.Point(1000);
    const auto edge = MakeEdge(p, q);
    if (edge.NumberOfRows == 0)
    {
      continue;
    }
    std::vector<int32_t> columns;
    CrossingWalker       every(edge, 0, 1);
    for (int32_t row = 0; row < edge.NumberOfRows; ++row, every.Advance())
    {
      columns.push_back(every.GetColumn());
    }
    const int      stride = random(1, 40);
    const int      first = random(0, edge.NumberOfRows - 1);
    CrossingWalker some(edge, first, stride);
    for (int32_t row = first; row < edge.NumberOfRows; row += stride, some.Advance())
    {
      ASSERT_EQ(some.GetColumn(), columns[row]) << "row " << row << " stride " << stride;
    }
  }
}

TEST(CudaSnakeLattice, EdgesSumToWindingNumbersOf100000Polygons)
{
  constexpr int        side = 24;
  constexpr int        polygons = 100000;
  Random               random(2);
  std::vector<int64_t> values(side * side);
  std::vector<int64_t> prefixes((side + 1) * side, 0);
  for (int y = 0; y < side; ++y)
  {
    for (int x = 0; x < side; ++x)
    {
      values[y * side + x] = random(0, 65535);
      prefixes[y * (side + 1) + x + 1] = prefixes[y * (side + 1) + x] + values[y * side + x];
    }
  }
  for (int trial = 0; trial < polygons; ++trial)
  {
    const CudaSnakePolygon polygon = random.Polygon(random(3, 40), side);
    int64_t                count = 0;
    int64_t                sum = 0;
    SumEdges(polygon, count, sum, [&](int32_t y, int32_t column) { return prefixes[y * (side + 1) + column]; });
    int64_t expectedCount = 0;
    int64_t expectedSum = 0;
    for (int y = 0; y < side; ++y)
    {
      for (int x = 0; x < side; ++x)
      {
        const int winding = WindingNumber(polygon, x, y);
        expectedCount += winding;
        expectedSum += winding * values[y * side + x];
      }
    }
    ASSERT_EQ(count, expectedCount) << "polygon " << trial;
    ASSERT_EQ(sum, expectedSum) << "polygon " << trial;
  }
}

// A type of each size: the rest of a type makes no difference when labels are written.
TEST(CudaSnakeLattice, LabelsAreThoseOfWindingNumbersOfThreads)
{
  ExpectLabelsOfWindingNumbers<bool>();
  ExpectLabelsOfWindingNumbers<unsigned char>();
  ExpectLabelsOfWindingNumbers<short>();
  ExpectLabelsOfWindingNumbers<unsigned int>();
  ExpectLabelsOfWindingNumbers<unsigned long>();
}

TEST(CudaSnakeLattice, RowSpansRefusePolygonsOutsideTheRows)
{
  const CudaSnakePolygon triangle{ { 1, 2 }, { 9, 4 }, { 3, 7 } };
  EXPECT_EQ(itk::CudaDetail::ComputeCudaSnakeRowSpans(triangle, 7).First.back(), 10u);
  EXPECT_THROW(itk::CudaDetail::ComputeCudaSnakeRowSpans(triangle, 6), itk::ExceptionObject);
  EXPECT_THROW(itk::CudaDetail::ComputeCudaSnakeRowSpans(triangle, 0), itk::ExceptionObject);
  EXPECT_THROW(itk::CudaDetail::ComputeCudaSnakeRowSpans({ { 1, -1 }, { 9, 4 }, { 3, 6 } }, 7), itk::ExceptionObject);
  EXPECT_EQ(itk::CudaDetail::ComputeCudaSnakeRowSpans({}, 0).Columns.size(), 0u);
}

TEST(CudaSnakeLattice, SegmentsMeetAgreesWithSolving)
{
  Random random(4);
  int    meeting = 0;
  for (int trial = 0; trial < 200000; ++trial)
  {
    const int  side = trial % 2 == 0 ? 4 : 12;
    const auto a = random.Point(side), b = random.Point(side), c = random.Point(side), d = random.Point(side);
    const bool expected = (a.X == b.X && a.Y == b.Y) || (c.X == d.X && c.Y == d.Y) ? SegmentsMeet(a, b, c, d)
                                                                                   : SegmentsMeetBySolving(a, b, c, d);
    meeting += expected ? 1 : 0;
    ASSERT_EQ(SegmentsMeet(a, b, c, d), expected);
  }
  EXPECT_GT(meeting, 10000);
}

TEST(CudaSnakeLattice, LargestCoordinatesDoNotOverflow)
{
  constexpr int32_t side = 1 << 30;
  EXPECT_TRUE(SegmentsMeet({ 0, 0 }, { side, side }, { 0, side }, { side, 0 }));
  EXPECT_FALSE(SegmentsMeet({ 0, 0 }, { side, side - 1 }, { 0, 1 }, { side, side }));
  EXPECT_TRUE(SegmentsMeet({ 0, 0 }, { side, side - 1 }, { 0, 1 }, { side, side - 1 }));
}

TEST(CudaSnakeLattice, SimplicityAgreesWithAllPairs)
{
  Random random(11);
  int    simple = 0;
  for (int trial = 0; trial < 50000; ++trial)
  {
    const CudaSnakePolygon polygon = random.Polygon(random(3, 7), 6);
    const bool             expected = IsSimpleByPairs(polygon);
    simple += expected ? 1 : 0;
    ASSERT_EQ(itk::CudaDetail::CudaSnakePolygonIsSimple(polygon), expected) << "polygon " << trial;
  }
  EXPECT_GT(simple, 5000);
  simple = 0;
  for (int trial = 0; trial < 3000; ++trial)
  {
    CudaSnakePolygon polygon = MakeComb(random, random(2, 12));
    // Most of these make it touch, cross or fold back on itself somewhere, on few or many different coordinates.
    const int side = trial % 3 == 0 ? 6 : 60;
    for (int change = random(0, 2); change > 0; --change)
    {
      const size_t i = static_cast<size_t>(random(0, static_cast<int>(polygon.size()) - 1));
      switch (random(0, 3))
      {
        case 0:
          polygon[i] = random.Point(side);
          break;
        case 1:
          polygon[i] = polygon[random(0, static_cast<int>(polygon.size()) - 1)];
          break;
        case 2:
          polygon.insert(polygon.begin() + static_cast<ptrdiff_t>(i), random.Point(side));
          break;
        default:
          std::swap(polygon[i], polygon[Next(static_cast<int>(i), static_cast<int>(polygon.size()))]);
      }
    }
    if (random(0, 1) == 1)
    {
      for (CudaSnakePoint & p : polygon)
      {
        p = { p.Y, p.X };
      }
    }
    std::rotate(polygon.begin(), polygon.begin() + random(0, static_cast<int>(polygon.size()) - 1), polygon.end());
    const bool expected = IsSimpleByPairs(polygon);
    simple += expected ? 1 : 0;
    ASSERT_EQ(itk::CudaDetail::CudaSnakePolygonIsSimple(polygon), expected) << "polygon " << trial;
  }
  EXPECT_GT(simple, 500);
  EXPECT_LT(simple, 2500);
}

TEST(CudaSnakeLattice, MovesAndPairsOfMovesAgreeWithAllPairs)
{
  Random random(6);
  int    possible = 0;
  int    conflicts = 0;
  for (int trial = 0; trial < 60000; ++trial)
  {
    const CudaSnakePolygon polygon = random.SimplePolygon(random(3, 12), trial % 2 == 0 ? 7 : 16);
    const int              n = static_cast<int>(polygon.size());
    std::vector<Proposal>  moves;
    for (int attempt = 0; attempt < 12 && moves.size() < 2; ++attempt)
    {
      const Proposal move{ random(0, n - 1), random.Point(16), 0.0, {} };
      const bool     expected = IsSimpleByPairs(WithMoves(polygon, { move }));
      ASSERT_EQ(ChainKeepsSimple(polygon.data(), n, Previous(move.Node, n), move.Position, Next(move.Node, n)),
                expected)
        << "polygon " << trial;
      const bool apart = moves.empty() || (RingDistance(moves[0].Node, move.Node, n) > 1 &&
                                           RingDistance(move.Node, moves[0].Node, n) > 1);
      if (expected && apart)
      {
        moves.push_back(move);
      }
    }
    if (moves.size() == 2)
    {
      const bool conflict = MovesConflict(polygon.data(), n, moves[0], moves[1]);
      ASSERT_EQ(conflict, !IsSimpleByPairs(WithMoves(polygon, moves))) << "polygon " << trial;
      ASSERT_EQ(conflict, MovesConflict(polygon.data(), n, moves[1], moves[0]));
      ++possible;
      conflicts += conflict ? 1 : 0;
    }
  }
  EXPECT_GT(possible, 10000);
  EXPECT_GT(conflicts, 500);
}

TEST(CudaSnakeLattice, RemovalsAgreeWithAllPairsAndOnlyThoseThatTouchConflict)
{
  Random random(7);
  int    pairs = 0;
  for (int trial = 0; trial < 5000; ++trial)
  {
    const CudaSnakePolygon polygon = random.SimplePolygon(random(4, 30), trial % 2 == 0 ? 8 : 14);
    const int              n = static_cast<int>(polygon.size());
    std::vector<Proposal>  possible;
    for (int i = 0; i < n; ++i)
    {
      for (int run = 1; run <= std::min(MaximumRemovedRun, n - 3); ++run)
      {
        const bool expected = IsSimpleByPairs(Without(polygon, NodesOf(i, run, n)));
        ASSERT_EQ(ChordKeepsSimple(polygon.data(), n, i, run), expected)
          << "polygon " << trial << " node " << i << " run " << run;
        if (expected)
        {
          possible.push_back({ i, {}, 0.0, {}, run });
        }
      }
    }
    for (size_t i = 0; i < possible.size() && !RemoveOneAtATime(n, MaximumRemovedRun); ++i)
    {
      for (size_t j = i + 1; j < possible.size(); ++j)
      {
        const bool conflict = RemovalsConflict(n, possible[i], possible[j]);
        ASSERT_EQ(conflict, RemovalsConflict(n, possible[j], possible[i]));
        if (!conflict)
        {
          std::vector<int>       nodes = NodesOf(possible[i].Node, possible[i].NumberOfRemovedNodes, n);
          const std::vector<int> others = NodesOf(possible[j].Node, possible[j].NumberOfRemovedNodes, n);
          nodes.insert(nodes.end(), others.begin(), others.end());
          ASSERT_TRUE(IsSimpleByPairs(Without(polygon, nodes)))
            << "polygon " << trial << " nodes " << possible[i].Node << ", " << possible[j].Node;
          ++pairs;
        }
      }
    }
  }
  EXPECT_GT(pairs, 10000);
}

TEST(CudaSnakeLattice, InsertionsAndPairsOfInsertionsAgreeWithAllPairs)
{
  Random random(8);
  int    pairs = 0;
  int    conflicts = 0;
  for (int trial = 0; trial < 30000; ++trial)
  {
    const CudaSnakePolygon polygon = random.SimplePolygon(random(3, 14), trial % 2 == 0 ? 5 : 9);
    const int              n = static_cast<int>(polygon.size());
    std::vector<int>       possible;
    for (int i = 0; i < n; ++i)
    {
      const bool expected = IsSimpleByPairs(WithMidpoints(polygon, { i }));
      ASSERT_EQ(CanInsert(polygon.data(), n, i, 1), expected) << "polygon " << trial << " edge " << i;
      if (expected)
      {
        possible.push_back(i);
      }
    }
    for (size_t i = 0; i < possible.size(); ++i)
    {
      for (size_t j = i + 1; j < possible.size(); ++j)
      {
        const bool conflict = InsertionsConflict(polygon.data(), n, possible[i], possible[j]);
        ASSERT_EQ(conflict, !IsSimpleByPairs(WithMidpoints(polygon, { possible[i], possible[j] })))
          << "polygon " << trial << " edges " << possible[i] << ", " << possible[j];
        ++pairs;
        conflicts += conflict ? 1 : 0;
      }
    }
  }
  EXPECT_GT(pairs, 10000);
  EXPECT_GT(conflicts, 10);
}
