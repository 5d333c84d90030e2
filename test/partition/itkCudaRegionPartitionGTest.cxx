// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaExpectException.h"
#include "itkCudaRegionPartition.h"
#include "support/itkCudaTestPartition.h"
#include "itkImage.h"
#include "itkPolyLineParametricPath.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace
{
using namespace itk;
using namespace itk::cuda::test;
using Ring = CudaRegionPartition::RingType;
using Geometry = CudaRegionPartition::GeometryType;

Geometry::Pointer
MakeGeometry(int width, int height)
{
  const auto geometry = Geometry::New();
  geometry->SetLargestPossibleRegion(
    ImageRegion<2>{ { { 0, 0 } }, { { SizeValueType(width), SizeValueType(height) } } });
  return geometry;
}

CudaRegionPartition::Pointer
MakePartition(CudaRegionPartitionResult map, int width, int height)
{
  const auto partition = CudaRegionPartition::New();
  partition->SetResult(std::move(map), MakeGeometry(width, height));
  return partition;
}

CudaRegionPartition::Pointer
MakePartition(const TestLabels & labels, std::vector<CudaPartitionMerge> merges = {})
{
  CudaRegionPartitionResult map = TestMapMaker(labels).Make();
  map.Merges = std::move(merges);
  return MakePartition(std::move(map), labels.Width, labels.Height);
}

/** Rows of digits. */
TestLabels
Draw(const std::vector<std::string> & rows)
{
  TestLabels labels{ static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), {} };
  for (const std::string & row : rows)
  {
    for (const char digit : row)
    {
      labels.Pixels.push_back(static_cast<uint32_t>(digit - '0'));
    }
  }
  return labels;
}

using Side = std::array<int, 4>; // x, y of both ends

/** Rings rasterise to the labels, are simple, have areas that add up, and are made of each side of an edge once. */
void
ExpectRingsOfLabels(const CudaRegionPartition & partition, const TestLabels & labels)
{
  std::map<Side, int> sides;
  for (uint32_t number = 1; number <= partition.GetNumberOfRegions(); ++number)
  {
    SCOPED_TRACE("region " + std::to_string(number));
    const std::vector<Ring> rings = partition.GetRings(number);
    double                  area = 0.0;
    std::vector<int>        windings(labels.Pixels.size(), 0);
    const Ring *            outer = nullptr;
    for (const Ring & ring : rings)
    {
      area += GetArea(ring);
      EXPECT_EQ(CudaRegionPartition::IsOuterRing(ring), GetArea(ring) > 0.0);
      outer = GetArea(ring) > 0.0 ? &ring : outer;
      ASSERT_NE(outer, nullptr) << "a hole comes first";
      std::set<std::pair<int, int>> corners;
      for (size_t i = 0; i < ring.size(); ++i)
      {
        const CudaSnakePoint & p = ring[i];
        const CudaSnakePoint & q = ring[(i + 1) % ring.size()];
        corners.insert({ p.Y, p.X });
        ++sides[{ { p.X, p.Y, q.X, q.Y } }];
      }
      EXPECT_EQ(corners.size(), ring.size()) << "a ring visits a node twice";
      EXPECT_EQ(*corners.begin(), std::make_pair(ring[0].Y, ring[0].X));
      for (size_t i = 0; i < windings.size(); ++i)
      {
        const int x = static_cast<int>(i) % labels.Width;
        const int y = static_cast<int>(i) / labels.Width;
        const int of_ring = GetWindings(ring, x, y);
        windings[i] += of_ring;
        EXPECT_TRUE(of_ring == 0 || GetWindings(*outer, x, y) == 1) << "a hole is not in its outer ring";
      }
    }
    for (size_t i = 0; i < windings.size(); ++i)
    {
      ASSERT_EQ(windings[i], labels.Pixels[i] == number ? 1 : 0) << "pixel " << i;
    }
    EXPECT_EQ(area, partition.GetRegion(number).Area);
  }
  std::map<Side, int> expected;
  for (const CudaPartitionEdge & edge : partition.GetEdges())
  {
    const CudaSnakePoint & p = partition.GetNodes()[edge.Start];
    const CudaSnakePoint & q = partition.GetNodes()[edge.End];
    if (edge.Left != 0)
    {
      ++expected[{ { p.X, p.Y, q.X, q.Y } }];
    }
    if (edge.Right != 0)
    {
      ++expected[{ { q.X, q.Y, p.X, p.Y } }];
    }
  }
  EXPECT_EQ(sides, expected) << "neighbours do not share their vertices";
}

