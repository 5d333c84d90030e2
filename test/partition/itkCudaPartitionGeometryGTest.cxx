// SPDX-License-Identifier: Apache-2.0
// What the refinement of maps decides by: geometry and polylines, against brute force.
#include "partition/map/EdgeGrid.h"
#include "partition/map/Geometry.h"
#include "partition/refine/RefinementRound.h"
#include "partition/map/Topology.h"
#include "partition/refine/BestPolylines.h"
#include "executor/HostAtomics.h"
#include "partition/refine/NodeChanges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace
{
using namespace itk::cuda::partition;
using Random = std::mt19937;

int32_t
Draw(Random & random, int32_t choices)
{
  return static_cast<int32_t>(random() % static_cast<uint32_t>(choices));
}

LatticePoint
DrawPoint(Random & random, int32_t side)
{
  return { Draw(random, side), Draw(random, side) };
}

/** The cells that some lanes find together, each of them once. \param forCells forCells(function, lane) */
template <typename TForCells>
std::set<size_t>
CollectCells(int32_t lanes, const TForCells & forCells)
{
  std::set<size_t> cells;
  for (int32_t lane = 0; lane < lanes; ++lane)
  {
    const auto add = [&cells](size_t cell) {
      EXPECT_TRUE(cells.insert(cell).second) << "two lanes have cell " << cell;
      return true;
    };
    EXPECT_TRUE(forCells(add, StridedRange{ lane, lanes }));
  }
  return cells;
}

/** Whether q lies in a closed triangle: on no side of any edge, or on the same sides of all; for a triangle without
 * area, on one of its edges. */
bool
ContainsByBruteForce(const LatticePoint & a, const LatticePoint & b, const LatticePoint & c, const LatticePoint & q)
{
  const auto cross = [](const LatticePoint & o, const LatticePoint & p, const LatticePoint & r) {
    return (static_cast<double>(p.X) - o.X) * (static_cast<double>(r.Y) - o.Y) -
           (static_cast<double>(p.Y) - o.Y) * (static_cast<double>(r.X) - o.X);
  };
  const auto isOn = [&](const LatticePoint & p, const LatticePoint & r) {
    return cross(p, r, q) == 0.0 && q.X >= std::min(p.X, r.X) && q.X <= std::max(p.X, r.X) &&
           q.Y >= std::min(p.Y, r.Y) && q.Y <= std::max(p.Y, r.Y);
  };
  const double area = cross(a, b, c);
  if (area == 0.0)
  {
    return isOn(a, b) || isOn(b, c) || isOn(c, a);
  }
  return cross(a, b, q) / area >= 0.0 && cross(b, c, q) / area >= 0.0 && cross(c, a, q) / area >= 0.0;
}

TEST(PartitionGeometry, TriangleContainsWhatBruteForceFinds)
{
  Random random(1);
  size_t contained = 0;
  for (int i = 0; i < 200000; ++i)
  {
    const LatticePoint a = DrawPoint(random, 7), b = DrawPoint(random, 7), c = DrawPoint(random, 7);
    const LatticePoint q = DrawPoint(random, 7);
    ASSERT_EQ(TriangleContains(a, b, c, q), ContainsByBruteForce(a, b, c, q))
      << a.X << "," << a.Y << " " << b.X << "," << b.Y << " " << c.X << "," << c.Y << " " << q.X << "," << q.Y;
    contained += TriangleContains(a, b, c, q) ? 1 : 0;
  }
  EXPECT_GT(contained, 10000u);
}

TEST(PartitionGeometry, CellsOfLanesCoverEveryPointOfATriangle)
{
  Random random(3);
  for (int i = 0; i < 3000; ++i)
  {
    const int32_t      side = i % 2 == 0 ? 20 : 130;
    const CellLayout   layout(side, side, 1 + static_cast<uint32_t>(Draw(random, 4)));
    const LatticePoint a = DrawPoint(random, side + 1), b = DrawPoint(random, side + 1),
                       c = DrawPoint(random, side + 1);
    const int32_t lanes = 1 + Draw(random, 32);
    const auto    cellsOf = [&](const LatticePoint & p, const LatticePoint & q, const LatticePoint & r) {
      return CollectCells(lanes, [&](const auto & add, const StridedRange & share) {
        return ForCellsOfTriangle(layout, p, q, r, add, share);
      });
    };
    const auto cells = cellsOf(a, b, c);
    const auto box = CollectCells(lanes, [&](const auto & add, const StridedRange & share) {
      return ForCellsOfBox(layout, itk::cuda::region::BoxOf(a, b, c), add, share);
    });
    EXPECT_TRUE(std::includes(box.begin(), box.end(), cells.begin(), cells.end())) << i;
    EXPECT_LT(*box.rbegin(), layout.GetNumber());
    // Points (u a + v b + w c) / n, u + v + w = n, in exact arithmetic.
    const int64_t n = 1 + Draw(random, 40);
    for (int64_t u = 0; u <= n; ++u)
    {
      for (int64_t v = 0; u + v <= n; ++v)
      {
        const int64_t x = u * a.X + v * b.X + (n - u - v) * c.X;
        const int64_t y = u * a.Y + v * b.Y + (n - u - v) * c.Y;
        const int64_t column = x / n >> layout.Exponent;
        const int64_t row = y / n >> layout.Exponent;
        ASSERT_EQ(cells.count(static_cast<size_t>(row * layout.Columns + column)), 1u)
          << a.X << "," << a.Y << " " << b.X << "," << b.Y << " " << c.X << "," << c.Y << " at " << x << "," << y
          << " / " << n;
      }
    }
    EXPECT_EQ(cellsOf(c, a, b), cells);
    EXPECT_EQ(cellsOf(b, a, c), cells);
  }
}

TEST(PartitionGeometry, LanesDivideTheEdgesOfACell)
{
  Random random(41);
  for (int i = 0; i < 2000; ++i)
  {
    const auto             sorted = static_cast<uint32_t>(Draw(random, 40));
    const auto             number = sorted + static_cast<uint32_t>(Draw(random, 40));
    const int32_t          lanes = 1 + Draw(random, 32);
    uint32_t               first[] = { 0, sorted };
    std::vector<uint32_t>  edgesOfCell(sorted + 1);
    std::vector<AddedEdge> added(number - sorted + 1);
    std::vector<MapEdge>   edges(number + 1);
    const MapNode          nodes[2] = {};
    std::vector<uint32_t>  alive;
    uint32_t               last = None;
    for (uint32_t edge = 0; edge < number; ++edge)
    {
      if (Draw(random, 4) > 0)
      {
        edges[edge] = { 0, 1, 1, 2, {} };
        alive.push_back(edge);
      }
      if (edge < sorted)
      {
        edgesOfCell[edge] = edge;
      }
      else
      {
        added[edge - sorted] = { edge, last };
        last = edge - sorted;
      }
    }
    const EdgeGrid        grid{ CellLayout(10, 10, 4), first, edgesOfCell.data(), &last, added.data(), 0 };
    const MapView         map{ 10, 10, nodes, edges.data() };
    std::vector<uint32_t> found;
    for (int32_t lane = 0; lane < lanes; ++lane)
    {
      const auto add = [&found](const GridEdge & edge) {
        found.push_back(edge.Number);
        return true;
      };
      EXPECT_TRUE(grid.ForEdges(map, 0, add, { lane, lanes }));
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, alive) << "sorted " << sorted << ", all " << number << ", lanes " << lanes;
  }
}

/** A node has up to four edges. The image is small, so many moves run over a far end. */
TEST(PartitionGeometry, EdgesThatRunOverFarEndsAreFound)
{
  Random random(7);
  size_t clear = 0;
  size_t blocked = 0;
  for (int i = 0; i < 20000; ++i)
  {
    constexpr int32_t         side = 12;
    const LatticePoint        from = DrawPoint(random, side);
    const LatticePoint        to = DrawPoint(random, side);
    const auto                degree = static_cast<uint32_t>(Draw(random, MapNode::MaximumDegree + 1));
    std::vector<LatticePoint> far;
    while (far.size() < degree)
    {
      far.push_back(DrawPoint(random, side));
    }
    bool expected = true;
    for (uint32_t j = 0; j < degree; ++j)
    {
      expected = expected && (far[j].X != to.X || far[j].Y != to.Y);
      for (uint32_t k = 0; k < degree; ++k)
      {
        expected = expected && (j == k || !ContainsByBruteForce(far[j], from, to, far[k]));
      }
    }
    EXPECT_EQ(NeighborsAreClear(from, to, degree, [&far](uint32_t j) { return far[j]; }), expected);
    (expected ? clear : blocked) += 1;
  }
  EXPECT_GT(clear, 2000u); // both answers occur
  EXPECT_GT(blocked, 2000u);
}

TEST(PartitionReservation, KeysOrderByGainThenNumber)
{
  Random random(4);
  for (int i = 0; i < 10000; ++i)
  {
    const double         first = -0.01 - std::exp(0.001 * Draw(random, 20000) - 5.0);
    const double         second = Draw(random, 3) == 0 ? first : -0.01 - std::exp(0.001 * Draw(random, 20000) - 5.0);
    const RankedProposal x{ first, static_cast<uint32_t>(Draw(random, 100)), {} };
    const RankedProposal y{ second, static_cast<uint32_t>(Draw(random, 100)), {} };
    const auto           a = static_cast<float>(first);
    const auto           b = static_cast<float>(second);
    EXPECT_EQ(x.GetKey() < y.GetKey(), a < b || (a == b && x.Id < y.Id));
  }
}

/** Costs of the chords between the nodes of a chain. They are small whole numbers, so that many sums are equal. */
class Chords
{
public:
  Chords(size_t edges, std::mt19937_64 & engine)
    : m_Number(edges + 1)
    , m_Costs(m_Number * m_Number)
  {
    for (double & cost : m_Costs)
    {
      cost = engine() % 8 == 0 ? InfiniteCost : static_cast<double>(engine() % 7) - 2.0;
    }
    for (size_t i = 0; i < edges; ++i)
    {
      m_Costs[i * m_Number + i + 1] = 3.0; // the chain itself is possible
    }
  }
  double
  operator()(size_t i, size_t j) const
  {
    EXPECT_LT(i, j);
    return j - i <= ChainWindow ? m_Costs[i * m_Number + j] : InfiniteCost;
  }

private:
  size_t              m_Number;
  std::vector<double> m_Costs;
};

/** The least cost of the polylines from node 0 to node j, each of which is looked at. */
double
LeastCost(const Chords & chords, size_t j)
{
  double least = j == 0 ? 0.0 : InfiniteCost;
  for (size_t i = 0; i < j; ++i)
  {
    least = std::min(least, LeastCost(chords, i) + chords(i, j));
  }
  return least;
}
TEST(PartitionEvaluation, BestPolylinesAreTheBestOfAll)
{
  constexpr uint64_t seed = 841;
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 200; ++i)
  {
    const size_t         edges = 1 + engine() % 12;
    const Chords         chords(edges, engine);
    std::vector<double>  costs(edges + 1, std::numeric_limits<double>::quiet_NaN());
    std::vector<uint8_t> spans(edges + 1, 0);
    FindBestPolylines(edges, chords, costs.data(), spans.data());
    for (size_t j = 0; j <= edges; ++j)
    {
      ASSERT_EQ(costs[j], LeastCost(chords, j)) << "scene " << i << ", node " << j;
    }
    for (size_t j = 1; j <= edges; ++j)
    {
      const size_t from = j - spans[j];
      ASSERT_LT(from, j) << "scene " << i;
      ASSERT_EQ(costs[j], costs[from] + chords(from, j)) << "scene " << i << ", node " << j;
      for (size_t earlier = 0; earlier < from; ++earlier)
      {
        ASSERT_GT(costs[earlier] + chords(earlier, j), costs[j]) << "scene " << i << ", node " << j;
      }
    }
  }
}

