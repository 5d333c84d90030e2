// SPDX-License-Identifier: Apache-2.0
#include "partition/map/EdgeGrid.h"
#include "partition/map/Geometry.h"
#include "partition/itkCudaPartitionMapTestCase.h"
#include "partition/refine/RefinementRound.h"
#include "partition/result/Sort.h"
#include "partition/map/Topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace
{
using namespace itk::cuda::partition;

LatticePoint
DrawPoint(Random & random, int32_t side)
{
  return { Draw(random, side), Draw(random, side) };
}

std::set<size_t>
CellsOf(const CellLayout & layout, const LatticePoint & a, const LatticePoint & b, const LatticePoint & c)
{
  std::set<size_t> cells;
  EXPECT_TRUE(ForCellsOfTriangle(layout, a, b, c, [&cells](size_t cell) {
    cells.insert(cell);
    return true;
  }));
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

TEST(PartitionGeometry, RaysTellInsideFromOutside)
{
  Random random(2);
  size_t inside = 0;
  for (int i = 0; i < 50000; ++i)
  {
    const LatticePoint a = DrawPoint(random, 9), b = DrawPoint(random, 9), c = DrawPoint(random, 9);
    const LatticePoint q = DrawPoint(random, 9);
    if (TriangleContains(a, a, b, q) || TriangleContains(b, b, c, q) || TriangleContains(c, c, a, q))
    {
      continue; // on an edge
    }
    const bool odd = (RayCrosses(q, a, b) != RayCrosses(q, b, c)) != RayCrosses(q, c, a);
    ASSERT_EQ(odd, TriangleContains(a, b, c, q));
    inside += odd ? 1 : 0;
  }
  EXPECT_GT(inside, 1000u);
}

TEST(PartitionGeometry, CellsCoverEveryPointOfATriangle)
{
  Random random(3);
  for (int i = 0; i < 3000; ++i)
  {
    const int32_t      side = i % 2 == 0 ? 20 : 130;
    const CellLayout   layout(side, side, 1 + static_cast<uint32_t>(Draw(random, 4)));
    const LatticePoint a = DrawPoint(random, side + 1), b = DrawPoint(random, side + 1),
                       c = DrawPoint(random, side + 1);
    const auto cells = CellsOf(layout, a, b, c);
    EXPECT_LT(*cells.rbegin(), layout.GetNumber());
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
    EXPECT_EQ(CellsOf(layout, c, a, b), cells);
    EXPECT_EQ(CellsOf(layout, b, a, c), cells);
  }
}

TEST(PartitionGeometry, CellsOfALongTriangleAreFew)
{
  const CellLayout layout(4000, 4000, 4);
  EXPECT_LE(CellsOf(layout, { 0, 0 }, { 4000, 4000 }, { 4000, 3999 }).size(), 3u * 251u);
}

TEST(PartitionGeometry, LanesDivideTheCells)
{
  Random random(6);
  for (int i = 0; i < 3000; ++i)
  {
    const CellLayout    layout(300, 300, i % 2 == 0 ? 2 : 4);
    const LatticePoint  a = DrawPoint(random, 301);
    const LatticePoint  b = DrawPoint(random, 301);
    const LatticePoint  c = DrawPoint(random, 301);
    const int32_t       lanes = 1 + Draw(random, 32);
    std::vector<size_t> ofTriangle;
    std::vector<size_t> ofBox;
    std::vector<size_t> wholeBox;
    const auto          addTo = [](std::vector<size_t> & cells) {
      return [&cells](size_t cell) {
        cells.push_back(cell);
        return true;
      };
    };
    const auto box = itk::cuda::region::BoxOf(a, b, c);
    EXPECT_TRUE(ForCellsOfBox(layout, box, addTo(wholeBox)));
    for (int32_t lane = 0; lane < lanes; ++lane)
    {
      EXPECT_TRUE(ForCellsOfTriangle(layout, a, b, c, addTo(ofTriangle), { lane, lanes }));
      EXPECT_TRUE(ForCellsOfBox(layout, box, addTo(ofBox), { lane, lanes }));
    }
    // Each cell has one lane.
    const std::set<size_t> cells = CellsOf(layout, a, b, c);
    std::sort(ofTriangle.begin(), ofTriangle.end());
    std::sort(ofBox.begin(), ofBox.end());
    EXPECT_EQ(ofTriangle, std::vector<size_t>(cells.begin(), cells.end())) << i;
    EXPECT_EQ(ofBox, wholeBox) << i; // row by row
    EXPECT_TRUE(std::includes(wholeBox.begin(), wholeBox.end(), cells.begin(), cells.end())) << i;
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

TEST(PartitionGeometry, WalksEndWhenToldTo)
{
  const CellLayout layout(100, 100, 2);
  size_t           calls = 0;
  EXPECT_FALSE(ForCellsOfTriangle(layout, { 0, 0 }, { 100, 0 }, { 0, 100 }, [&calls](size_t) { return ++calls < 5; }));
  EXPECT_EQ(calls, 5u);
  calls = 0;
  EXPECT_FALSE(ForCellsOfBox(layout, { 0, 0, 100, 100 }, [&calls](size_t) { return ++calls < 7; }));
  EXPECT_EQ(calls, 7u);
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

TEST(PartitionGeometry, BucketsComeInOrder)
{
  using Item = std::pair<uint32_t, uint32_t>; // its bucket, and a number
  Random random(8);
  for (const int most : { 0, 1, 2, 30, 5000 })
  {
    for (const int32_t buckets : { 1, 2, 50 })
    {
      std::vector<Item> items;
      while (items.size() < static_cast<size_t>(most))
      {
        items.emplace_back(Draw(random, buckets), Draw(random, 100));
      }
      std::vector<Item> expected = items;
      std::sort(expected.begin(), expected.end());
      SortInBuckets(
        items,
        static_cast<size_t>(buckets),
        [](const Item & item) { return size_t{ item.first }; },
        [](const Item & x, const Item & y) { return x.second < y.second; });
      EXPECT_EQ(items, expected);
    }
  }
}

/** Up to four regions meet at a node. Changes outside of the image are not counted. */
TEST(PartitionReservation, ChangesOfEachRegionAddUp)
{
  Random random(9);
  for (int i = 0; i < 10000; ++i)
  {
    const auto                  first = static_cast<uint32_t>(1 + Draw(random, 100));
    CountChanges                changes;
    std::map<uint32_t, int64_t> expected;
    for (int j = Draw(random, 9); j > 0; --j)
    {
      const auto     number = static_cast<uint32_t>(Draw(random, 5));
      const uint32_t region = number == 0 ? Outside : first + number;
      const int64_t  change = Draw(random, 200) - 100;
      changes.Add(region, change);
      if (region != Outside)
      {
        expected[region] += change;
      }
    }
    std::map<uint32_t, int64_t> found;
    for (const CountChanges::Entry & entry : changes.Entries)
    {
      if (entry.Region != Outside)
      {
        EXPECT_TRUE(found.emplace(entry.Region, entry.Change).second) << "a region has one entry";
      }
    }
    EXPECT_EQ(found, expected);
  }
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

TEST(PartitionReservation, WinnersShareNoCellAndTheBestOneWins)
{
  const CellLayout      layout(200, 100, 2);
  std::vector<uint64_t> keys(layout.GetNumber(), ~uint64_t{ 0 });
  // Only the layout of the cells and their keys matter here.
  const MapRound                                       view{ 200,
                       100,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       { layout, nullptr, nullptr, nullptr, nullptr, 0 },
                       DescriptionModel{},
                       0,
                       nullptr,
                       nullptr,
                       nullptr,
                       layout,
                       keys.data(),
                       nullptr,
                       nullptr };
  const RefinementRound<NoIntegrator, ThreadedAtomics> state{ view, {} };
  Random                                               random(5);
  const itk::cuda::region::Threads                     threads(3);
  for (int round = 0; round < 50; ++round)
  {
    std::vector<RankedProposal>              proposals;
    std::vector<std::array<LatticePoint, 3>> triangles;
    for (uint32_t i = 0; i < 300; ++i)
    {
      const LatticePoint a{ Draw(random, 190), Draw(random, 90) };
      triangles.push_back({ a, { a.X + Draw(random, 10), a.Y + Draw(random, 10) }, { a.X + Draw(random, 10), a.Y } });
      proposals.push_back({ -1.0 - Draw(random, 20), i, {} });
    }
    std::vector<uint8_t> wins(proposals.size());
    const auto           forCells = [&](const auto & function) {
      threads.ForRanges(proposals.size(), 10, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
        {
          const auto visit = [&, key = proposals[i].GetKey()](size_t cell) { return function(cell, key); };
          wins[i] = ForCellsOfTriangle(layout, triangles[i][0], triangles[i][1], triangles[i][2], visit) ? 1 : 0;
        }
      });
    };
    forCells([&](size_t cell, uint64_t key) { return state.Reserve(cell, key); });
    forCells([&](size_t cell, uint64_t key) { return state.Owns(cell, key); });
    std::set<size_t> taken;
    size_t           best = 0;
    for (size_t i = 0; i < proposals.size(); ++i)
    {
      best = proposals[i].GetKey() < proposals[best].GetKey() ? i : best;
      if (wins[i] != 0)
      {
        for (const size_t cell : CellsOf(layout, triangles[i][0], triangles[i][1], triangles[i][2]))
        {
          EXPECT_TRUE(taken.insert(cell).second);
        }
      }
    }
    EXPECT_EQ(wins[best], 1);
    forCells([&](size_t cell, uint64_t key) { return state.FreeIfOwned(cell, key); });
    for (const size_t cell : taken)
    {
      EXPECT_EQ(keys[cell], ~uint64_t{ 0 });
    }
    std::fill(keys.begin(), keys.end(), ~uint64_t{ 0 });
  }
}
} // namespace