size_t
CountOuterRings(const std::vector<Ring> & rings)
{
  return static_cast<size_t>(
    std::count_if(rings.begin(), rings.end(), [](const Ring & ring) { return GetArea(ring) > 0.0; }));
}

/** Labels of a few values in blocks of random size: islands, holes, corners where four regions meet. */
TestLabels
MakeRandomLabels(std::mt19937 & generator)
{
  TestLabels     labels{ 1 + static_cast<int>(generator() % 22), 1 + static_cast<int>(generator() % 22), {} };
  const int      block = 1 + static_cast<int>(generator() % 3);
  const uint32_t values = 1 + generator() % 5;
  labels.Pixels.resize(static_cast<size_t>(labels.Width) * labels.Height);
  for (int y = 0; y < labels.Height; ++y)
  {
    for (int x = 0; x < labels.Width; ++x)
    {
      const bool inside = x % block != 0;
      const bool below = y % block != 0;
      labels.Pixels[y * labels.Width + x] = inside  ? labels.At(x - 1, y)
                                            : below ? labels.At(x, y - 1)
                                                    : 1 + generator() % values;
    }
  }
  // Numbers without a gap.
  std::map<uint32_t, uint32_t> numbers;
  for (uint32_t & pixel : labels.Pixels)
  {
    pixel = numbers.emplace(pixel, static_cast<uint32_t>(numbers.size() + 1)).first->second;
  }
  return labels;
}

/** The regions of pixels after merges, one after the other. */
TestLabels
Relabel(const TestLabels & labels, const std::vector<uint32_t> & regions)
{
  TestLabels result = labels;
  for (uint32_t & pixel : result.Pixels)
  {
    pixel = regions[pixel];
  }
  return result;
}

/** A random tree of merges of neighbours, with changes that need not rise. */
std::vector<CudaPartitionMerge>
MakeRandomMerges(const TestLabels & labels, std::mt19937 & generator)
{
  std::vector<CudaPartitionMerge> merges;
  TestLabels                      present = labels;
  for (;;)
  {
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    const auto                                 regions = MeasureRegions(present);
    for (uint32_t number = 1; number < regions.size(); ++number)
    {
      for (auto other = regions[number].Neighbors.upper_bound(number); other != regions[number].Neighbors.end();
           ++other)
      {
        pairs.emplace_back(number, other->first);
      }
    }
    if (pairs.empty())
    {
      return merges;
    }
    const auto pair = pairs[generator() % pairs.size()];
    merges.push_back({ pair.first, pair.second, static_cast<double>(generator() % 1000) - 300.0 });
    std::replace(present.Pixels.begin(), present.Pixels.end(), pair.second, pair.first);
  }
}

void
ExpectSameTable(const std::vector<CudaPartitionRegion> & found, const std::vector<CudaPartitionRegion> & expected)
{
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
  {
    SCOPED_TRACE("region " + std::to_string(i + 1));
    EXPECT_EQ(found[i].NumberOfPixels, expected[i].NumberOfPixels);
    EXPECT_EQ(found[i].Sum, expected[i].Sum);
    EXPECT_EQ(found[i].SumOfSquares, expected[i].SumOfSquares);
    EXPECT_NEAR(found[i].Mean, expected[i].Mean, 1e-9);
    EXPECT_NEAR(found[i].MeanSquare, expected[i].MeanSquare, 1e-7);
    EXPECT_NEAR(found[i].Variance, expected[i].Variance, 1e-7);
    EXPECT_EQ(found[i].Area, expected[i].Area);
    EXPECT_EQ(found[i].Perimeter, expected[i].Perimeter);
    EXPECT_EQ(found[i].BoundingBox, expected[i].BoundingBox);
    EXPECT_EQ(found[i].Neighbors, expected[i].Neighbors);
  }
}
} // namespace