TEST(PartitionEvaluation, NoChordSpansMoreThanTheWindow)
{
  constexpr size_t     edges = 3 * ChainWindow + 5;
  std::vector<double>  costs(edges + 1);
  std::vector<uint8_t> spans(edges + 1);
  FindBestPolylines(
    edges,
    [](size_t i, size_t j) {
      EXPECT_TRUE(i < j && j - i <= ChainWindow) << i << " to " << j;
      return 1.0;
    },
    costs.data(),
    spans.data());
  EXPECT_EQ(costs[edges], 4.0);
  EXPECT_EQ(spans[edges], ChainWindow);
}
/** Returns the proposals that a round accepts for regions of 30 and 90 pixels. Each region must keep 8 pixels. */
std::vector<size_t>
Accept(const std::vector<RankedProposal> & proposals)
{
  std::vector<Moments>    regions{ {}, { 30, 300, 3000 }, { 90, 1800, 36000 } };
  std::vector<uint8_t>    isRegion(regions.size(), 1);
  std::vector<LinearForm> tangents(regions.size());
  std::vector<int64_t>    excess(regions.size(), -1000); // of the round before
  std::vector<uint64_t>   bestKeys(regions.size(), 0);
  const CellLayout        cells(20, 6, 2);
  const EdgeGrid          grid{ cells, nullptr, nullptr, nullptr, nullptr, 0 };
  const DescriptionModel  model;
  const MapRound          view{ 20,    6,       nullptr, nullptr,         regions.data(), isRegion.data(),
                       grid,  model,   8,       tangents.data(), excess.data(),  bestKeys.data(),
                       cells, nullptr, nullptr, nullptr };
  for (size_t region = 0; region < regions.size(); ++region)
  {
    functors::BeginMapRound{ view }(region);
  }
  const RefinementRound<NoIntegrator, SerialAtomics> round{ view, {} };
  for (const RankedProposal & proposal : proposals)
  {
    round.AddPixelLoss(proposal);
  }
  std::vector<size_t> accepted;
  for (size_t i = 0; i < proposals.size(); ++i)
  {
    if (round.Accepts(proposals[i]))
    {
      accepted.push_back(i);
    }
  }
  return accepted;
}

TEST(PartitionReservation, WinnersTogetherLeaveARegionItsPixels)
{
  const auto winnersOf = [](const std::vector<int64_t> & losses) {
    std::vector<RankedProposal> proposals;
    for (size_t i = 0; i < losses.size(); ++i)
    {
      proposals.push_back({ -1.0 - static_cast<double>(i % 3), static_cast<uint32_t>(i), {} });
      proposals.back().Counts.Add(1, -losses[i]);
      proposals.back().Counts.Add(2, losses[i]);
    }
    return Accept(proposals);
  };
  using Winners = std::vector<size_t>;
  EXPECT_EQ(winnersOf({ 10, 10 }), (Winners{ 0, 1 }));
  EXPECT_EQ(winnersOf({ 10, 10, 10 }), (Winners{ 2 })); // the best
  EXPECT_EQ(winnersOf({ 11, 11 }), (Winners{ 0, 1 }));  // 8 are left
  EXPECT_EQ(winnersOf({ 11, 12 }), (Winners{ 1 }));
  EXPECT_EQ(winnersOf({ 10, 10, -10, 10 }), (Winners{ 1, 2 })); // who adds pixels may
}
} // namespace