TEST(CudaRegionPartition, RingsOfSlantedEdgesAtANodeOfSixEdges)
{
  // A square whose middle is the tip of three triangles: region 1 is one polygon that comes to the tip three times.
  CudaRegionPartitionResult map;
  map.Nodes = { { 0, 0 }, { 8, 0 }, { 8, 8 }, { 0, 8 }, { 4, 4 }, { 3, 7 },
                { 1, 6 }, { 1, 3 }, { 2, 1 }, { 6, 1 }, { 7, 3 } };
  map.Edges = { { 0, 1, 1, 0 }, { 1, 2, 1, 0 },  { 2, 3, 1, 0 }, { 3, 0, 1, 0 }, { 4, 5, 2, 1 },
                { 5, 6, 2, 1 }, { 6, 4, 2, 1 },  { 4, 8, 1, 3 }, { 8, 7, 1, 3 }, { 7, 4, 1, 3 },
                { 4, 9, 4, 1 }, { 9, 10, 4, 1 }, { 10, 4, 4, 1 } };
  map.Regions.resize(4);
  const auto partition = MakePartition(map, 8, 8);
  double     area = 0.0;
  for (uint32_t number = 1; number <= 4; ++number)
  {
    const std::vector<Ring> rings = partition->GetRings(number);
    EXPECT_EQ(rings.size(), number == 1 ? 4u : 1u);
    for (const Ring & ring : rings)
    {
      area += GetArea(ring);
      EXPECT_EQ(ring.size(), number == 1 && &ring == &rings[0] ? 4u : 3u);
      EXPECT_EQ(GetArea(ring) > 0.0, &ring == &rings[0]);
    }
  }
  EXPECT_EQ(area, 64.0);
}

TEST(CudaRegionPartition, RingsOfRandomLabels)
{
  const unsigned int seed = 20261123;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 generator(seed);
  for (int i = 0; i < 300; ++i)
  {
    SCOPED_TRACE("case " + std::to_string(i));
    const TestLabels labels = MakeRandomLabels(generator);
    const auto       partition = MakePartition(labels);
    ExpectRingsOfLabels(*partition, labels);
    const TestLabels components = FindComponents(labels);
    const auto       connected = MakePartition(components);
    ExpectRingsOfLabels(*connected, components);
    for (uint32_t number = 1; number <= connected->GetNumberOfRegions(); ++number)
    {
      EXPECT_EQ(CountOuterRings(connected->GetRings(number)), 1u) << "pixels joined by sides form one polygon";
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST(CudaRegionPartition, RingsOfTheLargestImage)
{
  const int                 side = 1 << 30;
  CudaRegionPartitionResult map;
  map.Nodes = { { 0, 0 }, { side, 0 }, { side, side }, { 0, side }, { 1, 1 }, { side - 1, 2 }, { side - 1, side - 1 } };
  map.Edges = { { 0, 1, 1, 0 }, { 1, 2, 1, 0 }, { 2, 3, 1, 0 }, { 3, 0, 1, 0 },
                { 4, 5, 2, 1 }, { 5, 6, 2, 1 }, { 6, 4, 2, 1 } };
  map.Regions.resize(2);
  const auto partition = MakePartition(map, side, side);
  EXPECT_EQ(partition->GetRings(1).size(), 2u);
  EXPECT_EQ(CountOuterRings(partition->GetRings(1)), 1u);
  EXPECT_EQ(CountOuterRings(partition->GetRings(2)), 1u);
}

TEST(CudaRegionPartition, PhysicalRingsGoCounterClockwise)
{
  const TestLabels labels = Draw({ "1111", "1221", "1111" });
  for (const double sign : { 1.0, -1.0 })
  {
    const auto geometry = MakeGeometry(4, 3);
    geometry->SetLargestPossibleRegion(ImageRegion<2>{ { { -5, 7 } }, { { 4, 3 } } });
    const double origin[] = { 500000.0, 4.5e6 };
    geometry->SetOrigin(origin);
    const double spacing[] = { 0.5, 2.0 };
    geometry->SetSpacing(spacing);
    Geometry::DirectionType direction;
    direction[0][0] = 0.6;
    direction[0][1] = -0.8 * sign;
    direction[1][0] = 0.8;
    direction[1][1] = 0.6 * sign;
    geometry->SetDirection(direction);
    const auto partition = CudaRegionPartition::New();
    partition->SetResult(TestMapMaker(labels).Make(), geometry);
    const auto rings = partition->GetPhysicalRings(1);
    const auto corners = partition->GetRings(1);
    ASSERT_EQ(rings.size(), 2u);
    for (size_t r = 0; r < 2; ++r)
    {
      double twice = 0.0;
      for (size_t i = 0; i < rings[r].size(); ++i)
      {
        const auto & p = rings[r][i];
        const auto & q = rings[r][(i + 1) % rings[r].size()];
        twice += (p[0] - 5e5) * (q[1] - 4.5e6) - (q[0] - 5e5) * (p[1] - 4.5e6);
      }
      EXPECT_NEAR(twice / 2.0, r == 0 ? 12.0 : -2.0, 1e-6); // pixels of area 1
      // By hand: origin + direction (spacing * (index + corner - 1/2)).
      const double a = 0.5 * (-5 + corners[r][0].X - 0.5);
      const double b = 2.0 * (7 + corners[r][0].Y - 0.5);
      EXPECT_NEAR(rings[r][0][0], 5e5 + 0.6 * a - 0.8 * sign * b, 1e-6);
      EXPECT_NEAR(rings[r][0][1], 4.5e6 + 0.8 * a + 0.6 * sign * b, 1e-6);
    }
  }
}

TEST(CudaRegionPartition, MergesByChangeAndByNumber)
{
  const TestLabels labels = Draw({ "1122", "1132", "4455" });
  // Changes of a tree need not rise: the fourth is not reached before the third is allowed.
  const auto partition = MakePartition(labels, { { 2, 3, -5.0 }, { 1, 4, 2.0 }, { 2, 5, 8.0 }, { 1, 2, 6.0 } });
  using Numbers = std::vector<uint32_t>;
  EXPECT_EQ(partition->GetRegionsAfterMerges(-6.0), (Numbers{ 0, 1, 2, 3, 4, 5 }));
  EXPECT_EQ(partition->GetRegionsAfterMerges(0.0), (Numbers{ 0, 1, 2, 2, 4, 5 }));
  EXPECT_EQ(partition->GetRegionsAfterMerges(2.0), (Numbers{ 0, 1, 2, 2, 1, 5 }));
  EXPECT_EQ(partition->GetRegionsAfterMerges(7.0), (Numbers{ 0, 1, 2, 2, 1, 5 }));
  EXPECT_EQ(partition->GetRegionsAfterMerges(8.0), (Numbers{ 0, 1, 1, 1, 1, 1 }));
  EXPECT_EQ(partition->GetRegionsAfterMerges(std::numeric_limits<double>::quiet_NaN()), (Numbers{ 0, 1, 2, 3, 4, 5 }));
  EXPECT_EQ(partition->GetRegionsAfterMergesTo(9), (Numbers{ 0, 1, 2, 3, 4, 5 }));
  EXPECT_EQ(partition->GetRegionsAfterMergesTo(4), (Numbers{ 0, 1, 2, 2, 4, 5 }));
  EXPECT_EQ(partition->GetRegionsAfterMergesTo(2), (Numbers{ 0, 1, 2, 2, 1, 2 }));
  EXPECT_EQ(partition->GetRegionsAfterMergesTo(1), (Numbers{ 0, 1, 1, 1, 1, 1 }));
  ExpectContains(GetException([&] { partition->GetRegionsAfterMergesTo(0); }), "it must be 1 or more");

  const auto merged = partition->GetMerged(2.0);
  EXPECT_EQ(merged->GetNumberOfRegions(), 3u);
  EXPECT_EQ(merged->GetDescription(), -3.0);
  EXPECT_EQ(merged->GetRegion(1).NumberOfPixels, 6u);
  EXPECT_TRUE(std::isnan(merged->GetRegion(1).Description));
  EXPECT_EQ(merged->GetRegion(3).Description, 0.0) << "it was not merged";
  ASSERT_EQ(merged->GetMerges().size(), 2u);
  EXPECT_EQ(merged->GetMerges()[0].First, 2u);
  EXPECT_EQ(merged->GetMerges()[0].Second, 3u);
  EXPECT_EQ(merged->GetMerges()[1].Second, 2u);
  EXPECT_EQ(partition->GetMergedTo(1)->GetNumberOfRegions(), 1u);
}

TEST(CudaRegionPartition, MergedPartitionsAreThoseOfMergedLabels)
{
  const unsigned int seed = 20261124;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 generator(seed);
  for (int i = 0; i < 100; ++i)
  {
    SCOPED_TRACE("case " + std::to_string(i));
    const TestLabels labels = FindComponents(MakeRandomLabels(generator));
    const auto       partition = MakePartition(labels, MakeRandomMerges(labels, generator));
    const auto       number = 1 + generator() % partition->GetNumberOfRegions();
    const TestLabels merged = Relabel(labels, partition->GetRegionsAfterMergesTo(number));
    // Numbers without a gap, in the same order.
    std::set<uint32_t>           kept(merged.Pixels.begin(), merged.Pixels.end());
    std::map<uint32_t, uint32_t> numbers;
    std::vector<uint32_t>        consecutive(labels.GetNumberOfRegions() + 1, 0);
    for (const uint32_t region : kept)
    {
      consecutive[region] = static_cast<uint32_t>(numbers.emplace(region, numbers.size() + 1).first->second);
    }
    const TestLabels expected = Relabel(merged, consecutive);
    ASSERT_EQ(kept.size(), number);
    const auto found = partition->GetMergedTo(number);
    ExpectRingsOfLabels(*found, expected);
    ExpectSameTable(found->GetRegions(), TestMapMaker(expected).Make().Regions);
    EXPECT_EQ(found->GetMerges().size(), number - 1);
    // The rest of the tree leads on from there.
    EXPECT_EQ(found->GetMergedTo(1)->GetEdges().size(), partition->GetMergedTo(1)->GetEdges().size());
    ASSERT_FALSE(HasFailure());
  }
}

TEST(CudaRegionPartition, RegionsWithoutPixelsHaveNoShareInStatistics)
{
  CudaRegionPartitionResult map = TestMapMaker(Draw({ "123" })).Make();
  map.Regions[0].NumberOfPixels = 0;
  map.Regions[0].Mean = std::numeric_limits<double>::quiet_NaN();
  map.Regions[2].NumberOfPixels = 0;
  map.Regions[2].Mean = std::numeric_limits<double>::quiet_NaN();
  map.Merges = { { 1, 2, 1.0 }, { 1, 3, 2.0 } };
  const auto                partition = MakePartition(map, 3, 1);
  const CudaPartitionRegion region = partition->GetMergedTo(1)->GetRegion(1);
  EXPECT_EQ(region.NumberOfPixels, 1u);
  EXPECT_EQ(region.Mean, 1.0);
}

TEST(CudaRegionPartition, WrongMapsAreRefusedAndChangeNothing)
{
  const auto partition = MakePartition(Draw({ "12" }));
  const auto geometry = MakeGeometry(2, 1);
  const auto expectRefusal = [&](const auto & spoil, const char * message) {
    CudaRegionPartitionResult map = TestMapMaker(Draw({ "12" })).Make();
    map.Merges = { { 1, 2, 0.0 } };
    spoil(map);
    ExpectContains(GetException([&] { partition->SetResult(map, geometry); }), message);
    EXPECT_EQ(partition->GetNumberOfRegions(), 2u);
    EXPECT_EQ(partition->GetRings(2).size(), 1u);
  };
  expectRefusal([](auto & map) { map.Edges[0].End = 6; }, "Edge 0 names node 6; the largest is 5");
  expectRefusal([](auto & map) { map.Edges[1].Left = 3; }, "Edge 1 names region 3; the largest is 2");
  expectRefusal([](auto & map) { map.Merges[0].Second = 3; }, "Merge 0 names region 3; the largest is 2");
  expectRefusal([](auto & map) { map.Merges[0] = { 2, 1, 0.0 }; }, "Merge 0 makes region 1 a part of region 2");
  expectRefusal([](auto & map) { map.Merges[0] = { 0, 1, 0.0 }; }, "Merge 0 makes region 1 a part of region 0");
  expectRefusal([](auto & map) { map.Merges.push_back({ 1, 2, 0.0 }); }, "Merge 1 makes region 2 a part of region 1");
  ExpectContains(GetException([&] { partition->SetResult({}, nullptr); }), "geometry is null");
  ExpectContains(GetException([&] { partition->GetRegion(0); }), "Region 0 was asked for; regions count from 1 to 2");
  ExpectContains(GetException([&] { partition->GetRings(3); }), "Region 3 was asked for; regions count from 1 to 2");

  CudaRegionPartitionResult open = TestMapMaker(Draw({ "12" })).Make();
  open.Edges.pop_back();
  partition->SetResult(open, geometry);
  ExpectContains(GetException([&] { partition->GetRings(1); }) + GetException([&] { partition->GetRings(2); }),
                 "form no ring");
}

TEST(CudaRegionPartition, WithoutEdgesThereAreRegionsAndNoRings)
{
  CudaRegionPartitionResult map = TestMapMaker(Draw({ "12" })).Make();
  map.Nodes.clear();
  map.Edges.clear();
  map.Merges = { { 1, 2, 4.0 } };
  map.Stop = CudaRegionPartitionStop::LabelsOnly;
  const auto partition = MakePartition(map, 2, 1);
  EXPECT_TRUE(partition->GetRings(1).empty());
  const auto merged = partition->GetMerged(4.0);
  EXPECT_EQ(merged->GetRegion(1).NumberOfPixels, 2u);
  EXPECT_TRUE(std::isnan(merged->GetRegion(1).Perimeter)) << "nothing says how long their common boundary was";
}

TEST(CudaRegionPartition, ItIsGraftedInitialisedAndPrinted)
{
  const TestLabels labels = Draw({ "112", "132" });
  const auto       source = MakePartition(labels, { { 1, 3, -1.0 }, { 1, 2, 5.0 } });
  const auto       partition = CudaRegionPartition::New();
  EXPECT_EQ(partition->GetNumberOfRegions(), 0u);
  EXPECT_EQ(partition->GetMerged(0.0)->GetNumberOfRegions(), 0u);
  const auto time = partition->GetMTime();
  partition->Graft(source);
  EXPECT_GT(partition->GetMTime(), time);
  ExpectRingsOfLabels(*partition, labels);
  partition->Graft(partition);
  ExpectRingsOfLabels(*partition, labels);
  EXPECT_EQ(partition->GetGeometry()->GetLargestPossibleRegion(), source->GetGeometry()->GetLargestPossibleRegion());
  std::ostringstream text;
  partition->Print(text);
  for (const char * line : { "NumberOfRegions: 3",
                             "NumberOfNodes: 9",
                             "NumberOfEdges: 11",
                             "NumberOfMerges: 2",
                             "DescriptionOfOneRegion: 0",
                             "Stop: Converged",
                             "Size: [3, 2]" })
  {
    ExpectContains(text.str(), line);
  }
  ExpectContains(GetException([&] { partition->Graft(PolyLineParametricPath<2>::New()); }),
                 "A PolyLineParametricPath cannot be grafted onto a CudaRegionPartition");
  partition->Graft(nullptr);
  EXPECT_EQ(partition->GetNumberOfRegions(), 3u);
  partition->Initialize();
  EXPECT_EQ(partition->GetNumberOfRegions(), 0u);
  EXPECT_EQ(partition->GetNumberOfEdges(), 0u);
  ExpectContains(GetException([&] { partition->GetRings(1); }), "regions count from 1 to 0");
}
